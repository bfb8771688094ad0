"""Records that models read: counts, traffic and the latency path of one unit of work."""

from collections.abc import Mapping
from dataclasses import field, replace

from warpbound.memory.counters import Memory
from warpbound.quick_dataclasses import dataclass

__all__ = ["OTHERS", "Memory", "Piece", "Workload"]

OTHERS = (0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 11.0, 15.0)  # warps for which `Piece.exposed_shares` is known


@dataclass(frozen=True)
class Piece:
    """Work of a block's warps between two barriers, or to the end: all its `times` together.

    waits, path : waiting for loads and the rest of the path of its slowest warp, over those of the whole path of one
    warp. phases : of loads. demand : resource -> share of the demand of the work. taking_part : of the block's lanes
    that store, where values are only exchanged through shared memory; 1: more than that is done. behind_products :
    whether the block has waited for its last product into tensor memory. exposed_shares : share of `waits` that is not
    hidden if as many other warps of the sub-core as OTHERS states execute what lies between a load and the wait; empty:
    no waits.
    """

    times: float
    waits: float
    path: float
    phases: float
    demand: Mapping[str, float]
    taking_part: float = 1.0
    behind_products: bool = False
    exposed_shares: tuple[float, ...] = ()


@dataclass(frozen=True)
class Workload:
    """One unit of work: a whole warp, or one iteration of a loop by one warp.

    unit : "warp" or "iteration". title : what it is, in words. lines : first and last source line.
    units : cycles that each unit of one sub-core is occupied (shared units: SM cycles x 4).
    tensor : multiply-adds by tensor type. flop : operations of all lanes by type, FMA = 2.
    latency : least cycles of one warp, alone on its SM; parts : the same by cause.
    phases : loads issued before the first wait on any of them, one count per phase.
    lines_by_cause : source line -> cause -> cycles.
    warps : such units in the launch; None where that is not known.
    issue_slots : issues that the unit takes where some instructions go in pairs; None: one per instruction.
    pieces : the same from barrier to barrier, where there are some and it is known. joins : times that all warps of a
    block wait for each other before its end, where some barriers are not of the whole block, or an mbarrier holds it as
    one does; None: at each barrier.
    board_waits : number of a board -> (cycles of the latencies that depend on it and are waited for, cycles waited).
    """

    title: str
    unit: str
    lines: tuple[int, int]
    warp_instructions: float
    thread_instructions: float
    by_pipe: dict[str, float]
    units: dict[str, float]
    tensor: dict[str, float]
    flop: dict[str, float]
    memory: Memory
    barriers: float
    latency: float
    parts: dict[str, float]
    phases: tuple[int, ...] = ()
    lines_by_cause: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict)
    warps: float | None = None
    issue_slots: float | None = None
    pieces: tuple[Piece, ...] = ()
    joins: float | None = None
    board_waits: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def stops(self) -> int:
        """Times that a block waits for all its warps before its end."""
        return round(self.barriers if self.joins is None else self.joins)

    def with_memory(self, **changes: float) -> "Workload":
        """The same work with other traffic."""
        return replace(self, memory=replace(self.memory, **changes))
