"""What `execution` and `latency` say of executed launches, for kernels whose every count is known by arithmetic."""


import numpy as np
import pytest

import warpbound
import warpbound.analysis
from support.paths import EXAMPLES
from warpbound.analysis.execution_summary import _bank_conflict
from warpbound.program.instruction import Instruction
from warpbound.program.operands import split_instruction

TRIAD = """
extern "C" __global__ void triad(float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
"""
GPUS = ["t4", "a100-sxm-80gb", "h200", "rtx-5090"]
COLD = warpbound.analysis.Settings(cache="cold")


def answered(source, gpu, launch, **defines):
    program = warpbound.compile(source, gpu, defines=defines)
    return program, warpbound.analysis.analyze(program, gpu, launch, COLD)


def consistent(found):
    """What holds for every executed launch."""
    assert found["mode"] == "dynamic"
    counts, latency = found["instructions"], found["latency"]
    assert sum(counts["by_pipe"].values()) == counts["warp_instructions"]
    assert sum(latency["parts"].values()) == pytest.approx(latency["cycles"])
    assert latency["by_level"]["l1"] < latency["by_level"]["l2"] < latency["by_level"]["dram"]
    assert len(latency["load_phases"]) == found["execution"]["load_phases"]
    loads = [row for row in found["accesses"] if row["space"] == "global" and "LDG" in row["text"]]
    assert loads
    assert all(sum(row["served"].values()) == pytest.approx(1) for row in loads)
    assert all(row["served"] is None for row in found["accesses"] if row not in loads)
    return loads


@pytest.mark.cuda
@pytest.mark.parametrize("gpu", GPUS)
def test_triad(gpu):
    n = 1 << 20
    args = {"a": np.float32(2), "x": np.ones(n, np.float32), "y": np.ones(n, np.float32)}
    program, found = answered(TRIAD, gpu, warpbound.launch(grid=n // 256, block=256, args=args))
    loads, own, warps = consistent(found), found["execution"], n // 32
    each = next(i for i, one in enumerate(program.instructions) if one.opcode == "EXIT") + 1
    assert found["instructions"]["warp_instructions"] == each * warps
    assert found["instructions"]["thread_instructions"] == 32 * each * warps
    assert found["flop"] == {"fp16": 0, "bf16": 0, "fp32": 2 * n, "fp64": 0, "tensor": 0}
    assert [row["served"]["dram"] for row in loads] == pytest.approx([1, 1])
    assert (own["load_phases"], own["loads_per_wait"], own["joins"]) == (1, 2, 1)
    assert own["lanes_per_instruction"] == 32
    assert 1.8 < own["mlp"] <= 2
    assert own["code"]["executed_bytes"] == own["code"]["hot_bytes"] == 16 * each
    wanted = {"comp_insts": each - 3, "coal_mem_insts": 3, "uncoal_mem_insts": 0, "synch_insts": 0, "load_bytes": 128}
    assert {name: own["hong_kim"][name] for name in wanted} == pytest.approx(wanted)
    assert own["x_model"]["Z"] == pytest.approx(each / 3)
    assert own["x_model"]["E"] == own["ilp"] <= 1
    assert found["loops"] == []


@pytest.mark.cuda
@pytest.mark.parametrize("gpu", GPUS)
def test_transposition_through_shared_memory(gpu):
    n = 512
    args = {"in": np.zeros((n, n), np.float32), "out": np.zeros((n, n), np.float32), "width": n, "height": n}
    launch = warpbound.launch(grid=(n // 32, n // 32), block=(32, 8), args=args)
    _, found = answered(EXAMPLES / "transpose_tiled.cu", gpu, launch, PAD=1)
    loads, own, warps = consistent(found), found["execution"], (n // 32) ** 2 * 8
    assert (found["memory"]["global_load_requests"], found["memory"]["global_store_requests"]) == (4 * warps, 4 * warps)
    assert found["memory"]["shared_wavefronts_load"] == found["memory"]["shared_wavefronts_store"] == 4 * warps
    assert sum(found["flop"].values()) == 0
    assert (own["load_phases"] * own["loads_per_wait"], own["joins"]) == pytest.approx((4, 2))
    assert (own["hong_kim"]["coal_mem_insts"], own["hong_kim"]["synch_insts"]) == (8, 1)
    assert len(loads) == 4
    assert [row["served"]["dram"] for row in loads] == pytest.approx([1] * 4)


@pytest.mark.cuda
@pytest.mark.parametrize("gpu", GPUS)
def test_phases_and_joins_of_a_tiled_product(gpu):
    n, tile = 256, 32
    args = {name: np.zeros((n, n), np.float32) for name in "ABC"} | {"n": n}
    launch = warpbound.launch(grid=(n // tile, n // tile), block=(tile, tile), args=args)
    _, found = answered(EXAMPLES / "matmul_tiled.cu", gpu, launch)
    consistent(found)
    own, steps = found["execution"], n // tile
    assert (own["load_phases"], own["loads_per_wait"], own["joins"]) == (steps, 2, 2 * steps + 1)
    (loop,) = found["loops"]
    assert loop["trip_count"] == steps
    assert loop["flop_per_thread"] == {"fp32": 2 * tile}
    assert loop["load_phases"] == [2]


@pytest.mark.parametrize(
    "text, conflicts",
    [
        ("FFMA R0, R2, R4, R6", True),
        ("FFMA R0, R3, R5, R7", True),
        ("FFMA R0, R2, R4, R5", False),
        ("FFMA R0, R2.reuse, R4, R6", False),
        ("FFMA R0, R2, R2, R6", False),
        ("FFMA R0, R2, R4, RZ", False),
        ("FFMA R0, R2, c[0x0][0x160], R6", False),
        ("IADD3 R1, R8, R10, R12", True),
    ],
)
def test_three_sources_of_one_register_bank(text, conflicts):
    guard, opcode, modifiers, operands = split_instruction(text)
    assert _bank_conflict(Instruction(0, opcode, modifiers, operands, text, guard)) is conflicts


@pytest.mark.parametrize("blocks, words", [(4, "of all 4 blocks"), (40_000, "of 40000 blocks")])
def test_a_launch_that_was_executed_whole_extrapolates_nothing(blocks, words):
    arrays = {"a": 2.0, "x": f"f32[{blocks * 64}]", "y": f"f32[{blocks * 64}]"}
    _, entry = answered(TRIAD, "h200", warpbound.launch(grid=blocks, block=64, args=arrays))
    (note,) = (each for each in entry["confidence"]["assumed"] if each.startswith("counts and traffic"))
    assert note.endswith(words)
    assert ("extrapolated" in note) == (blocks > 4)
