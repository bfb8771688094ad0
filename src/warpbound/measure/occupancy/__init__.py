"""Whether dynamic shared memory holds just as many blocks on an SM as it is asked to: all other sweeps rely on it."""

from collections.abc import Iterator
from typing import Any

from warpbound.measure.case import Axis, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.device import SHARED_UNIT, Facts

STAY = 60_000           # cycles of a block: longer than it takes to fill all SMs
BLOCKS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32)  # asked for, of one warp each
WAVES = 2               # times the blocks that an SM can hold at most


def source() -> str:
    """CUDA C++."""
    return f"""KERNEL stay(u64 *stamps) {{
    u64 start = cycle();
    while (cycle() - start < {STAY}) {{}}
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Blocks asked for x the memory that holds them and one unit more."""
    for blocks in [one for one in BLOCKS if one <= facts.blocks_per_sm]:
        for more in (0, SHARED_UNIT):
            smem = facts.shared_for(blocks) + more
            if smem <= facts.shared_per_block:
                step = Step("stay", (WAVES * facts.blocks_per_sm * facts.sm_count,), 32, ("stamps",), smem, 100)
                axes: dict[str, Axis] = {"asked": blocks, "more": more, "bytes": smem}
                yield Case(axes, step, "stamps", (stamps_of(step.warps),), seconds=WAVES * facts.blocks_per_sm * 4e-5)


def held(record: Record) -> int:
    """Blocks at once, on the SM with the fewest."""
    return int(record.value["warps"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """Blocks asked for, bytes of each, blocks held, blocks held with a unit more; those that are not as asked."""
    rows: list[list[Any]] = []
    for r in chosen(records, more=0):
        more = chosen(records, asked=r.axes["asked"], more=SHARED_UNIT)
        rows.append([r.axes["asked"], r.axes["bytes"], held(r), held(more[0]) if more else None])
    wrong = {str(asked): seen for asked, _, seen, _ in rows if seen != _expected(int(asked), facts)}
    head = f"blocks [asked, bytes of each, held, held with {SHARED_UNIT} B more]"
    return Findings({}, {head: rows, "not as asked [asked: held]": wrong} if rows else {})


def _expected(asked: int, facts: Facts) -> int:
    """More where no block may have as much memory as would keep others out."""
    room = (facts.shared_for(asked) + facts.shared_reserved) * (asked + 1)
    return asked if room > facts.shared_per_sm else facts.shared_per_sm // (room // (asked + 1))
