"""Work of the warps of a block between barriers, from the recorded instruction streams of some of them.

Source   our own.
Models   pieces in sequence, those of equal instructions together; a piece lasts as long as the slowest recorded warp
         takes for it alone, such as the leader of a tree. The mean warp's demand on each resource is divided among the
         pieces like the recorded warps' executions of each instruction. Products into tensor memory run while warps
         continue, and waits for them are in the warps' paths: they are spread evenly over the time of all pieces.
Omits    warps that end before the last barrier; the cost of barriers of some of the warps for the others; the rest of
         very long streams, which is assumed to be like the recorded part.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.program.instruction import Instruction
from warpbound.quick_dataclasses import dataclass
from warpbound.schedule import IssueTimes, Schedule, Wait, issue_times
from warpbound.workload.pipelined_block import PRODUCTS
from warpbound.workload.records import OTHERS, Piece

MOST_KINDS = 64  # kinds of pieces that are distinguished; with more kinds, a block's work counts as even
BEYOND_SM = frozenset({"l1", "l2", "dram"})  # causes of latency that are loads under way

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]
Asked = Callable[[Reals], Mapping[str, float]]  # executions of each instruction, (instructions,) -> resource -> cycles


@dataclass(frozen=True)
class Stream:
    """Instructions of this many warps, and the positions directly after each wait of the whole block.

    timing : how long each instruction takes these warps; None: as all.
    """

    indices: tuple[int, ...]
    joins: tuple[int, ...] = ()
    warps: int = 1
    timing: Sequence[Wait] | None = None


@dataclass(frozen=True)
class _Cut:
    """A stream of this many warps and the positions at which its pieces begin, the first one at 0."""

    stream: Whole
    begins: Whole
    warps: int
    timing: Sequence[Wait]
    joins: tuple[int, ...]

    @property
    def alike(self) -> tuple[tuple[int, ...], int]:
        """Stream and timing: what decides the path."""
        return tuple(self.stream.tolist()), id(self.timing)

    def piece_of(self, positions: Sequence[int] | Whole) -> Whole:
        """The piece that each position is in."""
        return np.asarray(np.searchsorted(self.begins, positions, side="right") - 1, np.int64)

    @cached_property
    def contents(self) -> list[Whole]:
        """The instructions of each piece."""
        return np.split(self.stream, self.begins[1:])


@dataclass(frozen=True)
class _Path:
    """Cycles waited for loads and all others, and load phases, of each piece, (pieces,) or (warps, pieces).

    exposed_cycles : cycles waited if that many other warps take their turns, (..., OTHERS).
    """

    waits: Reals
    others: Reals
    phases: Reals
    exposed_cycles: Reals


def pieces(  # noqa: PLR0913  (each is one fact of the launch)
    streams: Iterable[Stream], instructions: Sequence[Instruction], timing: Sequence[Wait], typical: Schedule,
    executions: Reals, request: Asked, lanes: Reals, whole: NDArray[np.bool_] | None = None, turns: Reals | None = None,
) -> tuple[Piece, ...]:  # fmt: skip
    """Intervals in order of first appearance; none without barriers, or if almost all differ.

    streams : of the recorded warps. typical : the schedule of the typical warp. executions : times that the mean warp
    issues each instruction, (instructions,); request : the demand of this many executions on each resource.
    lanes : the share of the block's that takes part in each instruction, (instructions,). whole : barriers at which
    all warps stop, (instructions,); None: all barriers. turns : cycles that each instruction holds the tightest pipe of
    a sub-core, (instructions,); None: none is known.
    """
    turns = np.zeros(len(instructions)) if turns is None else turns
    stops = barriers(instructions, timing) if whole is None else whole
    cuts = [_cut(stream, stops, timing) for stream in streams if stream.indices]
    most = max((len(cut.begins) for cut in cuts), default=1)
    cuts = [cut for cut in cuts if len(cut.begins) == most]
    kinds = _kinds(cuts) if most > 1 else np.zeros(1, np.int64)
    if most == 1 or kinds.max() >= MOST_KINDS:
        return ()
    at_hand = {(typical.stream, id(timing)): typical.issue_times} if typical.times == 1.0 else {}
    alone = [at_hand.get(cut.alike) or issue_times(cut.stream.tolist(), instructions, cut.timing) for cut in cuts]
    slowest = _slowest([_path(cut, each, turns) for cut, each in zip(cuts, alone, strict=True)])
    own = _path(_cut(Stream(typical.stream), stops, timing), typical.issue_times, turns)
    if not own.waits.any():
        slowest = replace(slowest, waits=np.zeros_like(slowest.waits), others=slowest.waits + slowest.others)
    shares = _shares(cuts, kinds, len(instructions))
    beside = [index for index, wait in enumerate(timing) if wait.queue == PRODUCTS]
    shares[:, beside] = _summed(kinds, slowest.waits + slowest.others, len(shares))[:, None]
    shares[:, beside] /= max(1.0, float((slowest.waits + slowest.others).sum()))
    wants, behind = [request(share * executions) for share in shares], _behind_products(cuts, kinds, beside)
    result = [
        Piece(
            times=float(np.count_nonzero(kinds == kind)),
            waits=_over(slowest.waits[kinds == kind].sum(), own.waits.sum()),
            path=_over(slowest.others[kinds == kind].sum(), own.others.sum()),
            phases=float(slowest.phases[kinds == kind].sum()),
            demand=want,
            taking_part=_taking_part(cuts, kinds == kind, instructions, lanes),
            behind_products=kind in behind,
            exposed_shares=_exposed(slowest, kinds == kind),
        )
        for kind, want in enumerate(wants)
    ]
    total = {name: sum(want[name] for want in wants) for name in wants[0]}
    return tuple(
        replace(piece, demand={name: _over(piece.demand[name], total[name]) for name in total}) for piece in result
    )


def barriers(instructions: Sequence[Instruction], timing: Sequence[Wait]) -> NDArray[np.bool_]:
    """Which instructions wait for other warps of the block, (instructions,)."""
    both = zip(instructions, timing, strict=True)
    return np.array([instruction.traits.is_block_barrier and wait.hold > 0 for instruction, wait in both])


def of_all(streams: Sequence[Stream], stops: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of these barriers all warps of a block execute, and equally often, (instructions,)."""
    times = np.array([np.bincount(np.asarray(stream.indices), minlength=len(stops)) for stream in streams])
    return np.asarray(stops & (times[0] > 0) & (times == times[0]).all(axis=0))


