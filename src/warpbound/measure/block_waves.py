"""Launches with several times the blocks that fit: an SM is full but for a short while at the end.

With one set of blocks alone, whatever warps the scheduler prefers end first and the SM runs half empty for the rest.
"""

from dataclasses import dataclass

from warpbound.measure.device import Facts

BLOCK = 4  # warps: one for each scheduler


@dataclass(frozen=True)
class Crowd:
    """Blocks of a launch, threads of one, the dynamic shared memory that holds the occupancy."""

    grid: int
    threads: int
    smem: int


def crowd(warps: int, waves: int, facts: Facts, static: int = 0) -> Crowd:
    """`warps` at once on every SM, `waves` times over; static : shared memory that a block declares, bytes."""
    per_block = BLOCK if warps % BLOCK == 0 else warps
    blocks = warps // per_block
    smem = max(0, facts.shared_for(blocks) - static)
    return Crowd(waves * blocks * facts.sm_count, 32 * per_block, smem)
