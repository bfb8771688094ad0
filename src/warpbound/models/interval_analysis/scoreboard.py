"""Latency of an interval from its instructions: one warp, in order.

Source   Lecture notes "Interval Analysis", slides "Compute L" and "Actual SASS".  The rules are not
         spelt out there; these give every issue time that is printed.
Models   an instruction issues when the one before has left the issue port and its sources are
         ready.  It keeps the port for 32 lanes over those of its unit, whatever comes next, and
         its result is ready a latency after its issue began.  Sources are address pairs, the datum
         of a store, carry and predicates.  An interval ends when the next one can begin; the first
         example ends with the issue of the branch instead: `latency_as_published`.
Omits    registers still being read or written (WAR, WAW), what the next execution waits for.
"""

import numpy as np

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass

LANES = 32.0  # threads per warp


@dataclass(frozen=True)
class Device:
    """One scheduler and its units."""

    lanes: dict[str, Real]      # by unit, of one scheduler          [1]
    latencies: dict[str, Real]  # L_F, L_M, L_2 by name              [cycle]


@dataclass(frozen=True)
class Instruction:
    """One instruction; registers by name, pairs as two."""

    text: str
    unit: str
    latency: str = ""                # name of its latency; none for stores and branches
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """Cycles, one entry per instruction except the last."""

    issue: tuple[Real, ...]   # t_is        [cycle]
    ready: tuple[Real, ...]   # t_re        [cycle]
    following: Real           # next t_is   [cycle]


def schedule(program: tuple[Instruction, ...], device: Device) -> Schedule:
    """When each instruction issues and when its result is ready."""
    port: Real = 0.0
    due: dict[str, Real] = {}
    issue: list[Real] = []
    ready: list[Real] = []
    for instruction in program:
        start = port
        for register in instruction.reads:
            start = np.maximum(start, due.get(register, 0.0))             # eq. Actual SASS
        result = np.add(start, device.latencies.get(instruction.latency, 0.0))  # eq. Compute L
        due.update({register: result for register in instruction.writes})
        issue.append(start)
        ready.append(result)
        port = start + occupancy(device, instruction.unit)                # eq. Actual SASS
    return Schedule(tuple(issue), tuple(ready), port)


def occupancy(device: Device, unit: str) -> Real:
    """Cycles for which a warp instruction of this unit keeps the issue port."""
    return np.ceil(np.divide(LANES, device.lanes[unit]))                  # eq. Compute L


def latency(program: tuple[Instruction, ...], device: Device) -> Real:
    """L_iota, cycles until the next interval can begin."""
    return schedule(program, device).following                           # eq. Actual SASS


def latency_as_published(program: tuple[Instruction, ...], device: Device) -> Real:
    """L_iota of the first example, cycles until its last instruction issues."""
    return schedule(program, device).issue[-1]                           # eq. Compute L
