"""Predicted stalls by instruction: where samples of warps would show them."""

import pytest

from warpbound.machine import gpu
from warpbound.nsight.stall_places import stalls_by_place
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.kernel import Program
from warpbound.program.source_files import programs
from warpbound.schedule import Schedule
from warpbound.time_model.stall_reasons import REASONS, REPLACEMENT

pytestmark = pytest.mark.cuda
TEXT = """
__global__ void turned(float *out, const float *in) {
    __shared__ float tile[256];
    tile[threadIdx.x] = in[threadIdx.x] + 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return programs(compile_cuda(TEXT, "turned.cu", 89, Options()).cubin, gpu("rtx-4090"), None, Options())[0]


def straight(program: Program) -> Schedule:
    """Every instruction once, each 1 cycle behind the last, 100 for a result of global memory, 50 at the barrier."""
    size = len(program.instructions)
    opcodes = [one.opcode for one in program.instructions]
    load, barrier = opcodes.index("LDG"), opcodes.index("BAR")
    user = opcodes.index("FADD", load)
    waited = [0.0] * size
    waited[user] = 100.0
    issue, now = [], 0.0
    for index in range(size):
        now += waited[index] + (50.0 if index == barrier + 1 else 0.0)
        issue.append(now)
        now += 1.0
    producer = tuple(load if index == user else -1 for index in range(size))
    return Schedule(tuple(range(size)), tuple(issue), now, {}, {}, (), tuple(waited), producer, ())


def at(program: Program, opcode: str) -> int:
    return [one.opcode for one in program.instructions].index(opcode)


def test_each_reason_is_where_warps_have_it(program: Program) -> None:
    shares = dict.fromkeys(("long scoreboard", "barrier", "lg throttle", "mio throttle", "selected"), 0.2)
    places = stalls_by_place(program.instructions, straight(program), shares)
    of = {reason: {index for index, each in enumerate(places) if reason in each} for reason in shares}
    assert of["long scoreboard"] == {at(program, "FADD")}
    assert of["barrier"] == {at(program, "BAR") + 1}
    assert of["lg throttle"] == {at(program, "LDG"), at(program, "STG")}
    assert of["mio throttle"] == {at(program, "STS"), at(program, "LDS")}
    assert of["selected"] == set(range(len(program.instructions)))
    assert places[at(program, "FADD")]["long scoreboard"] == pytest.approx(0.2)


def test_shares_are_of_what_instructions_wait_for(program: Program) -> None:
    """A slot that waits for a block's end has no sample; the rest is one."""
    shares = {reason: 1.0 / len(REASONS) for reason in REASONS}
    places = stalls_by_place(program.instructions, straight(program), shares)
    assert sum(sum(each.values()) for each in places) == pytest.approx(1.0)
    assert all(REPLACEMENT not in each for each in places)
    assert all(list(each.values()) == sorted(each.values(), reverse=True) for each in places)
    assert stalls_by_place(program.instructions, straight(program), {}) == [{}] * len(program.instructions)


def test_code_is_waited_for_where_its_lines_begin(program: Program) -> None:
    places = stalls_by_place(program.instructions, straight(program), {"no instruction": 1.0})
    size = len(program.instructions)
    assert [index for index, each in enumerate(places) if "no instruction" in each] == list(range(0, size, 8))
