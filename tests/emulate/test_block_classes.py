"""Blocks of one class execute the same instructions with the same lanes; classes are no finer than that asks for."""

import numpy as np
import pytest

from support.paths import EXAMPLES
from warpbound import emulate
from warpbound.emulate import block_classes as module
from warpbound.emulate import block_path, box_classes, counted_iterations
from warpbound.emulate.block_classes import block_classes
from warpbound.emulate.broadcast_registers import Code
from warpbound.emulate.launch_memory import prepare
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

HEAD = """#include <cuda_fp16.h>
__global__ void k(int n, int m, const float* x, float* y) { int b = blockIdx.x, t = threadIdx.x;"""
BODIES = {  # name -> body, grid, block, n, m, number of classes
    "guard": ("int i = b * blockDim.x + t; if (i < n) y[i] = x[i]; }", 20, 96, 1000, 0, 3),
    "early exit": ("if (b < n) return; y[b * 64 + t] = x[t]; }", 50, 64, 33, 0, 2),
    "rows of a grid": (
        "int row = blockIdx.y * 12 + threadIdx.y; if (row >= n) return; float s = 0;"
        " for (int c = 0; c < m; c++) s += x[c + t]; y[row] = s; }", (5, 6), (8, 4), 26, 7, 3,
    ),
    "triangle": ("float s = 0; for (int j = 0; j <= b; j++) s += x[j]; y[b * 32 + t] = s; }", 24, 32, 0, 0, 24),
    "a triangle with barriers": (
        "__shared__ float s[64]; float a = 0; for (int j = 0; j <= b; j++) {"
        " s[t] = x[j + t]; __syncthreads(); a += s[63 - t]; __syncthreads(); } y[b * 64 + t] = a; }", 24, 64, 0, 0, 24,
    ),
    "halves in one register": (
        "__half2 h = __float2half2_rn((float)b); if (__low2float(h) > 5.f) y[b * 32 + t] = 1; else y[t] = x[t]; }",
        20, 32, 0, 0, 2,
    ),
    "every seventh": ("if (b % 7 == 3) for (int j = 0; j < 9; j++) y[j + t] = x[j]; }", 40, 32, 0, 0, 2),
    "a remainder that is an argument": (
        "if (b % n == 1) for (int j = 0; j < m; j++) y[j + t] = x[j]; }", 40, 32, 9, 5, 2,
    ),
    "the last block": ("int k = b == gridDim.x - 1 ? m : 2; for (int j = 0; j < k; j++) y[j * 32 + t] = x[j]; }",
                       40, 32, 0, 50, 2),
    "roles of warps": ("if (t / 32 == b % 3) y[t] = x[t]; else y[t + 64] = 1; }", 12, 96, 0, 0, 3),
    "a persistent loop": ("for (int i = b; i < n; i += gridDim.x) y[i * 32 + t] = x[i]; }", 10, 32, 34, 0, 2),
    "halves of 64-bit numbers": ("long i = (long)b * n * n; if (i > (1l << 40)) y[b] = x[b]; }", 30, 32, 300000, 0, 2),
    "lengths from memory": (
        "if (b >= n) return; float s = 0; for (int j = 0; j < x[b]; j++) { s += x[j]; if (t < 3) s *= 2; } y[b] = s; }",
        20, 32, 11, 0, 2,
    ),
    "a branch on memory, then on numbers": ("if (x[t] > 0) y[t] = 1; if (b < 5) y[t + 32] = 2; }", 20, 32, 0, 0, 2),
    "a branch on what is written": (
        "y[t] = 2; if (y[b] > 1) y[t + 64] = x[t]; if (b < 5) y[t + 32] = 2; }", 20, 32, 0, 0, 2,
    ),
}  # fmt: skip

BY_DATA = ("halves in one register", "a branch on what is written")


