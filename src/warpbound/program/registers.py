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
_PAIRS = frozenset({"MOV", "UMOV", "SEL", "USEL", "IADD", "UIADD", "IADD3", "UIADD3"})  # where .64 is written
_COMPARED = frozenset({"ISETP", "UISETP", "IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX", "MATCH"})  # .64, .S64, .U64
_ALWAYS_PAIRS = frozenset({"FADD2", "FMUL2", "FFMA2", "UFADD2", "UFMUL2", "UFFMA2"})
_MATRICES = {"HMMA": 16, "QMMA": 8, "IMMA": 8, "BMMA": 1, "DMMA": 64}  # bits of an element, unless a modifier says so
_ELEMENTS = {"TF32": 32, "S4": 4, "U4": 4}
_SHAPE = re.compile(r"(16|8)x?8x?(4|8|16|32|64|128|256)$")  # rows, (columns,) depth
_FILLS_A_REGISTER = 32 * 32  # bits: one register of every lane
_ONE_RESULT = frozenset({"PSET", "CSET"})  # the predicate behind it is a source
_MEMORY = frozenset({"LD", "LDG", "LDU", "LDL", "LDS", "LDC", "LDSM", "LDSLK", "LDCU", "ULDC", "LLD", "GLD"})
_ATOMICS = frozenset({"ATOM", "ATOMG", "ATOMS"})
_TEXTURES = frozenset({"TEX", "TLD", "TLD4", "TXD", "TEXS", "TLDS"})
_PREFIX = {"register": "R", "uniform": "UR", "predicate": "P", "uniform_predicate": "UP"}
_EARLY = re.compile(r"[-!~|]*([RACo])(\d+)[LH]?(?:\.\w+)*\|?$")  # halves, address and condition registers of 1.x
_CONDITION = re.compile(r"C\d$")  # 1.x names the condition register that it sets on the opcode
_ATOMIC = re.compile(r"(?:[FSU]|BF)?(16|32|64|128)(?:x(\d))?$")
_TYPE = re.compile(r"([FSUB])(8|16|32|64)$")


@lru_cache(1 << 14)
def writes(one: Instruction) -> tuple[str, ...]:
    """Registers that hold its results."""
    found: list[str] = []
    for operand in one.operands[: results(one)]:
        found += _names(operand, _result_width(one) if "predicate" not in operand.kind else 1)
        if "CC" in operand.suffixes:
            found.append("CC")
    found += [word for word in one.modifiers if _CONDITION.match(word)]
    return tuple(dict.fromkeys(found))


@lru_cache(1 << 14)
def reads(one: Instruction) -> tuple[str, ...]:
    """Registers that it needs: sources, addresses, the guard, the carry."""
    found = list(_names(one.guard, 1)) if one.guard else []
    sources = one.operands[results(one) :]
    values = [x for x in sources if not x.kind.endswith("predicate")]
    for operand in sources:
        place = next((n for n, x in enumerate(values) if x is operand), None)
        found += _names(operand, 1 if place is None else _source_width(one, place, last=place == len(values) - 1))
        if isinstance(operand.bank, Operand):
            found += _names(operand.bank, 2)  # a descriptor
        if operand.kind in ("memory", "constant"):
            for term in operand.terms:
                found += _names(term, _address_width(one, operand, term))
    if "X" in one.modifiers or "CC" in one.modifiers:
        found.append("CC")
    return tuple(dict.fromkeys(found))


def results(one: Instruction) -> int:
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
        return _converted(one)[0]
    if one.opcode in _MEMORY:
        return _access_width(one)
    if one.opcode in _ATOMICS:
        return _atomic_width(one)
    if one.opcode in _TEXTURES:
        return 4
    if one.opcode in _MATRICES:
        return _matrix_widths(one)[2]
    if one.opcode in ("CS2R", "CS2UR"):
        return 1 if "32" in one.modifiers else 2
    if one.opcode == "MATCH":
        return 1
    return 2 if "WIDE" in one.modifiers or in_pairs(one) else 1


def _source_width(one: Instruction, place: int, *, last: bool) -> int:
    """Registers of a source; place : among those that are no predicates."""
    if one.opcode in _DOUBLE:
        return 2
    if one.opcode in _CONVERTS:
        return _converted(one)[1]
    if one.opcode in _ATOMICS:
        return _atomic_width(one)
    if one.opcode in ("RED", "REDG", "REDS"):
        return max(_atomic_width(one), _access_width(one))
    if one.opcode in _NO_RESULT:
        return _access_width(one)
    if one.opcode in _MATRICES:
        return _matrix_widths(one)[min(place, 2)] if place < 3 else 1
    return 2 if last and "WIDE" in one.modifiers or in_pairs(one) else 1


def in_pairs(one: Instruction) -> bool:
    """Whether the registers of an instruction of integers are pairs, as from sm_120 on they may be."""
    if one.opcode in _PAIRS:
        return "64" in one.modifiers
    if one.opcode in _COMPARED:
        return not {"64", "S64", "U64"}.isdisjoint(one.modifiers)
    return one.opcode in _ALWAYS_PAIRS


def _converted(one: Instruction) -> tuple[int, int]:
    """Registers of the result and of the source of a conversion: of two types that are named the first is the
    result's, one alone is the side that is no 32-bit number of the usual kind."""
    types = [(found[1], found[2]) for found in map(_TYPE.match, one.modifiers) if found]
    if len(types) > 1:
        return _registers(types[0]), _registers(types[-1])
    width = _registers(types[0]) if types else 1
    if one.opcode not in ("I2F", "F2I"):
        return width, width
    is_result = bool(types) and (types[0][0] == "F") == (one.opcode == "I2F")
    return (width, 1) if is_result else (1, width)


def _registers(type_: tuple[str, str]) -> int:
    return 2 if type_[1] == "64" else 1


def _matrix_widths(one: Instruction) -> tuple[int, int, int]:
    """Registers of the factors and of the sum of a matrix product: their elements are spread over the lanes."""
    said = one.modifiers
    shape = next(filter(None, map(_SHAPE.match, said)), None)
    if shape is None:
        return 1, 1, 1
    rows, depth = int(shape[1]), int(shape[2])
    bits = next((_ELEMENTS[word] for word in said if word in _ELEMENTS), _MATRICES[one.opcode])
    kept = {"IMMA": 32, "BMMA": 32, "DMMA": 64}.get(one.opcode, 32 if "F32" in said else 16)
    packed = depth // 2 if "SP" in said else depth  # of two elements of a sparse factor one is kept
    sizes = rows * packed * bits, depth * 8 * bits, rows * 8 * kept
    first, second, total = (max(1, size // _FILLS_A_REGISTER) for size in sizes)
    return first, second, total


def _access_width(one: Instruction) -> int:
    """Registers that hold what one lane loads or stores; 256 bits lie in two runs of four."""
    if one.opcode in ("LDSM", "STSM"):  # matrices of a register each
        return next((int(word) for word in one.modifiers if word in ("2", "4")), 1)
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
