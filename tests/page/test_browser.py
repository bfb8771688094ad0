"""The page in a browser: every view on both screens, numbers as Python's, keyboard, own source, sharing, exports."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import html5lib
import pytest

import warpbound
from support.paths import ROOT
from warpbound.models.volkov_2016 import mixes
from warpbound.page.pasted_source import LARGEST
from warpbound.page.views import VIEWS
from warpbound.page.views.latency_hiding import BARE_MIX
from warpbound.report.figures.theme import DARK, LIGHT
from warpbound.report.formatting import seconds

pytestmark = [pytest.mark.browser, pytest.mark.cuda]
SCALED = "__global__ void scaled(float *x, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) x[i] *= 2; }\n"
FOCUS = """() => { const one = document.activeElement, label = one.labels && one.labels[0];
  return one.getAttribute('aria-label') || one.id || (label || one).innerText; }"""
CUT_OFF = """() => [...document.querySelectorAll('figure:not([hidden]) .js-plotly-plot')].flatMap(plot => {
  const frame = plot.getBoundingClientRect(), legend = plot.querySelector('.legend');
  const box = (one) => one.getBoundingClientRect();
  const apart = (a, b) => a.right < b.left + 1 || b.right < a.left + 1 || a.bottom < b.top + 1 || b.bottom < a.top + 1;
  const titles = [...plot.querySelectorAll('[class$=title]')].filter(one => one.tagName === 'text');
  const words = [...titles, ...plot.querySelectorAll('.legendtext, .xtick text, .ytick text')];
  const cut = words.filter(one => box(one).left < frame.left - 1 || box(one).right > frame.right + 1
                                  || box(one).bottom > frame.bottom + 2);
  const met = titles.filter(one => titles.some(other => other !== one && !apart(box(one), box(other))));
  const below = legend ? titles.filter(one => !apart(box(one), box(legend))) : [];
  return [...cut, ...met, ...below].map(one => one.textContent); })"""
Open = Callable[..., Any]


OTHERS = ("paper:hong-kim-sepia/0", "bare")


@pytest.mark.parametrize(
    "source", ["example:saxpy", *(pytest.param(source, marks=pytest.mark.broad) for source in OTHERS)]
)
def test_every_view_on_both_screens(opened: Open, source: str) -> None:
    """Light on a laptop, dark on a phone: drawn, nothing cut off, no error, accessible, nothing asked elsewhere."""
    mine = opened(f"source={source}")
    for view in VIEWS:
        mine.as_on(1280, "light")
        mine.look(view)
        for width, theme in ((1280, LIGHT), (390, DARK)):
            mine.as_on(width, theme.name)
            assert mine.page.evaluate("document.documentElement.scrollWidth") <= width, (view, width)
            assert mine.text("#problem") == "", view
            if mine.page.is_visible("#figure-1"):
                assert mine.page.locator("#graph-1 .main-svg").first.bounding_box()["height"] > 100
                assert mine.page.evaluate("document.querySelector('#graph-1').layout.paper_bgcolor") == theme.paper
                assert mine.page.evaluate(CUT_OFF) == [], (view, width)
            else:
                assert mine.text(".shown").strip(), view
            assert mine.axe() == [], (view, width)
    assert mine.complaints == []
    assert mine.elsewhere == []


def test_the_verdict_is_that_of_python(opened: Open) -> None:
    program = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200")
    launch = warpbound.launch(ROOT / "examples" / "saxpy.toml")
    slow = warpbound.machine.override(warpbound.gpu("h200"), {"dram_achievable_bandwidth": 2000.0})
    first, second = (warpbound.analyze(program, board, launch) for board in ("h200", slow))
    mine = opened("source=example:saxpy")
    assert f"Time {seconds(first['time_s'])}, " in mine.text("#exact")
    assert f"{first['whatifs'][0]['speedup']:.2f}x" in mine.text("#exact")
    mine.number("gpu.dram_achievable_bandwidth").fill("2000")
    mine.becomes("#exact", re.escape(f"Time {seconds(second['time_s'])}, "))
    assert "set=gpu.dram_achievable_bandwidth%3A2000" in mine.page.url
    mine.page.click("#reset")
    mine.becomes("#exact", re.escape(f"Time {seconds(first['time_s'])}, "))
    assert "set=" not in mine.page.url
    assert mine.complaints == []


def test_two_readers_at_once_and_a_link_between_them(opened: Open) -> None:
    mine, yours = opened("source=bare&view=hiding"), opened("source=example:saxpy&gpu=l4&view=occupancy")
    mine.number("mix.alu_per_op").fill("48.9")
    yours.number("launch.block.x").fill("1024")
    mine.number("mix.warps").fill("20")
    yours.becomes("#words", "32 of 48 warps per SM")
    mix = replace(BARE_MIX, alu_per_op=48.9, warps=20.0)
    needed = f"{float(mixes.warps_needed(mix).total):.1f} warps would hide"
    mine.becomes("#words", "^Latency binds at 20 .* " + re.escape(needed))
    mine.rests()
    yours.rests()
    words, link = mine.text("#words"), mine.page.url.partition("?")[2]
    assert "saxpy" not in link
    assert "source=example%3Asaxpy&gpu=l4&view=occupancy&set=launch.block.x%3A1024" in yours.page.url
    theirs = opened(link)
    assert theirs.text("#words") == words
    assert theirs.number("mix.alu_per_op").input_value() == "48.9"
    theirs.number("mix.alu_per_op").fill("1")
    theirs.becomes("#words", "Memory binds|Latency binds")
    theirs.rests()
    assert mine.text("#words") == words
    assert yours.text("#words").startswith("1 blocks and 32 of 48 warps")
    assert mine.complaints + yours.complaints + theirs.complaints == []


def test_choose_another_kernel_and_gpu(opened: Open) -> None:
    mine = opened("source=example:saxpy&set=gpu.l2_latency:300")
    assert mine.number("gpu.l2_latency").input_value() == "300"
    for place, words, title in (("#gpu", "NVIDIA L4", "on NVIDIA L4"), ("#source", "reduction.cu", "reduc")):
        mine.page.locator(place).focus()
        mine.page.keyboard.press("Enter")
        mine.page.locator(".dash-dropdown-search").fill(words)
        mine.page.get_by_role("option", name=words, exact=True).first.click()
        mine.becomes("#title", title)
        mine.rests()
    program = warpbound.compile(ROOT / "examples" / "reduction.cu", "l4")
    entry = warpbound.analyze(program, "l4", warpbound.launch(ROOT / "examples" / "reduction.toml"))
    assert f"Time {seconds(entry['time_s'])}, " in mine.text("#exact")
    assert "set=" not in mine.page.url  # another board has numbers of its own
    own = warpbound.gpu("l4").parameters["l2_latency"].value
    assert float(mine.number("gpu.l2_latency").input_value()) == own
    assert mine.complaints == []


def test_pasted_code(opened: Open) -> None:
    mine = opened("source=bare")
    mine.page.get_by_text("Your own CUDA").last.click()
    mine.page.click("#paste")
    mine.becomes("#problem", "There is no source yet")
    mine.page.fill("#code", '#include "/etc/passwd"\n' + SCALED)
    mine.page.click("#paste")
    mine.becomes("#problem", "no header /etc/passwd")
    mine.page.fill("#code", " \n\t")  # blanks are no source either
    mine.page.click("#paste")
    mine.becomes("#problem", "There is no source yet")
    mine.page.fill("#code", SCALED + "\n// <b>" + "</script>")
    mine.page.click("#paste")
    mine.becomes("#title", "scaled on NVIDIA H200")
    mine.page.get_by_text("Launch", exact=True).click()
    mine.page.fill("#grid", "4096")
    mine.page.fill("#block", "256")
    mine.page.fill("#args", "n=1048576\nx=f32[1048576]:randn")
    mine.page.click("#analyse")
    mine.becomes("#exact", "Time ")
    mine.rests()
    program = warpbound.compile(SCALED, "h200")
    launch = warpbound.launch(grid=4096, block=256, args={"n": 1048576, "x": "f32[1048576]:randn"})
    assert f"Time {seconds(warpbound.analyze(program, 'h200', launch)['time_s'])}, " in mine.text("#exact")
    shared = opened(mine.page.url.partition("?")[2])
    assert shared.text("#title") == "scaled on NVIDIA H200"
    assert shared.text("#exact") == mine.text("#exact")
    assert mine.complaints + shared.complaints == []


def test_an_uploaded_file(opened: Open, tmp_path: Path) -> None:
    mine = opened("source=bare")
    mine.page.get_by_text("Your own CUDA").last.click()
    files = {"scaled.cu": SCALED.encode(), "large.cu": b"//" + b"x" * LARGEST, "picture.cu": bytes(range(256)) * 9,
             "words.cu": b"dear reader,", "empty.cu": b""}  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    chosen = mine.page.locator("#file")
    chosen.set_input_files(tmp_path / "scaled.cu")
    mine.becomes("#title", "scaled on NVIDIA H200")
    mine.rests()
    assert mine.text("#problem") == ""
    for name, said in (
        ("large.cu", "large.cu has more than 1 MB"),
        ("picture.cu", "picture.cu is no text"),
        ("empty.cu", "empty.cu is empty"),
        ("words.cu", "compil"),
    ):
        chosen.set_input_files(tmp_path / name)
        mine.becomes("#problem", said)
    assert mine.complaints == []


def test_by_keyboard_alone(opened: Open) -> None:
    """Views by arrow keys, sliders by arrow keys; the tabulator reaches every control, in the order of the page."""
    mine = opened("source=bare&view=hiding")
    before = float(mine.number("mix.alu_per_op").input_value())
    seen: list[str] = []
    for _ in range(120):  # more than once around: the browser chooses where it begins
        mine.page.keyboard.press("Tab")
        seen.append(mine.page.evaluate(FOCUS))
        if seen[-1] == "Arithmetic intensity, alpha, adds per access, slider":
            mine.page.keyboard.press("ArrowRight")
    mine.rests()
    assert float(mine.number("mix.alu_per_op").input_value()) > before
    wanted = ["source", "gpu", "Launch", "Your own CUDA", "Latency hiding", "as-png", "as-svg", "as-json", "as-html",
              "Find a number", "Memory latency, cycle, slider", "number-mix-op_latency"]  # fmt: skip
    missing = [one for one in wanted if one not in seen]
    assert missing == [], seen
    around = seen[seen.index("source") :]
    assert set(wanted) <= set(around), around
    at = [around.index(one) for one in wanted]
    assert at == sorted(at)
    assert not any("Share" in one for one in seen)  # Plotly's button that sends a chart to its makers
    mine.page.locator("#reset").focus()
    mine.page.keyboard.press("Enter")
    mine.rests()
    assert float(mine.number("mix.alu_per_op").input_value()) == before
    mine.page.locator("#view input:checked").focus()
    mine.page.keyboard.press("ArrowRight")
    mine.becomes("#words", "settles at k")
    mine.page.keyboard.press("ArrowLeft")
    mine.becomes("#words", "warps would hide")


def test_closed_parts_open_by_keyboard(opened: Open) -> None:
    mine = opened("source=bare")
    for words, inside in (("Launch", "#args"), ("Your own CUDA", "#code")):
        mine.page.locator("summary", has_text=words).focus()
        mine.page.keyboard.press("Enter")
        assert mine.page.is_visible(inside)
    mine.page.locator("#code").focus()
    reached = []
    for _ in range(4):
        mine.page.keyboard.press("Tab")
        reached.append(mine.page.evaluate(FOCUS))
    assert reached[0] == "paste"
    assert reached[1] == "choose"


def download(mine: Any, button: str) -> Path:
    with mine.page.expect_download() as coming:
        mine.page.click(button)
    ending = {"#as-json": "json", "#as-html": "html", "#as-png": "png", "#as-svg": "svg"}[button]
    assert coming.value.suggested_filename == f"warpbound.{ending}"
    return Path(coming.value.path())


def test_a_kernel_taken_along(opened: Open) -> None:
    mine = opened("source=example:saxpy&view=hiding&set=gpu.dram_achievable_bandwidth:2000")
    board = warpbound.machine.override(warpbound.gpu("h200"), {"dram_achievable_bandwidth": 2000.0})
    program = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200")
    entry = warpbound.analyze(program, board, warpbound.launch(ROOT / "examples" / "saxpy.toml"))
    taken = json.loads(download(mine, "#as-json").read_text())
    assert taken["schema_version"] == "1"
    assert "set=gpu.dram_achievable_bandwidth%3A2000" in taken["command"]
    assert taken["results"][0]["time_s"] == pytest.approx(entry["time_s"])
    report = download(mine, "#as-html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(report)
    assert seconds(entry["time_s"]) in report
    assert len(report) < 8e6
    picture = download(mine, "#as-png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") >= 1400  # pixels wide: twice what is on the screen
    drawing = download(mine, "#as-svg").read_text(encoding="utf-8")
    assert drawing.startswith("<svg")
    for words in ("Throughput against occupancy", "Source: V. Volkov", "bound: DRAM bandwidth", "warps per SM"):
        assert words in drawing
    assert mine.complaints == []


@pytest.mark.full
@pytest.mark.broad
def test_workloads_and_sliders_taken_along(opened: Open) -> None:
    mine = opened("source=paper:hong-kim-sepia/0&gpu=gtx280&view=mwp")
    assert json.loads(download(mine, "#as-json").read_text())["results"][0]["mode"] == "written"
    report = download(mine, "#as-html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(report)
    assert "sepia" in report.lower()
    assert "hong_kim_2009" in report
    assert report.count('<figure id="figure-') >= 3
    alone = opened("source=bare&view=hiding&set=mix.warps:20")
    report = download(alone, "#as-html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(report)
    assert "Latency binds at 20 warps" in report
    taken = json.loads(download(alone, "#as-json").read_text())
    assert taken["words"][0].startswith("Latency binds at 20 warps")
    assert [one["key"] for one in taken["set_by_hand"]] == ["mix.warps"]
    curve = next(one for one in taken["figures"][0]["curves"] if one["name"] == "volkov_2016")
    bounds = mixes.predict(replace(BARE_MIX, warps=20.0))
    assert curve["y"][curve["x"].index(20.0)] == pytest.approx(float(bounds.rate))
    alone.look("sass")
    assert alone.page.is_disabled("#as-png")
    assert mine.complaints + alone.complaints == []