def compiled(name, arch):
    body, grid, block, n, m, _ = BODIES[name]
    program = compile_program(HEAD + body, f"sm_{arch}")
    return program, launch(grid=grid, block=block, args={"n": n, "m": m, "x": "f32[4096]:zeros", "y": "f32[4096]"})


def classes_of(program, asked):
    blocks = np.arange(int(np.prod(asked.grid)))
    return block_classes(program, asked, prepare(program, asked), blocks)


def step_sizes(monkeypatch):
    """How many blocks each step evaluates, filled while classes are looked for."""
    sizes, step = [], block_path.Path._step
    monkeypatch.setattr(block_path.Path, "_step", lambda path, at: sizes.append(len(path.length)) or step(path, at))
    return sizes


@pytest.mark.parametrize("arch", [75, 90, 120])
@pytest.mark.parametrize("name", BODIES)
def test_blocks_of_a_class_do_the_same(name, arch):
    program, asked = compiled(name, arch)
    classes = classes_of(program, asked)
    assert classes.complete == (name not in BY_DATA)
    assert classes.counts.sum() == len(classes.of_block) == int(np.prod(asked.grid))
    assert (classes.of_block[classes.first] == np.arange(len(classes.first))).all()
    if name in BY_DATA:  # what they decide is not evaluated, and is said not to be
        return
    trace = emulate.trace(program, asked, range(len(classes.of_block)))
    assert not trace.stopped
    per_block = len(trace.warps) // len(trace.blocks)
    work = np.concatenate([trace.executed, trace.threads], axis=1).reshape(len(trace.blocks), per_block, -1)
    for number in range(len(classes.counts)):
        rows = work[classes.of_block == number]
        assert (rows == rows[0]).all(), f"class {number}"
    assert len(np.unique(work, axis=0)) <= len(classes.counts)


@pytest.mark.parametrize("name", BODIES)
def test_classes_are_no_finer_than_the_work(name):
    program, asked = compiled(name, 90)
    assert len(classes_of(program, asked).counts) <= BODIES[name][-1] + (name == "a remainder that is an argument")


@pytest.mark.parametrize("name", BODIES)
def test_parts_of_a_grid_share_their_classes(name, monkeypatch):
    program, asked = compiled(name, 90)
    whole = classes_of(program, asked)
    monkeypatch.setattr(module, "LANES_AT_ONCE", 4 * 96)
    parts = classes_of(program, asked)
    assert (whole.of_block == parts.of_block).all()
    assert (whole.counts == parts.counts).all()
    assert (whole.length == parts.length).all()


@pytest.mark.parametrize(("n", "again"), [(1, 0), (5, 1)])
def test_parts_that_decide_at_the_same_places_are_compared_by_their_keys(n, again, monkeypatch):
    """Of four blocks one leaves; where a limit falls into one part, first blocks of all parts are compared again."""
    program = compile_program(HEAD + " if (m ? b < n : b % 4 < n) return; y[b * 96 + t] = 1; }", "sm_90")
    asked = launch(grid=48, block=96, args={"n": n, "m": again, "x": "f32[4096]:zeros", "y": "f32[8192]"})
    monkeypatch.setattr(module, "LANES_AT_ONCE", 4 * 96)
    followed, follow = [], block_path.Path.follow
    monkeypatch.setattr(block_path.Path, "follow", lambda path, share=1.0: followed.append(path) or follow(path, share))
    classes_of(program, asked)
    assert len(followed) == 12 + again


def test_few_threads_of_a_large_grid_tell_its_classes(monkeypatch):
    for name in ("guard", "early exit", "rows of a grid", "triangle", "the last block", "roles of warps"):
        program, asked = compiled(name, 90)
        whole = classes_of(program, asked)
        with monkeypatch.context() as patch:
            patch.setattr(module, "EVERY_LANE", 1)
            assert (classes_of(program, asked).of_block == whole.of_block).all(), name


