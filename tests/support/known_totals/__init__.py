"""Answers for random kernels against totals that are known by construction."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from support.known_totals.templates import SECTORS, TEMPLATES, THREADS, WORDS, Known
from warpbound.analysis import Settings, launch_counts
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import checked_case
from warpbound.kernel_launch import Launch, launch
from warpbound.machine import gpu
from warpbound.program import Program
from warpbound.program.source_files import compile_program

BOARD, CODE = "rtx-4090", "sm_89"
FLOP, LINE_B, SECTOR_B, WORD_B = 2 * WORDS, 128, 32, 4
LARGER = (1, 3)  # times that arrays are as large as what is touched
FITS, EXCEEDS = 0.3, 4.0  # shares of L2: warm launches find all of their data there, or none


@dataclass(frozen=True)
class Outcome:
    """One kernel.

    errors : quantity -> answer over total, minus 1; of a total of 0, the answer over all that is touched. stated :
    standard error of the counts that the answer gives. executed : share of the blocks that the sample has.
    """

    template: str
    seed: int
    blocks: int
    cache: str
    errors: dict[str, float]
    stated: float
    executed: float


@cache
def _program(template: str) -> Program:
    return compile_program(TEMPLATES[template].source, CODE)


def launch_of(known: Known, larger: int) -> Launch:
    """The launch with arrays so many times as large as what it touches."""
    blocks, most = known.grid.blocks, int(known.units.max()) + 1
    words = f"f32[{larger * blocks * most * THREADS}]"
    args = {
        "n": known.n, "m": known.m, "p": known.p, "list": known.list.astype(np.int32), "ticket": "u32[1]:zeros",
        "x": words + ":zeros", "y": words + ":zeros",
    }  # fmt: skip
    return launch(grid=known.grid.extents, block=THREADS, args=args)


def outcome(template: str, seed: int) -> Outcome:
    """The answer for the kernel of a template and a seed, against its totals."""
    rng = np.random.default_rng([seed, sorted(TEMPLATES).index(template)])
    known = TEMPLATES[template].draw(rng)
    cache, larger = ("cold", "warm")[int(rng.integers(2))], LARGER[int(rng.integers(2))]
    board = gpu(BOARD)
    work = work_of(checked_case(_program(template), board, launch_of(known, larger), Settings(cache=cache)))
    assert work.launch_memory is not None, work.not_executed
    assert work.sample is not None
    units = int(known.units.sum())
    traffic = work.observed.traffic if work.observed else None
    memory = launch_counts.memory_traffic(work.launch_memory, work.hit_rates, traffic)
    lists, writes_list = "list[" in TEMPLATES[template].body, TEMPLATES[template].data
    own_stores = known.grid.blocks * writes_list
    list_B = lists * -(-known.list.size * WORD_B // SECTOR_B) * SECTOR_B
    wanted: dict[str, tuple[float | None, float]] = {
        "flop": (launch_counts.flop_counts(work.whole).fp32, FLOP * units),
        "store sectors": (memory.l1_sectors_store, SECTORS * units + own_stores),
        "stores": (memory.global_store_requests, units + own_stores),
    }
    if not lists:
        wanted["loads"] = memory.global_load_requests, units
        wanted["load sectors"] = memory.l1_sectors_load, SECTORS * units
    footprint = 2 * LINE_B * units / board.value("l2_size")
    if cache == "cold" or footprint > EXCEEDS:
        wanted["DRAM read"] = (memory.dram_bytes_read, LINE_B * units + list_B)
    errors = {name: float(answer or 0.0) / total - 1 for name, (answer, total) in wanted.items() if total}
    if not units:
        errors = {name: float((answer or 0.0) > 0) for name, (answer, _) in wanted.items()}
    if cache == "warm" and footprint < FITS:
        errors["DRAM read"] = float(memory.dram_bytes_read or 0.0) / max(1, LINE_B * units)
    share = work.sample.blocks / work.sample.of_blocks
    return Outcome(template, seed, known.grid.blocks, cache, errors, work.sample.sampling_error or 0.0, share)


def outcomes(count: int, announce: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """So many kernels, all templates in turn."""
    names = list(TEMPLATES)
    found = []
    for number in range(count):
        found.append(outcome(names[number % len(names)], number // len(names)))
        if number % 100 == 99:
            announce(f"{number + 1} of {count} kernels")
    return found
