"""One GPU board: every parameter with its value, unit, source and the way it was obtained.

A board is one TOML file in gpus/, or a user's own file of the same form. Values keep the unit of their source;
`Gpu.value` converts to base units: s, Hz, B, B/s, bit, bit/s, flop/s, W, cycle, B/cycle/SM, FMA/cycle/SM.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from warpbound.board_parameters import HOW, PARAMETERS, UNITS, Parameter, check_setting, megahertz
from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import MEANINGS, Limits, arch, limits, with_limits
from warpbound.quick_dataclasses import dataclass
from warpbound.shipped_tables import shipped_table
from warpbound.table_decoding import Form, TableFault, decoded, suggestion

__all__ = [
    "HOW", "PARAMETERS", "UNITS", "Claim", "Gpu", "Parameter", "Quantity",
    "catalogue", "clock", "gpu", "listed", "load", "override",
]  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """The value of the same parameter in another source, in the same unit."""

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

    hypothetical : a machine that a paper made up. changed_limits : values that replace those of the architecture
    (`Limits`), in its units.
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
        """The limits of one SM."""
        own = limits(self.compute_capability)
        return with_limits(own, self.changed_limits) if self.changed_limits else own

    @property
    def board(self) -> bool:
        """Whether it has every parameter that a prediction of time needs."""
        return not _missing(self)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Names of the parameters and limits that come from a relative or from the command line."""
        own = (name for name, quantity in self.parameters.items() if quantity.how == "assumed")
        return (*own, *self.changed_limits)

    def get(self, name: str) -> float | None:
        """A parameter in base units; None where this GPU has none; CommandError for an unknown name."""
        quantity = self.parameters.get(name)
        if quantity is None:
            _definition(name)
            return None
        return quantity.in_base_unit

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

    Case, blanks, hyphens and the maker's words (NVIDIA, GeForce, Tesla, Quadro) in a name do not matter.
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
    key_of_board = names.get(key) or {_bare(name): of for name, of in names.items()}.get(_bare(key))
    if key_of_board:
        return _shipped(key_of_board)
    near = difflib.get_close_matches(key, names, n=NEAR, cutoff=0.6)
    raise CommandError(
        f"GPU {name_or_path!r} is not in the catalogue.",
        (f"Did you mean {' or '.join(near)}? " if near else "")
        + "`warpbound gpus` lists all names; sm_NN is an architecture alone; a path ends in .toml.",
    )


def listed(names: str) -> tuple[Gpu, ...]:
    """The GPUs of a comma list; `all` is every board that exists, the oldest first. Raises CommandError."""
    if names.strip() == "all":
        return tuple(sorted((b for b in map(gpu, catalogue()) if not b.hypothetical), key=lambda b: (b.arch, b.key)))
    boards = tuple(gpu(name) for name in names.split(",") if name.strip())
    if not boards:
        raise CommandError(f"--gpu {names!r} names no GPU.", "`warpbound gpus` lists them.")
    return boards


