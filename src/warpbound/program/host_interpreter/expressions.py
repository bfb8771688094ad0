"""Expressions of host code: their values and the variables they name."""

from collections.abc import Callable
from typing import Any

from warpbound.program.host_interpreter.state import Host
from warpbound.program.host_interpreter.syntax import (
    declarator_of,
    parsed_expression,
    parsed_statements,
    plain_type,
    text_of,
)
from warpbound.program.host_interpreter.values import (
    Cell,
    Closure,
    Function,
    HostArray,
    Pointer,
    Struct,
    Unknown,
    binary,
    cast,
    combined,
    converted,
    in_parentheses,
    is_number,
    number_of,
    remaining,
    shown,
    truth,
)

_ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\", "'": "'", '"': '"', "r": "\r"}
_DEEPEST = 60  # macros and calls within each other


def evaluate(host: Host, node: Any) -> Any:
    """The value of an expression; Unknown, with what remains of it, where the host code does not fix it."""
    if node is None:
        return Unknown()
    rule = _RULES.get(node.type)
    return rule(host, node) if rule else Unknown(text_of(node)[:80])


def place(host: Host, node: Any) -> Cell | None:
    """The variable that an expression names; None where it is none that is known."""
    rule = _PLACES.get(node.type)
    return rule(host, node) if rule else None


# --- names and literals ---


def _number(_: Host, node: Any) -> Any:
    value = number_of(text_of(node))
    return Unknown(text_of(node)) if value is None else value


def _character(_: Host, node: Any) -> Any:
    inner = text_of(node).strip("'")
    if inner.startswith("\\"):
        inner = _ESCAPES.get(inner[1:2], "?")
    return ord(inner) if len(inner) == 1 else Unknown()


def _string(_: Host, node: Any) -> Any:
    return text_of(node).strip('"')


def _identifier(host: Host, node: Any) -> Any:
    name = text_of(node)
    if name in ("true", "false"):
        return int(name == "true")
    cell = host.find(name)
    if cell is not None:
        return cell.value if not isinstance(cell.value, Unknown) or cell.value.text else Unknown(name)
    plain = name.rpartition("::")[2]
    macro = host.model.macros.get(name)
    if macro is not None and macro.parameters is None:
        return expanded(host, name, macro.body)
    if plain in host.model.functions:
        return Function(plain)
    cell = host.find(plain) if plain != name else None
    return cell.value if cell is not None else Unknown(name)


def expanded(host: Host, name: str, body: str) -> Any:
    """The value of a macro's body as an expression, its statements executed."""
    if host.depth > _DEEPEST or name in host.expanding:
        return Unknown(name)
    host.expanding.append(name)
    host.depth += 1
    try:
        value: Any = Unknown(name)
        if (expression := parsed_expression(body)) is not None:
            return evaluate(host, expression)
        for statement in parsed_statements(body):
            if statement.type == "expression_statement" and statement.named_children:
                value = evaluate(host, statement.named_children[0])
            else:
                host.execute(statement)
        return value
    finally:
        host.expanding.pop()
        host.depth -= 1


# --- operators ---


def _binary(host: Host, node: Any) -> Any:
    operation = text_of(node.child_by_field_name("operator"))
    first = evaluate(host, node.child_by_field_name("left"))
    if operation in ("&&", "||"):
        truth_value = truth(first)
        if truth_value is not None and truth_value == (operation == "||"):
            return int(truth_value)
        second = evaluate(host, node.child_by_field_name("right"))
        other = truth(second)
        if truth_value is not None and other is not None:
            return int(other)
        return remaining(f"{in_parentheses(first)} {operation} {in_parentheses(second)}")
    second = evaluate(host, node.child_by_field_name("right"))
    if operation == "<<" and text_of(node.child_by_field_name("left")).endswith("cout"):
        return first
    return combined(operation, first, second)


def _unary(host: Host, node: Any) -> Any:
    operation = text_of(node.child_by_field_name("operator"))
    value = evaluate(host, node.child_by_field_name("argument"))
    if operation == "!":
        truth_value = truth(value)
        return Unknown(f"!{in_parentheses(value)}") if truth_value is None else int(not truth_value)
    if not is_number(value):
        return remaining(f"{operation}{in_parentheses(value)}")
    if operation == "~":
        return ~value if isinstance(value, int) else Unknown()
    return -value if operation == "-" else value


