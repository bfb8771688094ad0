"""`analyze --power-limit WATTS`: the board holds a lower clock."""

import json

import pytest

from support.command_line import ANSWERED, ask
from support.paths import ROOT

pytestmark = pytest.mark.cuda
PRODUCT = ROOT / "examples" / "matmul_tiled"


def test_a_power_limit_lowers_the_clock() -> None:
    own, limited = (_answer(), _answer("--power-limit", "200"))
    assert (own["clock_limiter"], limited["clock_limiter"]) == ("step", "power")
    assert limited["clock_MHz"] < own["clock_MHz"]
    assert limited["power_W"] < 205 < own["power_W"]
    assert limited["time_s"] > own["time_s"]


def _answer(*words: str) -> dict:
    answer = ask("analyze", f"{PRODUCT}.cu", "--launch", f"{PRODUCT}.toml", "--gpu", "a40", "--format", "json", *words)
    assert answer.code == ANSWERED, answer.err
    (result,) = json.loads(answer.out)["results"]
    return result
