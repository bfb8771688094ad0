"""The steps of a kernel for the interpreter."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from warpbound.emulate.emulator import Kernel
from warpbound.emulate.handler_building import BROKEN, handler_of
from warpbound.emulate.handlers import PLAIN
from warpbound.emulate.native import floats, halves, integers, movement  # noqa: F401  (each enters its translations)
from warpbound.emulate.native.library import Interpreter, interpreter
from warpbound.emulate.native.native_state import CChunk
from warpbound.emulate.native.step import (
    NOT_TRANSLATED,
    CStep,
    NotTranslated,
    Source,
    Step,
    constant,
    flag,
    register_out,
)
from warpbound.emulate.native.translations import TRANSLATIONS
from warpbound.emulate.operand_access import Constants, Site, site
from warpbound.emulate.state import State
from warpbound.emulate.symbol_addresses import with_addresses
from warpbound.errors import WarpboundError
from warpbound.isa.opcodes import FIRST
from warpbound.program.instruction import PT, RZ, Instruction
from warpbound.program.registers import writes
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """A kernel's steps, one for each instruction. operations : those that occur. special : numbers of the special
    registers that they read. run : executes steps from an index on; returns the index of the first that it cannot."""

    steps: "ctypes.Array[CStep]"
    operations: frozenset[str]
    spaces: frozenset[str]
    special: frozenset[int]
    run: Callable[[CChunk, int], int]


def code_of(kernel: Kernel) -> Code | None:
    """The steps of a kernel; None where there is no interpreter."""
    engine = interpreter()
    if engine is None or kernel.program.arch < FIRST:
        return None
    codes = kernel.facts.translated
    addresses = frozenset(kernel.memory.addresses.items())
    if addresses not in codes:
        codes[addresses] = _translated(kernel, engine)
    code: Code = codes[addresses]
    return code


def _translated(kernel: Kernel, engine: Interpreter) -> Code:
    program, addresses = kernel.program, kernel.memory.addresses
    steps = [step_of(with_addresses(each, addresses), program.arch) for each in program.instructions]
    filled = (CStep * len(steps))()
    for at, step in enumerate(steps):
        _fill(filled[at], step, program.instructions[at], engine.operations)
        if at in kernel.short or at in kernel.whole_warp:
            filled[at].operation = NOT_TRANSLATED
        filled[at].polls, filled[at].writes = kernel.facts.polls[at], kernel.facts.writes[at]
    spaces = frozenset(
        space for each, step in zip(program.instructions, steps, strict=True) if step for space in each.traits.spaces
    )
    special = frozenset(step.mode[0] for step in steps if step and step.operation == "read_of_thread")
    operations = frozenset(step.operation for step in steps if step)
    return Code(filled, operations, spaces, special, lambda c, at: engine.run(ctypes.byref(c), at))


def step_of(instruction: Instruction, arch: int) -> Step | None:
    """The step of an instruction; None where the interpreter does not know it."""
    if instruction.skipped:
        return Step("nothing")
    here = site(instruction, Constants({}), arch)
    understood = instruction.traits.modifiers
    if understood is not None and not here.modifiers <= understood:
        return None
    try:
        return TRANSLATIONS[instruction.opcode](here)
    except (NotTranslated, WarpboundError, *BROKEN):
        return _result_of_constants(here)


def _result_of_constants(here: Site) -> Step | None:
    """The move that does the same as arithmetic on numbers in the code: HFMA2 R2, -RZ, RZ, 1.875, 0."""
    output, instruction = here.output, here.instruction
    numbers = all(x.kind in ("immediate", "float") or (x.kind == "register" and x.index == RZ) for x in here.sources)
    if not numbers or here.predicates_in or here.predicates_out or output is None or output.kind != "register":
        return None
    if not instruction.traits.is_arithmetic or output.index == RZ or len(writes(instruction)) != 1:
        return None
    x = State(1, output.index + 1)
    handler = handler_of(replace(instruction, guard=None), here.constants, here.arch, PLAIN)
    try:
        with x.arithmetic():
            assert handler is not None
            handler(x)
    except (WarpboundError, *BROKEN):
        return None
    return Step("move", register_out(output), [constant(int(x.get(output.index)[0]))])


def _fill(filled: CStep, step: Step | None, instruction: Instruction, operations: "dict[str, int] | Any") -> None:
    filled.operation, filled.target = NOT_TRANSLATED, -1
    if step is None:
        return
    guard = instruction.guard
    has_guard = guard is not None and guard.index != PT
    filled.operation, filled.target = operations[step.operation], step.target
    filled.guard = flag(guard).filled() if guard is not None and has_guard else Source().filled()
    filled.out = step.out.filled()
    _copy(filled.sources, step.sources)
    _copy(filled.flags_out, step.flags_out)
    _copy(filled.flags, step.flags)
    for place, number in enumerate(step.mode):
        filled.mode[place] = int(number)


def _copy(places: Any, sources: Sequence[Source]) -> None:
    for place, source in enumerate(sources):
        places[place] = source.filled()
