"""Limits, launch, kernel and partitions in a browser: found, moved by hand, equal to Python, shared, taken along."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import warpbound
from support.paths import EXAMPLES
from warpbound import kernel_launch, machine
from warpbound.camping.benchmarks import simulated
from warpbound.camping.prediction import Measured, predicted
from warpbound.report.formatting import seconds
from warpbound.residency import occupancy

pytestmark = [pytest.mark.browser, pytest.mark.cuda]
Open = Callable[..., Any]


def dragged(mine: Any, key: str, value: float) -> float:
    """Moves the slider itself to about a value, as a hand does; what its number then says."""
    mine.slider(key).evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        value,
    )
    return float(mine.number(key).input_value())


def downloaded(mine: Any, button: str) -> str:
    with mine.page.expect_download() as coming:
        mine.page.click(button)
    return Path(coming.value.path()).read_text(encoding="utf-8")


def test_a_limit_is_found_moved_shared_and_put_back(opened: Open) -> None:
    mine = opened("source=bare&view=occupancy&set=block.threads:200&set=block.registers:77")
    mine.page.fill("#find", "register step")
    visible = [one for one in mine.page.locator(".control").all() if one.is_visible()]
    assert [one.get_attribute("data-key") for one in visible] == ["gpu.register_unit"]
    assert mine.axe() == []
    unit = dragged(mine, "gpu.register_unit", 1024)
    held = occupancy(machine.override(machine.gpu("h200"), {"register_unit": unit}), 200, 77, 0)
    assert held.blocks_per_sm != occupancy("h200", 200, 77, 0).blocks_per_sm
    mine.becomes("#words", f"^{held.blocks_per_sm} blocks and {held.warps_per_sm} of 64 warps per SM")
    mine.rests()
    assert "set=gpu.register_unit%3A1024" in mine.page.url
    assert "Registers handed out in steps of 1024 (256)" in mine.text("#subline")
    theirs = opened(mine.page.url.partition("?")[2])
    assert theirs.text("#words") == mine.text("#words")
    assert theirs.number("gpu.register_unit").is_visible()  # its group is open
    theirs.page.get_by_role("button", name=re.compile("^Registers handed out in steps of, back to")).click()
    theirs.becomes("#words", f"^{occupancy('h200', 200, 77, 0).blocks_per_sm} blocks")
    theirs.rests()
    assert "register_unit" not in theirs.page.url
    mine.page.fill("#find", "no such number")
    assert "No number of this view" in mine.text("#none")
    mine.page.fill("#find", "")
    assert mine.number("block.threads").is_visible()
    assert mine.complaints + theirs.complaints == []


def test_a_limit_reaches_the_verdict(opened: Open) -> None:
    mine = opened("source=example:saxpy")
    mine.page.locator("summary", has_text="SM limits").focus()
    mine.page.keyboard.press("Enter")
    mine.number("gpu.max_warps_per_sm").focus()
    mine.number("gpu.max_warps_per_sm").fill("16")
    board = machine.override(machine.gpu("h200"), {"max_warps_per_sm": 16.0})
    program = warpbound.compile(EXAMPLES / "saxpy.cu", "h200")
    entry = warpbound.analyze(program, board, kernel_launch.launch(EXAMPLES / "saxpy.toml"))
    mine.said(f"About {re.escape(seconds(entry['time_s']))}")
    mine.becomes("#exact", re.escape(f"Time {seconds(entry['time_s'])}, "))
    mine.rests()
    assert mine.text("#words").strip() == ""
    assert mine.complaints == []


@pytest.mark.full
def test_the_launch_by_sliders(opened: Open) -> None:
    program = warpbound.compile(EXAMPLES / "matmul_tiled.cu", "h200", defines={"TILE": 32})
    mine = opened("source=example:matmul_tiled")
    rows = dragged(mine, "launch.grid.y", 20)
    assert rows == 20
    launch = kernel_launch.launch(EXAMPLES / "matmul_tiled.toml", grid=(64, 20))
    expected = warpbound.analyze(program, "h200", launch)["time_s"]
    mine.said("About .* an estimate while you move")
    mine.becomes("#exact", re.escape(f"Time {seconds(expected)}, "))
    mine.rests()
    assert "grid 64 x 20" in mine.text("#subline")
    assert "set=launch.grid.y%3A20" in mine.page.url
    mine.number("launch.arg.n").fill("1024")
    launch = kernel_launch.launch(EXAMPLES / "matmul_tiled.toml", grid=(64, 20), args={"n": 1024})
    mine.becomes("#exact", re.escape(f"Time {seconds(warpbound.analyze(program, 'h200', launch)['time_s'])}, "))
    mine.rests()
    theirs = opened(mine.page.url.partition("?")[2])
    assert theirs.text("#exact") == mine.text("#exact")
    assert theirs.number("launch.arg.n").input_value() == "1024"
    theirs.page.get_by_text("Launch", exact=True).click()
    theirs.page.fill("#grid", "64,64")  # a launch that is written anew is taken as written
    theirs.page.click("#analyse")
    theirs.becomes("#subline", "grid 64 x 64")
    theirs.rests()
    assert "launch." not in theirs.page.url
    assert mine.complaints + theirs.complaints == []


def test_an_impossible_launch_is_said_and_left_again(opened: Open) -> None:
    mine = opened("source=example:saxpy&view=hiding")
    mine.number("launch.block.x").fill("4096")
    mine.becomes("#problem", "4096 threads")
    mine.rests()
    mine.page.click("#reset")
    mine.becomes("#problem", "^$")
    mine.becomes("#subline", "block 256")
    assert mine.complaints == []


def test_what_is_set_of_the_kernel_is_what_is_taken_along(opened: Open) -> None:
    mine = opened("source=example:saxpy&view=hiding")
    mine.page.locator("summary", has_text="The kernel").click()
    mine.number("work.warps_per_sm").fill("16")
    mine.becomes("#words", "^16 of 64 warps per SM")
    mine.rests()
    mine.look("verdict")
    shown = mine.becomes("#exact", "16 of 64 warps are resident")
    taken = json.loads(downloaded(mine, "#as-json"))["results"][0]
    assert f"Time {seconds(taken['time_s'])}, " in shown
    assert taken["occupancy"]["warps_per_sm"] == 16
    assert [one["key"] for one in taken["set_by_hand"]] == ["work.warps_per_sm"]
    report = downloaded(mine, "#as-html")
    assert "Set by hand: Resident warps 16 per SM (64)." in report
    assert seconds(taken["time_s"]) in report
    assert "Set by hand: Resident warps, per SM 16 (64)." in re.sub(r"<[^>]+>", "", downloaded(mine, "#as-svg"))
    mine.look("timeline")
    assert "ignores kernel numbers" in mine.text("#words")
    assert mine.complaints == []


def test_partitions_of_the_old_board(opened: Open) -> None:
    pytest.importorskip("numba")
    mine = opened("source=bare&view=camping&set=old.sm_count:4&set=old.max_warps_per_sm:8")
    assert dragged(mine, "old.memory_partitions", 4) == 4
    mine.said("run again when you release|are being run: ")
    mine.rests()
    assert not re.search("run anew|being run", mine.text("#words"))
    board = machine.override(
        machine.gpu("gtx280"), {"memory_partitions": 4.0, "sm_count": 4.0, "max_warps_per_sm": 8.0}
    )
    one = Measured({"gld_64": 1e6, "gst_64": 1e6}, 1024, 256, 8)
    expected = predicted(one, board, simulated(board))
    draw_view = mine.page.evaluate("document.querySelector('#graph-1').data.map((one) => [one.name, [...one.y]])")
    best = next(y for name, y in draw_view if name.startswith("best"))
    assert best == pytest.approx([1e3 * time for time in expected.best_s])
    assert "Memory partitions 4 (8)" in mine.text("#subline")
    taken = json.loads(downloaded(mine, "#as-json"))
    assert {one["key"] for one in taken["set_by_hand"]} == {
        "old.sm_count",
        "old.max_warps_per_sm",
        "old.memory_partitions",
    }
    assert mine.complaints == []


@pytest.mark.parametrize("view", ["verdict", "occupancy", "camping"])
def test_many_numbers_on_a_phone(opened: Open, view: str) -> None:
    """Nothing wider than the screen, every group opened; a number is found by name and set with a thumb."""
    mine = opened(f"source=bare&view={view}" if view == "camping" else f"source=example:saxpy&view={view}", 390, "dark")
    mine.page.evaluate("document.querySelectorAll('#controls details').forEach((one) => { one.open = true; })")
    assert mine.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert all(one.is_visible() for one in mine.page.locator(".control input[type=range]").all())
    sizes = mine.page.evaluate("""[...document.querySelectorAll('.control input[type=range]')].map(
        (one) => [one.clientWidth, one.clientHeight])""")
    assert all(width >= 150 and height >= 24 for width, height in sizes)
    assert mine.axe() == []
    assert mine.complaints == []
