"""A launch between two flushes: written data that L2 holds at the end have not reached DRAM."""

import pytest

from support.paths import ROOT
from warpbound import launch
from warpbound.analysis import Settings, analyze
from warpbound.machine import gpu, override
from warpbound.memory.flushed_caches import FREE, OTHERS
from warpbound.memory.l2_cyclic_reuse import READ_STAYS
from warpbound.program import compile_program

pytestmark = pytest.mark.cuda
SAXPY = ROOT / "examples" / "saxpy.cu"
ELEMENTS = 1 << 22  # 16.8 MB read of x and y each, 16.8 MB of y written: the footprint is 33.6 MB


def written(cache: str, l2_MiB: float) -> float:
    board = override(gpu("rtx-4090"), {"l2_size": l2_MiB})
    own = launch(
        grid=ELEMENTS // 256, block=256, args={0: ELEMENTS, 1: 2.0, 2: f"f32[{ELEMENTS}]", 3: f"f32[{ELEMENTS}]"}
    )
    answer = analyze(compile_program(SAXPY, board), board, own, Settings(cache=cache))
    return float(answer["memory"]["dram_bytes_written"])


def test_what_l2_holds_at_the_end_is_not_written_but_what_others_left_there() -> None:
    stored, l2 = 4.0 * ELEMENTS, float(1 << 20)
    assert written("flushed", 1024) == 0.0
    replaced = (8 * ELEMENTS / (72 * l2) - FREE) / (1 - FREE)
    assert written("flushed", 72) == pytest.approx(OTHERS * 72 * l2 * replaced, rel=0.02)
    assert written("flushed", 16) == pytest.approx(stored + 16 * l2 * (OTHERS - 1 / (1 + READ_STAYS)), rel=0.02)
    assert written("flushed", 0.25) == pytest.approx(stored, rel=0.02)


def test_in_a_loop_of_launches_all_is_written_in_the_end() -> None:
    assert written("warm", 1) == pytest.approx(4.0 * ELEMENTS, rel=0.05)
