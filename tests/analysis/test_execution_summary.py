"""What execution shows beside counts: divergence, parallelism, code footprint, models' symbols; against hand counts."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpbound
import warpbound.analysis
from support.paths import EXAMPLES
from support.sass_listing import PLAIN, code
from warpbound.analysis.execution_summary import (
    Observed,
    code_footprint,
    code_notes,
    hot_loop,
    issued_together,
    loads_in_flight,
)
from warpbound.emulate import trace
from warpbound.isa.instruction_caches import code_path, instruction_caches
from warpbound.program.control_flow import Block, Flow, Loop
from warpbound.schedule import Wait

pytestmark = pytest.mark.usefixtures("disassembled_together")


def answered(source, launch, gpu="a100-sxm-80gb", **defines):
    program = warpbound.compile(source, warpbound.gpu(gpu), defines=defines)
    return warpbound.analyze(program, gpu, launch)


def square(n, tile, **more):
    zeros = [np.zeros((n, n), np.float32) for _ in range(3)]
    args = {"A": zeros[0], "B": zeros[1], "C": zeros[2], "n": np.int32(n)}
    return warpbound.launch(grid=(n // tile, n // tile), block=(tile, tile), args=args, **more)


@pytest.mark.cuda
@pytest.mark.parametrize("gpu", ["a100-sxm-80gb", "h200", "t4"])
def test_every_count_of_a_tiled_product_from_a_sample(gpu):
    n, tile = 512, 32
    found = answered(EXAMPLES / "matmul_tiled.cu", square(n, tile), gpu)
    warps, steps = (n // tile) ** 2 * tile, n // tile
    assert found["sample"]["blocks"] < found["sample"]["of_blocks"]
    assert found["sample"]["sampling_error"] == 0
    memory = found["memory"]
    assert memory["global_load_requests"] == warps * steps * 2
    assert memory["global_store_requests"] == warps
    assert memory["l1_sectors_load"] == warps * steps * 2 * 4
    assert memory["l1_sectors_store"] == memory["l2_sectors_written"] == warps * 4
    assert memory["sectors_per_request"] == memory["sectors_per_load"] == memory["sectors_per_store"] == 4
    assert memory["shared_wavefronts_store"] == warps * steps * 2
    assert memory["shared_conflict_wavefronts"] == memory["global_atomic_requests"] == memory["local_sectors"] == 0
    assert memory["l2_sectors_read"] == pytest.approx(memory["l1_sectors_load"] * (1 - memory["l1_hit_rate"]), rel=1e-6)
    # B by words, one wavefront a row; A by words or by 16 bytes that all lanes share, 2 wavefronts for 4 values
    assert memory["shared_wavefronts_load"] in (warps * steps * tile * k for k in (1.5, 2))
    assert memory["touched_bytes"] == pytest.approx(3 * 4 * n * n, rel=0.01)
    assert found["flop"] == {"fp16": 0, "bf16": 0, "fp32": 2 * n**3, "fp64": 0, "tensor": 0}
    assert found["instructions"]["by_pipe"]["fma"] >= n**3 / 32
    (loop,) = found["loops"]
    assert (loop["trip_count"], loop["entries_per_warp"]) == (steps, 1)
    assert loop["cycles_per_warp"] == pytest.approx(steps * loop["latency_cycles"])
    own = found["execution"]
    assert own["hong_kim"]["synch_insts"] == pytest.approx(2 * steps)
    assert own["hong_kim"]["coal_mem_insts"] == pytest.approx(2 * steps + 1)
    assert own["x_model"]["Z"] == pytest.approx(found["instructions"]["warp_instructions"] / warps / (2 * steps + 1))
    assert own["x_model"]["alpha"] == 1  # one warp never reads a line of global memory twice
    assert own["x_model"]["n"] == found["occupancy"]["warps_per_sm"]
    assert own["loads_per_wait"] == 2
    assert 1.8 < own["mlp"] <= 2  # the second is issued a few cycles behind the first
    assert own["code"]["hot"] == "loop"
    assert own["code"]["hot_bytes"] == 16 * loop["warp_instructions"]


@pytest.mark.cuda
def test_one_warp_issues_at_most_once_a_cycle():
    rng = np.random.default_rng(2)  # a few long warps: the mean warp runs longer than the typical one
    length = np.repeat(np.where(rng.random(200) < 0.1, 4000, 10), 64).astype(np.int32)
    source, args = GATHERED, {"length": length, "x": np.ones(64, np.float32), "y": np.zeros(12_800, np.float32)}
    launch = warpbound.launch(grid=200, block=64, args={**args, "n": np.int32(64)})
    found = answered(source, launch, "h200")
    assert 0 < found["execution"]["ilp"] == found["execution"]["x_model"]["E"] <= 1


@pytest.mark.cuda
@pytest.mark.parametrize("n", [512, 1024])
def test_cold_caches_bring_what_is_compulsory(n):
    program = warpbound.compile(EXAMPLES / "matmul_tiled.cu", warpbound.gpu("a100-sxm-80gb"))
    cold = warpbound.analysis.Settings(cache="cold")
    memory = warpbound.analysis.analyze(program, "a100-sxm-80gb", square(n, 32), cold)["memory"]
    assert memory["dram_bytes_read"] == pytest.approx(2 * 4 * n * n, rel=0.05)
    assert memory["dram_bytes_written"] == pytest.approx(4 * n * n, rel=0.05)
    warm = warpbound.analysis.analyze(program, "a100-sxm-80gb", square(n, 32))["memory"]
    assert warm["dram_bytes_read"] + warm["dram_bytes_written"] < 0.02 * 12 * n * n


def transposed(n):
    matrix = np.zeros((n, n), np.float32)
    args = {"in": matrix, "out": matrix.copy(), "width": np.int32(n), "height": np.int32(n)}
    return warpbound.launch(grid=(n // 32, n // 32), block=(32, 8), args=args)


@pytest.mark.cuda
def test_loads_and_stores_apart():
    memory = answered(EXAMPLES / "transpose_naive.cu", transposed(256))["memory"]
    assert (memory["sectors_per_load"], memory["sectors_per_store"]) == (4, 32)
    assert memory["sectors_per_request"] == 18


@pytest.mark.cuda
def test_bank_conflicts_delay_one_warp_alone():
    with_, without = (answered(EXAMPLES / "transpose_tiled.cu", transposed(256), PAD=pad) for pad in ("0", "1"))
    assert without["memory"]["shared_conflict_wavefronts"] == 0
    assert with_["memory"]["shared_conflict_wavefronts"] == 31 * with_["memory"]["global_load_requests"]
    later = with_["latency"]["parts"]["shared"] - without["latency"]["parts"]["shared"]
    assert 4 * 31 - 8 <= later <= 4 * 32  # four loads, one behind the other
    assert with_["latency"]["cycles"] - without["latency"]["cycles"] == pytest.approx(4 * 31, abs=16)
    program = warpbound.compile(EXAMPLES / "transpose_tiled.cu", warpbound.gpu("h200"), defines={"PAD": "0"})
    straight = warpbound.compile(EXAMPLES / "transpose_tiled.cu", warpbound.gpu("h200"), defines={"PAD": "1"})
    static = [warpbound.analyze(one, "h200")["latency"]["parts"]["shared"] for one in (program, straight)]
    assert 3 * 31 <= static[0] - static[1] <= 4 * 32  # some of it behind other waits


SKIPPED = """
extern "C" __global__ void skipped(float *y, int n, int m) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += y[i * 32];
    #pragma unroll 1
    for (int j = 0; j < m; ++j) sum = sum * sum + 1.0f;
    y[threadIdx.x] = sum;
}
"""


@pytest.mark.cuda
def test_a_loop_that_no_warp_enters_has_no_trips():
    y = np.zeros(1024, np.float32)
    launch = warpbound.launch(grid=4, block=64, args={"y": y, "n": np.int32(0), "m": np.int32(7)})
    loops = answered(SKIPPED, launch)["loops"]
    never, seven = loops[:-1], loops[-1]
    assert never
    assert all((one["trip_count"], one["entries_per_warp"], one["cycles_per_warp"]) == (0, 0, 0) for one in never)
    assert (seven["trip_count"], seven["entries_per_warp"]) == (7, 1)


DIVERGENT = """
extern "C" __global__ void divergent(float *y, int n) {
    float x = threadIdx.x;
    if (threadIdx.x % 32 < 8)
        #pragma unroll 1
        for (int i = 0; i < n; ++i) x = x * x + 1.0f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""


@pytest.mark.cuda
def test_lanes_of_divergent_code():
    launch = warpbound.launch(grid=4, block=64, args={"y": np.zeros(256, np.float32), "n": np.int32(1000)})
    own = answered(DIVERGENT, launch)["execution"]
    assert 7 < own["lanes_per_instruction"] < 8.5  # a quarter of the lanes, and the way in and out


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 40)), min_size=1, max_size=12))
def test_loads_in_flight_cycle_by_cycle(loads):
    issue = np.cumsum([gap for gap, _ in loads]).tolist()
    timed = SimpleNamespace(stream=range(len(loads)), issue=[float(t) for t in issue])
    waits = [Wait(write=float(cycles), loads=True) for _, cycles in loads]
    under_way = np.zeros(1000)
    for begin, (_, cycles) in zip(issue, loads, strict=True):
        under_way[begin : begin + cycles] += 1
    assert loads_in_flight(timed, waits) == pytest.approx(under_way[under_way > 0].mean())


