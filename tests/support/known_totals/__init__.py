"""Answers for random kernels against totals that are known by construction."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from support.known_totals.templates import SECTORS, TEMPLATES, WORDS, Ints, Known, Template
from warpbound.analysis import Settings, launch_counts
from warpbound.analysis.answer import idle_counts, work_of
from warpbound.analysis.case import checked_case
from warpbound.emulate import trace
from warpbound.kernel_argument import Argument
from warpbound.kernel_launch import Launch, launch
from warpbound.machine import gpu
from warpbound.program import Program
from warpbound.program.source_files import compile_program
from warpbound.result.kernel import MemoryTraffic

BOARD, CODE = "rtx-4090", "sm_89"
FLOP, LINE_B, SECTOR_B, WORD_B = 2 * WORDS, 128, 32, 4
LARGER = (1, 3, 8)  # times that arrays are as large as what is touched
FITS, EXCEEDS = 0.3, 4.0  # shares of L2: warm launches find all of their data there, or none


@dataclass(frozen=True)
class Outcome:
    """One kernel.

    errors : quantity -> answer over total, minus 1; of a total of 0, the answer over all that is touched. stated :
    standard error of the counts that the answer gives. stated_dram : of the bytes read from DRAM, over these.
    executed : share of the blocks that the sample has.
    """

    template: str
    seed: int
    blocks: int
    cache: str
    errors: dict[str, float]
    stated: float
    stated_dram: float
    executed: float


@cache
def _program(template: str) -> Program:
    return compile_program(TEMPLATES[template].source, CODE)


def launch_of(known: Known, larger: int) -> Launch:
    """The launch with arrays so many times as large as what it touches."""
    blocks, most = known.grid.blocks, int(known.units.max()) + 1
    words = f"f32[{larger * blocks * most * known.units.shape[1] * WORDS}]"
    args = {
        "n": known.n, "m": known.m, "p": known.p, "list": known.list.astype(np.int32), "ticket": "u32[1]:zeros",
        "x": words + ":zeros", "y": words + ":zeros",
    }  # fmt: skip
    return launch(grid=known.grid.extents, block=known.grid.block, args=args)


def warp_instructions(template: str, program: Program, asked: Launch, known: Known) -> float:
    """Of the whole launch. A warp's are linear in its units, apart from warps without any: blocks with the fewest and
    the most units give the line, and those without units what these issue."""
    if TEMPLATES[template].queue:
        none, unit = (_issued(program, replace(asked, grid=(1, 1, 1), args=_with_items(asked, n)), [0]) for n in (0, 1))
        each = unit[0] - none[0]
        return float(known.grid.blocks * none[0].sum() + known.units[:, 0].sum() * each.sum())
    measured: dict[int, Ints] = {}
    total = 0.0
    for warp in range(known.grid.warps):
        units, working = known.units[:, warp], known.units[:, warp][known.units[:, warp] > 0]
        fewest = int(working.min()) if len(working) else 0
        chosen = [int(np.argmax(units == value)) for value in (0, fewest, units.max())]
        for block in set(chosen) - measured.keys():
            measured[block] = _issued(program, asked, [block])[0]
        idle, least, most = (float(measured[block][warp]) for block in chosen)
        steps = max(1, int(units[chosen[2]] - units[chosen[1]]))
        total += idle * int((units == 0).sum()) + least * len(working)
        total += (most - least) / steps * float((working - units[chosen[1]]).sum())
    return total


def _with_items(asked: Launch, items: int) -> tuple[Argument, ...]:
    return tuple(replace(arg, value=items) if arg.name == "n" else arg for arg in asked.args)


def _issued(program: Program, asked: Launch, blocks: list[int]) -> Ints:
    """Instructions of each warp of the blocks, executed alone, (blocks, warps)."""
    done = trace(program, asked, blocks)
    assert not done.stopped
    return np.asarray(done.executed.sum(axis=1), np.int64).reshape(len(blocks), -1)


def outcome(template: str, seed: int) -> Outcome:
    """The answer for the kernel of a template and a seed, against its totals."""
    rng = np.random.default_rng([seed, sorted(TEMPLATES).index(template)])
    known = TEMPLATES[template].draw(rng)
    cache, larger = ("cold", "warm")[int(rng.integers(2))], LARGER[int(rng.integers(len(LARGER)))]
    program, board, asked = _program(template), gpu(BOARD), launch_of(known, larger)
    case = checked_case(program, board, asked, Settings(cache=cache))
    work = work_of(case)
    assert work.launch_memory is not None, work.not_executed
    assert work.sample is not None
    traffic = work.observed.traffic if work.observed else None
    memory = launch_counts.memory_traffic(work.launch_memory, work.hit_rates, traffic)
    issued = launch_counts.instructions(work.whole, idle_counts(case, work)).warp_instructions
    wanted = _wanted_traffic(memory, known, TEMPLATES[template], (cache, board.value("l2_size")))
    wanted["warp instructions"] = issued, warp_instructions(template, program, asked, known)
    if not TEMPLATES[template].reckons:
        wanted["flop"] = launch_counts.flop_counts(work.whole).fp32, FLOP * int(known.units.sum())
    errors = {name: float(answer or 0.0) / total - 1 for name, (answer, total) in wanted.items() if total}
    units = int(known.units.sum())
    if not units:
        errors |= {name: float((answer or 0.0) > 0) for name, (answer, total) in wanted.items() if not total}
    footprint = 2 * LINE_B * units / board.value("l2_size")
    if cache == "warm" and footprint < FITS:
        errors["DRAM read"] = float(memory.dram_bytes_read or 0.0) / max(1, LINE_B * units)
    share = work.sample.blocks / work.sample.of_blocks
    dram = work.errors.dram_bytes_read / max(1.0, memory.dram_bytes_read or 0.0) if work.errors else 0.0
    stated = work.sample.sampling_error or 0.0
    return Outcome(template, seed, known.grid.blocks, cache, errors, stated, dram, share)


def _wanted_traffic(
    memory: MemoryTraffic, known: Known, template: Template, caches: tuple[str, float]
) -> dict[str, tuple[float | None, float]]:
    """Quantity -> (the answer, the total); caches : warm or cold, bytes of L2."""
    units, (cache, l2_bytes) = int(known.units.sum()), caches
    reads_list, own_stores = "list[" in template.body, known.grid.blocks * template.writes_list
    list_B = reads_list * -(-known.list.size * WORD_B // SECTOR_B) * SECTOR_B
    wanted: dict[str, tuple[float | None, float]] = {
        "store sectors": (memory.l1_sectors_store, SECTORS * units + own_stores),
        "stores": (memory.global_store_requests, units + own_stores),
    }
    if not reads_list:
        wanted["loads"] = memory.global_load_requests, units
        wanted["load sectors"] = memory.l1_sectors_load, SECTORS * units
    exceeds = 2 * LINE_B * units > EXCEEDS * l2_bytes
    if cache == "cold" or exceeds:
        wanted["DRAM read"] = memory.dram_bytes_read, LINE_B * units + list_B
    if cache == "warm" and exceeds:
        wanted["DRAM written"] = memory.dram_bytes_written, LINE_B * units + own_stores * WORD_B
    return wanted


def outcomes(count: int) -> Iterator[Outcome]:
    """So many kernels, all templates in turn."""
    names = list(TEMPLATES)
    for number in range(count):
        yield outcome(names[number % len(names)], number // len(names))
