"""The same source compiled and as plain Python: identical to the last event. And fast enough."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import pytest

from support.logged_run import run_logged
from support.paths import EXAMPLES, TESTS
from warpbound.simulate.numba_jit import COMPILED, compiled
from warpbound.simulate.synthetic_family import Setting, experiment
from warpbound.simulate.warp_simulation import run, run_short

numba_only = pytest.mark.skipif(not COMPILED, reason="Numba is not installed, or switched off")


def digest(**environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(TESTS / "support" / "simulated_events.py")],
        env=os.environ | environment, capture_output=True, text=True, check=True, timeout=900,
    )  # fmt: skip
    return json.loads(done.stdout)


@numba_only
def test_compiled_and_plain_are_identical() -> None:
    fast, plain = digest(NUMBA_DISABLE_JIT="0"), digest(NUMBA_DISABLE_JIT="1")
    assert fast["compiled"]
    assert not plain["compiled"]
    assert fast["runs"] == plain["runs"]
    assert all(run["events"] > 0 for run, _ in fast["runs"].values())


def test_short_runs_are_those_of_the_compiled_loop() -> None:
    x = experiment(Kepler(), 13, 4.0, Setting("exponential", rounds=3))
    short, whole = run_short(replace(x, log_rows=500)), run_logged(x, 500)
    assert len(short.log) > 200
    assert short.log.tolist() == whole.log.tolist()
    assert (short.cycles, short.stalls) == (whole.cycles, whole.stalls)


def twice(number: int) -> int:
    return 2 * number


@numba_only
def test_machine_code_that_no_folder_can_keep_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home, and a package that another user has installed."""
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiled.__wrapped__(twice)(21) == 42


REPORT = """
import sys
from warpbound.cli import main
sys.argv = ["warpbound", "analyze", "saxpy.cu", "--launch", "saxpy.toml", "--gpu", "h200", "--format", "html"]
try:
    main()
finally:
    print("numba" in sys.modules, file=sys.stderr)
"""


@numba_only
def test_a_report_does_without_numba() -> None:
    """Which would take ten seconds on a new machine, for a picture of the first few thousand cycles."""
    pytest.importorskip("plotly")
    folder = EXAMPLES
    done = subprocess.run([sys.executable, "-c", REPORT], cwd=folder, capture_output=True, text=True, timeout=900)
    assert "All warps of an SM in time" in done.stdout
    assert done.stderr.splitlines()[-1] == "False"


class Kepler:
    """The GTX 680 of Table 4.1."""

    name, memory_latency, memory_throughput, alu_latency = "Kepler", 301.0, 0.1338, 9.0
    alu_throughput, issue_throughput, schedulers = 4.0, 4.0, 4


@numba_only
@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("alpha", [0.0, 8.0, 32.0])
def test_events_per_second(alpha: float, benchmark: Any) -> None:
    """The goal is five million a second of the processor's time; only --benchmark-enable measures."""
    x = experiment(Kepler(), 64, alpha, Setting("constant", rounds=2000 // (1 + int(alpha))))
    done = benchmark(lambda: run(x))
    benchmark.extra_info["events"] = done.events
    if benchmark.enabled:
        rate = done.events / benchmark.stats["min"]
        assert rate > 5e6, f"{rate:.3g} events per second"
