"""The TOML file of a board: read and checked; an error names its line.

A board is one file in gpus/, or a user's own file of the same form.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec

from warpbound.board import Claim, Gpu, Quantity, absent_parameters
from warpbound.board_parameters import HOW, PARAMETERS, UNITS
from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import limits
from warpbound.quick_dataclasses import dataclass
from warpbound.table_decoding import Form, TableFault, decoded, suggestion

__all__ = ["load", "of_table"]

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
_NEEDED = "A board needs name and compute_capability as text, and tables sources and parameters."


def load(text: str, key: str, origin: str) -> Gpu:
    """A board from the text of its TOML file; `origin` names the file in errors."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin} is not TOML: {error}.", "Correct that line.") from None
    return of_table(document, key, text, origin)


def of_table(document: dict[str, Any], key: str, text: str, origin: str) -> Gpu:
    """A board from the table of its file; `text`, the file itself, gives the line of an error. Raises InputError."""
    place = _Place(text, origin)
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
    if absent := absent_parameters(board):
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
        raise InputError(
            f"{place.at(*names)}: {subject} is a value, not a table.", f"Write a table [parameters.{subject}]."
        )
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
