"""The tables and figures that can be reproduced, as data: what each paper prints.

An item NAME is a TOML file in the folder of its paper; papers.toml names it and the module that computes it. There the
function NAME returns our values by name from the inputs, and NAME_figures the series of its figures, if it has any.
If the pictures need more than these series, `pictures` has a function NAME that draws them. The file has

name, title, where   the item's name, its subject, its place in the paper
unit, units          of all numbers; by name, or by the last part of a name
stand_in, note       what replaces an experiment that is not available; what else there is to know
spread               share by which a recorded number may move, where a simulation draws samples
[inputs]             arguments of the function, over the paper's own inputs.toml
[printed]            the paper's values by name, as strings with the digits that are printed; "about 54" is rough
[measured]           the same for what the paper measured
read                 names of values above that follow from the paper's words or a figure, and are not printed
[readings]           by name, which reading is ours where the numbers differ
[contradictions]     by name, what else in the paper contradicts the printed value

Names may nest: `[printed.Kepler] alpha = "28.9"` answers {"Kepler": {"alpha": ...}}.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import ascii_lowercase
from typing import Any

from warpbound.errors import CommandError
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figure_series import Figure

ItemInputs = Mapping[str, Any]    # inputs of an item
Numbers = Mapping[str, Any]  # name -> number, word, or more names

SHARED = "inputs.toml"  # of a paper's folder: what several of its items start from
EXACT = 1e-5            # share by which a recorded number may move: what six digits leave open
_TABLES = ("printed", "measured", "readings", "contradictions")

_NUMBER = r"[\d.]*\d[a-z]?"
_FIGURES = re.compile(rf"Figures? ({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)")


def _table(file: Traversable) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


_PAPERS = _table(files("warpbound.reproduce") / "papers.toml")
PAPERS: dict[str, str] = {name: paper["citation"] for name, paper in _PAPERS.items()}


@dataclass(frozen=True)
class Printed:
    """A value of the paper, whether it was measured, and what explains a difference from ours."""

    value: str | None = None
    from_measurement: bool = False
    from_reading: bool = False       # follows from the paper's words or a figure, which do not print it
    reading: str = ""        # the reading that was adopted
    contradiction: str = ""  # what in the paper contradicts the value


@dataclass(frozen=True, kw_only=True)
class Item:
    """A table, figure or section of a paper; fields with a default may be missing in its file."""

    paper: str
    name: str                     # "fig-4.6"
    module: str                   # of the package that computes ours
    function: str                 # of that module
    title: str
    where: str                    # in the paper
    stand_in: str = ""            # what replaces an experiment that is not available
    note: str = ""
    inputs: ItemInputs            # the paper's shared ones among them
    printed: dict[str, Printed]   # by name; nested names joined with ": "
    unit: str = "1"               # of what `units` does not name
    units: dict[str, str] = field(default_factory=dict)  # by name, or by the last part of one
    spread: float = EXACT         # share by which a recorded number may move; a simulation's sample may more

    @property
    def key(self) -> str:
        """The name on the command line, PAPER:ITEM."""
        return f"{self.paper}:{self.name}"

    def unit_of(self, what: str) -> str:
        """Unit of one number."""
        return self.units.get(what, self.units.get(what.rpartition(": ")[2], self.unit))

    def numbers(self) -> Numbers:
        """Our values, computed."""
        compute: Callable[[ItemInputs], Numbers] = getattr(import_module(self.module), self.function)
        return compute(self.inputs)

    @property
    def series(self) -> Callable[[ItemInputs], Iterable[Figure]] | None:
        """The function that computes the series of its figures; None for a table."""
        return getattr(import_module(self.module), f"{self.function}_figures", None)


@cache
def items() -> tuple[Item, ...]:
    """All of them, paper by paper, in the order of papers.toml."""
    return tuple(item for paper in PAPERS for item in _items(paper))


def chosen(word: str) -> tuple[Item, ...]:
    """The items of `all`, of a paper, the one called PAPER:ITEM, or those of the figure PAPER:fig-N.

    Raises CommandError where there are none.
    """
    paper, _, name = word.partition(":")
    if word == "all":
        return items()
    if paper not in PAPERS:
        raise CommandError(f"No paper is called {paper!r}.", f"There are {', '.join(PAPERS)} and all.")
    own = tuple(item for item in items() if item.paper == paper)
    matches = tuple(item for item in own if name in ("", item.name))
    number = name.removeprefix("fig-")
    whole = {number, number.rstrip(ascii_lowercase)}
    matches = matches or tuple(item for item in own if whole & figures_in(item.where))
    if not matches:
        names = ", ".join(item.name for item in own)
        raise CommandError(f"{paper} has no item and no figure {name!r}.", f"There are {names}.")
    return matches


def figures_in(words: str) -> set[str]:
    """The numbers after `Figure` and `Figures`: "Figures 3.5 and 3.6; Figures 5 to 8" -> 3.5, 3.6, 5, 6, 7, 8."""
    numbers: set[str] = set()
    for match in _FIGURES.finditer(words):
        for part in re.split(r", | and ", match[1]):
            first, *last = part.split(" to ")
            chapter, _, number = first.rpartition(".")
            end = last[0].rpartition(".")[2] if last else number
            whole = number.isdigit() and end.isdigit()
            every = [str(n) for n in range(int(number), int(end) + 1)] if whole else [number]
            numbers |= {f"{chapter}.{n}".removeprefix(".") for n in every}
    return numbers


def prose(name: str) -> str:
    """The words of a generated page of docs/."""
    return (files("warpbound.reproduce") / "prose" / name).read_text(encoding="utf-8")


def flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """A nested table with its names joined."""
    rows: dict[str, Any] = {}
    for name, value in table.items():
        rows |= flat(value, f"{above}{name}: ") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return rows


def _items(paper: str) -> Iterator[Item]:
    folder = files("warpbound.reproduce") / paper
    shared = _table(folder / SHARED) if (folder / SHARED).is_file() else {}
    for module, *names in _PAPERS[paper]["items"]:
        for name in names:
            yield _item(paper, f"warpbound.reproduce.{paper}.{module}", folder / f"{name}.toml", shared)


def _item(paper: str, module: str, file: Traversable, shared: ItemInputs) -> Item:
    """Raises TypeError for an unknown key, ValueError where `read` names no value."""
    table = _table(file)
    rows = _printed({name: flat(table.pop(name, {})) for name in _TABLES}, table.pop("read", []))
    inputs, function = {**shared, **table.pop("inputs", {})}, file.name.removesuffix(".toml")
    return Item(paper=paper, module=module, function=function, inputs=inputs, printed=rows, **table)


def _printed(tables: Mapping[str, Mapping[str, Any]], names_read: Sequence[str]) -> dict[str, Printed]:
    values = {**tables["measured"], **tables["printed"]}
    if strange := [name for name in names_read if name not in values]:
        raise ValueError(f"Values that are read have no value: {', '.join(strange)}.")
    return {
        what: Printed(
            value=tables["printed"].get(what, tables["measured"].get(what)),
            from_measurement=what in tables["measured"],
            from_reading=what in names_read,
            reading=tables["readings"].get(what, ""),
            contradiction=tables["contradictions"].get(what, ""),
        )
        for what in dict.fromkeys(name for names in tables.values() for name in names)
    }
