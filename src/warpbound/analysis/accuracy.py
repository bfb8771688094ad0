"""Accuracy on measured launches, by board and bottleneck, and by class; None where too few were measured."""

from functools import cache
from pathlib import Path

import msgspec

FEWEST = 10  # judged launches below which nothing is claimed
FILE = "accuracy.json"
ANY = ""     # the class of all launches


class Kind(msgspec.Struct, frozen=True):
    """Measured launches on one board with one predicted bottleneck: mean error, share inside the interval."""

    gpu: str
    bottleneck: str
    n: int
    mape: float
    coverage: float


class Form(msgspec.Struct, frozen=True):
    """How far the edges of the interval lie for launches of one class, in units of the spread that parameters make.

    slower, faster : of the upper and the lower edge. groups : corpora and boards that it is estimated from, each with
    a limited weight; `launches` of them in all. The empty class contains all launches.
    """

    binds: str
    slower: float
    faster: float
    launches: int
    groups: tuple[str, ...]


AS_SPREAD = Form(ANY, 1.0, 1.0, 0, ())  # before anything was measured


class Accuracy(msgspec.Struct, frozen=True):
    """Validation results that reports use."""

    kinds: tuple[Kind, ...] = ()
    forms: tuple[Form, ...] = ()


def expected(gpu: str, bottleneck: str) -> Kind | None:
    """Accuracy for this board and bottleneck; None where fewer than FEWEST launches were measured."""
    kinds = (kind for kind in _accuracy().kinds if (kind.gpu, kind.bottleneck) == (gpu, bottleneck))
    return next((kind for kind in kinds if kind.n >= FEWEST), None)


def form(binds: str) -> Form:
    """Form error of a class; of all launches where none of the class was measured."""
    by_class = {form.binds: form for form in _accuracy().forms}
    return by_class.get(binds) or by_class.get(ANY) or AS_SPREAD


@cache
def _accuracy() -> Accuracy:
    place = Path(__file__).with_name(FILE)
    return msgspec.json.decode(place.read_bytes(), type=Accuracy) if place.is_file() else Accuracy()


def forget() -> None:
    """Clear the cache, so that the next use reads the file again."""
    _accuracy.cache_clear()
