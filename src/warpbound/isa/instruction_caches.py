"""Instruction caches: how much code each level holds, per architecture, and how code gets from one to the next."""

from functools import cache
from typing import Any

from warpbound.quick_dataclasses import dataclass
from warpbound.result.execution import InstructionCacheFit
from warpbound.shipped_tables import shipped_table

_LEVELS = (("L0", "l0_KiB"), ("L1", "sm_KiB"))


@dataclass(frozen=True)
class CodePath:
    """How code reaches the L0 cache of a sub-core; sources in instruction_caches.toml.

    line_B : of a line. lines_ahead : lines under way at a time. sm_cycles : from a sub-core to the cache of the SM and
    back. start_cycles : for which a warp that starts has no instruction yet.
    """

    line_B: int
    lines_ahead: float
    sm_cycles: float
    start_cycles: float


@cache
def code_path() -> CodePath:
    """The same for all architectures."""
    return CodePath(**{name: row["value"] for name, row in _table()["fetch"].items()})


def instruction_caches(arch: int) -> tuple[InstructionCacheFit, ...]:
    """The levels of sm `arch`, the nearest first; none before Volta. L0 is of each sub-core, L1 of the SM."""
    table = _table()
    rows = [int(key) for key in table if key.isdigit() and int(key) <= arch]
    if not rows:
        return ()
    row = table[str(max(rows))]
    source = table["sources"][row["source"]]
    how = source["how"] if max(rows) == arch else "assumed"
    return tuple(InstructionCacheFit(name, 1024 * row[key], source["text"], how) for name, key in _LEVELS)


@cache
def _table() -> dict[str, Any]:
    return shipped_table("isa", "instruction_caches.toml")
