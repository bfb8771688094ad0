"""Handlers of an earlier launch serve the next one, but for those that read its parameters, constants or textures."""

from dataclasses import replace

import numpy as np
import pytest

from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.emulator import STEP_LIMIT, make_ready
from warpbound.emulate.symbol_addresses import same_for_every_launch
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
    second = make_ready(program, call, kept=first.handlers)
    same = [one is other and one is not None for one, other in zip(first.handlers, second.handlers, strict=True)]
    assert 2 < sum(same) < len(same) - 4
    run_blocks(second, second.whole_clusters(np.arange(1)), STEP_LIMIT)
    assert (second.memory.arrays()["out"] == wanted).all()


def test_the_address_of_a_symbol_is_not_the_same_for_every_launch():
    program = compile_program(SOURCE, "sm_90", "k")
    plain = next(x for x in program.instructions if same_for_every_launch(x))
    symbol = Operand("other", "32@lo(before)")
    changed = replace(program, instructions=tuple(
        replace(x, operands=(*x.operands[:-1], symbol)) if x is plain else x for x in program.instructions
    ))  # fmt: skip
    first = make_ready(changed, asked(3)[0])
    second = make_ready(changed, asked(3)[0], kept=first.handlers)
    at = program.instructions.index(plain)
    assert first.handlers[at] is not second.handlers[at]
