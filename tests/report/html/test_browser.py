"""The HTML report in a browser without a network: figures drawn, no error, readable in both modes and on a phone."""

from pathlib import Path
from typing import Any

import pytest

import warpbound
from support.figure_gallery import GALLERY
from support.paths import ROOT
from support.results import record
from warpbound.analysis import Settings
from warpbound.models import MODELS
from warpbound.report import html
from warpbound.report.figures.drawing import spec
from warpbound.report.figures.picture import Panels
from warpbound.report.figures.theme import DARK, LIGHT, Theme

pytestmark = [pytest.mark.browser, pytest.mark.cuda]
PATIENCE_MS = 900_000
MET = """() => [...document.querySelectorAll('.plot')].flatMap(plot => {
  const frame = plot.getBoundingClientRect(), box = (one) => one.getBoundingClientRect();
  const apart = (a, b) => a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top;
  const titles = [...plot.querySelectorAll('text[class$=title]')], words = [...plot.querySelectorAll('.textpoint')];
  const cut = titles.filter(one => box(one).left < frame.left - 1 || box(one).right > frame.right + 1);
  const met = [...titles, ...words].filter(one => titles.some(other => other !== one && !apart(box(one), box(other))));
  return [...cut, ...met].map(one => plot.ariaLabel + ': ' + one.textContent); })"""  # words of axes and of marks
WIDTH_OF_PAPER = 680  # of A4 within its margins of 14 mm, at 96 pixels an inch: 688


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_plotly_draws_every_kind_of_figure(browser: Any, theme: Theme) -> None:
    """Its script finds no fault with any of them, which its Python half cannot tell."""
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content("<div id='place'></div>")
    page.add_script_tag(content=html.plotly_script())
    for name, picture in GALLERY.items():
        drawn = spec(picture, theme)
        done = page.evaluate(
            """drawn => Plotly.newPlot("place", drawn.data, drawn.layout).then(plot => [
                 plot.querySelectorAll(".main-svg").length, plot.querySelectorAll(".subplot").length])""",
            drawn,
        )
        assert done[0] > 0, name
        assert done[1] >= (len(picture.pictures) if isinstance(picture, Panels) else 1), name
    assert complaints == []
    page.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = warpbound.compile(ROOT / "examples" / "matmul_tiled.cu", "h200")
    launch = warpbound.launch(ROOT / "examples" / "matmul_tiled.toml")
    settings = Settings(models=tuple(MODELS), views=html.VIEWS)
    entry = warpbound.analysis.analyze(program, warpbound.gpu("h200"), launch, settings)
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html.page([record(entry)], "warpbound analyze <b>"), encoding="utf-8")
    return path


class Opened:
    """A page in a context of its own, what it asked for and what it complained of."""

    def __init__(self, browser: Any, report: Path, scheme: str, width: int) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(report.as_uri())
        self.page.wait_for_selector(f"body[data-drawn={scheme}]")

    def becomes(self, expression: str, wanted: Any) -> None:
        """Wait until an expression of `wanted` is true."""
        self.page.wait_for_function(f"(wanted) => {expression}", arg=wanted)

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize("scheme, paper", [("light", LIGHT.paper), ("dark", DARK.paper)])
def test_every_figure_is_drawn_offline_in_the_readers_colours(
    browser: Any, report: Path, scheme: str, paper: str
) -> None:
    with Opened(browser, report, scheme, 1280) as opened:
        drawn = opened.page.evaluate(
            "[...document.querySelectorAll('.plot')].map(p => [p.querySelectorAll('.main-svg').length,"
            " p.layout.paper_bgcolor, p.getBoundingClientRect().height])"
        )
        assert len(drawn) >= 6
        assert all(svgs > 0 and colour == paper and height > 100 for svgs, colour, height in drawn)
        assert opened.page.locator("a[data-title^=Share], button[data-title^=Share]").count() == 0  # Plotly's cloud
        assert opened.complaints == []
        assert [url for url in opened.asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_change_of_mode_redraws_and_print_is_light(browser: Any, report: Path) -> None:
    """Every figure, not the first alone."""
    plots = "[...document.querySelectorAll('.plot')]"
    paper = f"{plots}.every((plot) => plot.layout.paper_bgcolor === wanted)"
    width = f"{plots}.every((plot) => plot._fullLayout.width === wanted)"
    with Opened(browser, report, "light", 1280) as opened:
        opened.page.emulate_media(color_scheme="dark")
        opened.becomes(paper, DARK.paper)
        opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        opened.becomes(paper, LIGHT.paper)
        opened.becomes(width, WIDTH_OF_PAPER)
        assert opened.page.evaluate(MET) == []
        opened.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        opened.becomes(paper, DARK.paper)
        opened.becomes(f"{plots}.every((plot) => plot._fullLayout.width > wanted)", WIDTH_OF_PAPER)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_off_at_the_side(browser: Any, report: Path, width: int) -> None:
    with Opened(browser, report, "light", width) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        cut = opened.page.evaluate(
            """[...document.querySelectorAll('.plot')].flatMap(plot => {
                 const frame = plot.getBoundingClientRect();
                 return [...plot.querySelectorAll('.legendtext, .xtick text, .ytick text')]
                   .filter(text => { const box = text.getBoundingClientRect();
                                     return box.left < frame.left - 1 || box.right > frame.right + 1; })
                   .map(text => plot.ariaLabel + ': ' + text.textContent); })"""
        )
        assert cut == []
        assert opened.page.evaluate(MET) == []
        assert opened.page.get_by_role("region", name="Machine code").count() == 1
        lines = "[...document.querySelectorAll('.listing tr')].map(row => row.offsetHeight)"
        assert max(opened.page.evaluate(lines)) < 40  # one line of code, which is scrolled to where it is long


def test_the_words_are_there_without_scripts(browser: Any, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(report.as_uri())
    text = page.inner_text("body")
    assert "Shared memory binds" in text
    assert "The figures need JavaScript" in text
    assert "warpbound analyze <b>" in text
    context.close()
