"""Operands written out again from what was parsed, to be compared with an independent print of the same code."""

import math
import re

from warpbound.program.instruction import Operand

_PREFIX = {"register": "R", "uniform": "UR", "predicate": "P", "uniform_predicate": "UP"}
_LAST = {"register": (255, "Z"), "uniform": (255, "Z"), "predicate": (7, "T"), "uniform_predicate": (7, "T")}


def split(text: str) -> list[str]:
    """At the commas outside brackets and braces."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def written(operand: Operand) -> str:
    """As nvdisasm prints it, from the fields alone (its own text for kinds that have no fields)."""
    if operand.kind in _PREFIX:
        index, letter = _LAST[operand.kind]
        body = _PREFIX[operand.kind] + (letter if operand.index == index else str(operand.index))
    elif operand.kind in ("constant", "memory"):
        body = _address(operand)
    elif operand.kind == "barrier":
        body = f"B{operand.index}"
    elif operand.kind == "scoreboard":
        body = ("gsb" if operand.text.startswith("gsb") else "SB") + str(operand.index)
    else:
        return operand.text
    tail = "".join("." + word for word in operand.suffixes)
    if operand.absolute:
        return ("-" if operand.negate else "") + f"|{body}|" + tail
    sign = "-" if operand.negate else ("~" if operand.text.startswith("~") else "!") if operand.invert else ""
    return sign + body + tail


def _address(operand: Operand) -> str:
    terms = [written(term) for term in operand.terms]
    value = int(operand.value)
    number = f"{'-' if value < 0 else ''}{abs(value):#x}"
    inside = "+".join([*terms, *([number] if value or not terms else [])])
    prefix = re.match(r"[~!|-]*(\w*)\[", operand.text)
    assert prefix
    if operand.bank is None:
        return f"{prefix[1]}[{inside}]"
    bank = written(operand.bank) if isinstance(operand.bank, Operand) else f"{operand.bank:#x}"
    return f"{prefix[1]}[{bank}][{inside}]"


def same(operand: Operand, printed: str) -> bool:
    """Whether an operand says what the independent print says."""
    if operand.kind == "immediate":
        return int(operand.value) == int(printed, 0)
    if operand.kind == "float":
        number = float(printed.upper().replace("QNAN", "NAN").replace("SNAN", "NAN"))
        return number == operand.value or (math.isnan(number) and math.isnan(float(operand.value)))
    if operand.kind == "label" and operand.index == 0 and printed.startswith("0x"):
        return operand.value == int(printed, 0)
    if operand.kind == "label":
        return operand.text == f"`({printed})"
    return written(operand).replace(" ", "") == printed.replace(" ", "")
