"""The tables and figures that can be reproduced: what the papers print of them, as data.

An item is a TOML file in the folder of its paper beside a module of the same name.  The module has `numbers(given)`,
which returns our values by name, and, where there is a picture, `figures(given)`.  The file has

name, title, where   what it is called, what it shows, where in the paper it stands
unit, units          of all numbers; by name, or by the last part of a name
stand_in, note       what takes the place of an experiment that is not at hand; what else there is to know
spread               share by which a recorded number may move, where a simulation draws samples
[inputs]             what the module is given, over the paper's own inputs.toml
[printed]            the paper's values by name, as strings with the digits that are printed; "about 54" is rough
[measured]           the same for what the paper measured
[readings]           by name, which reading is ours where the numbers differ
[contradictions]     by name, what else in the paper speaks against the printed value

Names may nest: `[printed.Kepler] alpha = "28.9"` answers {"Kepler": {"alpha": ...}}.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from warpbound.errors import CommandError
from warpbound.reproduce.judging import Printed

PAPERS: dict[str, str] = {
    "hong_kim_2009": "S. Hong, H. Kim, Memory-level and Thread-level Parallelism Aware GPU Architecture Performance "
    "Analytical Model, extended version of ISCA 2009",
    "volkov_2016": "V. Volkov, Understanding Latency Hiding on GPUs, PhD thesis, UC Berkeley, EECS-2016-143",
    "campprof_2011": "A. M. Aji, M. Daga, W. Feng, Bounding the Effect of Partition Camping in GPU Kernels, CF 2011",
    "interval_analysis": "Lecture notes, Interval Analysis",
    "x_model_2016": "A. Li, S. L. Song, E. Brugel, D. Chavarria-Miranda, A. Kumar, H. Corporaal, X: A Comprehensive "
    "Analytic Model for Parallel Machines, 2016, with Transit (A. Li, Y. C. Tay, A. Kumar, H. Corporaal, HPDC 2015)",
}
SHARED = "inputs.toml"  # of a paper's folder: what several of its items start from
EXACT = 1e-5            # share by which a recorded number may move: what six digits leave open
_KEYS = {"name", "title", "where", "stand_in", "note", "unit", "units", "inputs", "spread"}
_TABLES = {"printed", "measured", "readings", "contradictions"}

_NUMBER = r"[\d.]*\d[a-z]?"
_FIGURES = re.compile(rf"Figures? ({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)")

Given = Mapping[str, Any]    # inputs of an item
Numbers = Mapping[str, Any]  # name -> number, word, or more names


@dataclass(frozen=True)
class Item:
    """A table, figure or section of a paper."""

    paper: str
    name: str                     # "fig-4.6"
    module: str                   # of the package that computes ours
    title: str
    where: str                    # in the paper
    stand_in: str                 # what takes the place of an experiment that is not at hand
    note: str
    given: Given                  # inputs, the paper's shared ones among them
    printed: dict[str, Printed]   # by name; nested names joined with ": "
    unit: str                     # of what `units` does not name
    units: dict[str, str]         # by name, or by the last part of one
    spread: float                 # share by which a recorded number may move; a simulation's sample may more

    @property
    def key(self) -> str:
        """As the command line has it."""
        return f"{self.paper}:{self.name}"

    def unit_of(self, what: str) -> str:
        """Unit of one number."""
        return self.units.get(what, self.units.get(what.rpartition(": ")[2], self.unit))


@cache
def items() -> tuple[Item, ...]:
    """All of them, paper by paper, in the order that the paper's folder names."""
    return tuple(item for paper in PAPERS for item in _of(paper))


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
    found = tuple(item for item in own if name in ("", item.name))
    found = found or tuple(item for item in own if name.removeprefix("fig-") in figures_in(item.where))
    if not found:
        names = ", ".join(item.name for item in own)
        raise CommandError(f"{paper} has no item and no figure {name!r}.", f"There are {names}.")
    return found


def figures_in(words: str) -> set[str]:
    """The numbers after `Figure` and `Figures`: "Figures 3.5 and 3.6; Figures 5 to 8" -> 3.5, 3.6, 5, 6, 7, 8."""
    found: set[str] = set()
    for named in _FIGURES.finditer(words):
        for part in re.split(r", | and ", named[1]):
            first, *last = part.split(" to ")
            chapter, _, number = first.rpartition(".")
            end = last[0].rpartition(".")[2] if last else number
            found |= {f"{chapter}.{n}".removeprefix(".") for n in _counted(number, end)}
    return found


def _counted(first: str, last: str) -> list[str]:
    if not (first.isdigit() and last.isdigit()):
        return [first]
    return [str(n) for n in range(int(first), int(last) + 1)]


def flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """A nested table with its names joined."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{above}{name}: ")
        else:
            found[f"{above}{name}"] = value
    return found


def _of(paper: str) -> Iterator[Item]:
    folder = files("warpbound.reproduce") / paper
    shared = _table(folder / SHARED) if (folder / SHARED).is_file() else {}
    for stem in import_module(f"warpbound.reproduce.{paper}").ITEMS:
        yield _item(paper, folder / f"{stem}.toml", shared)


def _item(paper: str, file: Traversable, shared: Given) -> Item:
    table = _table(file)
    unknown = set(table) - _KEYS - _TABLES
    if unknown:
        raise ValueError(f"{paper}/{file.name}: unknown {', '.join(sorted(unknown))}")
    return Item(
        paper=paper,
        name=table["name"],
        module=f"warpbound.reproduce.{paper}.{file.name.removesuffix('.toml')}",
        title=table["title"],
        where=table["where"],
        stand_in=table.get("stand_in", ""),
        note=table.get("note", ""),
        given={**shared, **table.get("inputs", {})},
        printed=_printed(table),
        unit=table.get("unit", "1"),
        units=table.get("units", {}),
        spread=table.get("spread", EXACT),
    )


def _printed(table: Mapping[str, Any]) -> dict[str, Printed]:
    said = {name: flat(table.get(name, {})) for name in _TABLES}
    return {
        what: Printed(
            value=said["printed"].get(what, said["measured"].get(what)),
            measured=what in said["measured"],
            reading=said["readings"].get(what, ""),
            contradiction=said["contradictions"].get(what, ""),
        )
        for what in dict.fromkeys(name for names in said.values() for name in names)
    }


def _table(file: Traversable) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))
