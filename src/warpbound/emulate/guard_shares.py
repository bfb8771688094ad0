"""Guards of arithmetic whose result decides nothing: where they cost much, the number of their lanes is estimated.

`expf` halves its argument under a guard, `rsqrtf` scales it: `@!P0 FMUL R2, R2, 0.5`; `hits += x < y` adds under one.
Values decide only how many lanes execute such an instruction: no branch, address or issue slot depends on it. To count
these lanes exactly, all values of the kernel have to be computed.

Models   After `trace_recorder.LONG` executed instructions (fewer if matrix products are among them) the guards are left
         out, with all values that only they need, if that saves a tenth of what was executed. From then on such an
         instruction counts with the share of lanes that executed it until then; with all lanes if it was not reached.
Omits    Changes of these shares later on: the note bounds the difference.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Trace
from warpbound.emulate.trace_recorder import Recording
from warpbound.emulate.value_dependence import guard_name, lines_of, taint
from warpbound.emulate.value_slicing import Slice, guarded_arithmetic, slice_without_guards
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

WORTH = 0.1  # part of the executed instructions that has to become free
NOTE = (
    "values decide which lanes execute guarded arithmetic{lines}: counted at the rate of the first {first:,} "
    "instructions; thread instructions differ by {most:.2g} % at most, nothing else but flop does"
)


@dataclass(frozen=True)
class GuardShares:
    """guards : instructions whose guards are not computed. shares : the share of their lanes that is active,
    (instructions,). first : executed instructions from which the shares were taken."""

    guards: frozenset[int]
    shares: NDArray[np.float64]
    first: int

    def applied_to(self, program: Program, trace: Trace) -> Trace:
        """The trace with these shares of active lanes, and a note about it."""
        at = np.array(sorted(self.guards), np.int64)
        every_lane = trace.threads[:, at]
        threads = trace.threads.copy()
        threads[:, at] = np.rint(every_lane * self.shares[at])
        lanes, own = int(every_lane.sum()), int(threads[:, at].sum())
        if not lanes:
            return trace
        most = 100 * max(own, lanes - own) / int(threads.sum())
        rows = at[every_lane.any(axis=0)].tolist()
        note = NOTE.format(lines=lines_of(program, rows), first=self.first, most=most)
        return replace(trace, threads=threads, notes=(*trace.notes, note))


class GuardsTooExpensive(Exception):
    """Some guards cost too much. without : the slice without them; shares : of their active lanes."""

    def __init__(self, without: Slice, shares: GuardShares) -> None:
        super().__init__("guards of arithmetic cost too much")
        self.without, self.shares = without, shares


def expense_limit(program: Program, own: Slice) -> Callable[[Recording], None]:
    """Raises GuardsTooExpensive where a recording computes much for guards alone; own : what it does not compute."""

    def look(recording: Recording) -> None:
        everything = recording.executed.sum()
        for guarded in (data_guards(program), guarded_arithmetic(program)):  # those that indices decide cost little
            without = slice_without_guards(program, guarded, own.assumed)
            freed = sorted(without.unneeded - own.unneeded)
            if recording.executed[freed].sum() >= WORTH * everything:
                raise GuardsTooExpensive(without, _shares_so_far(program, without, recording))

    return look


def guards_need_products(program: Program, own: Slice) -> bool:
    """Whether matrix products are computed for guards of arithmetic alone; own : the slice."""
    without = slice_without_guards(program, data_guards(program), own.assumed)
    return any(program.instructions[at].traits.tensor for at in without.unneeded - own.unneeded)


def _shares_so_far(program: Program, without: Slice, recording: Recording) -> GuardShares:
    on, off = recording.threads.sum(axis=1), recording.switched_off.sum(axis=1)
    shares = np.divide(on, on + off, out=np.ones(len(on)), where=on + off > 0)
    return GuardShares(_unknown_guards(program, without), shares, recording.issued)


def data_guards(program: Program) -> frozenset[int]:
    """The arithmetic whose guards depend on what memory holds."""
    loads = {
        at for at, instruction in enumerate(program.instructions)
        if instruction.traits.loads - {"constant"} or instruction.traits.kind == "warpgroup_matrix"
    }  # fmt: skip
    return _guarded(program, taint(program, loads))


def _unknown_guards(program: Program, own: Slice) -> frozenset[int]:
    """The arithmetic outside the slice whose guards may come from outside the slice too."""
    everything = frozenset(range(len(program.instructions)))
    return _guarded(program, taint(program, own.unneeded, cut=everything)) & own.unneeded


def _guarded(program: Program, tainted: Sequence[int]) -> frozenset[int]:
    """The arithmetic whose guards are among the registers that are tainted before it."""
    bits = program.register_sets.bits
    return frozenset(
        at for at, instruction in enumerate(program.instructions)
        if instruction.traits.is_arithmetic and tainted[at] & bits.get(guard_name(instruction).lstrip("!"), 0)
    )  # fmt: skip
