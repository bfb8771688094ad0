"""code_fetches: what L0 and L1 lack of a warp's path, and what a line costs."""

from dataclasses import replace

import numpy as np
import pytest

from support.unit_of_work import work
from warpbound.isa.instruction_caches import CodePath, code_path, instruction_caches
from warpbound.machine import gpu
from warpbound.result.execution import InstructionCacheFit
from warpbound.workload.code_fetches import fetch_cycles, with_fetches

PATH = CodePath(line_B=128, lines_ahead=4.0, sm_cycles=40.0, start_cycles=8.0)
NEAR, FAR = InstructionCacheFit("L0", 4 * 128, "-", "assumed"), InstructionCacheFit("L1", 16 * 128, "-", "assumed")
IN_A_LINE = 8  # instructions of 16 B


def cycles(stream: list[int]) -> float:
    return fetch_cycles(stream, (NEAR, FAR), 60.0, PATH)


def loop(lines: int, iterations: int = 10) -> list[int]:
    return list(range(IN_A_LINE * lines)) * iterations


def test_a_loop_that_l0_holds_fetches_nothing() -> None:
    assert cycles(loop(4)) == 0


def test_a_loop_of_one_line_more_misses_every_line_in_every_iteration() -> None:
    assert cycles(loop(5)) == 10 * 5 * 40 / 4
    assert cycles(loop(16)) == 10 * 16 * 40 / 4


def test_beyond_the_cache_of_the_sm_each_line_comes_from_l2() -> None:
    assert cycles(loop(17)) == 10 * 17 * (40 + 60) / 4


def test_a_path_that_is_taken_once_per_warp_is_fetched_once_per_warp() -> None:
    assert cycles(loop(5, iterations=1)) == 5 * 40 / 4


def test_an_inner_loop_is_fetched_once_for_each_time_that_it_is_entered() -> None:
    inner, around = list(range(IN_A_LINE * 3)), list(range(IN_A_LINE * 3, IN_A_LINE * 6))
    assert cycles((inner * 7 + around) * 2) == 2 * 6 * 40 / 4


def lacking(lines: list[int], room: int) -> list[int]:
    """Another way to the same: a line is there if fewer than `room` others were used since its last use."""
    twice, missed = lines * 2, []
    for at in range(len(lines), len(twice)):
        before = max((k for k in range(at) if twice[k] == twice[at]), default=None)
        if before is None or len(set(twice[before + 1 : at])) >= room:
            missed.append(twice[at])
    return missed


@pytest.mark.parametrize("seed", range(20))
def test_what_is_missed_equals_the_distances_of_reuse(seed: int) -> None:
    random = np.random.default_rng(seed)
    jumps = [int(line) for line in random.integers(0, random.integers(5, 24), 150)]
    lines = [line for at, line in enumerate(jumps) if at == 0 or line != jumps[at - 1]]
    near = lacking(lines, 4) if len(set(lines)) > 4 else []
    far = lacking(near, 16) if len(set(near)) > 16 else []
    assert cycles([IN_A_LINE * line for line in lines]) == len(near) * 40 / 4 + len(far) * 60 / 4


def test_the_mean_warp_fetches_in_proportion_to_its_instructions() -> None:
    board, stream = gpu("rtx-3080"), list(range(2 * 1024 + 8))  # 32 KiB and a line: more than L1
    each_line = (code_path().sm_cycles + board.value("l2_latency")) / code_path().lines_ahead
    clock = board.value("latency_clock")
    mean = with_fetches(work(warp_instructions=0.5 * len(stream)), stream, board, clock)
    assert mean.units["fetch"] == pytest.approx(0.5 * len(stream) / IN_A_LINE * each_line, rel=0.02)
    assert "fetch" not in with_fetches(work(), stream[:500], board, clock).units
    assert "fetch" not in with_fetches(work(), [], board, clock).units


def test_nothing_is_known_of_the_caches_before_volta() -> None:
    board = gpu("gtx1080")
    assert instruction_caches(board.arch) == ()
    assert "fetch" not in with_fetches(work(), list(range(100_000)), board, 1e9).units


def test_more_lines_under_way_or_a_shorter_way_make_fetches_faster() -> None:
    def with_path(**changes: float) -> float:
        return fetch_cycles(loop(17), (NEAR, FAR), 60.0, replace(PATH, **changes))

    assert with_path(lines_ahead=8.0) == 0.5 * cycles(loop(17))
    assert with_path(sm_cycles=20.0) < cycles(loop(17)) < with_path(sm_cycles=80.0)


def test_measured_code_came_no_faster_than_lines_can() -> None:
    """A CUTLASS product on an RTX 3080 (docs/model-notes/on-chip-instruction-fetch.md): the loop of 1134 instructions
    took 2593 cycles, stretches of code that is executed once at least 47 cycles for each line."""
    board = gpu("rtx-3080")
    clock, path = board.value("latency_clock"), code_path()
    once = with_fetches(work(warp_instructions=1134.0), list(range(1134)) * 20, board, clock).units["fetch"]
    assert 0.4 * 2593 < once < 2593
    beyond = (path.sm_cycles + board.value("l2_latency")) / path.lines_ahead
    assert 0.7 * 47 < beyond < 47
