"""The page in a browser: every view, numbers chosen and dragged, compared with Python's; keyboard, axe, sizes."""

import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import warpbound
from warpbound.models.volkov_2016 import mixes
from warpbound.page.views import VIEWS
from warpbound.page.views.hiding import BARE_MIX
from warpbound.report.words import seconds

pytestmark = [pytest.mark.browser, pytest.mark.cuda]
ROOT = Path(__file__).parents[2]
SYSTEM_BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
SERIOUS = ("serious", "critical")
FOCUS = "document.activeElement.getAttribute('aria-label') || document.activeElement.id"
DRAG = """async ([key, steps]) => {
  const slider = document.querySelector(`.control[data-key="${key}"] input[type=range]`);
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const plot = document.querySelector("#graph-1 .js-plotly-plot");
  const low = Number(slider.min), high = Number(slider.max), took = [];
  for (let step = 1; step <= steps; step++) {
    const drawn = new Promise((done) => plot.once("plotly_afterplot", done));
    const begun = performance.now();
    set.call(slider, low + (high - low) * (0.2 + 0.6 * step / steps));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await drawn;
    took.push(performance.now() - begun);
    await new Promise((done) => setTimeout(done, 20));
  }
  return took;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, or Playwright's own."""
    sync_api = pytest.importorskip("playwright.sync_api")
    own = next((path for path in SYSTEM_BROWSERS if Path(path).exists()), None)
    with sync_api.sync_playwright() as started:
        try:
            launched = started.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except sync_api.Error as missing:
            pytest.skip(f"no browser here: {str(missing).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    pytest.importorskip("dash")
    from warpbound.page.analysts import Analysts
    from warpbound.page.serving import server

    analysts = Analysts()
    listening = server(0, analysts)
    Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.port}/"
    listening.shutdown()
    analysts.close()


