"""What validation found: how far predictions of a kind were from measurements. Nothing is claimed of any other kind."""

from functools import cache
from importlib.resources import files

import msgspec

FEWEST = 10  # judged launches below which nothing is claimed
FILE = "accuracy.json"


class Kind(msgspec.Struct, frozen=True):
    """Judged launches on one board that one resource was said to bind: mean error, share inside the interval."""

    gpu: str
    bottleneck: str
    n: int
    mape: float
    coverage: float


class Accuracy(msgspec.Struct, frozen=True):
    """The part of the validation data that reports use."""

    kinds: tuple[Kind, ...] = ()


def expected(gpu: str, bottleneck: str) -> Kind | None:
    """What was found for this board and bottleneck; None where fewer than FEWEST launches were judged."""
    mine = (kind for kind in _found().kinds if (kind.gpu, kind.bottleneck) == (gpu, bottleneck))
    return next((kind for kind in mine if kind.n >= FEWEST), None)


@cache
def _found() -> Accuracy:
    place = files("warpbound.analysis") / FILE
    return msgspec.json.decode(place.read_bytes(), type=Accuracy) if place.is_file() else Accuracy()


def forget() -> None:
    """Read the file again at the next question."""
    _found.cache_clear()
