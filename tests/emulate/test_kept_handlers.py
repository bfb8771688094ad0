"""Handlers of an earlier launch serve the next one, but for those that read its parameters, constants or textures."""

from dataclasses import replace

import numpy as np
import pytest

from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.emulator import STEP_LIMIT, make_ready
from warpbound.emulate.state import State
from warpbound.kernel_launch import launch
from warpbound.program.instruction import Operand
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda

SOURCE = """
__constant__ int table[8];
__device__ int before[64], after[64];
extern "C" __global__ void k(cudaTextureObject_t s, cudaTextureObject_t t, int n, int *out)
{ int i = threadIdx.x; out[i] = i * i + n + table[i & 7] + tex1Dfetch<int>(t, i) + after[i]; }
"""


def asked(n):
    texels, table, after = (np.arange(32, dtype=np.int32) * (n + i) for i in range(3))
    args = {"s": -texels, "t": texels, "n": n, "out": np.zeros(32, np.int32)}
    both = np.concatenate([after, after])
    wanted = np.arange(32) ** 2 + n + table[np.arange(32) & 7] + texels + after
    return launch(grid=1, block=32, args=args, constants={"table": table[:8], "after": both}), wanted


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_launches_with_other_parameters(arch):
    program = compile_program(SOURCE, f"sm_{arch}", "k")
    first = make_ready(program, asked(3)[0])
    call, wanted = asked(8)
    second = make_ready(program, call, earlier=first)
    same = [one is other and one is not None for one, other in zip(first.handlers, second.handlers, strict=True)]
    assert 2 < sum(same) < len(same) - 4
    run_blocks(second, second.whole_clusters(np.arange(1)), STEP_LIMIT)
    assert (second.memory.arrays()["out"] == wanted).all()


def test_only_what_reads_the_changed_parameter_is_made_again():
    program = compile_program("__global__ void k(int n, int *out, int m) { out[threadIdx.x] = m * n; }", "sm_90")

    def asked_for(n, m):
        return launch(grid=1, block=32, args={"n": n, "out": "i32[32]", "m": m})

    first = make_ready(program, asked_for(3, 5))

    def made_again(n, m):
        second = make_ready(program, asked_for(n, m), earlier=first)
        assert second.facts is first.facts
        pairs = zip(program.instructions, first.handlers, second.handlers, strict=True)
        operands = [operand for x, old, new in pairs if old is not new for operand in x.operands]
        return {operand.value - program.parameter_base for operand in operands if operand.kind == "constant"}

    assert made_again(3, 5) == set()
    assert made_again(4, 5) == {0}
    assert made_again(3, 6) == {16}


def test_handlers_that_hold_an_address_go_where_the_symbol_goes():
    program = compile_program(SOURCE, "sm_90", "k")
    code = list(program.instructions)
    at = next(
        i for i, x in enumerate(code) if x.traits.is_arithmetic and all(y.kind == "register" for y in x.operands)
    )  # fmt: skip
    code[at] = replace(code[at], operands=(*code[at].operands[:-1], Operand("other", "32@lo(after)")))
    changed = replace(program, instructions=tuple(code))
    call, _ = asked(3)
    first = make_ready(changed, call)
    longer = replace(call, args=(*call.args[:-1], replace(call.args[-1], shape=(1 << 20,), bytes=None)))
    second = make_ready(changed, longer, earlier=first)
    assert first.memory.addresses != second.memory.addresses
    assert first.handlers[at] is not second.handlers[at]


def test_a_pair_of_registers_is_joined_again_when_a_half_or_the_lanes_change():
    x = State(2, 8)
    x.put(2, np.arange(64, dtype=np.uint32))
    x.put(3, np.uint32(1))
    before = x.get_pair(2)
    assert x.get_pair(2) is before
    x.put(3, np.uint32(2))
    assert (x.get_pair(2) == np.arange(64) + (2 << 32)).all()
    assert (before == np.arange(64) + (1 << 32)).all()
    x.select(np.arange(64) >= 32)
    assert (x.get_pair(2) == np.arange(32, 64) + (2 << 32)).all()