@cache
def catalogue() -> tuple[str, ...]:
    """The keys of every board that is shipped, sorted."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _BOARDS.iterdir() if path.name.endswith(".toml")))


def override(board: Gpu, settings: Mapping[str, float]) -> Gpu:
    """The board with some parameters, or limits of its SMs, replaced; values in the unit the board already uses.

    The rates that a parameter carries (`Parameter.carries`) change in proportion, unless they are set themselves.
    Raises CommandError for an unknown name or an impossible value.
    """
    of_an_sm = {name: value for name, value in settings.items() if name in MEANINGS}
    with_limits(limits(board.compute_capability), {**board.changed_limits, **of_an_sm})
    changed = dict(board.parameters)
    settings = {name: value for name, value in settings.items() if name not in of_an_sm}
    settings |= _carried(board, settings)
    for name, value in settings.items():
        before = board.parameters.get(name)
        unit = before.unit if before else _definition(name).units[0]
        check_setting(name, value, (before.value, unit, board.name) if before else _elsewhere(name, unit))
        claims = (Claim(before.value, before.source, before.note), *before.others) if before else ()
        changed[name] = Quantity(float(value), unit, "command line", "assumed", "given by the user", claims)
    return replace(board, parameters=changed, changed_limits={**board.changed_limits, **of_an_sm})


def _elsewhere(name: str, unit: str) -> tuple[float, str, str] | None:
    """The least value of a parameter on boards that have it, or its default, with its unit and whose it is."""
    shipped = map(_shipped, catalogue())
    values = [(own.value, unit, b.name) for b in shipped if (own := b.parameters.get(name)) and own.unit == unit]
    if (default := PARAMETERS[name].default) and unit == PARAMETERS[name].units[0]:
        values.append((default, unit, "the model"))
    return min(values, default=None)


def _carried(board: Gpu, settings: Mapping[str, float]) -> dict[str, float]:
    """Values of rates in proportion to a parameter that is set; with several, to the last of the catalogue."""
    return {
        follower: board.parameters[follower].value * settings[name] / board.parameters[name].value
        for name, parameter in PARAMETERS.items()
        if name in settings and name in board.parameters
        for follower in parameter.carries
        if follower in board.parameters and follower not in settings
    }


def clock(board: Gpu, which: str | float) -> float:
    """The SM clock in Hz: "base", "boost", a number in MHz, or "sustained": the highest, before power is looked at."""
    if which == "sustained":
        return board.get("highest_clock") or board.value("boost_clock")
    if which in ("base", "boost"):
        return board.value(f"{which}_clock")
    return 1e6 * megahertz(which)


NEAR = 3  # names that are shown beside a misspelt one
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e300)]
Words = Annotated[str, msgspec.Meta(pattern=r"\S")]


class _OtherValue(msgspec.Struct, forbid_unknown_fields=True):
    value: Positive
    source: str
    note: str = ""


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    """A table [parameters.NAME]."""

    value: Positive
    unit: str
    source: str
    how: Literal["vendor", "measured", "published", "assumed"]
    note: str = ""
    others: tuple[_OtherValue, ...] = ()


class _BoardFile(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    compute_capability: str
    sources: dict[str, Words]
    parameters: dict[str, Any]
    aliases: tuple[str, ...] = ()
    hypothetical: bool = False


_WAY_OUT = {  # key -> what to write
    "value": "Give a finite number above zero.",
    "unit": 'Write it as text, unit = "...".',
    "source": "Write the key of a line in [sources].",
    "how": f"It is one of {', '.join(HOW)}.",
    "note": 'Write note = "...".',
    "others": "Write others = [{ value = ..., source = ... }], with a note if need be.",
    "aliases": 'Write aliases = ["other-name"].',
    "hypothetical": "Write true or false.",
}
_BOARDS = Path(__file__).parent / "gpus"
_NEEDED = "A board needs name and compute_capability as text, and tables sources and parameters."


def load(text: str, key: str, origin: str) -> Gpu:
    """A board from the text of its TOML file; `origin` names the file in errors."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin} is not TOML: {error}.", "Correct that line.") from None
    return _board(document, key, _Place(text, origin))


def _board(document: dict[str, Any], key: str, place: "_Place") -> Gpu:
    """A board from the table of its file. Raises InputError, with the place of what is wrong."""
    file = _decode(document, _BoardFile, place)
    try:
        limits(file.compute_capability)
    except CommandError as error:
        raise InputError(f"{place.at('compute_capability')}: {error.reason}", error.hint) from None
    for name in file.parameters:
        if name not in PARAMETERS:
            raise _unknown_key(place, name, PARAMETERS, ())
    parameters = {name: _quantity(name, entry, file.sources, place) for name, entry in file.parameters.items()}
    board = Gpu(key, file.name, file.compute_capability, parameters, file.aliases, file.hypothetical)
    if absent := _missing(board):
        raise InputError(
            f"{place.origin} lacks the required parameter {absent[0]} ({PARAMETERS[absent[0]].meaning}).",
            f"Add [parameters.{absent[0]}] with value, unit, source and how; an assumed value needs a note.",
        )
    return board


