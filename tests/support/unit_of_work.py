"""One warp's work on a board of round numbers."""

from dataclasses import replace

from hypothesis import strategies as st

from warpbound.machine import gpu, override
from warpbound.predict import Place
from warpbound.workload import Memory, Workload

MHZ = 1e6
ROUND = {  # round numbers on an A100's frame: 100 SMs at 1000 MHz
    "sm_count": 100, "launch_cost": 2.0, "tensor_fp16": 1024,
    "dram_bandwidth": 2000, "dram_achievable_bandwidth": 1600, "l2_bandwidth": 6400, "l1_bandwidth": 128,
}  # fmt: skip
BOARD = override(gpu("a100-sxm-80gb"), ROUND)
CLOCK = 1000 * MHZ
PLACE = Place(BOARD, CLOCK, warps_per_sm=32.0, active_sms=100.0)


def work(**changes: object) -> Workload:
    """A warp of 100 instructions that takes 800 cycles and uses nothing but issue slots."""
    plain = Workload(
        title="test", unit="warp", lines=(0, 0), warp_instructions=100.0, thread_instructions=3200.0, by_pipe={},
        units={}, tensor={}, flop={}, memory=Memory(), barriers=0.0, latency=800.0,
        parts={"issue": 100.0, "fixed": 200.0, "dram": 500.0},
    )  # fmt: skip
    return replace(plain, **changes)


COUNTS = st.floats(0, 1e4, allow_nan=False).map(lambda x: round(x, 2))


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Any unit of work with its launch."""
    units = {unit: draw(COUNTS) for unit in ("fma", "alu", "fp64", "xu", "lsu", "uniform")}
    names = ("l1_wavefronts", "l2_sectors_read", "dram_bytes_read", "dram_bytes_written", "shared_wavefronts_load")
    return work(
        warp_instructions=draw(st.floats(1, 1e4)),
        units=units,
        tensor={"fp16": draw(COUNTS)},
        memory=Memory(**{name: draw(COUNTS) for name in names}),
        latency=draw(st.floats(1, 1e5)),
        warps=draw(st.none() | st.integers(100, 1_000_000).map(float)),
    )