class Opened:
    """A reader with a browser context of their own, and what the page complained of or asked of others."""

    def __init__(self, browser: Any, address: str, query: str, width: int = 1280, scheme: str = "light") -> None:
        size = {"width": width, "height": 720 if width > 800 else 844}
        self.context = browser.new_context(viewport=size, color_scheme=scheme)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked(address))
        self.page.goto(f"{address}?{query}")
        self.page.wait_for_selector("#title:not(:empty)", timeout=60_000)
        self.rests()

    def _asked(self, address: str) -> Any:
        def note(request: Any) -> None:
            if not request.url.startswith((address, "data:", "blob:")):
                self.elsewhere.append(request.url)

        return note

    def rests(self) -> None:
        """Wait until nothing is on its way and the sliders have come to rest."""
        for _ in range(2):  # an answer may start another question
            self.page.wait_for_timeout(150)
            self.page.wait_for_function("() => window.warpboundRests()", timeout=60_000)

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def number(self, key: str) -> Any:
        return self.page.locator(f'.control[data-key="{key}"] input[type=number]')

    def becomes(self, selector: str, pattern: str) -> str:
        """The text of a place once it matches."""
        self.page.wait_for_function(
            "([place, wanted]) => new RegExp(wanted).test(document.querySelector(place).innerText)",
            arg=[selector, pattern],
            timeout=30_000,
        )
        return self.text(selector)

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def axe(page: Any) -> list[str]:
    """Serious findings of axe, each with the places it is about."""
    pytest.importorskip("axe_playwright_python")
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8") + ";0")
    found = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {[node['target'] for node in one['nodes']]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_at_both_sizes(browser: Any, address: str, view: str) -> None:
    """Light on a laptop, dark on a phone: drawn, nothing cut off, no error, accessible, nothing asked elsewhere."""
    for width, scheme in ((1280, "light"), (390, "dark")):
        with Opened(browser, address, f"source=example:saxpy&view={view}", width, scheme) as opened:
            assert opened.complaints == []
            assert opened.elsewhere == []
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
            assert opened.text("#problem") == ""
            if view == "sass":
                assert "LDG" in opened.text("#exact")
            else:
                plot = opened.page.locator("#graph-1 .main-svg").first.bounding_box()
                assert plot["height"] > 100
                paper = opened.page.evaluate("document.querySelector('#graph-1 .js-plotly-plot').layout.paper_bgcolor")
                assert paper == ("#ffffff" if scheme == "light" else "#14181d")
            assert axe(opened.page) == []


def test_the_verdict_is_that_of_python(browser: Any, address: str) -> None:
    program = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200")
    launch = warpbound.launch(ROOT / "examples" / "saxpy.toml")
    slow = warpbound.machine.override(warpbound.gpu("h200"), {"dram_achievable_bandwidth": 2000.0})
    first, second = (warpbound.analyze(program, board, launch) for board in ("h200", slow))
    with Opened(browser, address, "source=example:saxpy") as opened:
        assert f"Time {seconds(first['time_s'])}, " in opened.text("#exact")
        assert f"{first['whatifs'][0]['speedup']:.2f}x" in opened.text("#exact")
        opened.number("gpu.dram_achievable_bandwidth").fill("2000")
        opened.becomes("#exact", re.escape(f"Time {seconds(second['time_s'])}, "))
        assert "set=gpu.dram_achievable_bandwidth%3A2000" in opened.page.url
        opened.page.get_by_text("Back to the own numbers").click()
        opened.becomes("#exact", re.escape(f"Time {seconds(first['time_s'])}, "))
        assert "set=" not in opened.page.url
        assert opened.complaints == []


def test_an_address_is_a_view_to_share(browser: Any, address: str) -> None:
    with Opened(browser, address, "source=bare&view=hiding") as mine:
        mine.number("mix.alu_per_op").fill("48.9")
        mine.number("mix.warps").fill("20")
        mix = replace(BARE_MIX, alu_per_op=48.9, warps=20.0)
        needed = f"{float(mixes.warps_needed(mix).total):.1f} warps would hide"
        mine.becomes("#words", "^Latency binds at 20 .* " + re.escape(needed))
        mine.rests()
        words = mine.text("#words")
        link = mine.page.url.partition("?")[2]
        with Opened(browser, address, link) as yours:
            assert yours.text("#words") == words
            assert yours.number("mix.alu_per_op").input_value() == "48.9"
            yours.number("mix.alu_per_op").fill("1")
            yours.becomes("#words", "Memory binds|Latency binds")
            yours.rests()
            assert mine.text("#words") == words  # two readers do not disturb each other


def test_choose_another_kernel_and_gpu(browser: Any, address: str) -> None:
    with Opened(browser, address, "source=example:saxpy&set=gpu.l2_latency:300") as opened:
        for place, words in (("#gpu", "NVIDIA L4"), ("#source", "reduction.cu")):
            opened.page.locator(place).click()
            opened.page.locator(".dash-dropdown-search").fill(words)
            opened.page.get_by_role("option", name=words, exact=True).first.click()
            opened.becomes("#title", "on NVIDIA L4" if place == "#gpu" else "reduc")
            opened.rests()
        program = warpbound.compile(ROOT / "examples" / "reduction.cu", "l4")
        entry = warpbound.analyze(program, "l4", warpbound.launch(ROOT / "examples" / "reduction.toml"))
        assert f"Time {seconds(entry['time_s'])}, " in opened.text("#exact")
        assert "set=" not in opened.page.url  # another board has numbers of its own
        assert opened.complaints == []


def test_pasted_code(browser: Any, address: str) -> None:
    code = "__global__ void scaled(float *x, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) x[i] *= 2; }"
    with Opened(browser, address, "source=example:saxpy") as opened:
        opened.page.get_by_text("Your own CUDA").last.click()
        opened.page.fill("#code", '#include "/etc/passwd"\n' + code)
        opened.page.click("#paste")
        opened.becomes("#problem", "no header /etc/passwd")
        opened.page.fill("#code", code + "\n// <b>" + "</script>")
        opened.page.click("#paste")
        opened.becomes("#title", "scaled on NVIDIA H200")
        opened.page.get_by_text("Launch", exact=True).click()
        opened.page.fill("#grid", "4096")
        opened.page.fill("#block", "256")
        opened.page.fill("#args", "n=1048576\nx=f32[1048576]:randn")
        opened.page.click("#analyse")
        opened.becomes("#exact", "Time ")
        opened.rests()
        program = warpbound.compile(code, "h200")
        launch = warpbound.launch(grid=4096, block=256, args={"n": 1048576, "x": "f32[1048576]:randn"})
        assert f"Time {seconds(warpbound.analyze(program, 'h200', launch)['time_s'])}, " in opened.text("#exact")
        with Opened(browser, address, opened.page.url.partition("?")[2]) as shared:
            assert shared.text("#title") == "scaled on NVIDIA H200"
            assert shared.text("#exact") == opened.text("#exact")
        assert opened.complaints == []


def test_by_keyboard_alone(browser: Any, address: str) -> None:
    """Views by arrow keys, sliders by arrow keys; every control can be reached."""
    with Opened(browser, address, "source=bare&view=hiding") as opened:
        opened.page.locator("#view input:checked").focus()
        opened.page.keyboard.press("ArrowRight")
        opened.becomes("#words", "settles at k")
        opened.page.keyboard.press("ArrowLeft")
        opened.becomes("#words", "warps would hide")
        opened.rests()
        before = opened.number("mix.alu_per_op").input_value()
        seen = set()
        for _ in range(60):
            opened.page.keyboard.press("Tab")
            label = opened.page.evaluate(FOCUS)
            seen.add(label)
            if label == "Arithmetic intensity, alpha, adds per access, slider":
                opened.page.keyboard.press("ArrowRight")
        opened.rests()
        assert float(opened.number("mix.alu_per_op").input_value()) > float(before)
        assert {"Memory latency, cycle", "as-png", "as-json"} <= seen


def test_take_it_along(browser: Any, address: str) -> None:
    with Opened(browser, address, "source=example:saxpy") as opened:
        for button, ending in (("#as-json", ".json"), ("#as-html", ".html"), ("#as-png", ".png"), ("#as-svg", ".svg")):
            with opened.page.expect_download() as coming:
                opened.page.click(button)
            path = Path(coming.value.path())
            assert coming.value.suggested_filename == f"warpbound{ending}"
            assert path.stat().st_size > 1000
        assert opened.complaints == []


def late_of(took: list[float]) -> float:
    return sorted(took)[int(0.95 * len(took))]


def test_how_long_a_slider_takes(browser: Any, address: str, record_property: Any, capsys: Any) -> None:
    """From the movement to the drawn figure; reported, and held against a bound that only a fault exceeds."""
    drags = (
        ("source=bare&view=hiding", "mix.op_latency"),
        ("source=example:saxpy&view=hiding", "gpu.dram_latency"),
        ("source=example:saxpy&view=verdict", "gpu.dram_latency"),
        ("source=example:saxpy&view=mwp", "mwp.mem_latency"),
        ("source=example:saxpy&view=x", "x.latency"),
        ("source=example:saxpy&view=roofline", "gpu.dram_achievable_bandwidth"),
    )
    lines, every = [], []
    for query, key in drags:
        with Opened(browser, address, query) as opened:
            opened.page.evaluate(DRAG, [key, 3])  # warm
            took = opened.page.evaluate(DRAG, [key, 25])
            every += took
            assert opened.complaints == []
        lines.append(f"{query} {key}: median {statistics.median(took):.0f} ms, p95 {late_of(took):.0f} ms")
    middle, late = statistics.median(every), late_of(every)
    record_property("slider_to_redraw_ms", {"median": middle, "p95": late})
    with capsys.disabled():
        sys.stderr.write("\n".join(["", *lines, f"slider to redraw: median {middle:.0f} ms, p95 {late:.0f} ms", ""]))
    assert middle < 1000