def _over(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0


def _cut(stream: Stream, stops: NDArray[np.bool_], timing: Sequence[Wait]) -> _Cut:
    """A piece begins behind each barrier that is not the stream's end."""
    result = np.asarray(stream.indices, np.int64)
    begins = np.concatenate([[0], np.flatnonzero(stops[result[:-1]]) + 1, np.asarray(stream.joins, np.int64)])
    return _Cut(result, np.sort(begins), stream.warps, stream.timing or timing, stream.joins)


def _kinds(cuts: Sequence[_Cut]) -> Whole:
    """A number for each piece, the same where every warp executes the same, (pieces,)."""
    numbers: dict[tuple[bytes, ...], int] = {}
    alike = zip(*([part.tobytes() for part in cut.contents] for cut in cuts), strict=True)
    return np.array([numbers.setdefault(key, len(numbers)) for key in alike])


def _path(cut: _Cut, alone: IssueTimes, turns: Reals) -> _Path:
    """Of one warp alone, (pieces,)."""
    beyond = np.array([
        sum(share for cause, share in wait.causes if cause in BEYOND_SM) if wait.loads else 0.0 for wait in cut.timing
    ])  # fmt: skip
    count, holder = len(cut.begins), np.array(alone.producer)
    of_loads = np.where(holder >= 0, beyond[cut.stream[np.maximum(holder, 0)]], 0.0) * alone.waited
    waits = _summed(cut.piece_of(np.arange(len(cut.stream))), of_loads, count)
    end = alone.cycles
    begins = np.append(alone.issue, end)[cut.begins]
    awaited_at = {load: place for place, load in enumerate(alone.producer) if load >= 0}
    ends = [max((awaited_at[x] for x in phase.loads if x in awaited_at), default=max(phase.loads))
            for phase in alone.phases if phase.loads]  # fmt: skip
    phases = _summed(cut.piece_of(ends), np.ones(len(ends)), count)
    at, before = np.flatnonzero(of_loads), np.cumsum(turns[cut.stream]) - turns[cut.stream]
    between, places = before[at] - before[holder[at]], cut.piece_of(at)
    exposed_cycles = [_summed(places, np.maximum(0.0, of_loads[at] - others * between), count) for others in OTHERS]
    return _Path(waits, np.diff(np.append(begins, end)) - waits, phases, np.stack(exposed_cycles, axis=-1))


def _exposed(path: _Path, own: NDArray[np.bool_]) -> tuple[float, ...]:
    """`exposed_shares` of a piece, from its executions."""
    exposed_cycles = path.exposed_cycles[own].sum(axis=0).tolist()
    return tuple(each / exposed_cycles[0] for each in exposed_cycles) if exposed_cycles[0] > 0 else ()


def _behind_products(cuts: Sequence[_Cut], kinds: Whole, products: Sequence[int]) -> set[int]:
    """The kinds of pieces that come after a wait of the whole block behind the last of these instructions."""
    last = max(int(cut.piece_of(np.flatnonzero(np.isin(cut.stream, products))).max(initial=-1)) for cut in cuts)
    waited = 0 <= last < len(kinds) - 1 and any(cut.begins[last + 1] in cut.joins for cut in cuts)
    return set(kinds[last + 1 :].tolist()) - set(kinds[: last + 1].tolist()) if waited else set()


def _taking_part(
    cuts: Sequence[_Cut], own: NDArray[np.bool_], instructions: Sequence[Instruction], lanes: Reals
) -> float:
    """Lanes that store in these pieces; 1 where they do more than exchange values through shared memory."""
    parts = [part for cut in cuts for part, takes_part in zip(cut.contents, own, strict=True) if takes_part]
    indices = distinct(np.concatenate(parts)).tolist()
    traits = [(index, instructions[index].traits) for index in indices]
    accesses = [(index, each) for index, each in traits if each.spaces]
    stores = [index for index, each in accesses if each.stores]
    only = all(each.spaces == ("shared",) for _, each in accesses if each.loads or each.stores)
    return float(lanes[stores].max()) if only and stores and any(each.loads for _, each in accesses) else 1.0


def _summed(number: Whole, values: Reals, count: int) -> Reals:
    """Values, (n,), added up by the number of each, (n,); (count,)."""
    return np.asarray(np.bincount(number, values, count), np.float64)


def _slowest(warps: Sequence[_Path]) -> _Path:
    """For each piece the value of the warp that takes longest, (pieces,)."""
    waits, others, phases, exposed_cycles = (
        np.array([getattr(warp, name) for warp in warps]) for name in ("waits", "others", "phases", "exposed_cycles")
    )
    last = np.argmax(waits + others, axis=0), np.arange(waits.shape[1])
    return _Path(waits[last], others[last], phases[last], exposed_cycles[last])


def _shares(cuts: Sequence[_Cut], kinds: Whole, instructions: int) -> Reals:
    """Executions of each instruction in each kind of piece, (kinds, instructions)."""
    times = np.zeros((kinds.max() + 1, instructions))
    for cut in cuts:
        for kind, part in zip(kinds.tolist(), cut.contents, strict=True):
            times[kind] += cut.warps * np.bincount(part, minlength=instructions)
    total = times.sum(axis=0)
    return np.asarray(np.divide(times, total, out=np.full_like(times, 1.0 / len(times)), where=total > 0))
