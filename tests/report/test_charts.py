"""Charts of the terminal, narrow windows, pipes and files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from support.paths import ROOT
from warpbound.cli import main
from warpbound.cli.output import show
from warpbound.report.charts import PLAIN_EIGHTHS, Bar, Columns, Fitting, columns

SASS = str(ROOT / "examples" / "listings" / "volkov_loads.sass")
COMMAND = [sys.executable, "-c", "from warpbound.cli import main; main()"]
ANALYZE = ["analyze", SASS, "--gpu", "gtx980"]


def printed(part: object, width: int) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(part)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_columns_are_as_high_as_their_values() -> None:
    assert columns([0, 1, 2, 4], 1) == [" ▂▄█"]
    assert columns([0, 1, 2, 4], 2) == ["   █", " ▄██"]
    assert columns([0.0, 0.0], 2) == ["  ", "  "]


@pytest.mark.parametrize(
    "share, room, length", [(1.0, 80, 24), (0.5, 80, 12), (0.5, 12, 6), (0.0, 80, 1), (7.0, 80, 24)]
)
def test_bars_shrink_with_the_window(share: float, room: int, length: int) -> None:
    assert printed(Bar(share), room) == ["█" * length]


@pytest.mark.parametrize("mark, width, axis", [
    (64.0, 80, "1" + " " * 53 + "64 warps ^"),
    (8.0, 80, "1      ^ 8 warps" + " " * 46 + "64"),
    (1.0, 80, "^ 1 warps" + " " * 53 + "64"),
    (32.0, 40, "2              ^ 32 warps     64"),
])  # fmt: skip
def test_the_mark_stands_under_its_number(mark: float, width: int, axis: str) -> None:
    lines = printed(Columns(tuple(min(n / 32, 1.0) for n in range(1, 65)), mark, "title", "warps"), width)
    assert lines[0] == "title"
    assert lines[-1] == axis
    caret = lines[-1].index("^")
    step = 1 if width >= 64 else 2
    assert (caret + 1) * step in (mark, mark + 1)
    full = [line[-1] == "█" for line in lines[1:-1]]
    assert all(full)


def test_a_table_that_does_not_fit_is_told_in_sentences() -> None:
    table = Table("kernel", "", "time")
    table.add_row("saxpy", "*", "63 us")
    assert "saxpy" in "".join(printed(Fitting(table), 60))
    assert printed(Fitting(table), 20) == ["- kernel saxpy, *,", "time 63 us"]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_longer_than_the_window_or_cut_short(width: int) -> None:
    done = CliRunner(env={"COLUMNS": str(width)}).invoke(main, ANALYZE)
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= width
    assert "…" not in done.stdout


def test_pipes_and_files_have_no_blanks_at_the_ends(tmp_path: Path) -> None:
    out = tmp_path / "report.txt"
    assert CliRunner().invoke(main, [*ANALYZE, "-o", str(out)]).exit_code == 0
    piped = CliRunner().invoke(main, ANALYZE).stdout
    for text in (piped, out.read_text("utf-8")):
        assert text.endswith("\n")
        assert [line for line in text.splitlines() if line != line.rstrip()] == []
    assert max(map(len, piped.splitlines())) <= 80


def test_charts_of_a_terminal_without_blocks_are_plain() -> None:
    """A C locale: the same bars and columns in ASCII, none of them a question mark."""
    plain = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*COMMAND, *ANALYZE], capture_output=True, check=True, cwd=ROOT, env=plain)
    said = done.stdout.decode("ascii")
    own = subprocess.run([*COMMAND, *ANALYZE], capture_output=True, check=True, cwd=ROOT).stdout.decode("utf-8")
    assert said.count("#") == own.count("█") > 0
    assert said.count("?") == own.count("?")
    assert columns([1.0, 4.0, 8.0], 1, PLAIN_EIGHTHS) == [".:#"]


def test_a_pipe_gets_no_escape_codes() -> None:
    done = subprocess.run([*COMMAND, *ANALYZE], capture_output=True, check=True, cwd=ROOT)
    assert b"\x1b" not in done.stdout


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
@pytest.mark.parametrize("settings, coloured", [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colours_unless_told_otherwise(settings: dict[str, str], *, coloured: bool) -> None:
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    master, slave = os.openpty()
    environment = inherited | {"TERM": "xterm-256color"} | settings
    subprocess.run([*COMMAND, *ANALYZE, "--views", "bounds"], stdout=slave, check=True, cwd=ROOT, env=environment)
    os.close(slave)
    said = b""
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        said += more
    os.close(master)
    assert (b"\x1b[33m" in said or b";33m" in said) == coloured


def test_padding_around_a_part_leaves_no_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    show([Padding("words", (0, 0, 1, 2))], None)
    assert capsys.readouterr().out == "  words\n\n"
