"""Options and fixtures of the whole suite."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-docs", action="store_true", help="put today's output into the documentation")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
