"""The record of all verdicts and numbers: read, compared with a reproduction, written.

`recorded.toml` has, for every item, its numbers with the verdict and our value to six digits.
"""

import math
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from warpbound.errors import InputError
from warpbound.quick_dataclasses import dataclass
from warpbound.reproduce.item import Item
from warpbound.reproduce.reproduction import Reproduction, Row

HEAD = "# Verdicts as recorded; written by `warpbound reproduce all --record`. Each: [verdict, our number]."


@dataclass(frozen=True)
class Change:
    """A number that is not as recorded."""

    item: str
    what: str
    before: str
    now: str

    def __str__(self) -> str:
        return f"{self.item}, {self.what}: {self.before} was recorded, now {self.now}"


Record = dict[str, dict[str, list[str | float]]]


def recorded() -> Record:
    """The recorded verdicts and values that the package ships: item -> number -> [verdict, value]."""
    return tomllib.loads((files("warpbound.reproduce") / "recorded.toml").read_text(encoding="utf-8"))


def changes(reproductions: Iterable[Reproduction], record: Record) -> list[Change]:
    """Differences from the record: other verdicts, other numbers, new rows, missing rows."""
    return [change for x in reproductions for change in _changes(x, record.get(x.item.key, {}))]


def write(reproductions: Sequence[Reproduction], record: Record) -> Path:
    """Record these; the records of other items stay. Raises InputError if the package cannot be written to."""
    own = {x.item.key: {row.what: [row.verdict.value, _rounded(row.ours)] for row in x.rows} for x in reproductions}
    lines = [HEAD]
    for item, rows in sorted({**record, **own}.items()):
        lines += ["", f'["{item}"]', *(f'"{what}" = ["{row[0]}", {_literal(row[1])}]' for what, row in rows.items())]
    path = Path(str(files("warpbound.reproduce") / "recorded.toml"))
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        hint = "Record in a checkout of the source."
        raise InputError(f"{path} cannot be written ({error.strerror}).", hint) from error
    return path


def _changes(x: Reproduction, before: dict[str, list[str | float]]) -> list[Change]:
    now = {row.what: row for row in x.rows}
    gone = [Change(x.item.key, what, str(before[what][0]), "gone") for what in before if what not in now]
    changed = [change for row in x.rows if (change := _change(x.item, row, before.get(row.what)))]
    return changed + gone


def _change(item: Item, row: Row, before: list[str | float] | None) -> Change | None:
    if before is None:
        return Change(item.key, row.what, "nothing", row.verdict.value)
    verdict, value = before
    if row.verdict.value != verdict:
        return Change(item.key, row.what, f'"{verdict}"', f'"{row.verdict.value}"')
    if not _same(value, row.ours, item.spread):
        return Change(item.key, row.what, str(value), str(_rounded(row.ours)))
    return None


def _same(before: float | str, now: float | str, spread: float) -> bool:
    if isinstance(before, str) or isinstance(now, str):
        return before == now
    return math.isclose(before, now, rel_tol=spread, abs_tol=1e-12) or (math.isnan(before) and math.isnan(now))


def _rounded(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(f"{value:.6g}")


def _literal(value: float | str) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
