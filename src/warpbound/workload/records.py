"""The records a model reads: counts, traffic and the latency path of one unit of work."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

SECTOR_B, LINE_B, NARROW_B = 32, 128, 64
HAND_OVER = 4.0  # SM cycles for a piece of a line on its way to L2
FIRST_OF_ONE_ARRAY = 70  # L1 and shared memory in one, with the rules of its wavefronts


@dataclass(frozen=True)
class Memory:
    """Traffic of one unit of work; sectors are 32 B, wavefronts cycles of the SM's 128 B data path."""

    global_load_requests: float = 0.0
    global_store_requests: float = 0.0
    l1_sectors_load: float = 0.0
    l1_sectors_store: float = 0.0
    l1_wavefronts: float = 0.0
    l1_narrow: float = 0.0  # further cycles where L1 hands over 64 bytes per cycle, not 128
    l2_sectors_read: float = 0.0
    l2_sectors_written: float = 0.0
    store_pieces: float = 0.0  # lines of 128 bytes of which a store or an atomic hands over a sector, not the whole
    dram_bytes_read: float = 0.0
    dram_bytes_written: float = 0.0
    shared_wavefronts_load: float = 0.0
    shared_wavefronts_store: float = 0.0
    shared_wavefronts_atomic: float = 0.0
    ideal_sectors: float = 0.0  # sectors that would hold the same bytes; 0 where addresses are not known
    shared_conflict_wavefronts: float = 0.0  # of the two above, those that conflict-free accesses would save
    touched_bytes: float = 0.0  # different bytes of global memory; 0 where addresses are not known
    hottest_updates: float = 0.0  # atomic steps on the one line that is updated most
    local_requests: float = 0.0  # loads and stores of local memory: spills and arrays of a thread
    local_sectors: float = 0.0  # of the L1 sectors, theirs
    l2_sectors_led: float = 0.0  # of those read, what L1 lacks although older warps run ahead and find theirs there
    l2_sectors_together: float = 0.0  # of those read, what all SMs ask for at the same time
    l2_sectors_far: float = 0.0  # of those read, what L2 has, but not on the side of the reader

    def scaled(self, factor: float) -> "Memory":
        """Every count times `factor`."""
        return Memory(**{f.name: getattr(self, f.name) * factor for f in fields(self)})

    def plus(self, other: "Memory") -> "Memory":
        """Every count added."""
        return Memory(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def l1_cycles(self, arch: int, bytes_per_cycle: float, each_piece: float | None = None) -> float:
        """SM cycles of the L1 on sm `arch`, whose L1 hands over `bytes_per_cycle`; of a piece, HAND_OVER if not given.

        Source   wavefronts of 128 bytes: the counters of gpu-strides (A100). A path of half the width hands a full
        warp's 128 bytes over in two cycles, but a wavefront that conflicts or lines cost is no longer there than on
        the others: published products of matrices whose lanes are a row apart take as many cycles on an RTX A6000.
        Pieces of lines leave an SM one by one: a transpose without shared memory hands one over in 4.0 cycles on an
        RTX 3090 (corpus `transposes-elsewhere`); before 7.0 nothing was measured.
        """
        if arch < FIRST_OF_ONE_ARRAY:
            return self.l1_wavefronts * LINE_B / bytes_per_cycle
        if bytes_per_cycle <= NARROW_B:
            result = (self.l1_wavefronts + self.l1_narrow) * NARROW_B / bytes_per_cycle
        else:
            result = self.l1_wavefronts * LINE_B / bytes_per_cycle
        return max(result, (each_piece or HAND_OVER) * self.store_pieces)

    @property
    def far_share(self) -> float:
        """Part of the sectors that L2 answers, DRAM not, that are not on the reader's side of L2."""
        answered = self.l2_sectors_read - self.dram_bytes_read / SECTOR_B
        return min(1.0, self.l2_sectors_far / answered) if answered > 0 else 0.0

    @property
    def sectors_per_request(self) -> float | None:
        """L1 sectors per global load or store instruction; None where there is none."""
        requests = self.global_load_requests + self.global_store_requests
        return (self.l1_sectors_load + self.l1_sectors_store) / requests if requests else None


@dataclass(frozen=True)
class Piece:
    """What a block's warps do from one barrier to the next, or to the end: all its `times` together.

    waits, path : waiting for loads and the rest of the path of its slowest warp, over those of the whole path of one
    warp. phases : of loads. demand : resource -> share of what the work asks of it.
    """

    times: float
    waits: float
    path: float
    phases: float
    demand: Mapping[str, float]


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
    pieces : the same from barrier to barrier, where there are some and it is known.
    held : number of a board -> (cycles of latencies that follow it and are waited for, of these those waited).
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
    held: dict[str, tuple[float, float]] = field(default_factory=dict)

    def with_memory(self, **changes: float) -> "Workload":
        """The same work with other traffic."""
        return replace(self, memory=replace(self.memory, **changes))
