"""Tables of a TOML file or of the command line as msgspec types; an error names its key and the names that exist."""

import re
from collections.abc import Iterable
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

Form = TypeVar("Form")
_FAULTS = {  # msgspec's sentence -> kind of fault
    "Object contains unknown field `(.*)`": "unknown key",
    "Object missing required field `(.*)`": "missing key",
    "Invalid enum value (.*)": "unknown word",
}
_TYPES = {  # msgspec's names -> words
    "int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false", "array": "a list",
    "object": "a table", "null": "nothing",
}  # fmt: skip


class TableFault(Exception):
    """A table that is not of its type.

    key : path of the table or value, such as args[0].fill; empty for the whole table. word : the unknown or missing
    key, or the unknown word. known : the keys or words that exist there. reason : msgspec's sentence.
    """

    def __init__(self, reason: str, key: str, form: Any) -> None:
        super().__init__(reason)
        self.key, self.reason, self.kind, self.word = key, _in_words(reason), "wrong value", ""
        for pattern, kind in _FAULTS.items():
            if match := re.fullmatch(pattern, reason, re.DOTALL):
                self.kind, self.word = kind, match[1].strip("'")
        types = _parts(_type_at(form, key))
        if self.kind == "unknown word":
            self.known = [str(word) for part in types if get_origin(part) is Literal for word in get_args(part)]
        else:
            self.known = next((list(_fields(part)) for part in types if _fields(part)), [])


def _in_words(reason: str) -> str:
    """msgspec's sentence in lower case, with names of types in words."""
    text = f"{reason[0].lower()}{reason[1:]}"
    for types in re.findall(r"`([a-z]+(?: \| [a-z]+)*)`", text):
        text = text.replace(f"`{types}`", " or ".join(_TYPES.get(name, name) for name in types.split(" | ")))
    return text


def decoded(table: object, form: type[Form]) -> Form:
    """The table as a msgspec type. Raises TableFault."""
    try:
        return msgspec.convert(table, form)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        raise TableFault(reason, path.rstrip("`").replace("[...]", "").lstrip("."), form) from None


def suggestion(word: str, choices: Iterable[str]) -> str:
    """A hint with the name close to a misspelt word, or else all names."""
    names = [name for name in choices if name]
    from difflib import get_close_matches

    close = get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Known are {', '.join(names)}." if names else "There are none."


def _fields(form: Any) -> dict[str, Any]:
    """Key -> type of a struct; empty for other types."""
    is_struct = isinstance(form, type) and issubclass(form, msgspec.Struct)
    return {field.encode_name: field.type for field in msgspec.structs.fields(form)} if is_struct else {}


def _type_at(form: Any, key: str) -> Any:
    """The type of the value at a key such as case[0].counts.pipes."""
    for name in re.findall(r"[A-Za-z_0-9]+(?![0-9]*\])", key):
        fields = next((fields for part in _parts(form) if (fields := _fields(part))), None)
        if fields is None:
            return form
        form = fields[name]
    return form


def _parts(form: Any) -> list[Any]:
    """The types of a union, a list or an annotation, the whole first."""
    return [form, *(inner for part in get_args(form) for inner in _parts(part))]
