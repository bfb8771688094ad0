"""Compiled kernels on the simulated SM: one warp alone, the traffic, and the time model."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import warpbound
from support.logged_run import run_logged
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.sm_simulation import executed, simulated
from warpbound.latency import waits
from warpbound.machine import gpu, override
from warpbound.schedule import schedule
from warpbound.simulate.kernel import SECTOR_B, Kernel, Place, experiment
from warpbound.simulate.warp_simulation import run

pytestmark = pytest.mark.cuda
LONGEST = 5_000  # instructions of a warp that are compared


@cache
def kernel(name: str) -> tuple[Any, Kernel, Any]:
    launch = warpbound.launch(f"examples/{name}.toml")
    case = case_of(warpbound.compile(f"examples/{name}.cu", "h200"), gpu("h200"), launch, DEFAULT)
    return case, *executed(case, launch)


def all_from(kernel: Kernel, level: str) -> Kernel:
    """The same with every load served by one level, at the traffic that this means."""
    beyond_l1, to_dram = level != "l1", level == "dram"
    traffic = [
        replace(
            each,
            l2_sectors_read=each.l1_sectors_load if beyond_l1 else 0.0,
            dram_bytes_read=each.l1_sectors_load * SECTOR_B if to_dram else 0.0,
        )
        for each in kernel.traffic
    ]
    return replace(kernel, traffic=traffic, shares=[{level: 1.0}] * len(kernel.instructions))


def alone(name: str) -> Kernel:
    """Without what other warps or a loaded memory would add: loads from DRAM, no scatter, no conflicts."""
    _, found, _ = kernel(name)
    from_dram = all_from(found, "dram")
    free = replace(from_dram.timing, spread=0.0, wait=0.0, l2_read=1e-6, l2_write=1e-6, dram_byte=1e-6, l1_bytes=1e9)
    smooth = [replace(t, shared_wavefronts_load=0.0, shared_wavefronts_store=0.0) for t in from_dram.traffic]
    return replace(from_dram, timing=free, traffic=smooth, streams=(from_dram.streams[0][:LONGEST],))


@pytest.mark.parametrize("name", ["saxpy", "black_scholes", "matmul_tiled", "softmax", "scan"])
def test_one_warp_alone_keeps_the_schedule_of_its_control_words(name: str) -> None:
    """Never earlier than the schedule without pipes, and later only by its own pipes: 5 % at most."""
    case, _, _ = kernel(name)
    one = alone(name)
    done = run_logged(experiment(one, Place(1, 1, 1)))
    issued = done.log["cycle"][done.log["kind"] == "issue"]
    timing = waits(one.instructions, case.latency, lambda _: {"dram": 1.0})
    expected = np.array(schedule(one.streams[0].tolist(), one.instructions, timing).issue)
    assert len(issued) == len(expected)
    assert np.all(issued >= expected - 1e-6)
    assert issued[-1] <= 1.05 * expected[-1] + 2.0


@pytest.mark.parametrize("name", ["saxpy", "transpose_tiled", "scan", "stencil5"])
def test_memory_is_asked_for_what_the_launch_moves(name: str) -> None:
    """Cycles of one SM's share of DRAM, as simulated, against the bytes of the mean warp."""
    _, found, work = kernel(name)
    blocks = 32 * len(found.streams)
    x = experiment(found, Place(1, 1, blocks))
    done = run(x)
    asked = sum(
        n * step.access.lines * step.access.demand["dram"]
        for n, step in zip(done.issued, x.steps, strict=True)
        if step.access
    )
    memory = work.whole.memory
    expected = blocks * found.timing.dram_byte * (memory.dram_bytes_read + memory.dram_bytes_written)
    assert asked == pytest.approx(expected, rel=0.15)


def test_more_misses_take_longer() -> None:
    _, found, _ = kernel("saxpy")
    cycles = [run(experiment(all_from(found, level), Place(8, 4, 16))).cycles for level in ("l1", "l2", "dram")]
    assert cycles == sorted(cycles)
    assert cycles[-1] > 1.5 * cycles[0]


def test_schedulers_take_as_long_as_the_board_says() -> None:
    """A kernel bound by issue at a fourth of the issue rate, and on an SM with twice as many sub-cores."""
    _, found, _ = kernel("black_scholes")
    place = Place(8, 8, 24)

    def cycles(**changes: float) -> float:
        return run(experiment(replace(found, gpu=override(gpu("h200"), changes)), place)).cycles

    own = cycles()
    assert cycles(issue_width=4.0) == own
    slow = cycles(issue_width=1.0)
    instructions = 24 * 8 * float(np.mean([len(stream) for stream in found.streams]))
    assert slow >= instructions
    assert slow > 2 * own
    assert cycles(issue_width=1.0, sub_cores=8) == pytest.approx(slow, rel=0.1)


# Kinds of kernels, and how far the simulation may be from the time model on these examples; docs/simulator.md
# lists all of them, those that are farther away too.
AGREES = [
    ("stream", "saxpy", 0.08),
    ("stream", "vector_add", 0.08),
    ("stream", "transpose_naive", 0.08),
    ("barriers", "reduction", 0.10),
    ("barriers", "scan", 0.10),
    ("barriers", "matmul_tiled", 0.10),
    ("barriers", "softmax", 0.10),
    ("one shot", "pointer_chase", 0.15),
    ("one shot", "mandelbrot", 0.15),
]


@pytest.mark.parametrize("kind, name, off", AGREES, ids=lambda value: str(value))
def test_simulation_and_headline_prediction_agree(kind: str, name: str, off: float) -> None:
    program = warpbound.compile(f"examples/{name}.cu", "h200")
    found = simulated(program, "h200", warpbound.launch(f"examples/{name}.toml"))
    assert found.simulated_over_headline == pytest.approx(1.0, abs=off)
