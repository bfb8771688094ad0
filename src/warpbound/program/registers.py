"""Which registers an instruction reads and writes, by name: R5, UR4, P0, UP1, and CC, the carry of older machines.

Source   the operand order of the SASS tables in NVIDIA's "CUDA Binary Utilities", Fermi to Blackwell: results first;
         64-bit values and addresses in two registers. Checked on compiled code of sm_75 to sm_120, where every
         dependence found this way is one that the control words wait for.
"""

import re
from collections.abc import Callable, Iterator
from functools import wraps

from warpbound.program.instruction import PT, RZ, Instruction, Operand

_LANE_BYTES = {
    "U8": 1, "S8": 1, "8": 1, "U16": 2, "S16": 2, "16": 2, "32": 4, "64": 8, "U64": 8, "S64": 8, "F64": 8, "96": 12,
    "128": 16, "256": 32, "F32x2": 8, "F32x4": 16, "F16x4": 8, "F16x8": 16, "BF16x4": 8, "BF16x8": 16,
}  # fmt: skip
_MATRIX_ROW_B = 16  # LDSM and STSM: each lane addresses a row of 8 halves
_BULK_B = 16  # bytes of one piece of a bulk copy, which no lane makes alone: its trace has rows of 32 pieces
_ELEMENT_BITS = {"fp16": 16, "fp8": 8, "fp4": 4, "int8": 8, "int1": 1, "fp64": 64}  # unless a modifier gives another
_SUM_BITS = {"int8": 32, "int1": 32, "fp64": 64}  # of others 32 with .F32, else 16
_ELEMENTS = {"TF32": 32, "S4": 4, "U4": 4}
_SHAPE = re.compile(r"(16|8)x?8x?(4|8|16|32|64|128|256)$")  # rows, (columns,) depth
_WARPGROUP_SHAPE = re.compile(r"64x(\d+)x\d+$")
_WARPGROUP_FACTOR = 4  # registers of A, 64 rows of 32 bytes over 128 lanes
_DESCRIPTORS = 4  # uniform registers: the descriptor of A, unused where A is in registers, and that of B
_FILLS_A_REGISTER = 32 * 32  # bits: one register of every lane
_COLUMNS = re.compile(r"x(\d+)$")
_COLUMN_REGISTERS = {"16dp128bit": 2, "16dp256bit": 4}  # of .x1
_RANK = re.compile(r"([1-5])D$")
_TYPED = frozenset({"64", "S64", "U64"})
_PREFIX = {"register": "R", "uniform": "UR", "predicate": "P", "uniform_predicate": "UP"}
_EARLY = re.compile(r"[-!~|]*([RACo])(\d+)[LH]?(?:\.\w+)*\|?$")  # halves, address and condition registers of 1.x
_CONDITION = re.compile(r"C\d$")  # 1.x names the condition register that it sets on the opcode
_TYPE = re.compile(r"([FSUB])(8|16|32|64)$")


def _kept_with_it(names: Callable[[Instruction], tuple[str, ...]]) -> Callable[[Instruction], tuple[str, ...]]:
    """Decorator: caches the result in the instruction. A table would compare equal instructions of other kernels."""
    place = f"_{names.__name__}"

    @wraps(names)
    def names_of(instruction: Instruction) -> tuple[str, ...]:
        attributes: dict[str, tuple[str, ...]] = vars(instruction)
        if place not in attributes:
            attributes[place] = names(instruction)
        return attributes[place]

    return names_of


@_kept_with_it
def writes(instruction: Instruction) -> tuple[str, ...]:
    """Registers that hold its results."""
    names: list[str] = []
    for operand in instruction.operands[: results(instruction)]:
        names += _names(operand, result_width(instruction) if "predicate" not in operand.kind else 1)
        if "CC" in operand.suffixes:
            names.append("CC")
    names += [word for word in instruction.modifiers if _CONDITION.match(word)]
    if instruction.traits.result == "none":
        names += _all_predicates(instruction)
    return tuple(dict.fromkeys(names))


@_kept_with_it
def reads(instruction: Instruction) -> tuple[str, ...]:
    """Registers that it needs: sources, addresses, the guard, the carry."""
    names = list(guard_of(instruction))
    sources = instruction.operands[results(instruction) :]
    values = [x for x in sources if not x.kind.endswith("predicate")]
    for operand in sources:
        place = next((n for n, x in enumerate(values) if x is operand), None)
        last = place == len(values) - 1
        names += _names(operand, 1 if place is None else _source_width(instruction, place, last=last))
        if isinstance(operand.bank, Operand):
            names += _names(operand.bank, 2)  # a descriptor
        if operand.kind in ("memory", "constant"):
            for term in operand.terms:
                names += _names(term, _address_width(instruction, operand, term))
    if instruction.opcode == "R2UR" and "OR" in instruction.modifiers:  # the predicate that it also writes
        names += _names(instruction.operands[0], 1)
    if "X" in instruction.modifiers or "CC" in instruction.modifiers:
        names.append("CC")
    if instruction.traits.result == "registers":
        names += _all_predicates(instruction)
    return tuple(dict.fromkeys(names))


