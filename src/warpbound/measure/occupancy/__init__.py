"""Whether dynamic shared memory limits the blocks on an SM exactly as computed; all other sweeps rely on it."""

from collections.abc import Iterator
from typing import Any

from warpbound.measure.case import Case, Findings, Record, Step, matching, stamped
from warpbound.measure.device import SHARED_UNIT, Facts

STAY = 60_000           # cycles of a block: longer than it takes to fill all SMs
BLOCKS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32)  # wanted on an SM, of one warp each
WAVES = 2               # multiple of the blocks that an SM can hold at most


def source() -> str:
    """CUDA C++."""
    return f"""KERNEL stay(u64 *stamps) {{
    u64 start = cycle();
    while (cycle() - start < {STAY}) {{}}
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Blocks x the shared memory that allows exactly this many, and one unit more."""
    for blocks in [count for count in BLOCKS if count <= facts.blocks_per_sm]:
        for more in (0, SHARED_UNIT):
            smem = facts.shared_for(blocks) + more
            if smem <= facts.shared_per_block:
                step = Step("stay", (WAVES * facts.blocks_per_sm * facts.sm_count,), 32, ("stamps",), smem, 100)
                axes = {"asked": blocks, "more": more, "bytes": smem}
                yield stamped(axes, step, seconds=WAVES * facts.blocks_per_sm * 4e-5)


def resident(record: Record) -> int:
    """Most blocks at once, on the SM with the fewest."""
    return int(record.value["warps"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """Blocks wanted, bytes of each, blocks resident, blocks resident with a unit more; those that differ."""
    rows: list[list[Any]] = []
    for r in matching(records, more=0):
        more = matching(records, asked=r.axes["asked"], more=SHARED_UNIT)
        rows.append([r.axes["asked"], r.axes["bytes"], resident(r), resident(more[0]) if more else None])
    wrong = {str(intended): count for intended, _, count, _ in rows if count != _expected(int(intended), facts)}
    head = f"blocks [asked, bytes of each, held, held with {SHARED_UNIT} B more]"
    return Findings({}, {head: rows, "not as asked [asked: held]": wrong} if rows else {})


def _expected(intended: int, facts: Facts) -> int:
    """More than wanted where the limit per block is below the memory that would exclude a further block."""
    total = (facts.shared_for(intended) + facts.shared_reserved) * (intended + 1)
    return intended if total > facts.shared_per_sm else facts.shared_per_sm // (total // (intended + 1))
