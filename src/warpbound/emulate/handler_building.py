"""Builds the handler of one instruction: its semantics function under its guard, or a refusal."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from warpbound.emulate.lane_queries import every, some
from warpbound.emulate.operand_access import Constants, predicate, site, unsupported
from warpbound.emulate.semantics import CONTROL, Build
from warpbound.emulate.state import State
from warpbound.errors import WarpboundError
from warpbound.isa.opcodes import FIRST
from warpbound.program.instruction import PT, Instruction

BROKEN = (ValueError, IndexError, KeyError, StopIteration, TypeError, AttributeError, AssertionError)  # odd operands

Handler = Callable[[State], Any]


def handler_of(instruction: Instruction, constants: Constants, arch: int, plain: Mapping[str, Build]) -> Handler | None:
    """The handler of one instruction, built by `plain`; None for control instructions."""
    if instruction.opcode in CONTROL:
        return None
    here = site(instruction, constants, arch)
    build = plain.get(instruction.opcode)
    try:
        if arch < FIRST:
            raise unsupported(instruction, f": only code for sm_{FIRST} and later is executed, not for sm_{arch}")
        understood = instruction.traits.modifiers
        if build is None or (understood is not None and not here.modifiers <= understood):
            raise unsupported(instruction)
        body = build(here)
    except WarpboundError as problem:
        return refusal(problem)
    except BROKEN as broken:
        return refusal(unsupported(instruction, f" ({type(broken).__name__}: {broken})"))
    guard = instruction.guard
    if guard is None or (guard.index == PT and not guard.invert):
        return body
    if guard.index == PT:
        return lambda x: None
    return _guarded(body, predicate(guard, replace(here, uniform=False)))


def refusal(problem: WarpboundError) -> Handler:
    """A handler that raises: an instruction that cannot be executed is an error only when it is reached."""

    def handler(x: State) -> None:
        raise problem

    return handler


def _guarded(body: Handler, guard: Callable[[State], Any]) -> Handler:
    def handler(x: State) -> None:
        lanes = guard(x)
        if not np.ndim(lanes):
            if lanes:
                body(x)
            return
        mask_before = x.mask
        if mask_before is not None:
            lanes = lanes & mask_before
        elif every(lanes):
            body(x)
            return
        if not some(lanes):
            return
        x.mask = lanes
        try:
            body(x)
        finally:
            x.mask = mask_before

    return handler
