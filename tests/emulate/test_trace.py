"""Traces of regular kernels equal exact arithmetic."""

import numpy as np
import pytest

from support.emulator.case import KERNELS
from support.paths import EXAMPLES
from warpbound import emulate
from warpbound.errors import CommandError
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda


def matmul(arch, blocks):
    program = compile_program(EXAMPLES / "matmul_tiled.cu", f"sm_{arch}")
    args = {"A": "f32[128,128]:ones", "B": "f32[128,128]:ones", "C": "f32[128,128]", "n": 128}
    return program, emulate.trace(program, launch(grid=(4, 4), block=(32, 32), args=args), blocks)


@pytest.mark.parametrize("arch", [80, 120])
def test_counts_of_a_tiled_product_are_exact(arch):
    program, trace = matmul(arch, [0, 5, 15])
    assert trace.blocks.tolist() == [0, 5, 15]
    assert (trace.of_blocks, trace.stopped, trace.notes) == (16, "", ())
    assert trace.warps.shape == (96, 2)
    assert set(trace.warps[:, 0]) == {0, 5, 15}
    count = lambda opcode: sum(  # noqa: E731
        trace.executed[:, i] for i, one in enumerate(program.instructions) if one.opcode == opcode
    )
    assert (count("FFMA") == 128).all()
    assert (count("LDG") == 2 * 4).all()
    assert (count("STG") == 1).all()
    assert (count("BAR") == 2 * 4).all()
    unguarded = [i for i, one in enumerate(program.instructions) if one.guard is None]
    assert (trace.threads[:, unguarded] == 32 * trace.executed[:, unguarded]).all()


def test_addresses_of_a_tiled_product():
    program, trace = matmul(80, [5])
    loads = trace.accesses["global"]
    kinds = np.array([one.opcode for one in program.instructions])[loads.instruction]
    assert (kinds == "LDG").sum() == 32 * 8
    assert (kinds == "STG").sum() == 32
    assert loads.active.all()
    rows = loads.addresses[kinds == "LDG"]
    assert (np.diff(rows.astype(np.int64), axis=1) == 4).all()
    stores = loads.addresses[kinds == "STG"].astype(np.int64)
    assert sorted(stores[:, 0] - stores.min()) == [128 * 4 * row for row in range(32)]
    assert trace.accesses["shared"].repeated(np.ones(1)).sum() == sum(
        trace.executed[:, i].sum() for i, one in enumerate(program.instructions) if one.opcode in ("LDS", "STS")
    )


def test_a_stream_is_the_warps_own_order():
    program, trace = matmul(80, [0])
    for row, stream in trace.streams.items():
        assert np.array_equal(np.bincount(stream, minlength=len(program.instructions)), trace.executed[row])
    assert stream[0] == 0
    assert program.instructions[stream[-1]].opcode == "EXIT"


def test_lanes_that_are_off_are_not_counted():
    program = compile_program(EXAMPLES / "saxpy.cu", "sm_90")
    args = {"n": 70, "a": 2.0, "x": "f32[70]:ones", "y": "f32[70]:ones"}
    trace = emulate.trace(program, launch(grid=1, block=96, args=args), [0])
    store = next(i for i, one in enumerate(program.instructions) if one.opcode == "STG")
    assert trace.threads[:, store].tolist() == [32, 32, 6]
    active = trace.accesses["global"].active[trace.accesses["global"].instruction == store]
    assert active.sum(axis=1).tolist() == [32, 32, 6]


def test_a_block_of_a_cluster_is_traced_alone_but_not_executed_alone():
    program = compile_program(KERNELS / "clusters.cu", "sm_90", "cluster_ring")
    v = np.arange(12 * 128, dtype=np.float32)
    trace = emulate.trace(program, launch(grid=12, block=128, args={"in": v, "out": "f32[1536]"}), [6, 1])
    assert trace.blocks.tolist() == [1, 6]
    assert trace.warps.tolist() == [[b, w] for b in (1, 6) for w in range(4)]
    assert (trace.stopped, set(trace.streams) <= set(range(8))) == ("", True)
    loads = trace.accesses["global"]
    assert set(loads.warp.tolist()) == set(range(8))
    store = next(i for i, one in enumerate(program.instructions) if one.opcode == "STG")
    first = [int(loads.addresses[(loads.warp == 4 * k) & (loads.instruction == store)][0, 0]) for k in (0, 1)]
    assert first[1] - first[0] == 5 * 128 * 4


def test_a_kernel_for_clusters_is_launched_with_its_own():
    program = compile_program(KERNELS / "clusters.cu", "sm_90", "cluster_ring")
    args = {"in": "f32[1536]:ones", "out": "f32[1536]"}
    with pytest.raises(CommandError, match="compiled for clusters of 4 x 1 x 1 blocks"):
        emulate.run(program, launch(grid=12, block=128, args=args, cluster=2))
    with pytest.raises(CommandError, match="not a multiple of the kernel's cluster"):
        emulate.run(program, launch(grid=10, block=128, args=args))


def test_a_sampled_block_that_cannot_end_says_so():
    source = 'extern "C" __global__ void wait(volatile int* x) { while (x[0] == 0) {} x[1 + blockIdx.x] = 1; }'
    program = compile_program(source, "sm_80")
    trace = emulate.trace(program, launch(grid=4, block=32, args={"x": np.zeros(8, np.int32)}), [2], step_limit=50000)
    assert "a loop without end: nothing that it depends on can change" in trace.stopped
    assert trace.executed.sum() > 0


def test_texture_loads_are_counted():
    source = 'extern "C" __global__ void t(cudaTextureObject_t t, float* o) { o[0] = tex2D<float>(t, o[1], o[2]); }'
    program = compile_program(source, "sm_80")
    trace = emulate.trace(program, launch(grid=1, block=32, args={"t": 1, "o": np.ones(3, np.float32)}), [0])
    fetch = next(i for i, one in enumerate(program.instructions) if one.opcode == "TEX")
    assert trace.executed[0, fetch] == 1
    assert (trace.stopped, len(trace.unknown)) == ("", 1)


def test_an_assertion_stops_the_sample():
    source = 'extern "C" __global__ void t(int* o) { if (o[threadIdx.x] > 5) __trap(); o[threadIdx.x] = 1; }'
    program = compile_program(source, "sm_90")
    trace = emulate.trace(program, launch(grid=1, block=32, args={"o": np.arange(32, dtype=np.int32)}), [0])
    assert "thread (6, 0, 0): the kernel stops itself" in trace.stopped


def test_warps_of_a_second_chunk_are_booked_on_themselves():
    program = compile_program(EXAMPLES / "saxpy.cu", "sm_80")
    args = {"n": 256 * 150, "a": 2.0, "x": "f32[38400]:ones", "y": "f32[38400]:ones"}
    trace = emulate.trace(program, launch(grid=150, block=256, args=args), list(range(150)))
    assert (trace.executed.sum(axis=1) == trace.executed[0].sum()).all()
    assert (np.bincount(trace.accesses["global"].warp, minlength=1200) == 3).all()
