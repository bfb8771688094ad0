"""Sliders keep to what tensor memory has room for."""

from dataclasses import replace

import msgspec
import pytest

import warpbound
from warpbound import machine
from warpbound.analysis.answer import analyze_kernel, launch_facts, work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import Settings
from warpbound.page.slider_estimates import estimated
from warpbound.page.subject import Subject
from warpbound.page.views import draw_view
from warpbound.page.work_overrides import REGISTERS, THREADS, overridden_case
from warpbound.report.figures.occupancy import Block, occupancy_against_limits

pytestmark = pytest.mark.cuda

HALF = """
extern "C" __global__ void half_of_it() {
    __shared__ unsigned place;
    unsigned at = (unsigned)__cvta_generic_to_shared(&place);
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" :: "r"(at) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" :: "r"(place) : "memory");
}
"""
FIT = 2  # blocks of 256 of the 512 columns of an SM


@pytest.fixture(scope="module")
def own() -> Subject:
    board = machine.gpu("b200")
    program = warpbound.compile(HALF, board, options=["-arch=sm_100a"])
    launch = warpbound.launch(grid=4096, block=128)
    settings = Settings(views=("figures",))
    case = case_of(program, board, launch, settings)
    facts = launch_facts(case, work_of(case))
    entry = analyze_kernel(program, board, launch, settings)
    assert facts is not None
    block = Block(**msgspec.structs.asdict(entry.figures.block))
    return Subject(entry.kernel, board, block, facts, facts.work, entry, case.residency.fitting_blocks_per_sm, launch)


def test_a_launch_set_by_hand_holds_no_more_blocks_than_tensor_memory(own: Subject) -> None:
    assert own.fitting == FIT
    for launch, values in (
        (replace(own.launch, grid=(8192, 1, 1)), {}), (own.launch, {REGISTERS: 64.0}),
        (replace(own.launch, block=(64, 1, 1)), {}),
    ):  # fmt: skip
        found = estimated(own, own.gpu, launch, values)
        assert found.estimated
        assert found.fitting == FIT
        assert found.facts.blocks_per_sm == FIT


def test_threads_set_by_hand_do_not_either(own: Subject) -> None:
    program = warpbound.compile(HALF, own.gpu, options=["-arch=sm_100a"])
    case = case_of(program, own.gpu, None, Settings())
    assert overridden_case(case, {THREADS: 64.0}).residency.blocks_per_sm == FIT


def test_the_figure_of_occupancy_shows_the_limit(own: Subject) -> None:
    by_threads, by_registers, by_shared = occupancy_against_limits(own.gpu, own.block).pictures
    for picture in (by_registers, by_shared):
        assert max(picture.layers[0].y) == FIT * 128 / 32
    assert max(by_threads.layers[0].y) == FIT * 1024 / 32
    words = " ".join(draw_view("occupancy", own, {}).words)
    assert f"{FIT} blocks and 8 of 64 warps per SM, limited by tensor memory." in words
