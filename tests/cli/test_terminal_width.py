"""Every command in narrow, usual and wide windows: no line too long, no heading cut, no escape codes in a pipe."""

import pytest
from click.testing import CliRunner

from support.paths import EXAMPLES
from warpbound.cli import main

COMMANDS = {
    "gpus": ["gpus"],
    "one gpu": ["gpus", "h200"],
    "models": ["models"],
    "one model": ["models", "volkov_2016"],
    "occupancy": ["occupancy", "--gpu", "h200", "--block", "256", "--registers", "64", "--smem", "10000"],
    "predict": ["predict", "volkov-vector-add", "--gpu", "h200"],
    "predict two": ["predict", "volkov-vector-add", "--gpu", "h200,l4"],
    "reproduce": ["reproduce"],
    "reproduce one": ["reproduce", "volkov_2016:table-4.1"],
    "simulate": ["simulate"],
    "scenario": ["simulate", "hong_kim_2009:fig-5"],
    "family": ["simulate", "family", "--gpu", "gtx680", "--warps", "4:8"],
    "campprof": ["campprof", "predict", "--gld64", "1000", "--grid", "100", "--block", "256", "--warps", "8"],
    "campprof fit": ["campprof", "fit"],
    "coalescing": ["coalescing", "a[threadIdx.x*2]"],
    "doctor": ["doctor"],
    "launches": ["launches", str(EXAMPLES / "histogram.cu")],
}


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_it_fits_the_window(name: str, width: int) -> None:
    done = CliRunner(env={"COLUMNS": str(width)}).invoke(main, COMMANDS[name])
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > width] == []
    assert "…" not in done.stdout
    assert "\x1b" not in done.stdout
    assert [line for line in lines if line != line.rstrip()] == []
