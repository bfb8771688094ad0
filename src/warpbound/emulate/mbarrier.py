"""Arrival barriers in shared memory: mbarrier, and so cuda::barrier and cuda::pipeline.

A barrier is 64 bits: how many arrivals a phase expects, how many are still to come, from sm_90 on the
transactions (bytes of bulk copies, counted asynchronous ones) that are outstanding, and the parity of the phase.
The phase ends when nothing is to come any more; the expected arrivals are then to come again.

Source   Counts and parity as compiled code initialises and tests them, sm_80 and sm_90 (both hold 2**bits less
         the count, so that the last arrival carries into the parity).
Models   A token is the barrier as it was before the arrivals of its instruction.
Omits    Which bits hold the outstanding transactions on sm_90: assumed to be those that the counts leave free.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import memory_operand, window_address
from warpbound.emulate.loads_and_stores import checked_window
from warpbound.emulate.mbarrier_log import Kind, MbarrierAccess
from warpbound.emulate.operand_access import Read, Site, constant, raw, unsupported, write_pair, write_predicate
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import LANES, State, Value, whole
from warpbound.program.instruction import RZ, Operand
from warpbound.quick_dataclasses import dataclass

Counts = NDArray[np.int64]

_ONE, _NONE = constant(np.uint32(1)), constant(np.uint32(0))
_PARITY = np.uint64(63)


@dataclass(frozen=True)
class Field:
    """Bits of the barrier that hold a count."""

    shift: int
    bits: int

    def get(self, state: NDArray[np.uint64]) -> Counts:
        return np.asarray(state >> np.uint64(self.shift) & np.uint64((1 << self.bits) - 1)).astype(np.int64)

    def put(self, count: Counts) -> NDArray[np.uint64]:
        return np.asarray((count & ((1 << self.bits) - 1)).astype(np.uint64) << np.uint64(self.shift))


@dataclass(frozen=True)
class Layout:
    """expected and pending arrivals are stored as 2**bits minus the count."""

    expectation: Field
    pending: Field
    transactions: Field | None = None

    def after(
        self, state: NDArray[np.uint64], arrived: Counts, dropped: Counts, transactions: Counts
    ) -> NDArray[np.uint64]:
        """Barriers after `arrived` arrivals, of which `dropped` leave the barrier, and `transactions` more."""
        arrivals_due = -self.expectation.get(state) % (1 << self.expectation.bits) - dropped
        pending = -self.pending.get(state) % (1 << self.pending.bits) - arrived
        outstanding = np.zeros_like(pending)
        if self.transactions is not None:
            half = 1 << self.transactions.bits - 1
            outstanding = (self.transactions.get(state) + half) % (2 * half) - half + transactions
        over = (pending == 0) & (outstanding == 0)
        parity = (state >> _PARITY) ^ over
        result = parity << _PARITY | self.expectation.put(-arrivals_due)
        result |= self.pending.put(-np.where(over, arrivals_due, pending))
        return np.asarray(result) if self.transactions is None else result | self.transactions.put(outstanding)


EARLY = Layout(Field(0, 30), Field(32, 31))  # to sm_89
LATE = Layout(Field(1, 20), Field(43, 20), Field(21, 22))


@dataclass(frozen=True)
class Arrival:
    """The arrivals of each lane of an instruction, how many of them drop out, and its transactions."""

    arrived: Read
    dropped: Read = _NONE
    transactions: Read = _NONE
    sign: int = 1


def _arriving(here: Site, what: Arrival, output: Operand | None) -> Handler:
    address, layout = window_address(memory_operand(here), here), LATE if here.arch >= 90 else EARLY
    write = write_pair(output) if output is not None and output.index != RZ else None

    def handler(x: State) -> None:
        places = checked_window(x, "shared", address(x), 8)
        numbers = [whole(x, reader(x)).astype(np.int64) for reader in (what.arrived, what.dropped, what.transactions)]
        if x.mask is not None:
            places, numbers = places[x.mask], [number[x.mask] for number in numbers]
        numbers[2] *= what.sign
        warps = np.flatnonzero(x.active()) // LANES
        result = arrive_watched(x, MbarrierAccess(Kind.ARRIVAL, places), warps, layout, numbers)
        if write is not None:
            tokens = result
            if x.mask is not None:
                tokens = np.zeros(x.selected_lanes, np.uint64)
                tokens[x.mask] = result
            write(x, tokens)

    return handler


def arrive(
    memory: NDArray[np.uint64], places: NDArray[np.int64], layout: Layout, numbers: list[Counts]
) -> NDArray[np.uint64]:
    """Arrive at barriers, lane after lane; each lane's barrier before the arrivals of its phase.

    numbers : arrivals, arrivals that drop out, transactions of each lane.
    """
    tokens = np.zeros(len(places), np.uint64)
    waiting = np.argsort(places, kind="stable")
    while len(waiting):
        at, (arrived, dropped, transactions) = places[waiting], [number[waiting] for number in numbers]
        begins = np.r_[True, at[1:] != at[:-1]]
        first = np.flatnonzero(begins)
        group = np.cumsum(begins) - 1
        state = memory[at[first]]
        so_far = np.cumsum(arrived)
        so_far -= (so_far - arrived)[first][group]
        to_come = -layout.pending.get(state) % (1 << layout.pending.bits)
        goes = (so_far <= to_come[group]) | begins
        tokens[waiting[goes]] = state[group[goes]]
        sums = [np.add.reduceat(np.where(goes, number, 0), first) for number in (arrived, dropped, transactions)]
        memory[at[first]] = layout.after(state, *sums)
        waiting = waiting[~goes]
    return tokens


def arrive_watched(
    x: State, access: MbarrierAccess, warps: Counts, layout: Layout, numbers: list[Counts]
) -> NDArray[np.uint64]:
    """`arrive`, reported to the recorder; warps : places among the selected ones."""
    memory = x.windows["shared"].elements(8)
    if x.recorder is None:
        return arrive(memory, access.barriers, layout, numbers)
    before = memory[access.barriers]
    tokens = arrive(memory, access.barriers, layout, numbers)
    x.recorder.at_mbarrier(x.clock, access, warps, (before ^ memory[access.barriers]) >> _PARITY != 0)
    return tokens


# --- instructions ---


def arrive_early(here: Site) -> Handler:
    """ATOMS.ARRIVE.64 of sm_80 to sm_89."""
    return _arriving(here, Arrival(_ONE), here.instruction.operands[0])


@executes("ARRIVES")
def arrive_after_copies(here: Site) -> Handler:
    """ARRIVES.LDGSTSBAR: arrive once the lane's copies are done, which they are; .TRANSCNT ends a transaction."""
    if here.modifiers - {"LDGSTSBAR", "64", "TRANSCNT", "ARVCNT"}:
        raise unsupported(here.instruction)
    if here.has("TRANSCNT"):
        return _arriving(here, Arrival(_NONE, transactions=_ONE, sign=-1), None)
    return _arriving(here, Arrival(_ONE), None)