def test_a_guarded_load_that_decides_nothing_leaves_the_classes_complete(monkeypatch):
    monkeypatch.setattr(module, "EVERY_LANE", 1)
    monkeypatch.setattr(module, "LANES_WITH_DATA", 1)
    body = "int i = b * 96 + t; y[i] = (i < n ? x[i] : 0.f) + (i < m ? x[i + 32] : 1.f); }"
    program = compile_program(HEAD + body, "sm_80")
    asked = launch(grid=20, block=96, args={"n": 1000, "m": 0, "x": "f32[4096]:zeros", "y": "f32[4096]"})
    assert any(one.guard is not None and one.traits.is_global_load for one in program.instructions)
    assert classes_of(program, asked).complete


@pytest.mark.parametrize("name", BODIES)
def test_blocks_that_go_round_a_loop_alone_have_the_same_classes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few blocks in a loop are followed by themselves; here as soon as one block is elsewhere."""
    program, asked = compiled(name, 90)
    monkeypatch.setattr(block_path, "MANY_BLOCKS", 1 << 30)
    together = classes_of(program, asked)
    monkeypatch.setattr(block_path, "MANY_BLOCKS", 2)
    monkeypatch.setattr(block_path, "FEW_OF", 1)
    alone = classes_of(program, asked)
    assert (alone.of_block == together.of_block).all()
    assert (alone.length == together.length).all()
    assert alone.complete == together.complete


def test_a_heavy_block_in_a_thousand_costs_no_steps_of_all_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = step_sizes(monkeypatch)
    body = "if (b % 256 == 3) for (int i = t; i < n; i += 32) if (x[i] > 0.5f) y[i] = x[i + 1]; }"
    program = compile_program(HEAD + body, "sm_90")
    asked = launch(grid=1024, block=32, args={"n": 3000, "m": 0, "x": "f32[4096]:rand", "y": "f32[4096]"})
    classes = classes_of(program, asked)
    assert classes.complete
    assert classes.counts.tolist() == [1020, 4]
    assert sizes.count(4) > 10 * sizes.count(1024) > 0


SCALED = """
for (int r = b * 8 + t / 32; r < n; r += gridDim.x * 8) {
    float s = 0;
    for (int c = t % 32; c < m; c += 32) s += x[r * m + c];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    float scale = rsqrtf(s / m + 1e-5f);
    for (int c = t % 32; c < m; c += 32) y[r * m + c] = x[r * m + c] * scale;
} }"""


@pytest.mark.parametrize("arch", [80, 89, 120])
def test_a_division_and_a_root_of_data_leave_the_classes_complete(arch: int) -> None:
    """The root scales small numbers under a guard, the division calls a function for them. The loop over rows may part
    the lanes before the shuffles (BRA.DIV), and does not."""
    program = compile_program(HEAD + SCALED, f"sm_{arch}")
    asked = launch(grid=20, block=256, args={"n": 160, "m": 64, "x": "f32[10240]:rand", "y": "f32[10240]"})
    classes = classes_of(program, asked)
    assert classes.complete
    assert classes.counts.tolist() == [20]
    trace = emulate.trace(program, asked, range(20))
    assert (trace.executed.reshape(20, 8, -1) == trace.executed[0]).all()


HITS = """
unsigned s = b * 747796405u + t, hits = 0;
for (int i = 0; i < n; i++) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; hits += s * 2.3e-10f < 0.5f; }
y[b * blockDim.x + t] = hits; }"""


def test_no_loop_is_evaluated_for_guards_of_arithmetic_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator of random numbers in each thread counts hits: which lanes add decides nothing."""
    program = compile_program(HEAD + HITS, "sm_89")
    assert any(x.guard is not None and x.traits.is_arithmetic for x in program.instructions)
    monkeypatch.setattr(block_path, "MOST_STEPS", 100)
    asked = launch(grid=1024, block=256, args={"n": 4000, "m": 0, "x": "f32[1]", "y": f"f32[{1024 * 256}]"})
    classes = classes_of(program, asked)
    assert classes.complete
    assert classes.counts.tolist() == [1024]


