"""Addresses of a kernel's memory accesses as affine forms, from the machine code, without executing it.

Source   As `affine` and `address_opcodes`.
Models   One given path through the code, with every loop twice: a difference that is the same for all lanes of a warp
         is a step of the loop.
Omits    Which lanes take part; values loaded from memory, unless all lanes load the same one.
"""

import math
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import gcd

import numpy as np

from warpbound.distinct_values import distinct
from warpbound.emulate.operand_access import Constants, Site, site
from warpbound.memory import affine
from warpbound.memory.address_opcodes import results
from warpbound.memory.address_registers import Guard, Registers, Threads, Value, at_place
from warpbound.memory.affine import Form
from warpbound.program.instruction import RZ, Instruction, Operand
from warpbound.program.registers import result_width
from warpbound.quick_dataclasses import dataclass

PERIOD_B = 128  # a line, and a row of all shared-memory banks: sectors and conflicts repeat after this many bytes

_NO_ADDRESSES = frozenset({  # kinds of instructions whose results are assumed not to be part of addresses
    "float", "conversion", "matrix", "warpgroup_matrix", "texture", "surface", "tensor_memory",
})  # fmt: skip


@dataclass(frozen=True)
class Address:
    """Address of one instruction: the form of its first execution, and the step in bytes to later ones.

    form : or what the address depends on, if it has no form. step : 128 if nothing else changes it. inner_step : bytes
    by which an iteration of the innermost loop around it moves all lanes; 0 if it does not, or if that is not known.
    """

    form: Value
    step: int = PERIOD_B
    inner_step: int = 0


def addresses(
    instructions: Sequence[Instruction], arch: int, threads: Threads, streams: Iterable[Sequence[int]],
    deadline: float = math.inf,
) -> dict[tuple[int, str], Address]:
    """(instruction, space) -> its address; space is global, shared or local.

    streams : the path through the kernel first, then an iteration of each loop. A loop starts with the registers as
    they were when the path first came to its first instruction. No loop is begun after the deadline, in the thread's
    processor time, s.
    """
    way, *loops = streams
    heads = {loop[0] for loop in loops if loop}
    reader = _Reader(instructions, arch, Registers(threads))
    saved: dict[int, Registers] = {}
    for index in way:
        if index in heads and index not in saved:
            saved[index] = reader.registers.copy()
        reader.step(index)
    for loop in loops:
        if loop and time.thread_time() < deadline:
            reader.registers, reader.met = saved.get(loop[0], reader.registers).copy(), {}
            for index in (*loop, *loop):
                reader.step(index)
    return {place: replace(address, inner_step=reader.moved.get(place, 0)) for place, address in reader.found.items()}


class _Reader:
    """Steps through instructions and notes their addresses."""

    def __init__(self, instructions: Sequence[Instruction], arch: int, registers: Registers) -> None:
        self.instructions, self.arch, self.registers = instructions, arch, registers
        self.found: dict[tuple[int, str], Address] = {}
        self.met: dict[tuple[int, str], Form] = {}   # addresses in the present loop
        self.moved: dict[tuple[int, str], int] = {}  # bytes from one iteration of a loop to the next, the last loop's
        self.sites: dict[int, Site] = {}

    def step(self, index: int) -> None:
        instruction = self.instructions[index]
        if instruction.skipped:
            return
        if index not in self.sites:
            self.sites[index] = site(instruction, Constants({}), self.arch)
        here, guard = self.sites[index], self.registers.guard(instruction)
        address = self._reach(index, instruction, guard)
        writes = self._results(here, guard, address)
        for predicate in here.predicates_out:
            self.registers.condition(predicate)
        if here.output is not None and here.output.index != RZ:
            for part in range(result_width(instruction)):
                value = writes[min(part, len(writes) - 1)]
                self.registers.write((here.output.kind, here.output.index + part), value, guard)

    def _results(self, here: Site, guard: Guard, address: Value | None) -> tuple[Value, ...]:
        instruction, traits = here.instruction, here.instruction.traits
        if here.output is None:
            return ()
        if address is not None:
            per_lane = traits.kind == "atomic" or "local" in traits.spaces
            same = isinstance(address, Form) and address.uniform and not per_lane
            return (self.registers.any_value() if same else f"data loaded{at_place(instruction)}",)
        if traits.kind in _NO_ADDRESSES and not traits.affine:
            return (f"`{instruction.opcode}`{at_place(instruction)}",)
        values = [self.registers.value(x, guard) for x in here.sources if x.kind != "special"]
        return results(self.registers, here, values)

    def _reach(self, index: int, instruction: Instruction, guard: Guard) -> Value | None:
        """The address of a memory instruction, noted; LDGSTS writes shared memory and reads global memory."""
        result = None
        places = [x for x in instruction.operands if x.kind == "memory"]
        for space, operand in zip(instruction.traits.spaces, places, strict=False):
            result = self._sum(operand, guard)
            self.found[index, space] = _joined(self.found.get((index, space)), result)
            self._moves((index, space), result)
        return result

    def _moves(self, place: tuple[int, str], now: Value) -> None:
        """Notes how far a loop moves the address, if that is a number."""
        before = self.met.get(place)
        if isinstance(now, Form):
            self.met.setdefault(place, now)
            change = affine.subtract(now, before) if before else None
            if change is not None and change.exact and change.uniform:
                self.moved[place] = int(np.asarray(change.known).reshape(-1)[0])
            elif before is not None:
                self.moved[place] = 0

    def _sum(self, operand: Operand, guard: Guard) -> Value:
        total = affine.constant(int(operand.value))
        for term in operand.terms:
            value = self.registers.value(term, guard)
            if isinstance(value, str):
                return value
            scale = next((int(s[1:]) for s in term.suffixes if re.fullmatch(r"X\d+", s)), 1)
            total = affine.add(total, affine.scale(value, scale))
        return total


def _joined(before: Address | None, now: Value) -> Address:
    """The address form that covers two executions of one access."""
    if before is None or isinstance(before.form, str):
        return before or Address(now)
    if isinstance(now, str):
        return Address(now)
    change = affine.subtract(now, before.form)
    if not change.uniform:
        return Address("a step that differs from lane to lane")
    step = gcd(before.step, affine.steps(change, PERIOD_B), *(int(c) for c in distinct(change.known)))
    return Address(before.form, step)
