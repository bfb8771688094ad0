"""The short answer for launches of programs is the long one's."""

import pytest

from support.paths import ROOT
from warpbound import analyze, compile, gpu, launch
from warpbound.analysis import executed
from warpbound.analysis.launch_time import launch_time, time_to_rank
from warpbound.memory import traffic
from warpbound.result.plain import plain

EXAMPLES = ROOT / "examples"


@pytest.mark.cuda
@pytest.mark.parametrize("stem", ["saxpy", "matmul_tiled"])
def test_time_and_bottleneck_are_those_of_analyze(stem: str) -> None:
    board, given = gpu("t4"), launch(EXAMPLES / f"{stem}.toml")
    program = compile(EXAMPLES / f"{stem}.cu", board, kernel=given.kernel)
    short, whole = launch_time(program, board, given), analyze(program, board, given)
    assert short.time_s == whole["time_s"]
    assert list(short.interval_s or ()) == whole["time_interval_s"]
    assert short.bottleneck == whole["bottleneck"]
    assert short.warp_instructions == whole["instructions"]["warp_instructions"]
    assert short.warps_per_sm == whole["occupancy"]["warps_per_sm"]


@pytest.mark.cuda
def test_tables_of_accesses_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    board, given = gpu("t4"), launch(EXAMPLES / "saxpy.toml")
    program = compile(EXAMPLES / "saxpy.cu", board, kernel=given.kernel)
    before = launch_time(program, board, given)
    monkeypatch.delattr(executed, "_latency_at")
    monkeypatch.setattr(executed, "accesses_seen", lambda *_: pytest.fail("the time needs no table"))
    assert launch_time(program, board, given) == before


@pytest.mark.cuda
@pytest.mark.parametrize("stem", ["saxpy", "spmv_csr"])
def test_the_time_to_rank_by_is_that_of_analyze_and_follows_no_halves(
    stem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, given = gpu("h200"), launch(EXAMPLES / f"{stem}.toml")
    program = compile(EXAMPLES / f"{stem}.cu", board, kernel=given.kernel)
    whole = analyze(program, board, given)
    monkeypatch.setattr(traffic, "errors", lambda *_: pytest.fail("no interval is asked for"))
    found = plain(time_to_rank(program, board, given))
    for name in ("time_s", "bottleneck", "runner_up", "bounds", "clock_MHz", "clock_limiter", "occupancy", "program"):
        assert found[name] == whole[name]
    assert found["time_interval_s"] is None