@pytest.mark.parametrize("name", [name for name in BODIES if name not in BY_DATA])
def test_lengths_are_the_instructions_that_blocks_issue(name):
    program, asked = compiled(name, 90)
    classes = classes_of(program, asked)
    trace = emulate.trace(program, asked, classes.first.tolist())
    issued = [trace.executed[trace.warps[:, 0] == block].sum() for block in classes.first]
    assert classes.length.tolist() == issued


def test_a_path_beyond_the_steps_is_not_complete(monkeypatch):
    program, asked = compiled("triangle", 90)
    monkeypatch.setattr(block_path, "MOST_STEPS", 20)
    assert not classes_of(program, asked).complete


# --- lengths and indices in arrays ---

ROWS = """__global__ void k(int n, const int* row, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x % 32;"""
BY_LENGTH = {  # name -> body, the array
    "rows of lanes": (
        "if (i < n) { float s = 0; for (int j = row[i]; j < row[i + 1]; j++) s += x[j]; y[i] = s; } }",
        np.cumsum(np.arange(1301) * 7 % 90),
    ),
    "rows of warps": (
        "float s = 0; for (int j = row[i / 32] + l; j < row[i / 32 + 1]; j += 32) s += x[j]; y[i] = s; }",
        np.cumsum(np.arange(60) ** 2),
    ),
    "a giant row": (
        "if (i < n) { float s = 0; for (int j = row[i]; j < row[i + 1]; j++) s += x[j]; y[i] = s; } }",
        np.cumsum(np.where(np.arange(1301) == 700, 5000, 3)),
    ),
    "lengths in bytes": (
        "int m = ((const unsigned char*)row)[8 * blockIdx.x]; for (int j = 0; j < m; j++) y[i] += x[j]; }",
        np.arange(100) ** 2,
    ),
    "two bytes with a sign": (
        "int m = ((const short*)row)[4 * blockIdx.x]; for (int j = m; j < 40; j += 3) y[i] += x[j + 40000]; }",
        40 - np.arange(100) ** 2,
    ),
    "an index": ("int m = row[row[blockIdx.x] % 50]; for (int j = 0; j < m; j++) y[i] += x[j]; }", 3 * np.arange(100)),
    "pairs": (
        "int2 m = ((const int2*)row)[blockIdx.x]; for (int j = m.x; j < m.y; j++) y[i] += x[j]; }",
        np.cumsum(np.arange(100) % 13),
    ),
}


def by_length(name, row="row"):
    body, numbers = BY_LENGTH[name]
    program = compile_program(ROWS + body, "sm_89")
    words = {"n": 1300, "row": numbers.astype(np.int32), "x": "f32[100000]:zeros", "y": "f32[1344]:zeros"}
    return program, launch(grid=21, block=64, args=words | ({} if row == "row" else {"row": row}))


@pytest.mark.parametrize("name", BY_LENGTH)
def test_what_given_arrays_decide_makes_classes(name):
    program, asked = by_length(name)
    classes = classes_of(program, asked)
    assert classes.complete
    assert len(classes.counts) > 1
    trace = emulate.trace(program, asked, range(21))
    assert not trace.stopped
    issued = trace.executed.reshape(21, 2, -1).sum(axis=(1, 2))
    meetings = trace.executed[:, [i for i, one in enumerate(program.instructions) if one.traits.reconverges]]
    length = classes.length[classes.of_block]  # which counts an instruction at which parts of a warp meet once
    assert (length <= 1.001 * issued).all()
    assert (length >= 0.999 * issued - meetings.reshape(21, -1).sum(axis=1)).all()
    work = trace.threads.reshape(21, 2, -1)
    for number in range(len(classes.counts)):
        assert len(np.unique(work[classes.of_block == number], axis=0)) == 1


