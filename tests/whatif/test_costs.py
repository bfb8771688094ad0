"""Costs of changes in numbers: by hand for each mechanism, and against residency."""

from dataclasses import replace

import pytest

from warpbound.residency import occupancy
from warpbound.whatif import code_changes, parallelism
from warpbound.whatif.costs import TAKES, Needs, Takes, takes, warps_with, words
from warpbound.whatif.mechanisms import MECHANISMS, mechanism_of

FULL = occupancy("h200", 256, 32, 4096)
NEEDS = Needs(loaded=4.0, arrays=3, threads=256, shared_bytes=4096, local_bytes=40, residency=FULL)


@pytest.mark.parametrize(
    ("change", "registers", "shared_bytes"),
    [(code_changes.WIDE.format(count=4), 12, 0), (code_changes.NEARER, 0, 3 * 256 * 4), (code_changes.COALESCED, 0, 0),
     (code_changes.TILES, 0, 3072), ("no shared-memory bank conflicts", 0, 4096 // 32),
     ("half the shared memory per block, for L1 (128 KiB instead of 64 KiB)", 0, -2048),
     ("no spills and no local arrays (more registers, smaller tiles)", 10, 0),
     (parallelism.AHEAD.format(times="8 times"), 28, 0), (parallelism.ILP, 5, 0),
     (code_changes.KEPT.format(where=""), 1, 0), (code_changes.EASINGS["shared"][1], 5, 0),
     (code_changes.EASINGS["lsu"][1], 4, 0), (code_changes.EASINGS["fma"][1], 0, 0),
     ("32 registers per thread instead of 40 would let an SM hold 8 blocks (64 warps)", -8, 0),
     ("2048 bytes of shared memory per block instead of 4096 would let an SM hold 8 blocks (64 warps)", 0, -2048),
     ("loads of line 3 past L1 (__ldcg, ld.global.cg)", 0, 0)],
)  # fmt: skip
def test_what_a_change_needs(change: str, registers: int, shared_bytes: int) -> None:
    mechanism = mechanism_of(change)
    assert mechanism is not None
    assert takes(mechanism.name, change, NEEDS) == Takes(registers, shared_bytes)


def test_without_a_limit_as_many_blocks_fit_as_all_else_admits() -> None:
    bound = occupancy("h200", 256, 80, 60_000)
    more = takes("occupancy", "no limit by registers and shared memory", replace(NEEDS, residency=bound))
    assert bound.with_more(more.registers, more.shared_bytes).warps_per_sm == bound.max_warps_per_sm
    for less in (Takes(8), Takes(0, 1024)):
        then = bound.with_more(more.registers + less.registers, more.shared_bytes + less.shared_bytes)
        assert then.warps_per_sm < bound.max_warps_per_sm


def test_every_entry_is_a_mechanism() -> None:
    assert TAKES.keys() <= {each.name for each in MECHANISMS}


def test_warps_after_a_change_are_those_of_the_changed_block() -> None:
    assert warps_with(NEEDS, Takes()) == FULL.warps_per_sm
    for more in (Takes(10), Takes(0, 60_000), Takes(40, 60_000), Takes(-8, -4096)):
        then = occupancy("h200", 256, 32 + more.registers, 4096 + more.shared_bytes)
        assert warps_with(NEEDS, more) == then.warps_per_sm
    assert warps_with(NEEDS, Takes(0, 300_000)) == 0


def test_words_name_the_numbers() -> None:
    assert words(Takes(12, -2048), 48, "") == (
        "about 12 more registers per thread, about 2048 fewer bytes of shared memory per block, 48 warps per SM then"
    )
    assert words(Takes(1), 64, "time") == "about 1 more register per thread, 64 warps per SM then, time"
    assert words(Takes(-8), None, "").endswith("8 fewer registers per thread, spills where registers do not suffice")
    assert words(Takes(), None, "") == "no register and no shared memory"
