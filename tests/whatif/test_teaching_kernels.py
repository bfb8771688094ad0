"""Kernels with one planted problem each, through the whole chain: the first what-if names it, and says why."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import warpbound
from warpbound.kernel_launch import parse_argument

SOURCE = Path(__file__).with_name("teaching_kernels.cu")


@dataclass(frozen=True)
class Lesson:
    """A kernel, its launch, and words that the first advice must contain: in the change, in the reason."""

    kernel: str
    advice: str
    why: str
    grid: int
    block: int
    args: tuple[str, ...]
    gpu: str = "a100-sxm-80gb"
    smem: int = 0
    binds: tuple[str, ...] = field(default=())


LESSONS = [
    Lesson("uncoalesced", "coalesced global accesses", "sectors per request", 8192, 256,
           ("to=f32[16777216]", "x=f32[16777216]", "stride=8", "n=16777216"), binds=("dram", "l2")),
    Lesson("conflicts", "no shared-memory bank conflicts", "wavefronts", 864, 256, ("to=f32[221184]", "rounds=64"),
           binds=("shared",)),
    Lesson("low_occupancy", "shared memory", "warp slots", 6912, 64,
           ("to=f32[442368]", "x=f32[33554432]", "n=33554432", "rounds=32"), smem=80_000, binds=("latency",)),
    Lesson("latency", "independent work per thread", "waits once for 8 items", 4320, 256,
           ("to=i32[1105920]", "next=i32[8388608]:zeros", "rounds=16"), binds=("latency",)),
    Lesson("special", "special functions", "cycles per warp", 864, 256, ("to=f32[221184]", "rounds=64"),
           binds=("xu",)),
    Lesson("barriers", "no barriers", "wait for the last one", 432, 256, ("to=f32[110592]", "rounds=4096"), smem=40_000,
           binds=("latency",)),
    Lesson("tail", "a grid of a multiple of 108 blocks", "leave SMs idle", 109, 1024,
           ("to=f32[111616]", "rounds=512"), smem=160_000, binds=("fma", "issue", "latency")),
    Lesson("spills", "no spills and no local arrays", "sectors that L1 moves", 864, 256,
           ("to=f32[221184]", "where=i32[256]", "rounds=256"), binds=("l1", "l2", "lsu", "latency", "dram")),
    Lesson("doubles", "FP32 instead of FP64", "FP64 instructions", 1024, 256, ("to=f64[262144]", "rounds=64"),
           gpu="rtx-4090", binds=("fp64",)),
    Lesson("atomics", "atomics on separate addresses", "one after the other", 4096, 256,
           ("to=f32[1]", "x=f32[1048576]", "n=1048576"), binds=("l2",)),
    Lesson("divergent", "no divergence", "of the lanes are active", 864, 256, ("to=f32[221184]", "rounds=8"),
           binds=("issue", "fma", "latency")),
    Lesson("small_grid", "fill the GPU", "SMs idle", 16, 256, ("to=f32[4096]", "rounds=4096"),
           binds=("latency", "fma", "issue")),
    Lesson("copy", "half the DRAM traffic", "cycles per warp", 32768, 256,
           ("to=f32[33554432]", "x=f32[33554432]", "n=8388608"), binds=("dram",)),
    Lesson("rolled", "8 times the loads in flight", "waits for loads", 4736, 64,
           ("to=f32[303104]", "x=f32[19398656]", "rounds=64"), gpu="b200", binds=("latency",)),
    Lesson("hot_bins", "atomics on separate addresses", "meet in one bank", 864, 256,
           ("to=i32[221184]", "x=i32[4194304]:rand", "n=4194304"), binds=("shared",)),
    Lesson("spilled", "no spills and no local arrays", "sectors that L1 moves", 256, 1024,
           ("to=f32[262144]", "x=f32[64]:rand", "rounds=16"), gpu="rtx-4090", binds=("l1", "l2", "lsu", "dram")),
    Lesson("branches", "no divergence", "of the lanes are active", 1024, 256, ("to=f32[262144]", "rounds=32"),
           gpu="rtx-4090", binds=("issue", "fma")),
    Lesson("tree", "no barriers in trees", "12 % of the lanes at work", 4096, 256,
           ("to=f32[4096]", "x=f32[1048576]"), binds=("issue", "latency", "lsu")),
    Lesson("scattered_stores", "coalesced global accesses", "sectors per request", 65536, 256,
           ("to=f32[16777216]", "x=f32[16777216]", "n=16777216"), gpu="h200", binds=("l1",)),
]  # fmt: skip


@cache
def answered(lesson: Lesson) -> dict:
    program = warpbound.compile(SOURCE, lesson.gpu, lesson.kernel)
    args = [parse_argument(word) for word in lesson.args]
    launch = warpbound.launch(grid=lesson.grid, block=lesson.block, smem=lesson.smem, args=args)
    return warpbound.analyze(program, lesson.gpu, launch)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.kernel)
def test_the_planted_problem_comes_first(lesson: Lesson) -> None:
    entry = answered(lesson)
    assert entry["mode"] == "dynamic", entry["not_executed"]
    first = entry["whatifs"][0]
    assert lesson.advice in first["change"]
    assert lesson.why in first["why"]
    assert first["speedup"] > 1.1
    assert entry["bottleneck"] in lesson.binds