def test_unknown_contents_make_no_classes():
    program, asked = by_length("rows of warps", row="i32[60]")
    classes = classes_of(program, asked)
    assert not classes.complete
    assert len(classes.counts) == 1


def test_rows_are_counted_and_not_followed_to_their_ends(monkeypatch):
    monkeypatch.setattr(block_path, "MOST_STEPS", 1000)
    program, asked = by_length("a giant row")
    classes = classes_of(program, asked)
    assert classes.complete
    assert classes.length.max() > 10_000


@pytest.mark.parametrize(("blocks_of_a_part", "complete"), [(6, True), (1, False)])
def test_many_parts_of_a_grid_share_the_steps_of_four(blocks_of_a_part, complete, monkeypatch):
    """21 blocks: four parts of six have all of their steps, 21 parts have a fifth of these."""
    program, asked = by_length("rows of lanes")
    monkeypatch.setattr(block_path, "MOST_STEPS", 300)
    monkeypatch.setattr(module, "LANES_AT_ONCE", blocks_of_a_part * 64)
    assert classes_of(program, asked).complete == complete


@pytest.mark.parametrize("rows", [4_000_000, 9_000_000])
def test_every_row_of_some_millions_makes_the_classes(rows):
    """Of more rows, four lanes of a warp are looked at, and the longest may not be among them."""
    program, _ = by_length("rows of lanes")
    lengths = np.full(rows + 1, 0, np.int32)
    lengths[rows - 1_000_002 :] = 40_000
    args = {"n": rows, "row": lengths, "x": "f32[100000]:zeros", "y": f"f32[{rows}]"}
    classes = classes_of(program, launch(grid=-(-rows // 1024), block=1024, args=args))
    assert classes.complete == (rows < 1 << 23)
    assert len(classes.counts) == 2 + classes.complete


LOOPS = [
    "for (int j = b; j < n; j += 3)", "for (int j = n; j > b; j--)", "for (unsigned j = b; j <= 90u; j += 4)",
    "for (int j = b - 40; j != 60; j++)", "for (int j = 100 - b; j >= 0; j -= 7)",
    "for (unsigned j = 0xffffffe0u; j > 100u; j += 1)", "for (int j = 1; j < 10 * b; j += j)",
    "for (int j = 0, k = 1; j < 20 * b; j += k, k += 2)", "for (int j = 0; j * 3 < 2 * n + b; j++)",
]  # fmt: skip


@pytest.mark.parametrize("few_of", [0, 1 << 30])  # whether the lanes that continue are looked at alone
@pytest.mark.parametrize("loop", LOOPS)
def test_counted_rounds_are_those_that_are_executed(loop, few_of, monkeypatch):
    monkeypatch.setattr(counted_iterations, "FEW_OF", few_of)
    monkeypatch.setattr(Code, "blocks_alike", False)  # one of the loops is the same in all blocks
    text = "__global__ void k(int n, const float* x, float* y) { int b = blockIdx.x; float s = 0;\n#pragma unroll 1\n"
    program = compile_program(text + loop + " s += x[j & 63]; y[b] = s; }", "sm_89")
    asked = launch(grid=40, block=32, args={"n": 97, "x": "f32[64]:zeros", "y": "f32[64]"})
    classes = classes_of(program, asked)
    trace = emulate.trace(program, asked, range(40))
    assert not trace.stopped
    assert classes.complete
    assert classes.length[classes.of_block].tolist() == trace.executed.sum(axis=1).tolist()
    assert classes.lanes.tolist() == (32 * classes.length).tolist()


@pytest.mark.parametrize("end", ["(t * 7 + b * 5) % 13", "t & b", "(b > 20 ? t : 96 - t)"])
def test_lanes_that_take_part_are_counted(end):
    text = "__global__ void k(const float* x, float* y) { int b = blockIdx.x, t = threadIdx.x; float s = 0;\n"
    loop = f"#pragma unroll 1\nfor (int j = 0; j < {end}; j++) s += x[j];"
    program = compile_program(text + loop + " y[b * 96 + t] = s; }", "sm_89")
    asked = launch(grid=40, block=96, args={"x": "f32[96]:zeros", "y": "f32[3840]"})
    classes = classes_of(program, asked)
    threads = emulate.trace(program, asked, range(40)).threads.sum(axis=1).reshape(40, 3).sum(axis=1)
    assert classes.complete
    assert classes.lanes[classes.of_block] == pytest.approx(threads, rel=0.03)  # predicated lanes are not told apart
    assert np.ptp(threads / classes.length[classes.of_block]) > 0.1


def test_floats_outside_loops_are_reckoned():
    text = "__global__ void k(float a, const float* x, float* y) { int b = blockIdx.x; float v = x[b], s = 0;\n"
    work = "\n#pragma unroll 1\nfor (int j = 0; j < 9; j++) s += x[j + b]; y[b] = s + v; }"
    values = np.random.default_rng(1).random(60, np.float32)
    asked = launch(grid=40, block=32, args={"a": 0.3, "x": values, "y": "f32[64]"})
    once = compile_program(text + "if (__sinf(v * 3.f + a) - fminf(v, 0.5f) > 0.2f) " + work, "sm_89")
    classes = classes_of(once, asked)
    issued = emulate.trace(once, asked, range(40)).executed.sum(axis=1)
    assert classes.complete
    assert classes.length[classes.of_block].tolist() == issued.tolist()
    assert len(set(issued.tolist())) == 2
    again = compile_program(text + "while (v < 100.f) v = v * v + a; " + work, "sm_89")
    assert not classes_of(again, asked).complete


ALIKE = {  # how often a loop goes round, or what a guard asks -> whether blocks may differ in it
    "for (int j = t; j < n; j += 96) s += x[j & 63];": True,
    "if (t % 7 < n - 90) s += x[t & 63];": True,
    "for (int j = 0; j < gridDim.x + t; j++) s += x[j & 63];": True,
    "for (int j = t; j < n; j += blockIdx.x + 1) s += x[j & 63];": False,
    "for (int j = t; j < x[t & 63]; j++) s += j * x[j & 63];": False,
    "if (__any_sync(~0u, t > n)) s += x[blockIdx.x & 63];": False,
    "while (clock() & 1) s += x[t & 63];": False,
}


def test_waits_at_mbarriers_leave_blocks_alike() -> None:
    """All blocks of a pipeline pass its waits, and one lane of each of their warps issues the copies."""
    program = compile_program(EXAMPLES / "hopper" / "wgmma_product.cu", "sm_90a", defines={"STAGES": "4"})
    args = {"a": "f16[4096,64]:rand", "b": "f16[4096,64]:rand", "c": "f32[4096,4096]", "n": 4096, "k": 64}
    asked = launch(grid=(32, 32), block=384, smem=131072, args=args)
    assert Code(program, prepare(program, asked)).blocks_alike
    classes = classes_of(program, asked)
    assert classes.complete
    assert classes.counts.tolist() == [32 * 32]


@pytest.mark.parametrize("body", ALIKE)
def test_blocks_are_alike_where_nothing_that_decides_reads_their_number_or_data(body, monkeypatch):
    text = "__global__ void k(int n, const float* x, float* y) { int t = threadIdx.x; float s = 0;\n#pragma unroll 1\n"
    program = compile_program(text + body + " y[blockIdx.x * 96 + t] = s; }", "sm_89")
    asked = launch(grid=40, block=96, args={"n": 97, "x": "f32[64]", "y": "f32[3840]"})
    assert Code(program, prepare(program, asked)).blocks_alike == ALIKE[body]
    quick = classes_of(program, asked)
    monkeypatch.setattr(Code, "blocks_alike", False)
    evaluated = classes_of(program, asked)
    assert quick.complete == evaluated.complete
    for name in ("of_block", "counts", "first"):
        assert (getattr(quick, name) == getattr(evaluated, name)).all()


BOXES = {  # name -> body with 2-D block numbers b and c, and d of both; grid, block, n, m; x holds zeros, z one 9
    "an interval": ("if (d > 300 && d < 305) y[t] = x[d]; }", (40, 20), 32, 0, 0),
    "either of two": ("if (d < 9 || d == n) y[t] = x[d]; }", (40, 20), 32, 411, 0),
    "a product of both": ("if (b * c < n) y[t] = x[d]; }", (40, 30), 32, 200, 0),
    "a square": ("if (d * d > n && d != m) y[t] = x[d]; }", (900, 1), 32, 200000, 700),
    "a word that wraps around": ("if (d * 0x6000000u < 0x70000000u) y[t] = x[d]; }", (50, 20), 32, 0, 0),
    "a sign that turns": ("if (d * 0x300000 - n < 0x7000) y[t] = x[d]; }", (1200, 1), 32, 12345, 0),
    "a long number": ("if (d * 10000000ll + t < 4400000000ll) y[t] = x[d]; }", (900, 1), 64, 0, 0),
    "a long sum": ("long long i = (long long)n * d; if (i + (long long)m * c >= 9000000000ll) y[t] = x[d]; }",
                   (40, 30), 32, 9000000, 8000000),
    "a diagonal": ("if (b > 2 * c + n) y[t] = x[d]; }", (40, 20), 32, 3, 0),
    "a slope of each thread": ("if (t * d < n) y[t] = x[d]; }", (1100, 1), 64, 5000, 0),
    "bits": ("if ((d & 64) || d >> 7 == 3) y[t] = x[d]; }", (40, 20), 32, 0, 0),
    "bits that the corners lack": ("if (d & 64) y[t] = x[d]; }", (1025, 1), 32, 0, 0),
    "a product that the corners lack": ("if (d * (d - 1) * (d - 1024) < n) y[t] = x[d]; }", (1025, 1), 32, -9, 0),
    "a carry that the corners lack": (
        "unsigned long long s = (unsigned)(d * 0xC00000) + (((unsigned long long)n << 32) | 0x80000000u);"
        " if ((s >> 32) > m) y[t] = x[d]; }", (1025, 1), 32, 3, 3,
    ),
    "one end of a line": ("int e = d == 0 ? n : m; if (e == 4) y[t] = x[d]; }", (1025, 1), 32, 4, 5),
    "words of zeros": ("if (x[(long long)d * n + t] == 0) y[t] = 1; if (b > 7) y[t] = 2; }", (40, 20), 32, 4, 0),
    "zeros of a cycle": ("if (x[d & 15] == 0) y[t] = 1; if (b > 7) y[t] = 2; }", (40, 20), 32, 0, 0),
    "one word that differs": ("if (z[d + t] > n) y[t] = 1; }", (1025, 1), 32, 5, 0),
    "a remainder": ("if (d % 97 == 11) y[t] = x[d]; }", (40, 20), 32, 0, 0),
    "the lesser of two": (
        "int e = min(n, d + 60); float s = 0; for (int j = d; j < e; j++) s += x[j]; y[t] = s; }", (40, 20), 32, 700, 0,
    ),
    "a long triangle": (
        "float s = 0; for (int j = c * 5; j < n; j += 3) s += x[j + t]; y[t] = s; }", (30, 40), 32, 190, 0,
    ),
    "steps of each row": (
        "float s = 0; for (int j = 0; j < n; j += c + 1) s += x[j + t]; y[t] = s; }", (30, 40), 32, 90, 0,
    ),
    "rounds of each row": (
        '_Pragma("unroll 1") for (int j = 0; j < n; j += c + 1) y[j] += x[t]; }', (30, 40), 32, 90, 0,
    ),
    "until they meet": (
        "float s = 0; for (int j = b; j != n - b; j++) s += x[j + t]; y[t] = s; }", (40, 20), 32, 100, 0,
    ),
    "a chosen value": ("int e = b < 11 ? n : c; if (e * 2 > m) y[t] = x[d]; }", (40, 20), 32, 9, 17),
    "a start that turns around": (
        "unsigned e = d + 0xFFFFFF00u; float s = 0; for (unsigned j = e; j < e + 9; j += 4) s += x[t]; y[t] = s; }",
        (40, 20), 32, 0, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("arch", [80, 90, 120])
@pytest.mark.parametrize("name", [*BODIES, *BOXES])
def test_corners_of_boxes_tell_what_all_blocks_do(name: str, arch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes are divided until the last block is decided, and give the classes that every block by itself gives."""
    if name in BODIES:
        program, asked = compiled(name, arch)
    else:
        body, grid, block, n, m = BOXES[name]
        head = HEAD.replace("float* y", "float* y, const int* z")
        program = compile_program(f"{head} int c = blockIdx.y, d = c * gridDim.x + b; {body}", f"sm_{arch}")
        z = np.where(np.arange(4096) == 600, 9, 0).astype(np.int32)
        args = {"n": n, "m": m, "x": "f32[4096]:zeros", "y": "f32[4096]", "z": z}
        asked = launch(grid=grid, block=block, args=args)
    each = classes_of(program, asked)
    taken = []
    monkeypatch.setattr(module, "_of_boxes", lambda *all_, own=module._of_boxes: taken.append(1) or own(*all_))
    monkeypatch.setattr(module, "FEWEST_BLOCKS", 2)
    monkeypatch.setattr(box_classes, "LOOKED_AT", 1e-3)
    monkeypatch.setattr(box_classes, "LANES_AT_ONCE", 1 << 40)
    monkeypatch.setattr(box_classes, "LANES_OF_STEP", 1 << 40)
    monkeypatch.setattr(box_classes, "DECIDED", 0)
    boxes = classes_of(program, asked)
    assert name in BODIES or taken
    for what in ("of_block", "counts", "first", "length", "lanes"):
        assert (getattr(boxes, what) == getattr(each, what)).all(), what
    assert boxes.complete == each.complete


def test_a_few_blocks_give_the_classes_of_a_large_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = step_sizes(monkeypatch)
    body = "int row = blockIdx.y * 8 + threadIdx.y, i = b * blockDim.x + t; if (i < n && row < m) y[t] = x[i]; }"
    program = compile_program(HEAD + body, "sm_90")
    args = {"n": 63000, "m": 7777, "x": "f32[65536]:zeros", "y": "f32[64]"}
    asked = launch(grid=(2000, 1000), block=(32, 8), args=args)
    classes = classes_of(program, asked)
    assert max(sizes) < 4000
    assert len(classes.counts) == 5  # whole, border in x, in y, in both, idle
    assert classes.counts.sum() == 2_000_000


def test_corners_of_boxes_are_given_up_where_they_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long loops in blocks of many threads: the checks of 16 boxes would take longer than all blocks do."""
    body = '_Pragma("unroll 1") for (int i = 0, j = b; i < n; i++) if ((j = j * 5 + t) < m) y[i] += x[t]; }'
    program = compile_program(HEAD + body, "sm_90")
    args = {"n": 160, "m": -(1 << 31), "x": "f32[256]:zeros", "y": "f32[160]"}
    asked = launch(grid=(2048, 1), block=256, args=args)
    evaluated = []

    class Counted(box_classes.CornerPath):
        def _evaluate(self, *others):
            evaluated.append(self.boxes * self.points)
            super()._evaluate(*others)

    monkeypatch.setattr(box_classes, "CornerPath", Counted)
    classes = classes_of(program, asked)
    assert classes.counts.tolist() == [2048]
    assert 256 * sum(evaluated) < 5_000_000  # lanes; without a limit they are 8.4 million