def guard_of(instruction: Instruction) -> tuple[str, ...]:
    """The predicate that it executes under."""
    return tuple(_names(instruction.guard, 1)) if instruction.guard else ()


def _all_predicates(instruction: Instruction) -> Iterator[str]:
    """The predicates in PR (P2R, R2P and their uniform forms) that the mask, the last operand, selects."""
    if not instruction.traits.all_predicates:
        return
    prefix = "UP" if instruction.traits.uniform else "P"
    mask = predicate_mask(instruction)
    yield from (f"{prefix}{i}" for i in range(PT) if mask is None or mask >> i & 1)


def predicate_mask(instruction: Instruction) -> int | None:
    """The bits of PR that P2R and R2P move; None where the mask is no number in the code."""
    last = instruction.operands[-1] if instruction.operands else None
    return int(last.value) if last is not None and last.kind == "immediate" else None


def results(instruction: Instruction) -> int:
    """How many of the first operands are results: a register, a predicate, or one of each."""
    rule = instruction.traits.result
    if rule == "none" or not instruction.operands:
        return 0
    if len(instruction.operands) < 3 or rule == "one_register":  # of two operands the second is a source
        return 1
    first, second = (x.kind.removeprefix("uniform_") for x in instruction.operands[:2])
    if first == "predicate":
        also = ("predicate",) if rule == "predicates" else ("predicate", "register", "uniform")
        return 2 if second in also else 1
    return 2 if (second == "predicate" and len(instruction.operands) > 2) or _in_two_runs(instruction) else 1


def _names(operand: Operand, width: int) -> Iterator[str]:
    if operand.kind in _PREFIX:
        last = PT if "predicate" in operand.kind else RZ
        if operand.index < last:
            yield from (f"{_PREFIX[operand.kind]}{operand.index + i}" for i in range(width))
    elif operand.kind == "other" and (early := _EARLY.match(operand.text)):
        yield f"{early[1]}{early[2]}"


def result_width(instruction: Instruction) -> int:
    """Registers of one result."""
    traits = instruction.traits
    if traits.kind in ("load", "constant", "atomic"):
        return _access_width(instruction)
    match traits.width:
        case "converted":
            return _converted(instruction)[0]
        case "texture":
            return 4
        case "matrix":
            return _matrix_widths(instruction)[2]
        case "warpgroup":
            return _warpgroup_sum(instruction)
        case "columns":
            return _columns(instruction)
        case "special":
            return 1 if "32" in instruction.modifiers else 2
        case "single" | "pair_sources" | "typed_sources":
            return 1
    return 2 if "WIDE" in instruction.modifiers or in_pairs(instruction) else 1


def _source_width(instruction: Instruction, place: int, *, last: bool) -> int:
    """Registers of a source; place : among those that are no predicates."""
    traits = instruction.traits
    if traits.kind in ("bulk_copy", "tensor_memory"):
        return _columns(instruction) if traits.width == "columns" else 1
    if traits.result == "none" or traits.kind == "atomic":
        return _access_width(instruction)
    match traits.width:
        case "converted":
            return _converted(instruction)[1]
        case "matrix":
            return _matrix_widths(instruction)[min(place, 2)] if place < 3 else 1
        case "warpgroup":
            if place == _metadata_place(instruction):
                return 1
            return _warpgroup_sum(instruction) if place else _WARPGROUP_FACTOR
        case "pair_sources":
            return 2
        case "typed_sources":
            return 1 if _TYPED.isdisjoint(instruction.modifiers) else 2
    wide = "WIDE" in instruction.modifiers or (traits.affine == "multiply_add" and "HI" in instruction.modifiers)
    return 2 if (last and wide) or in_pairs(instruction) else 1


def in_pairs(instruction: Instruction) -> bool:
    """Whether the result and all sources are pairs of registers."""
    match instruction.traits.width:
        case "pair":
            return True
        case "pair_if_64":
            return "64" in instruction.modifiers
        case "pair_if_typed":
            return not _TYPED.isdisjoint(instruction.modifiers)
    return False


def _converted(instruction: Instruction) -> tuple[int, int]:
    """Registers of the result and of the source of a conversion: of two types that are named the first is the
    result's, one alone is the side that is no 32-bit number of the usual kind."""
    types = [(match[1], match[2]) for match in map(_TYPE.match, instruction.modifiers) if match]
    if len(types) > 1:
        return _registers(types[0]), _registers(types[-1])
    width = _registers(types[0]) if types else 1
    opcode = instruction.opcode.removeprefix("U")
    if opcode not in ("I2F", "F2I"):
        return width, width
    is_result = bool(types) and (types[0][0] == "F") == (opcode == "I2F")
    return (width, 1) if is_result else (1, width)


