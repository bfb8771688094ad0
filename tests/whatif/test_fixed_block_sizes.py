"""Other block sizes are offered only where the code works with them."""

import pytest

import warpbound
from warpbound import machine
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import DEFAULT
from warpbound.kernel_launch import Launch
from warpbound.program.kernel import Program

pytestmark = pytest.mark.cuda

BARRIER = """
asm volatile("mbarrier.init.shared.b64 [%0], 128;" :: "r"(0));
"""
NAMED = 'asm volatile("barrier.cta.sync 1, 64;" ::: "memory");'
CODE = """
extern "C" __global__ ATTRIBUTE void scaled(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
    BODY
}
"""


def compiled(body: str = "", attribute: str = "") -> Program:
    text = CODE.replace("BODY", body).replace("ATTRIBUTE", attribute)
    return warpbound.compile(text, "h200", options=["-arch=sm_90a"])


def steps(program: Program) -> set[str]:
    """What would let an SM hold more blocks of 160 threads, of which 12 fit."""
    launch = warpbound.launch(grid=100_000, block=160, args={"x": "f32[16000000]"})
    assert isinstance(launch, Launch)
    case = case_of(program, machine.gpu("h200"), launch, DEFAULT)
    return {step.change for step in case.residency.next_step}


def test_a_plain_kernel_gets_other_block_sizes() -> None:
    program = compiled()
    assert not program.block_size_fixed
    assert "threads" in steps(program)


@pytest.mark.parametrize(
    ("body", "attribute"), [(BARRIER, ""), (NAMED, ""), ("", "__block_size__((160, 1, 1))")],
    ids=["mbarrier", "named barrier", "required size"],
)  # fmt: skip
def test_a_kernel_that_counts_its_threads_does_not(body: str, attribute: str) -> None:
    program = compiled(body, attribute)
    assert program.block_size_fixed
    assert "threads" not in steps(program)
