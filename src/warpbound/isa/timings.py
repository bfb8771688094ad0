"""Issue distances without control words: the tables of timings.toml, one per family of architectures.

Model    an instruction issues when the gap behind the one before has passed and its registers are ready (schedule).
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from warpbound.quick_dataclasses import dataclass
from warpbound.shipped_tables import shipped_table


@dataclass(frozen=True)
class Timing:
    """One table: name, cycles by key (one entry, or one per load under way), source keys and how by key."""

    name: str
    cycles: Mapping[str, tuple[float, ...]]
    source: Mapping[str, str]
    how: Mapping[str, str]

    def gaps(self, *kinds: str) -> tuple[float, ...]:
        """Cycles behind an instruction: those of the first of its kinds that has a key, else the plain gap."""
        return next((self.cycles[kind] for kind in kinds if kind in self.cycles), self.cycles["gap"])

    def get(self, kind: str) -> float | None:
        """A single number, or None where the table has none."""
        result = self.cycles.get(kind)
        return result[0] if result else None

    @property
    def assumed(self) -> tuple[str, ...]:
        """Keys that were taken from a relative."""
        return tuple(key for key, how in self.how.items() if how == "assumed")


def timing(arch: int, board: str) -> Timing | None:
    """The table of a board (its key), else of its architecture (35 for 3.5); None where there is neither."""
    tables = _tables()
    by_board = (table for table, row in tables if board in row.get("boards", "").split())
    by_arch = (table for table, row in tables if str(arch) in row.get("architectures", "").split())
    return next(by_board, None) or next(by_arch, None)


def timings() -> tuple[Timing, ...]:
    """Every table."""
    return tuple(table for table, _ in _tables())


@cache
def _load() -> dict[str, Any]:
    return shipped_table("isa", "timings.toml")


@cache
def _tables() -> tuple[tuple[Timing, dict[str, Any]], ...]:
    return tuple((_timing(name, table), table) for name, table in _load().items() if name != "sources")


def _timing(name: str, table: dict[str, Any]) -> Timing:
    claims = {key: claim for key, claim in table.items() if isinstance(claim, dict)}
    cycles = {key: claim["value"] for key, claim in claims.items()}
    return Timing(
        name=name,
        cycles={key: tuple(map(float, value if isinstance(value, list) else [value])) for key, value in cycles.items()},
        source={key: claim["source"] for key, claim in claims.items()},
        how={key: _load()["sources"][claim["source"]]["how"] for key, claim in claims.items()},
    )
