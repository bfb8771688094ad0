"""One GPU board: every parameter with its value, unit, source and how it became known.

A board is one TOML file in gpus/, or a user's own file of the same form. Values keep the unit of
their source; `Gpu.value` gives base units: s, Hz, B, B/s, bit, bit/s, flop/s, W, cycle, B/cycle/SM,
FMA/cycle/SM.
"""

import difflib
import math
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from warpbound.board_parameters import CARRIED, HOW, LARGEST, LEAST, PARAMETERS, SMALLEST, UNITS, Parameter
from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import MEANINGS, Limits, arch, limits, with_limits

__all__ = [
    "HOW", "PARAMETERS", "UNITS", "Claim", "Gpu", "Parameter", "Quantity",
    "catalogue", "clock", "gpu", "listed", "load", "override",
]  # fmt: skip
_CLAIM_KEYS = {"value", "source", "note"}


@dataclass(frozen=True)
class Claim:
    """What another source says about the same parameter, in the same unit."""

    value: float
    source: str
    note: str = ""


@dataclass(frozen=True)
class Quantity:
    """One parameter as its source gives it."""

    value: float  # in `unit`
    unit: str
    source: str  # the reference in words
    how: str  # vendor | measured | published | assumed
    note: str = ""
    others: tuple[Claim, ...] = ()

    @property
    def in_base_unit(self) -> float:
        return self.value * UNITS[self.unit]


