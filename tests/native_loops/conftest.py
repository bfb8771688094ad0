"""What the loops in C give beside what NumPy's code gives."""

import pytest

from warpbound.native_loops import library


@pytest.fixture
def by_both(monkeypatch):
    """A function that computes something by C, however little it is, and by NumPy."""
    if library.compiled() is None:
        pytest.skip("the loops need a C compiler")

    def both(compute):
        monkeypatch.setattr(library, "LEAST", 0)
        by_c = compute()
        with monkeypatch.context() as without:
            without.setattr(library, "compiled", lambda: None)
            return by_c, compute()

    return both