@executes("SYNCS")
def synchronise(here: Site) -> Handler:
    """SYNCS from sm_90 on: .EXCH sets a barrier up, .ARRIVE arrives, .PHASECHK tests, .CCTL takes it down."""
    if here.has("CCTL"):
        return lambda x: None
    here = replace(here, uniform=False)  # every lane takes part, whatever the first operand is
    if here.modifiers == {"EXCH", "64"}:
        return _set_up(here)
    if here.has("PHASECHK") and not here.modifiers - {"PHASECHK", "TRANS64", "TRYWAIT"}:
        return _test(here)
    if not here.has("ARRIVE") or here.modifiers - _ARRIVALS:
        raise unsupported(here.instruction)
    operands = here.instruction.operands
    count = raw(operands[-1], here)
    kind = next((m for m in here.modifiers if m in _KINDS), "A1TR")
    arrived, transactions = ({"0": _NONE, "1": _ONE, "R": count}[kind[i]] for i in (1, 3))
    dropped = arrived if here.has("OPTOUT") else _NONE
    return _arriving(here, Arrival(arrived, dropped, transactions), operands[0])


_KINDS = frozenset({"A1T0", "ART0", "A0T1", "A0TR", "A1TR"})
_ARRIVALS = frozenset({"ARRIVE", "TRANS64", "RED", "OPTOUT"}) | _KINDS


def _set_up(here: Site) -> Handler:
    output, source = here.instruction.operands[0], here.instruction.operands[-1]
    if output.index != RZ:
        raise unsupported(here.instruction)
    address = window_address(memory_operand(here), here)
    low, high = (raw(Operand(source.kind, source.text, index=source.index + part), here) for part in (0, 1))

    def handler(x: State) -> None:
        places, window = checked_window(x, "shared", address(x), 8), x.windows["shared"]
        words = whole(x, low(x)).astype(np.uint64) | whole(x, high(x)).astype(np.uint64) << np.uint64(32)
        if x.mask is not None:
            places, words = places[x.mask], words[x.mask]
        if window.written is not None:
            window.note_written(places, 8)
        window.elements(8)[places] = words

    return handler


def _test(here: Site) -> Handler:
    """Whether the phase of the parity in bit 31 of a token's upper word is over."""
    address, token = window_address(memory_operand(here), here), raw(here.instruction.operands[-1], here)
    out = write_predicate(here.instruction.operands[0])

    def handler(x: State) -> None:
        places = checked_window(x, "shared", address(x), 8)
        phase: Value = token(x)
        over = whole(x, (x.windows["shared"].elements(8)[places] >> _PARITY) != (phase >> np.uint32(31)))
        out(x, over)
        if x.recorder is not None:
            _note_tests(x, places, over)

    return handler


def _note_tests(x: State, places: Counts, over: NDArray[np.bool_]) -> None:
    """One test for each warp: that of its first active lane."""
    lanes = np.flatnonzero(x.active())
    warps, first = np.unique(lanes // LANES, return_index=True)
    for kind, which in ((Kind.TEST, over[lanes[first]]), (Kind.RETRY, ~over[lanes[first]])):
        if which.any():
            access = MbarrierAccess(kind, places[lanes[first][which]])
            x.recorder.at_mbarrier(x.clock, access, warps[which], np.zeros(len(access.barriers), np.bool_))  # type: ignore[union-attr]
