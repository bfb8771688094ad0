"""A sum in memory is found by what the sampled blocks store, unless other warps read it; its what-if comes first."""

from pathlib import Path

import pytest

import warpbound
from warpbound.kernel_argument import parse_argument

pytestmark = pytest.mark.cuda
SOURCE = Path(__file__).with_name("sums_in_memory.cu")
ARGS = ("c=f32[16384]", "a=f32[16384]", "n=64")


@pytest.mark.parametrize(
    ("kernel", "found"), [("running_sum", True), ("another_place_each_round", False), ("read_by_other_warps", False)]
)
def test_only_what_no_other_warp_reads_may_stay_in_a_register(kernel: str, *, found: bool) -> None:
    launch = warpbound.launch(grid=2, block=128, args=[parse_argument(word) for word in ARGS])
    entry = warpbound.analyze(warpbound.compile(SOURCE, "h200", kernel), "h200", launch)
    kept = [row for row in entry["whatifs"] if "kept in a register" in row["change"]]
    assert bool(kept) == found
    if found:
        assert kept[0]["change"] == "a sum kept in a register, stored once after its loop (line 7)"
        assert "stores or loads 63 times" in kept[0]["why"]
        assert kept[0]["speedup"] > 1.5