@dataclass(frozen=True)
class Gpu:
    """One board; or, with no parameters, an architecture alone (`gpu("sm_87")`).

    hypothetical : a machine that a paper made up. changed_limits : what stands in place of the architecture's own
    limits (`Limits`), in their units.
    """

    key: str
    name: str
    compute_capability: str
    parameters: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    aliases: tuple[str, ...] = ()
    hypothetical: bool = False
    changed_limits: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def arch(self) -> int:
        """90 for compute capability 9.0."""
        return arch(self.compute_capability)

    @cached_property
    def limits(self) -> Limits:
        """What one SM holds."""
        own = limits(self.compute_capability)
        return with_limits(own, self.changed_limits) if self.changed_limits else own

    @property
    def board(self) -> bool:
        """Whether every parameter a prediction of time needs is there."""
        return not _missing(self)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Names of the parameters and limits that rest on a relative or on the command line."""
        own = (name for name, quantity in self.parameters.items() if quantity.how == "assumed")
        return (*own, *self.changed_limits)

    def get(self, name: str) -> float | None:
        """A parameter in base units; None where this GPU has none; CommandError for an unknown name."""
        _known_parameter(name)
        quantity = self.parameters.get(name)
        return None if quantity is None else quantity.in_base_unit

    def value(self, name: str) -> float:
        """A parameter in base units; InputError where this GPU has none."""
        value = self.get(name)
        if value is None:
            number = f"NUMBER in {PARAMETERS[name].units[0]}".removesuffix(" in 1")
            reason = f"{self.name} has no value for {name} ({PARAMETERS[name].meaning})."
            raise InputError(reason, f"Give one with --set {name}={number}, or choose another board.")
        return value


def gpu(name_or_path: str | Path | Gpu) -> Gpu:
    """A GPU by catalogue key, alias or full name, by path of a TOML file, or `sm_NN` (architecture only).

    Case, blanks and hyphens in a name do not matter, nor does the maker's word before it.
    """
    if isinstance(name_or_path, Gpu):
        return name_or_path
    if not isinstance(name_or_path, str | Path):
        raise CommandError(f"{name_or_path!r} names no GPU.", "Give a name, the path of a .toml file, or a Gpu.")
    if isinstance(name_or_path, Path) or _looks_like_path(name_or_path):
        return _read(Path(name_or_path))
    key = _plain(name_or_path)
    if match := re.fullmatch(r"sm[-_]?(\d+)(\d)[af]?", key):
        return _architecture(f"{match[1]}.{match[2]}")
    if key in catalogue():
        return _shipped(key)
    names = _names()
    known = names.get(key) or {_bare(name): of for name, of in names.items()}.get(_bare(key))
    if known:
        return _shipped(known)
    near = difflib.get_close_matches(key, names, n=4, cutoff=0.4)
    raise CommandError(
        f"GPU {name_or_path!r} is not in the catalogue.",
        (f"Did you mean {' or '.join(near)}? " if near else "")
        + f"Known: {', '.join(catalogue())}; sm_NN for an architecture alone; or the path of a .toml file.",
    )


def listed(names: str) -> tuple[Gpu, ...]:
    """The GPUs of a comma list; `all` is every board that exists, the oldest first. Raises CommandError."""
    if names.strip() == "all":
        boards = (gpu(key) for key in catalogue())
        return tuple(sorted((b for b in boards if not b.hypothetical), key=lambda b: (b.arch, b.key)))
    found = tuple(gpu(name) for name in names.split(",") if name.strip())
    if not found:
        raise CommandError(f"--gpu {names!r} names no GPU.", "`warpbound gpus` lists them.")
    return found


@cache
def catalogue() -> tuple[str, ...]:
    """The keys of every board that is shipped, sorted."""
    names = (entry.name for entry in (files("warpbound") / "gpus").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def override(board: Gpu, settings: Mapping[str, float]) -> Gpu:
    """The board with some parameters, or limits of its SMs, replaced; values in the unit the board already uses.

    What a parameter carries with it (CARRIED) changes in proportion, unless it is among the settings itself. Raises
    CommandError for an unknown name or a value that cannot be.
    """
    of_an_sm = {name: value for name, value in settings.items() if name in MEANINGS}
    with_limits(limits(board.compute_capability), {**board.changed_limits, **of_an_sm})
    settings = {name: value for name, value in settings.items() if name not in of_an_sm}
    changed = dict(board.parameters)
    settings = {**settings, **_carried(board, settings)}
    for name, value in settings.items():
        known = _known_parameter(name)
        least = LEAST.get(name, SMALLEST)
        if not least <= value <= LARGEST:
            way_out = f"Give a positive number, from {least:g} to {LARGEST:g}."
            raise CommandError(f"{name} = {value:g} cannot be.", way_out)
        if name in LEAST and value != round(value):
            raise CommandError(f"{name} = {value:g} cannot be.", "Give a whole number.")
        before = board.parameters.get(name)
        unit = before.unit if before else known.units[0]
        claims = (Claim(before.value, before.source, before.note), *before.others) if before else ()
        changed[name] = Quantity(float(value), unit, "command line", "assumed", "given by the user", claims)
    return replace(board, parameters=changed, changed_limits={**board.changed_limits, **of_an_sm})


def _carried(board: Gpu, settings: Mapping[str, float]) -> dict[str, float]:
    """Values of what is not set but in proportion to something that is; of several, to the last in CARRIED."""
    return {
        follower: board.parameters[follower].value * settings[name] / board.parameters[name].value
        for name, followers in CARRIED.items()
        if name in settings and name in board.parameters
        for follower in followers
        if follower in board.parameters and follower not in settings
    }


def clock(board: Gpu, which: str | float) -> float:
    """The SM clock in Hz: "base", "boost" or a number in MHz."""
    if which in ("base", "boost"):
        return board.value(f"{which}_clock")
    try:
        megahertz = float(which)
    except ValueError:
        megahertz = math.nan
    if not SMALLEST <= megahertz <= LARGEST:
        said = f"Clock {which!r} is not known." if math.isnan(megahertz) else f"A clock of {megahertz:g} MHz cannot be."
        raise CommandError(said, "Give base, boost or a number of MHz.")
    return megahertz * 1e6


def load(text: str, key: str, origin: str) -> Gpu:
    """A board from the text of its TOML file; `origin` names the file in errors."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin} is not TOML: {error}.", "Mend that line.") from None
    place = _Place(text, origin)
    known = ("name", "aliases", "compute_capability", "hypothetical", "sources", "parameters")
    place.refuse_unknown(document, known, "")
    for needed, kind in {"name": str, "compute_capability": str, "sources": dict, "parameters": dict}.items():
        if not isinstance(document.get(needed), kind):
            hint = "A board needs name and compute_capability as text, and tables sources and parameters."
            raise InputError(f"{origin} has no {needed}.", hint)
    aliases, hypothetical = document.get("aliases", []), document.get("hypothetical", False)
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise InputError(f"{place.at('aliases')}: aliases is no list of names.", 'Write aliases = ["other-name"].')
    if not isinstance(hypothetical, bool):
        raise InputError(f"{place.at('hypothetical')}: hypothetical is neither true nor false.", "Write true or false.")
    try:
        limits(document["compute_capability"])
    except CommandError as error:
        raise InputError(f"{place.at('compute_capability')}: {error.reason}", error.hint) from None
    place.refuse_unknown(document["parameters"], PARAMETERS, "parameters.")
    parameters = {
        name: _quantity(name, entry, document["sources"], place)
        for name, entry in document["parameters"].items()
    }
    names = (document["name"], document["compute_capability"])
    board = Gpu(key, *names, parameters, tuple(aliases), hypothetical)
    if absent := _missing(board):
        raise InputError(
            f"{origin} lacks the required parameter {absent[0]} ({PARAMETERS[absent[0]].meaning}).",
            f"Add [parameters.{absent[0]}] with value, unit, source and how; an assumed value needs a note.",
        )
    return board


@dataclass(frozen=True)
class _Place:
    """The text of a file, to say where something is wrong in it."""

    text: str
    origin: str

    def at(self, *words: str) -> str:
        """file:line of the last word, each word searched for below the one before."""
        lines = self.text.splitlines()
        found = 0
        for word in words:
            start = re.compile(rf"\s*\[?(parameters\.)?\"?{re.escape(word)}\"?\s*(\]|=)")
            line = next((n for n in range(found, len(lines)) if start.match(lines[n])), None)
            if line is None:
                break
            found = line
        return f"{self.origin}:{found + 1}"

    def refuse_unknown(self, table: Mapping[str, Any], known: Collection[str], prefix: str) -> None:
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                raise InputError(
                    f"{self.at(*prefix.split('.')[1:-1], key)}: {prefix}{key} is not a known key.",
                    f"Did you mean {near[0]}?" if near else f"Known are {', '.join(known)}.",
                )