def _address(host: Host, node: Any) -> Any:
    """`&x` and `*p`."""
    argument = node.child_by_field_name("argument")
    if text_of(node.child_by_field_name("operator")) == "*":
        cell = place(host, node)
        return Unknown(f"*{text_of(argument)}") if cell is None else cell.value
    value = evaluate(host, argument) if argument.type in ("identifier", "qualified_identifier", "template_function",
                                                          "subscript_expression") else None  # fmt: skip
    if isinstance(value, Function):
        return value
    if argument.type == "subscript_expression":
        whole = evaluate(host, argument.child_by_field_name("argument"))
        if isinstance(whole, Pointer | HostArray) and not _is_variable(whole):
            return combined("+", whole, _index(host, argument))
    cell = place(host, argument)
    return Unknown(text_of(node)) if cell is None else Pointer(cell, 0, cell.type)


def _is_variable(value: Any) -> bool:
    return isinstance(value, Pointer) and isinstance(value.target, Cell)


def _index(host: Host, node: Any) -> Any:
    indices = node.child_by_field_name("indices")
    return evaluate(host, indices.named_children[0]) if indices is not None and indices.named_children else Unknown()


def _update(host: Host, node: Any) -> Any:
    argument = node.child_by_field_name("argument")
    cell = place(host, argument)
    if cell is None:
        return Unknown()
    old = cell.value
    operation = text_of(node.child_by_field_name("operator"))[0]
    host.write(cell, converted(combined(operation, old, 1), cell.type))
    return cell.value if node.children[0].type in ("++", "--") else old


def _assignment(host: Host, node: Any) -> Any:
    target, source = node.child_by_field_name("left"), node.child_by_field_name("right")
    operation = text_of(node.child_by_field_name("operator"))
    value = host.initial(source, "") if source.type == "initializer_list" else evaluate(host, source)
    cell = place(host, target)
    if operation != "=":
        value = combined(operation[:-1], cell.value if cell is not None else Unknown(text_of(target)), value)
    if cell is None:
        return value
    if source.type == "initializer_list":
        value = host.initial(source, cell.type)
    host.write(cell, converted(host.copied(value), host.model.resolved(cell.type)))
    return cell.value


def _conditional(host: Host, node: Any) -> Any:
    condition = evaluate(host, node.child_by_field_name("condition"))
    truth_value = truth(condition)
    if truth_value is not None:
        return evaluate(host, node.child_by_field_name("consequence" if truth_value else "alternative"))
    first = evaluate(host, node.child_by_field_name("consequence"))
    second = evaluate(host, node.child_by_field_name("alternative"))
    if first == second:
        return first
    return remaining(f"{in_parentheses(condition)} ? {shown(first)} : {shown(second)}")


def _parenthesized(host: Host, node: Any) -> Any:
    inner = node.child_by_field_name("value") or next(
        (child for child in node.named_children if child.type != "comment"), None
    )
    return evaluate(host, inner)


def _comma(host: Host, node: Any) -> Any:
    evaluate(host, node.child_by_field_name("left"))
    return evaluate(host, node.child_by_field_name("right"))


def type_of(host: Host, descriptor: Any) -> str:
    """The C type that a type descriptor names, typedefs and template types replaced."""
    base = descriptor.child_by_field_name("type")
    declarator = descriptor.child_by_field_name("declarator")
    stars = declarator_of(declarator).stars if declarator is not None else 0
    return host.resolved(plain_type(text_of(base if base is not None else descriptor)) + "*" * stars)


def _cast(host: Host, node: Any) -> Any:
    return cast(evaluate(host, node.child_by_field_name("value")), type_of(host, node.child_by_field_name("type")))


def _sizeof(host: Host, node: Any) -> Any:
    kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    if kind is not None:
        size = host.size_of(type_of(host, kind))
        return Unknown(text_of(node)) if size is None else size
    while value is not None and value.type == "parenthesized_expression":
        value = value.named_children[0]
    word = text_of(value)
    if value.type == "identifier" and host.find(word) is None:
        size = host.size_of(host.resolved(plain_type(word)))
        return Unknown(text_of(node)) if size is None else size
    return host.size_of_variable(place(host, value), text_of(node))


def _field(host: Host, node: Any) -> Any:
    cell = _field_place(host, node)
    if cell is None:
        return remaining(text_of(node))
    return cell.value if not isinstance(cell.value, Unknown) or cell.value.text else remaining(text_of(node))


def _subscript(host: Host, node: Any) -> Any:
    cell = _subscript_place(host, node)
    if cell is None:
        return remaining(text_of(node))
    return cell.value if not isinstance(cell.value, Unknown) or cell.value.text else remaining(text_of(node))


