"""Counters of Nsight Compute and what warpbound predicts for each.

Source   NVIDIA, Nsight Compute, Kernel Profiling Guide: names of counters and units.
Models   Counters of the whole launch. On boards whose GDDR memory keeps the check bits of ECC among the data, they are
         read and written beside it: one sector covers 16 of data, but is fetched again when its data come late.
"""

from collections.abc import Callable

from warpbound.machine import Gpu
from warpbound.nsight.report_file import ProfiledLaunch
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult, MemoryTraffic
from warpbound.time_model.parameters import stacked

ECC = "device__attribute_ecc_enabled"
# T4, public reports of nine additions of matrices: 9 to 35 % more sectors are read than miss L2, in the median 13 %.
ECC_SHARE = 0.13
DURATION = "gpu__time_duration.sum"
INSTRUCTIONS = "smsp__inst_executed.sum"
L2_SECTORS = "lts__t_sectors_srcunit_tex.sum"
L2_READ, L2_WRITTEN = "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum"
L1_LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
L1_HITS = "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"
L1_LOADS_HIT = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
DRAM_READ, DRAM_WRITTEN, DRAM = "dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes.sum"


@dataclass(frozen=True)
class Prediction:
    """What counters are predicted from. ecc : whether device memory keeps check bits among the data."""

    result: KernelResult
    ecc: bool

    @property
    def memory(self) -> MemoryTraffic:
        return self.result.memory


@dataclass(frozen=True)
class Counter:
    """names : of the counter in reports, the first that a report has. prediction : None where nothing is predicted."""

    names: tuple[str, ...]
    unit: str
    prediction: Callable[[Prediction], float | None]


def _times(number: float | None, factor: float) -> float | None:
    return None if number is None else number * factor


def _sum(*numbers: float | None) -> float | None:
    return None if any(number is None for number in numbers) else sum(number or 0.0 for number in numbers)


def _atomics(x: Prediction) -> float | None:
    each, count = x.memory.sectors_per_atomic, x.memory.global_atomic_requests
    return 0.0 if not count else _times(each, count)


def _dram_written(x: Prediction) -> float | None:
    return _times(x.memory.dram_bytes_written, 1.0 + ECC_SHARE * x.ecc)


def _dram_read(x: Prediction) -> float | None:
    return _times(x.memory.dram_bytes_read, 1.0 + ECC_SHARE * x.ecc)


def _occupancy(x: Prediction) -> float:
    """Of a grid of enough blocks, as Nsight Compute's theoretical occupancy is."""
    own = x.result.occupancy
    blocks = min(count for limit, count in own.block_limits.items() if limit != "grid")
    return 100.0 * blocks * own.warps_per_sm / own.blocks_per_sm / own.max_warps_per_sm


def _l1_hit_rate(x: Prediction) -> float | None:
    """Loads of local memory have a counter of their own."""
    return None if x.memory.local_sectors else _times(x.memory.l1_hit_rate, 100.0)


def _without_local(x: Prediction) -> float | None:
    """Loads of local memory have a counter of their own."""
    return None if x.memory.local_sectors else x.memory.l1_sectors_load


def _stores_without_local(x: Prediction) -> float | None:
    return None if x.memory.local_sectors else x.memory.l1_sectors_store


COUNTERS = (
    Counter((DURATION, "gpu__time_duration.avg"), "ns", lambda x: _times(x.result.time_s, 1e9)),
    Counter(("gpc__cycles_elapsed.max", "sm__cycles_elapsed.max"), "cycle", lambda x: x.result.cycles),
    Counter((INSTRUCTIONS, "sm__inst_executed.sum"), "inst", lambda x: x.result.instructions.warp_instructions),
    Counter(("thread_inst_executed_true", "smsp__thread_inst_executed_pred_on.sum"), "inst",
            lambda x: x.result.instructions.thread_instructions),
    Counter(("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",), "request",
            lambda x: x.memory.global_load_requests),
    Counter(("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",), "request",
            lambda x: x.memory.global_store_requests),
    Counter((L1_LOADS,), "sector", _without_local),
    Counter(("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",), "sector", _stores_without_local),
    Counter(("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",), "wavefront",
            lambda x: x.memory.shared_wavefronts_load),
    Counter(("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",), "wavefront",
            lambda x: x.memory.shared_wavefronts_store),
    Counter((L1_HITS,), "%", _l1_hit_rate),
    Counter((L2_READ,), "sector", lambda x: x.memory.l2_sectors_read),
    Counter((L2_WRITTEN,), "sector", lambda x: x.memory.l2_sectors_written),
    Counter((L2_SECTORS,), "sector",
            lambda x: _sum(x.memory.l2_sectors_read, x.memory.l2_sectors_written, _atomics(x))),
    Counter(("lts__t_sector_hit_rate.pct",), "%", lambda x: _times(x.memory.l2_hit_rate, 100.0)),
    Counter((DRAM_READ,), "byte", _dram_read),
    Counter((DRAM_WRITTEN,), "byte", _dram_written),
    Counter((DRAM,), "byte", lambda x: _sum(_dram_read(x), _dram_written(x))),
    Counter(("sm__maximum_warps_per_active_cycle_pct",), "%", _occupancy),
)  # fmt: skip


def measured(profile: ProfiledLaunch, counter: Counter) -> tuple[str, float] | None:
    """Name and value of a counter in a report; None where it has none of its names."""
    for name in counter.names:
        value = profile.number(name)
        if value is not None:
            return name, value
    derived = _derived(counter.names[0], profile)
    return None if derived is None else (counter.names[0], derived)


def _derived(name: str, profile: ProfiledLaunch) -> float | None:
    """A counter from others, where a report lacks it."""
    if name == DRAM:
        return _sum(profile.number(DRAM_READ), profile.number(DRAM_WRITTEN))
    if name == L1_HITS:
        hits, sectors = profile.number(L1_LOADS_HIT), profile.number(L1_LOADS)
        return 100.0 * hits / sectors if hits is not None and sectors else None
    return None


def has_ecc(profile: ProfiledLaunch, board: Gpu) -> bool:
    """Whether check bits share the device memory with the data: ECC is on, and the memory has none of its own."""
    return profile.device.get(ECC) == 1 and not stacked(board)
