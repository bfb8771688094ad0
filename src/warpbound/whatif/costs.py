"""The cost of a change: registers of a thread, shared memory of a block, and the warps that an SM then holds.

Models   The least that a change of its mechanism needs, from what a thread loads before it waits, the threads and the
         shared memory of a block, and the local memory of a thread. A tile holds one element of each array for each
         thread; a row of shared memory is 32 words; half the traffic of a product takes two by two results instead of
         one.
Omits    Addresses, loop counters, and the compiler's choices: `try` compiles changes and counts. Except for loads in
         flight, the promised gain assumes the present number of warps.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import ceil

from warpbound.quick_dataclasses import dataclass
from warpbound.residency import Residency

WORD_B, ROW_WORDS, WARP, KIB = 4, 32, 32, 1024
REGISTERS, SHARED = "registers per thread", "bytes of shared memory per block"
_INSTEAD = re.compile(rf"(\d+) ({REGISTERS}|{SHARED}) instead of (\d+)")
_COUNT = re.compile(r"(\d+) neighbouring")
_TWICE = re.compile(r"(?:twice|(\d+) times)")


@dataclass(frozen=True)
class Needs:
    """Facts of the original kernel.

    loaded : registers of a thread for what it loads before it waits. arrays : of the launch, 0 without one. threads,
    shared_bytes : of a block. local_bytes : of a thread. residency : what an SM holds.
    """

    loaded: float
    arrays: int
    threads: int
    shared_bytes: int
    local_bytes: int
    residency: Residency | None


@dataclass(frozen=True)
class Takes:
    """Registers more of a thread, and shared memory more of a block, bytes; fewer where negative."""

    registers: int = 0
    shared_bytes: int = 0

    def __add__(self, other: "Takes") -> "Takes":
        return Takes(self.registers + other.registers, self.shared_bytes + other.shared_bytes)


def _tile(x: Needs, _: str) -> Takes:
    return Takes(shared_bytes=ceil(WORD_B * max(1.0, min(x.loaded, x.arrays or x.loaded)) * x.threads))


def _tile_where_named(x: Needs, change: str) -> Takes:
    if "half the shared memory" in change:
        return Takes(shared_bytes=-(x.shared_bytes // 2))
    return _tile(x, change) if "tiles" in change or "shared memory" in change else Takes()


def _degree(x: Needs, change: str) -> Takes:
    """Registers for results of further loads, and one more sum for each further item."""
    match = _TWICE.match(change)
    degree = int(match[1] or 2) if match else 1
    return Takes(ceil((degree - 1) * (x.loaded + ("independent" in change))))


def _wide(x: Needs, change: str) -> Takes:
    match = _COUNT.search(change)
    return Takes(ceil((int(match[1]) - 1) * x.loaded) if match else 0)


def _step(x: Needs, change: str) -> Takes:
    """The step of occupancy that the words name, or the least steps without a limit."""
    if change.startswith("no limit by") and x.residency is not None:
        registers = _fewer(x.residency, "registers", [Takes(-8 * step) for step in range(32)])
        return registers + _fewer(x.residency, "shared", [Takes(0, -KIB * step) for step in range(228)])
    match = _INSTEAD.search(change)
    if not match:
        return Takes()
    more = int(match[1]) - int(match[3])
    return Takes(more) if match[2] == REGISTERS else Takes(shared_bytes=more)


def _fewer(residency: Residency, limiter: str, steps: Sequence[Takes]) -> Takes:
    """The first of these steps with which a resource admits as many blocks as all others do."""
    most = min(count for name, count in residency.block_limits.items() if name not in ("registers", "shared", "grid"))
    for step in steps:
        then = residency.with_more(step.registers, step.shared_bytes)
        if then is not None and then.block_limits[limiter] >= most:
            return step
    return Takes()


def _instructions(x: Needs, change: str) -> Takes:
    """An unrolled loop, or wider accesses, hold the loads of two iterations; other changes take nothing more."""
    return Takes(ceil(x.loaded)) if "unrolled" in change or "accesses" in change else Takes()


TAKES: Mapping[str, Callable[[Needs, str], Takes]] = {  # mechanism -> what a change of it needs
    "occupancy": _step,
    "sums in registers": lambda x, _: Takes(1),
    "coalescing": _tile_where_named,
    "bank conflicts": lambda x, _: Takes(shared_bytes=ceil(x.shared_bytes / (ROW_WORDS * WORD_B)) * WORD_B),
    "atomics": lambda x, _: Takes(1, WORD_B * ceil(x.threads / WARP)),
    "barriers": lambda x, _: Takes(1),
    "divergence": lambda x, _: Takes(1),
    "spills": lambda x, _: Takes(ceil(x.local_bytes / WORD_B)),
    "data kept on the SM": _tile_where_named,
    "wide accesses": _wide,
    "loads in flight": _degree,
    "shared-memory traffic": lambda x, _: Takes(5),  # 4 sums and 4 operands in place of 1 and 2
    "memory traffic": _tile_where_named,
    "instructions": _instructions,
}


def takes(mechanism: str, change: str, x: Needs) -> Takes:
    """What one change of this mechanism needs."""
    return TAKES[mechanism](x, change) if mechanism in TAKES else Takes()


def warps_with(x: Needs, more: Takes) -> int | None:
    """Warps that an SM then holds; 0 where no block fits, None where it is not known what it holds now."""
    if x.residency is None or x.residency.blocks_per_sm < 1:
        return None
    then = x.residency.with_more(more.registers, more.shared_bytes)
    return then.warps_per_sm if then else 0


def _of(count: int, unit: str) -> str:
    return unit.replace("registers", "register") if abs(count) == 1 else unit


def words(more: Takes, warps: int | None, besides: str) -> str:
    """The numbers in words; besides : further costs in words."""
    parts = [
        f"about {abs(count)} {'more' if count > 0 else 'fewer'} {_of(count, unit)}"
        for count, unit in ((more.registers, REGISTERS), (more.shared_bytes, SHARED)) if count
    ]  # fmt: skip
    parts = parts or ["no register and no shared memory"]
    residents = [f"{warps} warps per SM then"] if warps is not None else []
    besides = besides or "spills where registers do not suffice" * (more.registers < 0)
    return ", ".join([*parts, *residents, *([besides] if besides else [])])
