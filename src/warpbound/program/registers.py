"""Which registers an instruction reads and writes, by name: R5, UR4, P0, UP1, and CC, the carry of older machines.

Source   the operand order of the SASS tables in NVIDIA's "CUDA Binary Utilities", Fermi to Blackwell: results first;
         64-bit values and addresses in two registers. Checked on compiled code of sm_75 to sm_120, where every
         dependence found this way is one that the control words wait for.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from warpbound.program.instruction import PT, RZ, Instruction, Operand

_WITHOUT = """
ST STG STL STS STSM STAS STUL STSUL STSCUL RED REDG REDS SUST SURED GST LST GRED BRA BRX JMP JMX CAL CALL JCAL RET EXIT
BRK CONT SYNC SSY PBK PCNT PRET BAR MEMBAR NOP BSYNC BREAK WARPSYNC NANOSLEEP BPT KILL DEPBAR TEXDEPBAR LDGDEPBAR CCTL
CCTLL YIELD LDGSTS ERRBAR"""
_NO_RESULT = frozenset(_WITHOUT.split())
_DOUBLE = frozenset({"DADD", "DMUL", "DFMA", "DMNMX", "DSET", "DSETP", "DMAX", "DMIN"})
_CONVERTS = frozenset({"F2F", "F2I", "I2F", "I2I", "FRND"})
_ONE_RESULT = frozenset({"PSET", "CSET"})  # the predicate behind it is a source
_MEMORY = frozenset({"LD", "LDG", "LDU", "LDL", "LDS", "LDC", "LDSM", "LDSLK", "LDCU", "ULDC", "LLD", "GLD"})
_ATOMICS = frozenset({"ATOM", "ATOMG", "ATOMS"})
_TEXTURES = frozenset({"TEX", "TLD", "TLD4", "TXD", "TEXS", "TLDS"})
_PREFIX = {"register": "R", "uniform": "UR", "predicate": "P", "uniform_predicate": "UP"}
_EARLY = re.compile(r"[-!~|]*([RACo])(\d+)[LH]?(?:\.\w+)*\|?$")  # halves, address and condition registers of 1.x
_CONDITION = re.compile(r"C\d$")  # 1.x names the condition register that it sets on the opcode
_ATOMIC = re.compile(r"(?:[FSU]|BF)?(16|32|64|128)(?:x(\d))?$")
_TYPE = re.compile(r"[FSUB](8|16|32|64)$")


@lru_cache(1 << 14)
def writes(one: Instruction) -> tuple[str, ...]:
    """Registers that hold its results."""
    found: list[str] = []
    for operand in one.operands[: _results(one)]:
        found += _names(operand, _result_width(one) if "predicate" not in operand.kind else 1)
        if "CC" in operand.suffixes:
            found.append("CC")
    found += [word for word in one.modifiers if _CONDITION.match(word)]
    return tuple(dict.fromkeys(found))


@lru_cache(1 << 14)
def reads(one: Instruction) -> tuple[str, ...]:
    """Registers that it needs: sources, addresses, the guard, the carry."""
    found = list(_names(one.guard, 1)) if one.guard else []
    sources = one.operands[_results(one) :]
    for place, operand in enumerate(sources):
        width = _source_width(one, last=place == len(sources) - 1)
        found += _names(operand, width)
        if isinstance(operand.bank, Operand):
            found += _names(operand.bank, 2)  # a descriptor
        if operand.kind in ("memory", "constant"):
            for term in operand.terms:
                found += _names(term, _address_width(one, operand, term))
    if "X" in one.modifiers or "CC" in one.modifiers:
        found.append("CC")
    return tuple(dict.fromkeys(found))


def _results(one: Instruction) -> int:
    """How many of the first operands are results: a register, a predicate, or one of each."""
    if one.opcode in _NO_RESULT or not one.operands:
        return 0
    if len(one.operands) < 2 or one.opcode in _ONE_RESULT:
        return 1
    first, second = (x.kind.removeprefix("uniform_") for x in one.operands[:2])
    if first == "predicate":
        return 2 if second in ("predicate", "register", "uniform") and _sets_two(one) else 1
    return 2 if (second == "predicate" and len(one.operands) > 2) or _in_two_runs(one) else 1


def _sets_two(one: Instruction) -> bool:
    """A comparison sets a predicate and its complement; others a predicate beside their register."""
    compares = one.opcode.endswith("SETP") or one.opcode in ("PLOP3", "FCHK")
    return (one.operands[1].kind.endswith("predicate")) if compares else True


def _names(operand: Operand, width: int) -> Iterator[str]:
    if operand.kind in _PREFIX:
        last = PT if "predicate" in operand.kind else RZ
        if operand.index < last:
            yield from (f"{_PREFIX[operand.kind]}{operand.index + i}" for i in range(width))
    elif operand.kind == "other" and (early := _EARLY.match(operand.text)):
        yield f"{early[1]}{early[2]}"


def _result_width(one: Instruction) -> int:
    if one.opcode in _DOUBLE and not one.opcode.endswith("SET"):
        return 2
    if one.opcode in _CONVERTS:
        types = [found[1] for found in map(_TYPE.match, one.modifiers) if found]
        return 2 if types[:1] == ["64"] else 1
    if one.opcode in _MEMORY:
        return _access_width(one)
    if one.opcode in _ATOMICS:
        return _atomic_width(one)
    if one.opcode in _TEXTURES:
        return 4
    return 2 if "WIDE" in one.modifiers else 1


def _source_width(one: Instruction, *, last: bool) -> int:
    if one.opcode in _DOUBLE:
        return 2
    if one.opcode in _CONVERTS:
        types = [found[1] for found in map(_TYPE.match, one.modifiers) if found]
        return 2 if types[-1:] == ["64"] else 1
    if one.opcode in _ATOMICS:
        return _atomic_width(one)
    if one.opcode in ("RED", "REDG", "REDS"):
        return max(_atomic_width(one), _access_width(one))
    if one.opcode in _NO_RESULT:
        return _access_width(one)
    return 2 if last and "WIDE" in one.modifiers else 1


def _access_width(one: Instruction) -> int:
    """Registers that hold what one lane loads or stores; 256 bits lie in two runs of four."""
    width = next((int(word) // 32 for word in one.modifiers if word in ("64", "96", "128", "256")), 1)
    return width // 2 if _in_two_runs(one) else width


def _atomic_width(one: Instruction) -> int:
    """Registers of one operand of an atomic: 64 bits also as F64, S64 or U64, vectors by their parts (F32x4: four)."""
    for word in one.modifiers:
        if found := _ATOMIC.match(word):
            return max(1, int(found[1]) * int(found[2] or 1) // 32)
    return 1


def _in_two_runs(one: Instruction) -> bool:
    return "256" in one.modifiers and sum(x.kind == "register" for x in one.operands) == 2


def _address_width(one: Instruction, operand: Operand, term: Operand) -> int:
    """Two registers hold a 64-bit address: said on the register from Volta on, by .E on the opcode before."""
    if operand.kind == "constant" or term.kind != "register":
        return 2 if term.kind == "uniform" and "64" in term.suffixes else 1
    if "64" in term.suffixes:
        return 2
    plain = not term.suffixes and not any(x.kind == "uniform" for x in operand.terms)
    return 2 if "E" in one.modifiers and plain else 1
