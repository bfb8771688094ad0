"""Parses the text of an instruction, as nvdisasm prints it, into opcode and operands."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import TypedDict

from warpbound.program.instruction import PT, RZ, Operand

BANK_B = 0x10000  # of a constant bank; nvdisasm prints offsets above half of it as negative: c[0x0][-0x6880] is 0x9780
_ANNOTATION = re.compile(r"\s*\(\*(?!\"BRANCH_TARGETS).*?\*\)")  # remarks such as (*"SpillRefill"*); branch tables stay
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)$", re.I)
_FLOAT = re.compile(r"([+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|INF|QNAN|SNAN))((?:\.H\w+)*)$", re.I)
_REGISTER = re.compile(r"(UR|UP|R|P)(\d+|Z|T)((?:\.\w+)*)$")
_BARRIER = re.compile(r"B(\d+)((?:\.\w+)*)$")
_SCOREBOARD = re.compile(r"(?:SB|gsb)(\d+)((?:\.\w+)*)$")
_BRACKETED = re.compile(r"(\w*)((?:\[[^\[\]]*\])+)((?:\.\w+)*)$")
_SHAPE = re.compile(r"(?:ARRAY_)?(?:1D|2D|3D|CUBE)(?:\.\w+)*$")
_KINDS = {"R": "register", "UR": "uniform", "P": "predicate", "UP": "uniform_predicate"}
_ALONE = {"RZ": ("register", RZ), "URZ": ("uniform", RZ), "PT": ("predicate", PT), "UPT": ("uniform_predicate", PT)}


class Signs(TypedDict, total=False):
    """Prefixes of an operand: ! or ~, -, and the bars of |x|."""

    invert: bool
    negate: bool
    absolute: bool


def split_instruction(text: str) -> tuple[Operand | None, str, tuple[str, ...], tuple[Operand, ...]]:
    """Guard, opcode, modifiers and operands of one printed instruction (without the final `;`)."""
    text = _ANNOTATION.sub("", text).strip()
    guard = None
    if text.startswith("@"):
        head, _, text = text[1:].partition(" ")
        guard = operand(head)
        text = text.lstrip()
    mnemonic, _, rest = text.replace("] [", "][").partition(" ")  # HFMA2 of 7.5 and 8.9: c[0x0] [0x164]
    opcode, *modifiers = mnemonic.split(".")
    return guard, opcode, tuple(modifiers), tuple(operand(part) for part in _split(rest))


def _split(text: str) -> list[str]:
    """Cut at the commas and blanks outside brackets (`RET.REL.NODEC R6 `(kernel)` has a blank only)."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        if letter in "[({":
            depth += 1
        elif letter in "])}":
            depth -= 1
        elif letter in ", " and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


@lru_cache(maxsize=65536)
def operand(text: str) -> Operand:
    """Parse one operand; text that fits no form comes back as kind `other`, never as an error."""
    body, signs = _strip_signs(text.strip())
    result = _register(text, body, signs) or _bracketed(text, body, signs) or _number(text) or _named(text, body)
    return result or Operand("other", text)


def _strip_signs(text: str) -> tuple[str, Signs]:
    signs: Signs = {}
    if text[:1] in ("!", "~"):
        signs["invert"] = True
        text = text[1:]
    elif text.startswith("-") and not _NUMBER.match(text) and not _FLOAT.match(text):
        signs["negate"] = True
        text = text[1:]
    if text.startswith("|"):
        inner, _, tail = text[1:].partition("|")
        signs["absolute"] = True
        text = inner + tail
    return text, signs


def _signed(plain: Operand, signs: Signs) -> Operand:
    return replace(plain, **signs) if signs else plain


def _register(text: str, body: str, signs: Signs) -> Operand | None:
    match = _REGISTER.match(body)
    if not match:
        return None
    prefix, number, tail = match.groups()
    suffixes = tuple(tail.split(".")[1:])
    if number in ("Z", "T"):
        kind, index = _ALONE.get(prefix + number, ("other", -1))
    else:
        kind, index = _KINDS[prefix], int(number)
    return _signed(Operand(kind, text, index=index, suffixes=suffixes), signs)


def _bracketed(text: str, body: str, signs: Signs) -> Operand | None:
    """Constants c[bank][...], addresses [...], desc[UR][...] and relatives."""
    match = _BRACKETED.match(body)
    if not match:
        return None
    prefix, groups, tail = match.groups()
    inside = re.findall(r"\[([^\[\]]*)\]", groups)
    terms, offset = _address(inside[-1])
    bank: int | Operand | None = None
    if len(inside) > 1:
        bank = _integer(inside[0]) if _NUMBER.match(inside[0]) else operand(inside[0])
    kind = "constant" if prefix in ("c", "cx") else "memory"
    if kind == "constant" and not terms:
        offset %= BANK_B
    suffixes = tuple(tail.split(".")[1:])
    return _signed(Operand(kind, text, value=offset, terms=terms, bank=bank, suffixes=suffixes), signs)


def _address(inside: str) -> tuple[tuple[Operand, ...], int]:
    terms, offset = [], 0
    for part in re.findall(r"[+-]?[^+-]+", inside.replace(" ", "")):
        bare = part.lstrip("+")
        if _NUMBER.match(bare):
            offset += _integer(bare)
        else:
            terms.append(operand(bare))
    return tuple(terms), offset


def _integer(text: str) -> int:
    """Hexadecimal with 0x, else decimal, leading zeros or not."""
    return int(text, 16 if "x" in text.lower() else 10)


def _number(text: str) -> Operand | None:
    if _NUMBER.match(text) and text != "-0":
        return Operand("immediate", text, value=_integer(text))
    if number := _FLOAT.match(text):
        value = float(number[1].upper().replace("QNAN", "NAN").replace("SNAN", "NAN"))
        return Operand("float", text, value=value, suffixes=tuple(number[2].split(".")[1:]))
    return None


def _named(text: str, body: str) -> Operand | None:
    if body.startswith("`("):
        return Operand("label", text)
    if body.startswith("SR") or body == "PR":
        return Operand("special", text)
    if _SHAPE.match(body):
        return Operand("shape", text)
    if body.startswith("{"):
        return Operand("set", text)
    for kind, form in (("barrier", _BARRIER), ("scoreboard", _SCOREBOARD)):
        match = form.match(body)
        if match:
            return Operand(kind, text, index=int(match[1]), suffixes=tuple(match[2].split(".")[1:]))
    return None
