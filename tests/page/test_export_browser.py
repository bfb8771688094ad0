"""The buttons that take an answer along, in a browser: there where there is an answer, else they say why not."""

from collections.abc import Callable
from typing import Any

import pytest

from warpbound.page.export import NOTHING
from warpbound.page.layout import EXPORTS, NOT_YET

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
PICTURES, FILES = ("as-png", "as-svg"), ("as-json", "as-html")
NO_ANSWER = set(NOTHING.values()).pop()
NO_FIGURE = "This view draws no figure."
REASONS = """(ids) => Object.fromEntries(ids.map((id) => [id, document.getElementById(id)])
  .filter(([, one]) => one.disabled).map(([id, one]) => [id, one.title]))"""
SAID = "() => document.getElementById('lacking').textContent"


def lacking(mine: Any) -> dict[str, str]:
    """Button that is disabled -> its reason; what stands below says the same to those who do not point at it."""
    found: dict[str, str] = mine.page.evaluate(REASONS, list(EXPORTS))
    groups: dict[str, list[str]] = {}
    for name, reason in found.items():
        groups.setdefault(reason, []).append(EXPORTS[name])
    told = " ".join(f"{', '.join(names)}: {reason}" for reason, names in groups.items())
    assert mine.page.evaluate(SAID) == told
    for name in EXPORTS:
        assert mine.page.get_attribute(f"#{name}", "aria-describedby") == "lacking"
    return found


def test_without_an_answer_nothing_can_be_taken_along(opened: Open) -> None:
    mine = opened("source=example:nosuch")
    assert mine.text("#problem").startswith("No example is called nosuch.")
    assert lacking(mine) == dict.fromkeys(EXPORTS, NO_ANSWER)
    assert mine.axe() == []
    mine.page.click("#as-json", force=True)
    mine.rests()
    assert mine.text("#problem").startswith("No example is called nosuch.")
    mine.page.locator("#source").focus()
    mine.page.keyboard.press("Enter")
    mine.page.locator(".dash-dropdown-search").fill("Sliders alone")
    mine.page.get_by_role("option").first.click()
    mine.becomes("#title", "Sliders alone")
    mine.look("sass")
    assert lacking(mine) == dict.fromkeys(PICTURES, NO_FIGURE)
    mine.look("hiding")
    assert lacking(mine) == {}
    with mine.page.expect_download() as coming:
        mine.page.click("#as-json")
    assert coming.value.suggested_filename == "warpbound.json"
    assert mine.complaints == []


def test_a_band_that_cannot_be_drawn_gives_no_file(opened: Open) -> None:
    mine = opened("source=bare&view=camping&set=camp.gld_64:0&set=camp.gst_64:0")
    words = mine.text("#words")
    assert words == "Every counter is 0. Set at least one of the counters."
    assert lacking(mine) == {"as-json": words} | dict.fromkeys(PICTURES, NO_FIGURE)
    mine.number("camp.gld_64").fill("1000000")
    mine.becomes("#words", "camping can cost")
    mine.rests()
    assert lacking(mine) == {}


def test_numbers_without_an_answer_disable_and_others_enable_again(opened: Open) -> None:
    mine = opened("source=bare&view=hiding")
    mine.number("mix.warps").fill("-1")
    mine.becomes("#problem", "warps")
    mine.rests()
    assert lacking(mine) == dict.fromkeys(EXPORTS, NO_ANSWER)
    mine.number("mix.warps").fill("8")
    mine.becomes("#words", "binds at 8 warps")
    mine.rests()
    assert lacking(mine) == {}


def test_before_anything_is_analysed(browser: Any, address: str) -> None:
    """An address that names one's own source brings none: nothing is asked, and so it is said."""
    page = browser.new_page()
    page.goto(f"{address}?source=pasted")
    page.wait_for_selector("#as-json")
    assert page.evaluate(REASONS, list(EXPORTS)) == dict.fromkeys(EXPORTS, NOT_YET)
    assert page.evaluate(SAID) == NOT_YET
    page.close()


def test_a_server_that_is_gone(opened: Open) -> None:
    mine = opened("source=bare&view=hiding")
    mine.page.route("**/*", lambda route: route.abort())
    mine.number("mix.warps").fill("20")
    mine.becomes("#words", "The server of this page does not answer")
    mine.page.wait_for_function("() => document.getElementById('as-json').disabled")
    assert lacking(mine) == dict.fromkeys(FILES, "The server of this page does not answer.")  # the picture is here
    mine.page.unroute_all()
    mine.number("mix.warps").fill("21")
    mine.becomes("#words", "binds at 21 warps")
    mine.rests()
    assert lacking(mine) == {}
