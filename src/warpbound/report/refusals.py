"""Refused requests: each reason once."""

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from warpbound.result.refusal import Refusal


def why(refusal: Refusal) -> str:
    """The reason and the way out."""
    return f"{refusal.error.reason} {refusal.error.hint}"


def refusal_line(refusal: Refusal) -> Text:
    return Text(f"{refusal.gpu}: {why(refusal)}", "red")


def by_reason(results: Sequence[Any]) -> dict[str, list[Refusal]]:
    """The refusals among the results, by their sentences."""
    groups: dict[str, list[Refusal]] = {}
    for entry in results:
        if isinstance(entry, Refusal):
            groups.setdefault(why(entry), []).append(entry)
    return groups
