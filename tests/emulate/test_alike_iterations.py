"""Tiles of persistent blocks that take the same path are not executed, and the counts of a trace do not show it."""

import numpy as np
import pytest

from warpbound import emulate
from warpbound.emulate import alike_iterations
from warpbound.emulate.alike_iterations import AlikeIterations
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

HEAD = """extern "C" __global__ void k(const float* x, float* y, const int* w, int n, int s) {
    int t = threadIdx.x, tiles = n / 8; float v = 0; int c = 0; __shared__ int next[2];
#pragma unroll 1
    for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
"""
TAIL = "y[(i / s) * 4096 + (i % s) * 256 + t] = v + c; }\ny[t] = c; }"
LOOP = "\n#pragma unroll 1\nfor (int j = 0; j < 5; j++) "
READ = LOOP + "v += x[(i / s) * 512 + (i % s) * 64 + j * 8 + t];\n"
BODIES = {  # name -> body, whether tiles are left out
    "tiles by division": (READ, True),
    "a sum that is carried": (READ + "c += 3;", True),
    "a branch that ends": (READ + "if (i < tiles / 2) v += x[i * 2 + t];", True),
    "a guard that some lanes lose": (READ + "if (t < 32 - i / 40) v += x[i + t];", True),
    "longer and longer": (READ + "for (int j = 0; j < i; j++) v += x[j];", False),
    "every second tile": (READ + "if (i / gridDim.x % 2) y[t] = x[t + 9];", False),
    "work by what memory holds": ("for (int j = 0; j < w[i]; j++) v += x[j];\n" + READ, False),
    "a carried product": (READ + "c = c * c + i;\nv += x[c & 63];", False),
    "a carried remainder": (READ + "c = c + 1 == 7 ? 0 : c + 1;\nv += x[c + t];", False),
    "a counter in memory": (READ + "if (t == 0) next[0] = i; __syncthreads(); v += x[next[0] % 64];", False),
    "lanes apart": (READ + "if (t % 2) { " + LOOP + "v += x[j + i]; } else { " + LOOP + "v += x[j * 3]; }", None),
}  # fmt: skip


@pytest.fixture
def left_out(monkeypatch):
    """The numbers of iterations that are left out, one each time; accesses are enough from the first on."""
    counts = []
    before = AlikeIterations._leave_out
    monkeypatch.setattr(AlikeIterations, "_leave_out", lambda *these: (counts.append(these[2]), before(*these))[1])
    monkeypatch.setattr(alike_iterations, "ENOUGH", 1)
    monkeypatch.setattr(alike_iterations, "SHORTEST", 8)
    return counts


@pytest.mark.parametrize("name", BODIES)
def test_counts_are_those_of_all_iterations(name, left_out, monkeypatch):
    body, alike = BODIES[name]
    program = compile_program(HEAD + body + TAIL, "sm_90")
    args = {"x": "f32[65536]:rand", "y": "f32[1048576]", "w": np.arange(2048, dtype=np.int32) % 4, "n": 2000, "s": 16}
    asked = launch(grid=3, block=64, args=args)
    few = emulate.trace(program, asked, [0, 2])
    monkeypatch.setattr(alike_iterations, "ENOUGH", 1 << 40)
    whole = emulate.trace(program, asked, [0, 2])
    assert not few.stopped
    assert alike is None or bool(left_out) == alike
    for part in ("executed", "threads", "blocks", "warps"):
        assert np.array_equal(getattr(few, part), getattr(whole, part)), part
    for row, stream in whole.streams.items():
        assert np.array_equal(few.streams[row], stream)
    missing = sum(len(whole.accesses[space].warp) - len(few.accesses[space].warp) for space in whole.accesses)
    assert (few.rounds > 1) == bool(left_out)
    assert missing <= few.dropped <= 1.1 * missing  # accesses whose guards leave no lane count as dropped, too
