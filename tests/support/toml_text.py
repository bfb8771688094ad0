"""A document as TOML, all tables written inline: what the standard library reads and does not write."""

import datetime
import json
from typing import Any


def toml(tree: dict[str, Any]) -> str:
    """The text of a document whose values TOML has."""
    return "\n".join(f"{_key(key)} = {_value(value)}" for key, value in tree.items()) + "\n"


def _key(key: str) -> str:
    return json.dumps(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return json.dumps(value, ensure_ascii=True)
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
        case datetime.datetime() | datetime.date() | datetime.time():
            return str(value.isoformat())
    raise TypeError(type(value))
