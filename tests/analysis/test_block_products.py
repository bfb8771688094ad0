"""What paces the asynchronous products of a block: tensor cores, or shared memory that delivers their factors."""

import pytest

import warpbound
from support.paths import ROOT
from warpbound.analysis.answer import work_of
from warpbound.analysis.block_products import paces_products, tensor_cycles
from warpbound.latency import waits
from warpbound.model_inputs.resources import demand
from warpbound.validate.corpus import corpus
from warpbound.validate.row_prediction import row_case

ROWS = corpus(ROOT / "tools" / "tcgen05_ladder")


def case_of_row(**words):
    row = next(row for row in ROWS.rows if all(row.words[name] == word for name, word in words.items()))
    return row_case(ROWS, row, ("rounds=8",))


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.parametrize("a_in_tensor_memory, columns, paced, resource", [
    ("0", "64", "shared memory", "shared"), ("0", "256", "tensor", "tensor"), ("1", "64", "tensor", "tensor"),
])  # fmt: skip
def test_what_paces_products_has_the_largest_demand(a_in_tensor_memory, columns, paced, resource):
    case = case_of_row(a_in_tensor_memory=a_in_tensor_memory, pair="1", rows="128", columns=columns, depth="16")
    work = work_of(case)
    (trace, *_) = work.sample_run
    assert paces_products(case, trace.mbarrier_log) == paced
    busy = demand(work.focus, case.gpu, case.clock_hz)
    assert max(busy, key=lambda name: busy[name]) == resource
    # 8 rounds of 16 products by one of four warps
    each = {"64": 48 if a_in_tensor_memory == "0" else 32, "256": 128}[columns]
    waiting = waits(case.program.instructions, case.latency)
    assert tensor_cycles(case, trace.mbarrier_log, waiting) == pytest.approx(8 * 16 * each, rel=0.01)


PORT = """
extern "C" __global__ void __launch_bounds__(128) kernel(unsigned *out, int n) {
    __shared__ unsigned where;
    if (threadIdx.x / 32 == 0)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;"
                     :: "r"((unsigned)__cvta_generic_to_shared(&where)) : "memory");
    __syncthreads();
    unsigned rows = where + (threadIdx.x / 32 << 21), v[32];
    for (int i = 0; i < 32; ++i) v[i] = threadIdx.x + i;
    for (int round = 0; round < n; ++round) {
        asm volatile("tcgen05.st.sync.aligned.32x32b.x32.b32 [%0], {LIST_IN};\\ntcgen05.wait::st.sync.aligned;"
                     :: "r"(rows), INPUTS : "memory");
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {LIST_OUT}, [%32];\\ntcgen05.wait::ld.sync.aligned;"
                     : OUTPUTS : "r"(rows) : "memory");
    }
    for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = v[i];
    __syncthreads();
    if (threadIdx.x / 32 == 0)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" :: "r"(rows));
}
""".replace("LIST_IN", ", ".join(f"%{i + 1}" for i in range(32))).replace(
    "LIST_OUT", ", ".join(f"%{i}" for i in range(32))
).replace("INPUTS", ", ".join(f'"r"(v[{i}])' for i in range(32))).replace(
    "OUTPUTS", ", ".join(f'"=r"(v[{i}])' for i in range(32))
)  # fmt: skip


@pytest.mark.cuda
@pytest.mark.broad
def test_loads_and_stores_of_tensor_memory_bind():
    program = warpbound.compile(PORT, "b200")
    start = warpbound.launch(grid=148, block=128, args={"out": "u32[4096]", "n": 1000})
    answer = warpbound.analyze(program, "b200", start)
    rows = [row for row in answer["bounds"] if row["resource"] != "latency"]
    busiest = max(rows, key=lambda row: row["cycles_per_warp"])
    assert busiest["resource"] == "tmem"
    assert busiest["cycles_per_warp"] == pytest.approx(1000 * (64 + 32) / 4, rel=0.01)  # an SM has four ports
