"""Answers as plain values: dictionaries by name, as JSON has them."""

from typing import Any

import msgspec

Entry = dict[str, Any]


def plain(answer: Any) -> Entry:
    """The fields of an answer, and of all that it holds, as a dictionary; keys that do not apply are left out."""
    entry: Entry = msgspec.to_builtins(answer)
    return entry
