"""A server of the page and readers in a real browser, each with a context of their own."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from threading import Thread
from typing import Any

import pytest

SERIOUS = ("serious", "critical")
SIZES = {1280: 720, 390: 844}
PATIENCE_MS = 900_000  # for whatever a test waits: a busy machine is no fault of the page
ON_SCREEN = """([width, scheme]) => {
    const plots = [...document.querySelectorAll('figure:not([hidden]) .js-plotly-plot')];
    return innerWidth === width && window.warpbound.rests() && window.warpbound.theme() === scheme
        && plots.every((plot) => Math.abs(plot._fullLayout.width - plot.clientWidth) < 2);
}"""  # asked for this screen, answered, and every figure drawn at the width that it has there
LISTEN = """AbortSignal.timeout = () => new AbortController().signal; // of a quick answer, too
window.said = [];
new MutationObserver(() => {
    const words = document.getElementById('words')?.textContent;
    if (words !== undefined && words !== window.said.at(-1)) window.said.push(words);
}).observe(document, { subtree: true, childList: true, characterData: true });"""


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Of one server for all tests of a process."""
    pytest.importorskip("dash")
    from warpbound.page.server import server
    from warpbound.page.worker_pool import WorkerPool

    pool = WorkerPool(seconds=PATIENCE_MS / 1000)
    listening = server(0, pool)
    Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.port}/"
    listening.shutdown()
    pool.close()


@pytest.fixture(scope="module")
def service() -> Iterator[Any]:
    """What answers the page's requests, with processes of its own; a busy machine is no fault of the page."""
    from warpbound.page.analysis_service import AnalysisService
    from warpbound.page.state import Texts
    from warpbound.page.worker_pool import WorkerPool

    pool = WorkerPool(seconds=PATIENCE_MS / 1000)
    yield AnalysisService(pool, Texts())
    pool.close()


class Opened:
    """One reader's page, what it complained of and what it asked of others than the server."""

    def __init__(self, browser: Any, address: str, query: str, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.page.add_init_script(LISTEN)
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked(address))
        self.page.goto(f"{address}?{query}")
        self.page.wait_for_function("() => window.warpbound && window.warpbound.rests")
        self.rests()

    def _asked(self, address: str) -> Any:
        def note(request: Any) -> None:
            if not request.url.startswith((address, "data:", "blob:")):
                self.elsewhere.append(request.url)

        return note

    def rests(self, view: str = "") -> None:
        """Wait until all that was asked is answered and drawn."""
        self.page.wait_for_function("(view) => window.warpbound.rests(view)", arg=view)

    def look(self, view: str) -> None:
        """Choose a view."""
        self.page.locator(f'#view input[value="{view}"]').check()
        self.rests(view)

    def as_on(self, width: int, scheme: str) -> None:
        """Another screen."""
        self.page.set_viewport_size({"width": width, "height": SIZES[width]})
        self.page.emulate_media(color_scheme=scheme)
        self.page.wait_for_function(ON_SCREEN, arg=[width, scheme])

    def text(self, selector: str) -> str:
        """What stands in a place."""
        return str(self.page.inner_text(selector))

    def number(self, key: str) -> Any:
        """The field of a number to set."""
        return self.page.locator(f'.control[data-key="{key}"] input[type=number]')

    def slider(self, key: str) -> Any:
        """Its slider."""
        return self.page.locator(f'.control[data-key="{key}"] input[type=range]')

    def becomes(self, selector: str, pattern: str) -> str:
        """The text of a place once it matches."""
        self.page.wait_for_function(
            "([place, wanted]) => new RegExp(wanted).test(document.querySelector(place).innerText)",
            arg=[selector, pattern],
        )
        return self.text(selector)

    def said(self, pattern: str) -> None:
        """Wait until the words above the figure match, or have matched: those of a moving slider soon give way."""
        self.page.wait_for_function(
            "(wanted) => window.said.some((words) => new RegExp(wanted).test(words))", arg=pattern
        )

    def axe(self) -> list[str]:
        """Serious findings of axe, each with the places it is about."""
        pytest.importorskip("axe_playwright_python")
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8") + ";0")
        found = self.page.evaluate("axe.run({ resultTypes: ['violations'] })")
        return [
            f"{one['id']}: {[node['target'] for node in one['nodes']]}"
            for one in found["violations"]
            if one["impact"] in SERIOUS
        ]

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Callable[..., Opened]]:
    """Opens the page for one more reader."""
    readers: list[Opened] = []

    def reader(query: str, width: int = 1280, scheme: str = "light") -> Opened:
        readers.append(Opened(browser, address, query, width, scheme))
        return readers[-1]

    yield reader
    for one in readers:
        one.context.close()
