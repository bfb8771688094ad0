"""One instruction on the same random registers and memory, by NumPy's handler and by the interpreter in C."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warpbound.emulate.emulator import Chunk, Kernel, make_ready
from warpbound.emulate.global_memory import Image, Plan
from warpbound.emulate.native.code import code_of
from warpbound.emulate.native.native_chunk import NativeChunk, ThreadRows
from warpbound.emulate.state import LANES, BadAccess
from warpbound.kernel_launch import launch
from warpbound.program.instruction import RZ, Instruction, Operand
from warpbound.program.kernel import Program

BLOCKS, SHARED_B, LOCAL_B, ARRAY_B, LARGEST_B = 3, 2048, 256, 4096, 16
LIMIT = 1_000_000
EDGES = np.array(
    [
        0, 1, 2, 31, 32, 33, 63, 64, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000,
        0xFF800000, 0x7FC00000, 0x00400000, 0x80400000, 0x00800000, 0x42000000, 0x4F000000, 0xCF000000, 0x4F800000,
    ],
    np.uint32,
)  # fmt: skip  (powers, signs, infinities, NaN, subnormals, edges of integers)


@dataclass(frozen=True)
class Outcome:
    """What an engine made of an instruction. refused : its access was wrong, so that nothing happened."""

    rows: dict[str, np.ndarray]
    refused: bool


def kernel_of(instruction: Instruction, arch: int, random: np.random.Generator) -> Kernel:
    """A kernel of this instruction alone, with random constants and two arrays."""
    constants = {bank: words(random, 1024).tobytes() for bank in (2, 3, 4)}
    program = Program(
        "alone", "alone", arch, (replace(instruction, address=0),), registers=64, shared_bytes=SHARED_B,
        local_bytes=LOCAL_B, constants=constants,
    )  # fmt: skip
    kernel = make_ready(program, launch(grid=BLOCKS, block=LANES))
    return replace(kernel, memory=replace(kernel.memory, image=Image([Plan("a", ARRAY_B), Plan("b", ARRAY_B)])))


def words(random: np.random.Generator, count: int) -> np.ndarray:
    """Bits of all kinds: any, floats of one magnitude, small integers, edges."""
    kinds = [
        random.integers(0, 2**32, count, dtype=np.uint32),
        (random.standard_normal(count) * 10.0 ** random.integers(-6, 9)).astype(np.float32).view(np.uint32),
        random.integers(-40, 40, count).astype(np.int32).view(np.uint32),
        EDGES[random.integers(0, len(EDGES), count)],
    ]
    return np.choose(random.integers(0, len(kinds), count), kinds)


def contents(instruction: Instruction, kernel: Kernel, random: np.random.Generator, registers: int) -> dict[str, Any]:
    """Random registers, predicates and lanes; the addresses of an access lie in its memory in two of three cases."""
    lanes = BLOCKS * LANES
    doubles = (random.standard_normal(lanes * (registers // 2 + 1)) * 10.0 ** random.integers(-3, 12)).view(np.uint32)
    pairs = doubles.reshape(-1, lanes, 2).transpose(0, 2, 1).reshape(-1, lanes)
    rows = pairs.copy() if random.integers(3) == 0 else words(random, registers * lanes).reshape(registers, lanes)
    uniform = words(random, 300 * BLOCKS).reshape(300, BLOCKS)
    if random.integers(3):
        _aim(instruction, kernel, random, rows, uniform)
    chosen = np.repeat(random.integers(0, 2, BLOCKS) > 0, LANES), random.integers(0, 2, lanes) > 0
    mask = [None, chosen[0], chosen[1], chosen[0] & chosen[1]][random.integers(4)]
    return {
        "rows": rows, "uniform": uniform, "predicates": random.integers(0, 2, (7, lanes)) > 0,
        "uniform_predicates": random.integers(0, 2, (7, BLOCKS)) > 0,
        "lanes": mask if mask is not None and mask.any() else None,
        "memory": random.integers(0, 256, 1 << 16, np.uint8),
    }  # fmt: skip


def _aim(
    instruction: Instruction, kernel: Kernel, random: np.random.Generator, rows: np.ndarray, uniform: np.ndarray
) -> None:
    """Put addresses into the registers of an access: the first term is one, the others are nothing or little."""
    operand = next((x for x in instruction.operands if x.kind == "memory"), None)
    if operand is None:
        return
    is_global = instruction.traits.spaces[:1] == ("global",) or instruction.traits.is_generic
    image, lanes = kernel.memory.image, rows.shape[1]
    limit = ARRAY_B if is_global else SHARED_B if instruction.traits.spaces[0] == "shared" else LOCAL_B
    places = random.integers(0, limit // LARGEST_B, lanes) * LARGEST_B - int(operand.value)
    if is_global:
        first = np.array([image.address(0), image.address(random.integers(2))])
        places += first[random.integers(0, 2, lanes)]
    terms = [x for x in operand.terms if x.index != RZ]
    for term in sorted(terms, key=lambda x: _is_word(x) or x.kind == "uniform"):
        value = places if term.kind == "register" else np.full(BLOCKS, places[0])
        scale = next((int(x[1:]) for x in term.suffixes if x in ("X4", "X8", "X16")), 1)
        if _is_word(term) and is_global:
            value = np.full_like(value, 16)
        file = rows if term.kind == "register" else uniform
        file[term.index] = value // scale & 0xFFFFFFFF
        if is_global and not _is_word(term):
            file[term.index + 1] = value >> 32
        places = places if _is_word(term) and is_global else np.zeros_like(places)


def _is_word(term: Operand) -> bool:
    return "U32" in term.suffixes or "32" in term.suffixes


def executed(kernel: Kernel, given: dict[str, Any], *, native: bool) -> Outcome | None:
    """What is there after the instruction; None where the interpreter does not know it. Raises WarpboundError where
    NumPy's handler refuses it."""
    code = code_of(kernel)
    assert code is not None
    if native and code.steps[0].operation < 0:
        return None
    kernel.memory.image.bytes[:] = given["memory"][: len(kernel.memory.image.bytes)]
    blocks = np.arange(BLOCKS)
    chunk = NativeChunk(kernel, blocks, 0, code, ThreadRows(kernel, code)) if native else Chunk(kernel, blocks)
    x = chunk.x
    for row, value in zip(x.rows, given["rows"], strict=False):
        row[...] = value
    x.normal[:] = bytes(len(x.normal))
    for name in ("predicates", "uniform", "uniform_predicates"):
        file = getattr(x, name)
        for number, value in enumerate(given[name][: len(file)]):
            if name != "predicates" and not native:
                file[number] = value.copy()
            else:
                file[number][...] = value
    for window in x.windows.values():
        window.bytes[:] = np.resize(given["memory"][::-1], len(window.bytes))
    chunk.flow.groups.ready.clear()
    x.select(given["lanes"])
    refused = False
    if isinstance(chunk, NativeChunk):
        refused = chunk._ahead(0, LIMIT) == 0
    else:
        try:
            with x.arithmetic():
                chunk.handlers[0](x)
        except BadAccess:
            refused = True
    files = {name: np.array([np.broadcast_to(row, size) for row in getattr(x, name)]) for name, size in (
        ("predicates", x.lane_count), ("uniform", BLOCKS), ("uniform_predicates", BLOCKS),
    )}  # fmt: skip
    memories = {name: window.bytes.copy() for name, window in x.windows.items()}
    return Outcome({"rows": np.array(x.rows), "global": x.image.bytes.copy(), **files, **memories}, refused)


def difference(first: Outcome, second: Outcome) -> str:
    """Where the outcomes differ, or nothing. Any NaN is equal to any other, in one register or a pair."""
    if first.refused or second.refused:
        return "" if first.refused == second.refused else "one of them refuses the access"
    for name, wanted in first.rows.items():
        wrong = wanted != second.rows[name]
        if name == "rows":
            nans = [_nan(outcome.rows["rows"]) for outcome in (first, second)]
            wrong &= ~(nans[0] & nans[1])
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"{name} {at}: {wanted[at]:#x} and {second.rows[name][at]:#x}"
    return ""


def _nan(rows: np.ndarray) -> np.ndarray:
    """Registers that are NaN, or may be the lower word of one."""
    upper = np.isnan(rows.view(np.float32)) | ((rows & 0x7FF00000) == 0x7FF00000)
    lower = np.zeros_like(upper)
    lower[:-1] = upper[1:]
    return upper | lower