def _quantity(name: str, entry: Any, sources: Mapping[str, Any], place: _Place) -> Quantity:
    if not isinstance(entry, dict):
        raise InputError(f"{place.at(name)}: {name} is a bare value.", f"Write a table [parameters.{name}].")
    place.refuse_unknown(entry, ("value", "unit", "source", "how", "note", "others"), f"parameters.{name}.")
    for needed in ("value", "unit", "source", "how"):
        if needed not in entry or (needed != "value" and not isinstance(entry[needed], str)):
            raise InputError(f"{place.at(name)}: {name} has no {needed}.", f"Add a line {needed} = ...")
    units = PARAMETERS[name].units
    if entry["unit"] not in units:
        kind = "not allowed here" if entry["unit"] in UNITS else "not a known unit"
        raise InputError(
            f"{place.at(name, 'unit')}: {name} has the unit {entry['unit']!r}, {kind}.",
            f"Convert the value to {' or '.join(units)}.",
        )
    if not isinstance(entry.get("note", ""), str) or not isinstance(entry.get("others", []), list):
        raise InputError(
            f"{place.at(name)}: {name} has a note that is no text or others that are no list.",
            "Write note = \"...\" and others = [{ value = ..., source = ... }].",
        )
    if entry["how"] not in HOW:
        raise InputError(
            f"{place.at(name, 'how')}: {name} has how = {entry['how']!r}.", f"It is one of {', '.join(HOW)}."
        )
    if entry["how"] == "assumed" and not entry.get("note"):
        raise InputError(
            f"{place.at(name, 'how')}: {name} is assumed but has no note.",
            "Name the relative it is taken from and the rule.",
        )
    _check_number(name, entry["value"], place)
    others = tuple(_claim(name, other, sources, place) for other in entry.get("others", ()))
    source = _source(name, entry["source"], sources, place.at(name, "source"))
    return Quantity(float(entry["value"]), entry["unit"], source, entry["how"], entry.get("note", ""), others)


def _claim(name: str, other: Any, sources: Mapping[str, Any], place: _Place) -> Claim:
    said = isinstance(other, dict) and isinstance(other.get("note", ""), str)
    if not said or not {"value", "source"} <= set(other) <= _CLAIM_KEYS:
        raise InputError(
            f"{place.at(name, 'others')}: an entry in others of {name} is malformed.",
            "Write { value = ..., source = ... }, with a note if need be.",
        )
    _check_number(name, other["value"], place)
    source = _source(name, other["source"], sources, place.at(name, "others"))
    return Claim(float(other["value"]), source, other.get("note", ""))


def _source(name: str, key: Any, sources: Mapping[str, Any], line: str) -> str:
    if not isinstance(key, str) or not str(sources.get(key, "")).strip():
        raise InputError(
            f"{line}: {name} cites {key!r}, which is not in [sources].",
            "Add it there: author, title or file, and date or commit.",
        )
    return str(sources[key])


def _check_number(name: str, value: Any, place: _Place) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise InputError(
            f"{place.at(name, 'value')}: {name} has the value {value!r}.", "Give a finite number above zero."
        )


def _missing(board: Gpu) -> tuple[str, ...]:
    return tuple(
        name
        for name, parameter in PARAMETERS.items()
        if parameter.required_from is not None
        and board.arch >= parameter.required_from
        and name not in board.parameters
    )


def _known_parameter(name: str) -> Parameter:
    if name not in PARAMETERS:
        near = difflib.get_close_matches(name, [*PARAMETERS, *MEANINGS], n=3, cutoff=0.4)
        raise CommandError(
            f"GPU parameter {name!r} is not known.",
            f"Did you mean {' or '.join(near)}?" if near else f"Known are {', '.join([*PARAMETERS, *MEANINGS])}.",
        )
    return PARAMETERS[name]


def _architecture(compute_capability: str) -> Gpu:
    limits(compute_capability)
    number = arch(compute_capability)
    return Gpu(f"sm_{number}", f"sm_{number} (architecture only)", compute_capability)


def _looks_like_path(name: str) -> bool:
    return name.endswith(".toml") or "/" in name or "\\" in name


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def _read(path: Path) -> Gpu:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: no text, or a path with a NUL
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"The GPU file {path} cannot be read ({why}).", "Check the path.") from None
    return load(text, path.stem, str(path))


@cache
def _shipped(key: str) -> Gpu:
    text = (files("warpbound") / "gpus" / f"{key}.toml").read_text(encoding="utf-8")
    return load(text, key, f"{key}.toml")


@cache
def _names() -> dict[str, str]:
    """Every accepted spelling -> key."""
    names = {key: key for key in catalogue()}
    for key in catalogue():
        board = _shipped(key)
        for name in (board.name, *board.aliases):
            names.setdefault(_plain(name), key)
    return names


def _bare(plain: str) -> str:
    """A plain name without hyphens and without the words of the maker: rtx4090."""
    return re.sub("nvidia|geforce|tesla|quadro|-", "", plain)