def _registers(type_: tuple[str, str]) -> int:
    return 2 if type_[1] == "64" else 1


def _matrix_widths(instruction: Instruction) -> tuple[int, int, int]:
    """Registers of the factors and of the sum of a matrix product: their elements are spread over the lanes."""
    modifiers, type_ = instruction.modifiers, instruction.traits.tensor
    shape = next(filter(None, map(_SHAPE.match, modifiers)), None)
    if shape is None:
        return 1, 1, 1
    rows, depth = int(shape[1]), int(shape[2])
    bits = next((_ELEMENTS[word] for word in modifiers if word in _ELEMENTS), _ELEMENT_BITS[type_])
    sum_bits = _SUM_BITS.get(type_, 32 if "F32" in modifiers else 16)
    packed = depth // 2 if "SP" in modifiers else depth  # of two elements of a sparse factor one is kept
    sizes = rows * packed * bits, depth * 8 * bits, rows * 8 * sum_bits
    first, second, total = (max(1, size // _FILLS_A_REGISTER) for size in sizes)
    return first, second, total


def _columns(instruction: Instruction) -> int:
    """Registers of each lane that tensor memory takes or gives."""
    count = next((int(match[1]) for match in map(_COLUMNS.match, instruction.modifiers) if match), 1)
    return count * next((n for word, n in _COLUMN_REGISTERS.items() if word in instruction.modifiers), 1)


def _metadata_place(instruction: Instruction) -> int:
    """Place of a sparse factor's metadata, the last register, among the sources that are no predicates; -1: none."""
    sources = [x for x in instruction.operands[1:] if not x.kind.endswith("predicate")]
    places = [n for n, x in enumerate(sources) if x.kind == "register"]
    return places[-1] if "SP" in instruction.modifiers else -1


def _warpgroup_sum(instruction: Instruction) -> int:
    """Registers of the sum of a warpgroup: 64 rows of its columns over 128 lanes."""
    shape = next(filter(None, map(_WARPGROUP_SHAPE.match, instruction.modifiers)), None)
    if shape is None:
        return 1
    halves = "F32" not in instruction.modifiers and instruction.traits.tensor in ("fp16", "fp8")
    return int(shape[1]) // (4 if halves else 2)


def _box_width(instruction: Instruction) -> int:
    """Uniform registers of the first operand of a bulk copy: addresses in two, or the shared address, the barrier of a
    load, and the coordinates of a box."""
    rank = next((int(match[1]) for match in map(_RANK.match, instruction.modifiers) if match), None)
    if rank is None:
        return 2
    rows = 3 if {"GATHER4", "SCATTER4"} & set(instruction.modifiers) else 0
    return rank + rows + {"UTMALDG": 2, "UTMAPF": 0}.get(instruction.opcode, 1)


def lane_bytes(instruction: Instruction) -> int:
    """Bytes that each lane of a load, a store or an atomic moves."""
    if instruction.traits.width == "matrices":
        return _MATRIX_ROW_B
    if instruction.traits.kind == "bulk_copy":
        return _BULK_B
    return max((_LANE_BYTES[word] for word in instruction.modifiers if word in _LANE_BYTES), default=4)


def matrices(instruction: Instruction) -> int:
    """The 8 x 8 matrices that LDSM and STSM move, a register each."""
    return next((int(word) for word in instruction.modifiers if word in ("2", "4")), 1)


def _access_width(instruction: Instruction) -> int:
    """Registers that hold what one lane loads or stores; 256 bits lie in two runs of four."""
    if instruction.traits.width == "matrices":
        return matrices(instruction)
    width = max(1, lane_bytes(instruction) // 4)
    return width // 2 if _in_two_runs(instruction) else width


def _in_two_runs(instruction: Instruction) -> bool:
    return "256" in instruction.modifiers and sum(x.kind == "register" for x in instruction.operands) == 2


def _address_width(instruction: Instruction, operand: Operand, term: Operand) -> int:
    """Two registers hold a 64-bit address: .64 on the register marks this from Volta on, .E on the opcode before."""
    if instruction.traits.width == "warpgroup":
        return _DESCRIPTORS
    if instruction.traits.kind == "tensor_memory":
        return 2 if operand.text.startswith("gdesc") else 1
    if instruction.traits.kind == "bulk_copy":
        return _box_width(instruction) if operand is instruction.operands[0] else 2
    if instruction.traits.kind == "copy" and operand is instruction.operands[0]:
        return 1  # in shared memory
    if operand.kind == "constant" or term.kind != "register":
        return 2 if term.kind == "uniform" and "64" in term.suffixes else 1
    if "64" in term.suffixes:
        return 2
    plain = not term.suffixes and not any(x.kind == "uniform" for x in operand.terms)
    return 2 if "E" in instruction.modifiers and plain else 1
