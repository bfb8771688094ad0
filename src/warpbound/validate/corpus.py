"""A corpus: launches that somebody measured, as data. A folder with corpus.toml, its sources and its rows.

corpus.toml holds what all rows share; `{column}` in it is the value of that column. Columns of the rows: `gpu`,
`kernel` where the corpus has several, what the templates name, and the measured value.
"""

import csv
import math
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec

from warpbound.errors import CommandError, InputError
from warpbound.quick_dataclasses import dataclass

FILE, ROWS = "corpus.toml", "rows.csv"
Words = Mapping[str, str]


class Measured(msgspec.Struct, forbid_unknown_fields=True):
    """The value in the rows' `column`, in `unit`: a time, or a rate or cycles for `per` units of work.

    between : two arguments; the value is of the difference of the two launches, so that nothing but the work counts.
    fastest_of : columns -> values, one table for each launch of which the value is the fastest one's.
    """

    column: str
    unit: str
    per: str | float = 1
    between: tuple[str, str] | None = None
    fastest_of: list[dict[str, str]] = []


class Shared(msgspec.Struct, forbid_unknown_fields=True):
    """The keys of corpus.toml.

    clock_column : of the rows' own clocks, MHz. clock : of rows whose clock is not known, "boost" or "sustained".
    choices : columns that tell apart ways to do the same work. compiler : the release of the rows' origin, as after
    --compiler; empty for the usual one. options : more of NVRTC's, as after --nvrtc. calibration : column -> values of
    rows that something was fitted to. set_aside : column -> values of rows that are counted apart.
    """

    about: str
    origin: str
    measured: Measured
    source: str = ""
    workload: str = ""
    note: str = ""
    kernel: str = ""
    grid: str = "1"
    block: str = "1"
    smem: int | str = 0
    carveout: int | None = None
    cache: str = "warm"
    clock_MHz: float | None = None
    clocks_MHz: dict[str, float] = {}
    clock_column: str = ""
    clock: Literal["boost", "sustained"] = "boost"
    args: list[str] = []
    defines: list[str] = []
    compiler: str = ""
    options: list[str] = []
    choices: list[str] = []
    calibration: dict[str, list[str | int | float]] = {}
    set_aside: dict[str, list[str | int | float]] = {}


@dataclass(frozen=True)
class Row:
    """One measured launch. seconds : measured. choice_of : rows that share it do the same work."""

    kernel: str
    gpu: str
    words: Words
    seconds: float
    clock_MHz: float | None
    kind: str                       # judged | calibration | set aside
    choice_of: tuple[str, ...] = ()

    def label(self, shared: Shared) -> str:
        """The columns that distinguish the row from the others, but for empty ones."""
        common = ("gpu", "kernel", shared.measured.column)
        return ", ".join(f"{key} {value}" for key, value in self.words.items() if value and key not in common)


@dataclass(frozen=True)
class Corpus:
    """A named collection of rows and what they share."""

    name: str
    folder: Path
    shared: Shared
    rows: tuple[Row, ...]

    def filled(self, template: str, row: Row) -> str:
        """A template with the row's columns in place."""
        try:
            return template.format_map(row.words)
        except (KeyError, ValueError, IndexError):
            columns = ", ".join(row.words)
            raise InputError(f"{self.name}: {template!r} names no column.", f"The columns are {columns}.") from None


def shipped() -> tuple[str, ...]:
    """Names of the corpora that come with the package."""
    return tuple(sorted(path.name for path in _home().iterdir() if (path / FILE).is_file()))


def corpus(word: str | Path) -> Corpus:
    """A shipped corpus by name, or the folder of one. CommandError for neither, InputError for a malformed one."""
    folder = Path(word)
    if isinstance(word, str) and word in shipped():
        return _read(_home() / word)
    if not (folder / FILE).is_file():
        names = ", ".join(shipped())
        raise CommandError(f"{word!r} is not a corpus.", f"Give a folder with a {FILE}, or one of {names}.")
    return _read(folder)


@cache
def _home() -> Path:
    return Path(str(files("warpbound.validate") / "corpora"))


def _read(folder: Path) -> Corpus:
    place = folder / FILE
    try:
        shared = msgspec.convert(tomllib.loads(place.read_text(encoding="utf-8")), Shared, strict=False)
        with (folder / ROWS).open(encoding="utf-8", newline="") as lines:
            words = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"The corpus {folder} cannot be read: {error}.", "Correct that file.") from None
    empty = Corpus(folder.name, folder, shared, ())
    return Corpus(folder.name, folder, shared, tuple(_rows(empty, words)))


def _rows(corpus: Corpus, table: list[dict[str, str]]) -> Iterator[Row]:
    shared = corpus.shared
    for line, words in enumerate(table, 2):
        try:
            clock = _clock(shared, words)
            kernel = words.get("kernel") or shared.kernel
            blank = Row(kernel, words["gpu"], words, 0.0, clock, "judged")
            per = float(corpus.filled(str(shared.measured.per), blank))
            seconds = seconds_of(float(words[shared.measured.column]), shared.measured.unit, per, clock)
        except (KeyError, ValueError, TypeError) as error:
            hint = f"A row needs gpu, {shared.measured.column} and what {FILE} names."
            raise InputError(f"{corpus.folder / ROWS}, row {line}: {error} is missing or no number.", hint) from None
        except ZeroDivisionError:
            seconds = math.inf
        if not 0 < seconds < math.inf:
            reason = f"{shared.measured.column} = {words[shared.measured.column]} is not a time of a launch."
            raise InputError(f"{corpus.folder / ROWS}, row {line}: {reason}", "Give a finite number above zero.")
        same = tuple(f"{key}={words[key]}" for key in words if key not in (*shared.choices, shared.measured.column))
        yield Row(kernel, words["gpu"], words, seconds, clock, _kind(shared, words), same if shared.choices else ())


def _clock(shared: Shared, words: Words) -> float | None:
    """Of one row, MHz; None where it is not known."""
    if shared.clock_column:
        return float(words[shared.clock_column]) if words[shared.clock_column] else None
    return shared.clocks_MHz.get(words.get("gpu", ""), shared.clock_MHz)


def _kind(shared: Shared, words: Words) -> str:
    for kind, columns in (("calibration", shared.calibration), ("set aside", shared.set_aside)):
        if any(words.get(column) in {str(value) for value in values} for column, values in columns.items()):
            return kind
    return "judged"


def seconds_of(value: float, unit: str, per: float, clock_MHz: float | None) -> float:
    """Seconds of a printed value; `per` units of work at a rate, or cycles for each of them.

    Raises ValueError for a unit that is not known, or cycles without a clock.
    """
    match unit:
        case "s" | "ms" | "us" | "ns":
            return value * per * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
        case "GB/s" | "Gop/s":
            return per / (1e9 * value)
        case "cycle" if clock_MHz:
            return value * per / (1e6 * clock_MHz)
        case _:
            raise ValueError(f"the unit {unit!r}")