def _lambda(host: Host, node: Any) -> Any:
    return Closure(node, tuple(host.frame.scopes))


def _template_name(host: Host, node: Any) -> Any:
    name = node.child_by_field_name("name")
    arguments = node.child_by_field_name("arguments")
    words = tuple(host.template_words(arguments))
    return Function(text_of(name).rpartition("::")[2] if name is not None else text_of(node), words)


def _call(host: Host, node: Any) -> Any:
    return host.call(node)


def _qualified(host: Host, node: Any) -> Any:
    inner = node.child_by_field_name("name")
    if inner is not None and inner.type in ("template_function", "qualified_identifier"):
        return evaluate(host, inner)
    scope = node.child_by_field_name("scope")
    if scope is not None and inner is not None and (cell := host.static_member(text_of(scope), text_of(inner))):
        return cell.value
    return _identifier(host, node)


def _list(host: Host, node: Any) -> Any:
    return host.initial(node, "")


def _new(host: Host, node: Any) -> Any:
    return host.heap(node)


_RULES: dict[str, Callable[[Host, Any], Any]] = {
    "number_literal": _number, "char_literal": _character, "string_literal": _string, "concatenated_string": _string,
    "identifier": _identifier, "true": _identifier, "false": _identifier, "field_identifier": _identifier,
    "null": lambda *_: 0, "nullptr": lambda *_: 0, "this": lambda host, _: host.this_pointer(),
    "binary_expression": _binary, "unary_expression": _unary, "pointer_expression": _address,
    "update_expression": _update, "assignment_expression": _assignment, "conditional_expression": _conditional,
    "parenthesized_expression": _parenthesized, "condition_clause": _parenthesized, "comma_expression": _comma,
    "cast_expression": _cast, "sizeof_expression": _sizeof, "field_expression": _field,
    "subscript_expression": _subscript, "lambda_expression": _lambda, "template_function": _template_name,
    "call_expression": _call, "qualified_identifier": _qualified, "initializer_list": _list, "new_expression": _new,
    "compound_literal_expression": lambda host, node: host.literal(node),
}  # fmt: skip


# --- variables ---


def _identifier_place(host: Host, node: Any) -> Cell | None:
    name = text_of(node)
    return host.find(name) or host.find(name.rpartition("::")[2])


def _field_place(host: Host, node: Any) -> Cell | None:
    argument = node.child_by_field_name("argument")
    name = text_of(node.child_by_field_name("field"))
    whole = evaluate(host, argument)
    if isinstance(whole, Pointer):
        whole = element(host, whole, 0)
        whole = whole.value if whole is not None else Unknown()
    if not isinstance(whole, Struct):
        owner = place(host, argument)
        if owner is None or not isinstance(owner.value, Unknown):
            return None
        whole = Struct(owner.type, {})
        host.write(owner, whole)
    if name not in whole.fields:
        whole.fields[name] = Cell(Unknown(), host.member_type(whole.type, name), name)
    return whole.fields[name]


def _subscript_place(host: Host, node: Any) -> Cell | None:
    whole = evaluate(host, node.child_by_field_name("argument"))
    index = _index(host, node)
    return element(host, whole, index)


def element(host: Host, whole: Any, index: Any) -> Cell | None:
    """The variable at an index of an array or behind a pointer; None where either is unknown."""
    if isinstance(whole, Pointer):
        index = binary("+", whole.offset, index)
        if isinstance(whole.target, Cell):
            return whole.target if index == 0 else None
        whole = whole.target
    if not isinstance(whole, HostArray) or not isinstance(index, int):
        return None
    if index not in whole.cells:
        whole.cells[index] = Cell(host.blank(whole.type), whole.type)
    return whole.cells[index]


def _dereferenced(host: Host, node: Any) -> Cell | None:
    if text_of(node.child_by_field_name("operator")) != "*":
        return None
    return element(host, evaluate(host, node.child_by_field_name("argument")), 0)


def _cast_place(host: Host, node: Any) -> Cell | None:
    return place(host, node.child_by_field_name("value"))


def _inner_place(host: Host, node: Any) -> Cell | None:
    return place(host, node.named_children[0]) if node.named_children else None


_PLACES: dict[str, Callable[[Host, Any], Cell | None]] = {
    "identifier": _identifier_place, "qualified_identifier": _identifier_place, "field_expression": _field_place,
    "subscript_expression": _subscript_place, "pointer_expression": _dereferenced, "cast_expression": _cast_place,
    "parenthesized_expression": _inner_place,
}  # fmt: skip
