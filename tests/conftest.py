"""Options and fixtures of the whole suite."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
SYSTEM_BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")

# The same examples in every run, so that a commit is judged by what it changed; `make full` draws new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-docs", action="store_true", help="put today's output into the documentation")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, or Playwright's own: one for all tests of a process."""
    sync_api = pytest.importorskip("playwright.sync_api")
    own = next((path for path in SYSTEM_BROWSERS if Path(path).exists()), None)
    with sync_api.sync_playwright() as started:
        try:
            launched = started.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except sync_api.Error as missing:
            pytest.skip(f"no browser here: {str(missing).splitlines()[0]}")
        yield launched
        launched.close()