@dataclass(frozen=True)
class _Place:
    """The text of a file, to name the line of an error."""

    text: str
    origin: str

    def at(self, *words: str) -> str:
        """file:line of the last word; each word is searched for below the one before."""
        lines = self.text.splitlines()
        place = 0
        for word in words:
            start = re.compile(rf"\s*\[?(parameters\.)?\"?{re.escape(word)}\"?\s*(\]|=)")
            line = next((n for n in range(place, len(lines)) if start.match(lines[n])), None)
            if line is None:
                break
            place = line
        return f"{self.origin}:{place + 1}"


def _decode(table: Any, form: type[Form], place: _Place, *names: str) -> Form:
    """A table of the file as a struct; `names` lead to the table. Raises InputError."""
    if not isinstance(table, dict):
        subject = ".".join(names)
        raise InputError(f"{place.at(*names)}: {subject} is a bare value.", f"Write a table [parameters.{subject}].")
    try:
        return decoded(table, form)
    except TableFault as fault:
        raise _refusal(fault, table, place, names) from None


def _refusal(fault: TableFault, table: Mapping[str, Any], place: _Place, names: tuple[str, ...]) -> InputError:
    word, (key, *inner) = fault.word, re.findall(r"\w+", fault.key) or [""]
    subject = ".".join([*names, key])
    if key:
        problem = "is malformed" if inner else f"is {table.get(key)!r}"
        return InputError(f"{place.at(*names, key)}: {subject} {problem}.", _WAY_OUT.get(key, _NEEDED))
    if fault.kind == "unknown key":
        return _unknown_key(place, word, fault.known, names)
    where = f"{place.at(*names)}: {'.'.join(names)}" if names else place.origin
    return InputError(f"{where} has no {word}.", f"Add a line {word} = ..." if names else _NEEDED)


def _unknown_key(place: _Place, key: str, valid_keys: Iterable[str], names: tuple[str, ...]) -> InputError:
    """names : of the parameter whose table has the key."""
    where = ".".join(("parameters", *names, key) if names or valid_keys is PARAMETERS else (key,))
    return InputError(f"{place.at(*names, key)}: {where} is not a known key.", suggestion(key, valid_keys))


def _quantity(name: str, table: Any, sources: Mapping[str, str], place: _Place) -> Quantity:
    entry = _decode(table, _Entry, place, name)
    units = PARAMETERS[name].units
    if entry.unit not in units:
        kind = "not allowed here" if entry.unit in UNITS else "not a known unit"
        raise InputError(
            f"{place.at(name, 'unit')}: {name} has the unit {entry.unit!r}, {kind}.",
            f"Convert the value to {' or '.join(units)}.",
        )
    if entry.how == "assumed" and not entry.note:
        raise InputError(
            f"{place.at(name, 'how')}: {name} is assumed but has no note.",
            "Name the relative it is taken from and the rule.",
        )
    for source, key in [(entry.source, "source"), *((other.source, "others") for other in entry.others)]:
        if source not in sources:
            raise InputError(
                f"{place.at(name, key)}: {name} cites {source!r}, which is not in [sources].",
                "Add it there: author, title or file, and date or commit.",
            )
    others = tuple(Claim(other.value, sources[other.source], other.note) for other in entry.others)
    return Quantity(entry.value, entry.unit, sources[entry.source], entry.how, entry.note, others)


def _missing(board: Gpu) -> tuple[str, ...]:
    return tuple(
        name
        for name, parameter in PARAMETERS.items()
        if parameter.required_from is not None
        and board.arch >= parameter.required_from
        and name not in board.parameters
    )


def _definition(name: str) -> Parameter:
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
    name = f"{key}.toml"
    return _board(shipped_table("gpus", name), key, _Place((_BOARDS / name).read_text(encoding="utf-8"), name))


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
