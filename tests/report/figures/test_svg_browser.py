"""SVG files in a browser: nothing cut off or written over other words, in light and in dark."""

from typing import Any

import pytest

from support.figure_gallery import GALLERY
from warpbound.report.figures import svg
from warpbound.report.figures.theme import DARK, LIGHT

pytestmark = pytest.mark.browser
PATIENCE_MS = 900_000
CUT_OFF = """() => {
  const frame = document.querySelector("svg").getBoundingClientRect();
  return [...document.querySelectorAll("text")].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
        || box.bottom > frame.bottom + 1;
  }).map(text => text.textContent); }"""
OVERLAPPING = """() => {
  const ticks = [...document.querySelectorAll("text.tick, text.title, text.panel, text.caption, text[transform]")]
    .map(text => [text.textContent, text.getBoundingClientRect()]);
  const found = [];
  ticks.forEach(([words, a], i) => ticks.slice(i + 1).forEach(([others, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 2 && along > 4) found.push(words + " | " + others);
  }));
  return found; }"""


@pytest.mark.parametrize("name", GALLERY)
def test_no_word_is_cut_off_or_covers_another(browser: Any, name: str) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.set_content(svg(GALLERY[name]))
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate(OVERLAPPING) == []
    page.close()


@pytest.mark.parametrize("scheme, paper", [("light", LIGHT.paper), ("dark", DARK.paper)])
def test_a_file_follows_the_readers_mode_and_prints_light(browser: Any, scheme: str, paper: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    page.set_content(svg(GALLERY["mwp"]))
    fill = "getComputedStyle(document.querySelector('rect.f-paper')).fill"
    rgb = tuple(int(paper[i : i + 2], 16) for i in (1, 3, 5))
    assert page.evaluate(fill) == f"rgb{rgb}"
    page.emulate_media(media="print")
    assert page.evaluate(fill) == "rgb(255, 255, 255)"
    page.close()