GATHERED = """
extern "C" __global__ void gathered(const int *length, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < length[i]; ++k) sum += x[(i * 37 + k * 911) % n];
    y[i] = sum;
}
"""
RARE = """
extern "C" __global__ void rare(const int *flag, float *y) {
    float x = threadIdx.x;
    if (flag[blockIdx.x])
        #pragma unroll 1
        for (int k = 0; k < 200; ++k) x = x * x + 1.0f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""


def irregular(name, seed, blocks, threads=128):
    rng = np.random.default_rng(seed)
    y = np.zeros(blocks * threads, np.float32)
    if name == "rare":
        return RARE, {"flag": (rng.random(blocks) < 0.15).astype(np.int32), "y": y}
    length = rng.geometric(0.15, blocks * threads).astype(np.int32)
    return GATHERED, {"length": length, "x": np.ones(1 << 14, np.float32), "y": y, "n": np.int32(1 << 14)}


@pytest.mark.cuda
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["gathered", "rare"])
def test_stated_sampling_error_against_all_blocks(name, seed):
    source, args = irregular(name, seed, 800)
    launch = warpbound.launch(grid=800, block=128, args=args)
    program = warpbound.compile(source, warpbound.gpu("a100-sxm-80gb"))
    found = warpbound.analyze(program, "a100-sxm-80gb", launch)
    every = trace(program, launch, range(800))
    error = found["sample"]["sampling_error"]
    assert 0 < error < 0.25 if name == "gathered" else error == 0  # two classes: both are known
    assert found["sample"]["blocks"] < 400
    assert found["instructions"]["warp_instructions"] == pytest.approx(int(every.executed.sum()), rel=3 * error + 1e-9)
    loads = [one.opcode == "LDG" for one in program.instructions]
    requests = int((every.executed @ loads).sum())
    assert found["memory"]["global_load_requests"] == pytest.approx(requests, rel=3 * error + 1e-9)
    told = [note for note in found["confidence"]["assumed"] if "depend on the contents of" in note]
    assert any(f"'{'flag' if name == 'rare' else 'length'}'" in note for note in told)
    assert any("standard error" in note for note in found["confidence"]["assumed"]) == (error > 0)


# Read rate of all SMs from a data set, A100 80 GB: te42kyfo/gpu-benches @1c36d50, gpu-l2-cache/a100_80.txt [kB: GB/s];
# blocks of 1024 threads read 512 kB each, in turn.
L2_RATES = {10240: 5264.0, 25600: 5376.2, 36864: 3004.0, 44032: 2188.0, 52736: 1945.5, 63488: 1894.6, 100352: 1866.9}
IN_TURN = """
extern "C" __global__ void in_turn(double *A, const double *B, int pieces) {
    double sum = 0.0;
    for (int i = 0; i < 64; ++i) sum += B[(pieces * i + blockIdx.x % pieces) * 1024 + threadIdx.x];
    if (sum == 23.12) A[threadIdx.x] = sum;
}
"""


@pytest.mark.cuda
@pytest.mark.parametrize("size_kB", [
    10240, 36864, 100352, *(pytest.param(size, marks=pytest.mark.full) for size in (25600, 44032, 52736, 63488)),
])  # fmt: skip
def test_reads_around_the_edge_of_an_a100_l2(size_kB):
    pieces, blocks = size_kB // 512, 20_000
    args = {"A": np.zeros(1024), "B": np.zeros(pieces * 65_536), "pieces": np.int32(pieces)}
    found = answered(IN_TURN, warpbound.launch(grid=blocks, block=1024, args=args))
    assert found["memory"]["l1_hit_rate"] == 0
    rate = blocks * 512 * 1024 / found["time_s"] / 1e9
    assert rate == pytest.approx(L2_RATES[size_kB], rel=0.1 if size_kB not in (36864, 44032) else 0.25)


def test_no_loads_are_none():
    assert loads_in_flight(SimpleNamespace(stream=[0], issue=[0.0]), [Wait()]) is None
    assert loads_in_flight(SimpleNamespace(stream=[], issue=[]), []) is None


def looped(size):
    """A kernel of three blocks: 4 instructions, a loop of that many, 2 behind it."""
    blocks = (Block(0, 4, (1,)), Block(4, 4 + size, (1, 2)), Block(4 + size, 6 + size, ()))
    flow = Flow(blocks, frozenset({0, 1, 2}), (None, 0, 1), (Loop(1, frozenset({1}), 1, None),))
    return SimpleNamespace(flow=flow, instructions=[None] * (6 + size))


def test_hot_code_against_the_instruction_caches():
    for size, held in ((100, "L0"), (2048, "L0"), (2049, "L1"), (8193, None)):
        program, executed = looped(size), np.ones(size + 6)
        executed[4:-2] = 50
        assert hot_loop(program, executed).tolist() == list(range(4, 4 + size))
        found = code_footprint(program, executed, 80)
        assert (found.hot_bytes, found.held_by) == (16 * size, held)
        notes = code_notes(program, Observed(None, executed, None, 1.0, None, 0.0), 80, 0.25)
        behind = {"L0": None, "L1": "the cache of the SM", None: "L2"}[held]
        assert [note.partition(": ")[2] for note in notes] == (
            [] if behind is None else [f"a sub-core fetches code from {behind} for 25 % of the time"]
        )
    flat = np.ones(10)
    flat[:4] = 9
    assert hot_loop(looped(4), flat) is None
    assert code_footprint(looped(4), flat, 80).hot_bytes == 160


def test_code_comes_in_lines_of_which_few_are_under_way():
    path = code_path()
    assert path.line_B * path.lines_ahead / path.sm_cycles == pytest.approx(13.1, abs=0.05)  # B per cycle and sub-core
    assert path.start_cycles == 8


def test_instruction_caches_of_architectures():
    assert [one.bytes >> 10 for one in instruction_caches(75)] == [16, 46]
    assert [one.how for one in instruction_caches(86)] == ["measured", "measured"]
    assert {one.how for one in instruction_caches(89)} == {"assumed"}
    assert instruction_caches(61) == ()


PERSISTENT = """
__device__ unsigned int next_tile;
__global__ void persistent(const float *x, float *y, int tiles) {
    __shared__ int tile;
    while (true) {
        if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1u);
        __syncthreads();
        int mine = tile;
        __syncthreads();
        if (mine >= tiles) return;
        y[mine * blockDim.x + threadIdx.x] = 2.0f * x[mine * blockDim.x + threadIdx.x];
    }
}
"""


@pytest.mark.cuda
def test_blocks_that_draw_work_from_a_counter_share_it():
    tiles, blocks = 1000, 264
    zeros = [np.zeros(tiles * 128, np.float32) for _ in range(2)]
    launch = warpbound.launch(grid=blocks, block=128, args={"x": zeros[0], "y": zeros[1], "tiles": np.int32(tiles)})
    program = warpbound.compile(PERSISTENT, "h200")
    found = warpbound.analyze(program, "h200", launch)
    assert found["sample"]["blocks"] == blocks
    assert found["memory"]["global_load_requests"] == found["memory"]["global_store_requests"] == tiles * 4
    seen = trace(program, launch, list(range(blocks)))
    drawn = seen.executed[:, [one.opcode == "STG" for one in program.instructions]].sum(axis=1)
    assert drawn.max() - drawn.min() <= 1  # 1000 tiles for 264 blocks: 3 or 4 each
    assert drawn.sum() == tiles * 4


@pytest.mark.cuda
def test_a_large_grid_that_draws_work_says_what_that_does_to_a_sample():
    zeros = [np.zeros(17000 * 128, np.float32) for _ in range(2)]
    launch = warpbound.launch(grid=17000, block=128, args={"x": zeros[0], "y": zeros[1], "tiles": np.int32(17000)})
    found = warpbound.analyze(warpbound.compile(PERSISTENT, "h200"), "h200", launch)
    assert found["sample"]["blocks"] < found["sample"]["of_blocks"]
    assert any("taken work that others do" in said for said in found["confidence"]["assumed"])


GATHER = """
__global__ void gather(const float *from, const int *place, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[place[i]];
}
"""


@pytest.mark.cuda
@pytest.mark.parametrize("n", [1 << 20, 1 << 21])
def test_gathered_data_that_fit_l2_come_from_dram_once(n):
    """The sampled blocks touch one sector of a line; the launch touches them all, and they lie in as few lines."""
    place = np.random.default_rng(1).permutation(n).astype(np.int32)
    args = {"from": np.zeros(n, np.float32), "place": place, "to": np.zeros(n, np.float32), "n": np.int32(n)}
    launch = warpbound.launch(grid=n // 256, block=256, args=args)
    settings = warpbound.Settings(cache="cold")
    program = warpbound.compile(GATHER, "h200")
    memory = warpbound.analysis.analyze(program, "h200", launch, settings)["memory"]
    assert memory["dram_bytes_read"] == pytest.approx(8 * n, rel=0.05)
    assert memory["dram_bytes_written"] == pytest.approx(4 * n, rel=0.05)


def test_the_papers_e_pairs_independent_neighbours_and_weighs_them_by_executions() -> None:
    """Two adds that share nothing go together, a load goes with an add, two loads do not, nor what depends on it."""
    texts = ("FADD R1, R2, R3", "FADD R4, R5, R6", "LDG.E R7, [R8]", "LDG.E R9, [R10]", "FADD R11, R9, R1", "EXIT")
    instructions = code("\n".join(PLAIN.format(1, text) for text in texts))
    assert issued_together(instructions, np.ones(6)) == pytest.approx(6 / 4)
    assert issued_together(instructions, np.array([9.0, 9.0, 1.0, 1.0, 1.0, 1.0])) == pytest.approx(22 / 12)
    assert issued_together(instructions, np.zeros(6)) == 1.0
