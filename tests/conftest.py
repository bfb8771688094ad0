"""Options and fixtures of the whole suite."""

from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The same examples in every run, so that a commit is judged by what it changed; `make full` draws new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-docs", action="store_true", help="put today's output into the documentation")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
