"""Instruction caches: how much code each level holds, per architecture."""

from functools import cache
from typing import Any

from warpbound.result.execution import InstructionCacheFit
from warpbound.shipped_tables import shipped_table

_LEVELS = (("L0", "l0_KiB"), ("L1", "sm_KiB"))


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
