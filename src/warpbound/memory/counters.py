"""The traffic counters that models read: one definition each; sums, scaling and tables are derived from these."""

from collections.abc import Mapping
from dataclasses import field, fields
from functools import cache
from types import MappingProxyType
from typing import Any

from warpbound.quick_dataclasses import dataclass

SECTOR_B, LINE_B, NARROW_B = 32, 128, 64
HAND_OVER = 4.0          # SM cycles for a piece of a line on its way to L2
FIRST_OF_ONE_ARRAY = 70  # L1 and shared memory in one, with the rules of its wavefronts


@dataclass(frozen=True)
class Counter:
    """label : description of the count. unit : of one count; empty for a number of lines, sectors or updates.

    resource : shared, l1, l2 or dram where the counter occupies it; within : the resource of which it counts a part.
    nsight : the metric of Nsight Compute.
    """

    label: str
    unit: str
    resource: str = ""
    within: str = ""
    nsight: str = ""


def _counter(label: str, unit: str, **more: str) -> Any:
    return field(default=0.0, metadata={"counter": Counter(label, unit, **more)})


@dataclass(frozen=True)
class Memory:
    """Traffic of one unit of work: a launch, a warp or an execution of one instruction.

    Requests are warp instructions; stores include atomics. Sectors are 32 B, wavefronts cycles of the SM's 128 B data
    path. Counters of addresses are 0 where addresses are unknown.
    """

    dram_bytes_read: float = _counter("Read from DRAM", "B", resource="dram")
    dram_bytes_written: float = _counter("Written to DRAM", "B", resource="dram")
    l2_sectors_read: float = _counter("Read from L2", "sectors", resource="l2", nsight="lts__t_sectors_op_read.sum")
    l2_sectors_written: float = _counter(
        "Written to L2", "sectors", resource="l2", nsight="lts__t_sectors_op_write.sum"
    )
    l1_wavefronts: float = _counter("L1 data path", "cycles", resource="l1")
    shared_wavefronts_load: float = _counter(
        "Shared-memory loads", "cycles", resource="shared",
        nsight="l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    )  # fmt: skip
    shared_wavefronts_store: float = _counter(
        "Shared-memory stores", "cycles", resource="shared",
        nsight="l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    )  # fmt: skip
    shared_wavefronts_atomic: float = _counter("Shared-memory atomics", "cycles", resource="shared")
    shared_conflict_wavefronts: float = _counter("Of shared memory's cycles, by bank conflicts", "cycles")
    global_load_requests: float = _counter("Global loads", "inst")
    global_store_requests: float = _counter("Global stores", "inst")
    l1_sectors_load: float = _counter(
        "Loaded through L1", "sectors", nsight="l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    )
    l1_sectors_store: float = _counter(
        "Stored through L1", "sectors", nsight="l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
    )
    l1_narrow: float = _counter("L1 data path where it is 64 bytes wide, further", "cycles", resource="l1")
    store_pieces: float = _counter("Lines stored in part", "", within="l1")
    copied_wavefronts: float = _counter("Of L1's cycles, those of copies by the copy engine", "cycles", within="l1")
    ideal_sectors: float = _counter("Sectors that would hold the same bytes", "")
    uncoalesced_requests: float = _counter("Global accesses of more sectors than their bytes need", "inst")
    uncoalesced_sectors: float = _counter("Sectors of those accesses", "")
    touched_bytes: float = _counter("Different bytes touched", "B")
    hottest_updates: float = _counter("Updates of the line that is updated most", "")
    local_requests: float = _counter("Accesses of local memory", "inst")
    local_sectors: float = _counter("Of the sectors through L1, local memory's", "")
    l2_sectors_led: float = _counter("Of those read from L2, lost to older warps", "sectors", within="l2")
    l2_sectors_together: float = _counter(
        "Of those read from L2, asked for by all SMs at once", "sectors", within="l2"
    )
    l2_sectors_far: float = _counter("Of those read from L2, on its far side", "sectors", within="l2")
    l2_sectors_cut: float = _counter("Of those written to L2, in part only", "sectors", within="l2")

    def scaled(self, factor: float) -> "Memory":
        """Every counter times `factor`."""
        return Memory(**{name: getattr(self, name) * factor for name in COUNTERS})

    def plus(self, other: "Memory") -> "Memory":
        """The sum of every counter."""
        return Memory(**{name: getattr(self, name) + getattr(other, name) for name in COUNTERS})

    def l1_cycles(self, arch: int, bytes_per_cycle: float, each_piece: float | None = None) -> float:
        """SM cycles of the L1 on sm `arch` with a path of `bytes_per_cycle`; each_piece : HAND_OVER if not given.

        Source   wavefronts of 128 bytes: the counters of gpu-strides (A100). A path of half the width takes two
                 cycles for a full warp's 128 bytes; an additional wavefront, because of conflicts or lines, takes
                 no longer than on the full width: published matrix products whose lanes are a row apart take as
                 many cycles on an RTX A6000. Pieces of lines leave an SM one by one: a transpose without shared
                 memory takes 4.0 cycles for each on an RTX 3090 (corpus `transposes-elsewhere`); nothing was
                 measured before 7.0.
        """
        cycles = self._path_cycles(arch, bytes_per_cycle)
        return cycles if arch < FIRST_OF_ONE_ARRAY else max(cycles, (each_piece or HAND_OVER) * self.store_pieces)

    def pieces_bind(self, arch: int, bytes_per_cycle: float) -> bool:
        """Whether stores of pieces of lines keep the L1 busy for longer than its path does, at HAND_OVER for each."""
        return self.l1_cycles(arch, bytes_per_cycle) > self._path_cycles(arch, bytes_per_cycle)

    def _path_cycles(self, arch: int, bytes_per_cycle: float) -> float:
        if arch >= FIRST_OF_ONE_ARRAY and bytes_per_cycle <= NARROW_B:
            return (self.l1_wavefronts + self.l1_narrow) * NARROW_B / bytes_per_cycle
        return self.l1_wavefronts * LINE_B / bytes_per_cycle

    @property
    def far_share(self) -> float:
        """Share of the sectors that L2 itself serves, without DRAM, that are not on the reader's side of L2."""
        hits = self.l2_sectors_read - self.dram_bytes_read / SECTOR_B
        return min(1.0, self.l2_sectors_far / hits) if hits > 0 else 0.0

    @property
    def sectors_per_request(self) -> float | None:
        """L1 sectors per global load or store instruction; None where there is none."""
        requests = self.global_load_requests + self.global_store_requests
        return (self.l1_sectors_load + self.l1_sectors_store) / requests if requests else None


COUNTERS: Mapping[str, Counter] = MappingProxyType({f.name: f.metadata["counter"] for f in fields(Memory)})


@cache
def counters_on(resource: str) -> tuple[str, ...]:
    """Names of the counters that occupy a resource."""
    return tuple(name for name, counter in COUNTERS.items() if counter.resource == resource)


@cache
def counters_within(resource: str) -> tuple[str, ...]:
    """Names of the counters of a part of that traffic."""
    return tuple(name for name, counter in COUNTERS.items() if counter.within == resource)
