"""What loads of a block have in common, on kernels that were executed."""

from pathlib import Path

import pytest

import warpbound
from warpbound.analysis.answer import work_of
from warpbound.analysis.block_loads import distinct_sector_share, round_trips
from warpbound.analysis.case import checked_case
from warpbound.analysis.settings import DEFAULT
from warpbound.kernel_argument import parse_argument

pytestmark = pytest.mark.cuda
SOURCE = Path(__file__).with_name("block_loads.cu")
ROUNDS, WARPS = 16, 8
EXPECTED = {  # different sectors that a block loads, over all; round trips through memory
    "one_row_for_all": (1 / WARPS, 0), "each_its_own": (1.0, 0), "recurrence": (1.0, ROUNDS - 2),
    "in_place": (1 / 8, 0), "copied_past_l1": (1.0, 0), "copied_through_l1": (1 / WARPS, 0),
}  # fmt: skip


@pytest.mark.parametrize("kernel", EXPECTED)
def test_sectors_loaded_again_and_recurrences(kernel: str) -> None:
    args = [parse_argument(word) for word in ("to=f32[16384]", "x=f32[65536]", f"n={ROUNDS}")]
    launch = warpbound.launch(grid=4, block=32 * WARPS, args=args)
    program = warpbound.compile(SOURCE, "h200", kernel)
    run = work_of(checked_case(program, "h200", launch, DEFAULT)).sample_run
    assert run is not None
    once, trips = EXPECTED[kernel]
    assert distinct_sector_share(program, run) == pytest.approx(once)
    assert round_trips(program, run) == trips


def test_a_recurrence_is_not_shared_out() -> None:
    args = [parse_argument(word) for word in ("to=f32[262144]", "x=f32[262144]", "n=256")]
    launch = warpbound.launch(grid=4, block=256, args=args)
    entry = warpbound.analyze(warpbound.compile(SOURCE, "h200", "recurrence"), "h200", launch)
    assert not any("fill the GPU" in each["change"] for each in entry["whatifs"])
    own = warpbound.analyze(warpbound.compile(SOURCE, "h200", "each_its_own"), "h200", launch)
    assert any("fill the GPU" in each["change"] for each in own["whatifs"])
