"""Between two flushes, or after L2 was overwritten: written data that L2 holds at the end have not reached DRAM."""

import math
from typing import Any

import pytest

from support.paths import ROOT
from warpbound import launch
from warpbound.analysis import Settings, analyze
from warpbound.analysis.interval import STAYING
from warpbound.machine import gpu, override
from warpbound.memory.flushed_caches import DIRTY, FLUSHED
from warpbound.memory.l2_cyclic_reuse import READ_STAYS
from warpbound.program import compile_program

pytestmark = pytest.mark.cuda
SAXPY = ROOT / "examples" / "saxpy.cu"
ELEMENTS = 1 << 22  # 16.8 MB read of x and y each, 16.8 MB of y written: the footprint is 33.6 MB


def answer(cache: str, l2_MiB: float) -> dict[str, Any]:
    board = override(gpu("rtx-4090"), {"l2_size": l2_MiB})
    own = launch(
        grid=ELEMENTS // 256, block=256, args={0: ELEMENTS, 1: 2.0, 2: f"f32[{ELEMENTS}]", 3: f"f32[{ELEMENTS}]"}
    )
    return analyze(compile_program(SAXPY, board), board, own, Settings(cache=cache))


def written(cache: str, l2_MiB: float) -> float:
    return float(answer(cache, l2_MiB)["memory"]["dram_bytes_written"])


def test_what_l2_holds_at_the_end_is_not_written_but_what_others_left_there() -> None:
    stored, l2 = 4.0 * ELEMENTS, float(1 << 20)
    assert written("flushed", 1024) == 0.0
    replaced = (8 * ELEMENTS / (72 * l2) - FLUSHED.free) / (1 - FLUSHED.free)
    assert written("flushed", 72) == pytest.approx(FLUSHED.changed * 72 * l2 * replaced, rel=0.02)
    of_others = FLUSHED.changed - 1 / (1 + READ_STAYS)  # less its own lines that stay
    assert written("flushed", 16) == pytest.approx(stored + 16 * l2 * of_others, rel=0.02)
    assert written("flushed", 0.25) == pytest.approx(stored, rel=0.02)


def test_what_l2_was_overwritten_with_is_written_as_far_as_the_launch_replaces_it() -> None:
    assert written("dirty", 72) == pytest.approx(8.0 * ELEMENTS * DIRTY.changed, rel=0.02)
    assert written("dirty", 0.25) == pytest.approx(4.0 * ELEMENTS, rel=0.02)


def test_the_interval_reaches_the_time_if_changed_lines_leave_in_order() -> None:
    found, l2 = answer("dirty", 16), 16.0 * (1 << 20)
    moved = found["memory"]["dram_bytes_read"] + found["memory"]["dram_bytes_written"]
    doubts = {doubt["parameter"]: doubt["relative"] for doubt in found["doubts"]}
    more = (l2 / (1 + READ_STAYS) - l2 / 2) / moved  # which is the edge of an 80 % interval
    assert doubts[STAYING] == pytest.approx(math.log1p(more) / 1.28, rel=0.1)
    assert STAYING not in {doubt["parameter"] for doubt in answer("cold", 16)["doubts"]}


def test_in_a_loop_of_launches_all_is_written_in_the_end() -> None:
    assert written("warm", 1) == pytest.approx(4.0 * ELEMENTS, rel=0.05)
