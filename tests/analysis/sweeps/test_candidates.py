"""Tunings worth measuring: their order, why others are dropped, and the cache."""

import numpy as np
import pytest

import warpbound
from warpbound.analysis.sweeps import candidates as module
from warpbound.errors import CommandError, InputError

pytestmark = pytest.mark.cuda

N = 1 << 16
SOURCE = """
__global__ void scale(float *out, const float *x, int n) {
    int at = blockIdx.x * THREADS + threadIdx.x;
    if (at < n) out[at] = 2.0f * x[at] BROKEN;
}
"""
MACROS = {"THREADS": [32, 256, 2048], "BROKEN": ["+0", "+"]}
LAUNCH = {"args": {"out": np.zeros(N, np.float32), "x": np.ones(N, np.float32), "n": N}}


@pytest.fixture
def found(tmp_path):
    source = tmp_path / "scale.cu"
    source.write_text(SOURCE)

    def ask(**options):
        launch = warpbound.launch(grid=1, block=1, **LAUNCH)
        return warpbound.candidates(
            source, "h200", MACROS, launch, f"{N}/THREADS", "THREADS", processes=1, cache=tmp_path / "cache", **options
        )

    ask.source, ask.cache = source, tmp_path / "cache"
    return ask


def reasons(dropped):
    return {one.defines["THREADS"] + one.defines["BROKEN"]: one.reason for one in dropped}


def test_candidates_come_fastest_first_and_the_others_say_why(found, monkeypatch):
    first = found()
    assert [one.defines["THREADS"] for one in first.kept] == ["256", "32"]
    assert first.kept[0].interval_s[0] <= first.kept[0].time_s < first.kept[1].time_s
    why = reasons(first.dropped)
    assert set(why) == {"2048+0", "2048+", "32+", "256+"}
    assert "2048" in why["2048+0"]
    assert "does not compile" in why["32+"]
    assert [next(first), *first] == first.kept

    def nothing(*_):
        raise AssertionError("everything is in the cache")

    monkeypatch.setattr(module, "answered", nothing)
    again = found(top=1)
    assert again.kept == first.kept[:1]
    assert reasons(again.dropped)["32+0"].startswith("rank 2 of 2: predicted ")
    assert again.dropped[-1].time_s == first.kept[1].time_s
    assert reasons(found(within=0.0).dropped)["32+0"].endswith("more than 1.00")
    found.source.write_text(SOURCE + "// changed\n")
    with pytest.raises(AssertionError):
        found()


def test_answers_belong_to_the_contents_of_the_arguments(found, monkeypatch):
    found()
    monkeypatch.setattr(module, "answered", lambda ranking, *_: asked.extend(ranking.tunings) or [])
    asked = []
    monkeypatch.setitem(LAUNCH["args"], "x", np.arange(N, dtype=np.float32) % 7)  # prints as an array with dots
    with pytest.raises(KeyError):
        found()
    assert len(asked) == 4


def test_what_does_not_fit_is_not_compiled(found, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "answered", lambda ranking, *_: asked.extend(ranking.tunings) or [])
    with pytest.raises(KeyError):
        found()
    assert {tuning.macros["THREADS"] for tuning in asked} == {"32", "256"}


def test_a_cache_may_end_in_half_a_line_but_be_no_other_file(found):
    first = found()
    found.cache.write_bytes(found.cache.read_bytes() + b'{"key": "ab')
    assert found().kept == first.kept
    found.cache.write_bytes(b"something else\n")
    with pytest.raises(InputError, match="cache:1"):
        found()


def test_limits_out_of_range_are_refused(found):
    with pytest.raises(CommandError, match="top is 0"):
        found(top=0)
