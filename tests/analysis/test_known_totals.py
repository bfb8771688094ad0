"""Answers for random kernels against totals that are known by construction."""

from dataclasses import replace

import pytest

from support.breadth import some_of
from support.known_totals import outcome, outcomes
from support.known_totals.templates import TEMPLATES
from warpbound.emulate import trace
from warpbound.emulate.emulator import make_ready
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

USUAL = {  # and which kernel of each kind
    "leaves early in y": 2, "triangular trip counts": 2, "a work queue": 1, "one giant row": 2, "a checkerboard": 2,
    "lengths that the kernel writes": 2,
}  # fmt: skip


def check(found):
    worst = max(map(abs, found.errors.values()), default=0.0)
    bound = max(0.01, 3 * found.stated)
    assert worst <= bound, found


@pytest.mark.parametrize("template", USUAL)
def test_counts_are_the_known_totals(template):
    check(outcome(template, USUAL[template]))


def test_blocks_that_run_together_share_a_queue():
    """16 of 64 blocks run at once: they draw all 256 items, 16 each, and the later ones find nothing."""
    args = {"n": 256, "m": 0, "p": 0, "list": "i32[1]:zeros", "ticket": "u32[1]:zeros", "x": "f32[16384]:zeros"}
    asked = launch(grid=64, block=32, args=args | {"y": "f32[16384]"})
    program = compile_program(TEMPLATES["a work queue"].source, "sm_89")
    done = trace(program, asked, range(64), at_once=16)
    (loads,) = (at for at, each in enumerate(program.instructions) if each.opcode == "LDG")
    assert done.executed[:, loads].tolist() == 16 * [16] + 48 * [0]


def test_as_many_large_blocks_run_together_as_a_gpu_holds():
    args = {"n": 1, "m": 0, "p": 0, "list": "i32[1]:zeros", "ticket": "u32[1]:zeros", "x": "f32[1]", "y": "f32[1]"}
    program = compile_program(TEMPLATES["a work queue"].source, "sm_90")
    ready = make_ready(program, launch(grid=3000, block=256, args=args))
    assert replace(ready, at_once=1056).blocks_per_chunk() == 1056


@pytest.mark.broad
def test_a_queue_of_more_blocks_than_are_executed():
    queue = outcome("a work queue", 2)
    assert queue.executed < 0.2
    assert max(map(abs, queue.errors.values())) < 0.01


def test_totals_differ_from_kernel_to_kernel():
    first, second = (outcome("every k-th block", seed) for seed in (3, 4))
    assert first.blocks != second.blocks


@pytest.mark.parametrize("kernels", some_of((40, 100), 0, 1))
def test_counts_of_random_kernels_are_the_known_totals(kernels):
    found = list(outcomes(kernels))
    assert {each.template for each in found} == set(TEMPLATES)
    far = [each for each in found if max(map(abs, each.errors.values()), default=0.0) > max(0.01, 3 * each.stated)]
    assert len(far) <= kernels // 40, far
