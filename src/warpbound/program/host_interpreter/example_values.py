"""An example for a value that the host code leaves open: its expression with one number for all unknown names."""

import math
from typing import Any

from warpbound.program.host_interpreter.runtime_calls import MATH
from warpbound.program.host_interpreter.syntax import parsed_expression, text_of
from warpbound.program.host_interpreter.values import binary, is_number, number_of, truth

UNKNOWN = 1024  # represents every name that is not known


def example(text: str, unknown: int = UNKNOWN) -> int:
    """A whole number of at least 1 for an expression; `unknown` where nothing of it can be computed."""
    node = parsed_expression(text) if text else None
    value = unknown if node is None else _value(node, unknown)
    return max(1, math.ceil(value)) if is_number(value) and math.isfinite(value) else unknown


def _value(node: Any, unknown: int) -> Any:
    match node.type:
        case "number_literal":
            number = number_of(text_of(node))
            return unknown if number is None else number
        case "parenthesized_expression" | "condition_clause":
            return _value(node.named_children[0], unknown)
        case "binary_expression":
            return _binary(node, unknown)
        case "unary_expression":
            value = _value(node.child_by_field_name("argument"), unknown)
            operation = text_of(node.child_by_field_name("operator"))
            return -value if operation == "-" else int(not value) if operation == "!" else value
        case "conditional_expression":
            holds = truth(_value(node.child_by_field_name("condition"), unknown))
            return _value(node.child_by_field_name("consequence" if holds else "alternative"), unknown)
        case "call_expression":
            return _call(node, unknown)
    return unknown


def _binary(node: Any, unknown: int) -> Any:
    operation = text_of(node.child_by_field_name("operator"))
    first, second = (_value(node.child_by_field_name(side), unknown) for side in ("left", "right"))
    if operation in ("&&", "||"):
        return int(bool(first and second) if operation == "&&" else bool(first or second))
    value = binary(operation, first, second)
    return value if is_number(value) else unknown


def _call(node: Any, unknown: int) -> Any:
    name = text_of(node.child_by_field_name("function")).rpartition("::")[2]
    arguments = node.child_by_field_name("arguments").named_children
    if name not in MATH:
        return unknown
    try:
        return MATH[name](*(_value(child, unknown) for child in arguments))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return unknown
