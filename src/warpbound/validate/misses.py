"""Why the prediction is far off for some launches: sentences from `misses.toml` of each shipped corpus."""

import tomllib
from functools import cache
from typing import NamedTuple

import msgspec

from warpbound.validate.corpus import corpus, shipped

FILE = "misses.toml"


class KernelMiss(msgspec.Struct, forbid_unknown_fields=True):
    """Why the times of these kernels are missed, and which measurement would settle it."""

    names: list[str]
    reason: str


class KneeMiss(msgspec.Struct, forbid_unknown_fields=True):
    """Why a knee or plateau of one board is more than 10 % off. of : as in `cache_knees.KneeComparison`."""

    gpu: str
    of: str
    reason: str


class Misses(msgspec.Struct, forbid_unknown_fields=True):
    """The keys of misses.toml."""

    kernels: list[KernelMiss] = []
    knees: list[KneeMiss] = []


class Reasons(NamedTuple):
    """kernels : (corpus, kernel) -> reason. knees : (corpus, board, what) -> reason."""

    kernels: dict[tuple[str, str], str]
    knees: dict[tuple[str, str, str], str]


@cache
def reasons() -> Reasons:
    """The sentences of all shipped corpora."""
    every = {name: _misses(name) for name in shipped()}
    return Reasons(
        {(name, kernel): miss.reason for name, x in every.items() for miss in x.kernels for kernel in miss.names},
        {(name, miss.gpu, miss.of): miss.reason for name, x in every.items() for miss in x.knees},
    )


def _misses(name: str) -> Misses:
    place = corpus(name).folder / FILE
    return msgspec.convert(tomllib.loads(place.read_text("utf-8")), Misses) if place.is_file() else Misses()
