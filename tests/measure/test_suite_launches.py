"""Every launch of the suite is one that the machine takes: arguments, registers, shared memory, occupancy."""

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import pytest

from support.compiled_suite import compiled
from support.fake_gpu import FACTS
from warpbound import occupancy
from warpbound.isa.limits import limits
from warpbound.machine import gpu
from warpbound.measure import cubin_build
from warpbound.measure.case import Case, Step
from warpbound.measure.device import Facts
from warpbound.measure.suite import MECHANISMS
from warpbound.program.cubin import KernelFacts, read_cubin

L2_MIB = {75: 4, 80: 40, 86: 6, 89: 96, 90: 50, 100: 126, 120: 96}
USUAL, OLDEST, NEWEST = 90, 75, 120


def _marks(arch: int, effort: str) -> Any:
    if arch == USUAL:
        return ()
    is_sample = arch == NEWEST or (arch == OLDEST and effort == "quick")
    return pytest.mark.broad if is_sample else pytest.mark.full


PLANS = [
    pytest.param(arch, effort, marks=_marks(arch, effort))
    for arch in cubin_build.ARCHITECTURES for effort in ("quick", "full")
]  # fmt: skip


def facts(arch: int) -> Facts:
    """Of a GPU of this architecture."""
    own = limits(f"{arch // 10}.{arch % 10}")
    changed = {
        "compute_capability": own.compute_capability, "shared_per_sm": own.shared_per_sm,
        "shared_per_block": own.max_shared_per_block, "shared_reserved": own.reserved_shared_per_block,
        "threads_per_sm": own.max_threads_per_sm, "blocks_per_sm": own.max_blocks_per_sm, "l2_size": L2_MIB[arch] << 20,
    }  # fmt: skip
    return Facts(**{**vars(FACTS), **changed})


@cache
def kernels(mechanism: str, arch: int) -> dict[str, KernelFacts]:
    """By name."""
    return dict(read_cubin(compiled(mechanism, arch).cubin, mechanism).kernels)


def steps(case: Case) -> Iterator[Step]:
    """All launches of a case."""
    yield from (*case.setup, *case.before, case.run)


def taken(step: Step, kernel: KernelFacts, arch: int) -> int:
    """Blocks of it that an SM holds at once, once arguments and shared memory fit."""
    passed = [8 if isinstance(arg, str) else arg.nbytes for arg in step.args]
    assert passed == [size for _, size in kernel.parameters], step.kernel
    return fitting(arch, step.block, kernel.registers, step.smem + kernel.shared_bytes)


@cache
def fitting(arch: int, block: int, registers: int, shared: int) -> int:
    """Blocks per SM: many launches take the same."""
    return occupancy(gpu(f"sm_{arch}"), block, registers, shared).blocks_per_sm


@pytest.mark.cuda
@pytest.mark.parametrize(("arch", "effort"), PLANS)
@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if name != "corpus"])
def test_the_machine_takes_every_launch(mechanism: str, arch: int, effort: str) -> None:
    here = facts(arch)
    for case in MECHANISMS[mechanism].cases(here, effort):
        for step in steps(case):
            assert taken(step, kernels(mechanism, arch)[step.kernel], arch) >= 1, (case.key, step)
        if case.reading == "stamps" and "warps" in case.axes:
            wanted = int(case.axes["warps"]) * 32 // case.run.block
            held = taken(case.run, kernels(mechanism, arch)[case.run.kernel], arch)
            more = prod(case.run.grid) > wanted * here.sm_count
            assert held == wanted if more else held >= wanted, case.key


@pytest.mark.cuda
@pytest.mark.broad
def test_the_machine_takes_every_launch_of_the_corpus() -> None:
    code = cubin_build.compile_all(("corpus",), 90)
    known: dict[str, dict[str, KernelFacts]] = {}
    for case in MECHANISMS["corpus"].cases(FACTS, "full"):
        image, name = code.of(case.run.kernel, "corpus")
        unit = case.run.kernel.partition(":")[0]
        if unit not in known:
            known[unit] = dict(read_cubin(image, unit).kernels)
        assert taken(case.run, known[unit][name], 90) >= 1, case.key


@pytest.mark.parametrize("arch", cubin_build.ARCHITECTURES)
def test_shared_memory_holds_just_as_many_blocks(arch: int) -> None:
    here = facts(arch)
    for blocks in range(1, min(16, here.blocks_per_sm) + 1):
        held = occupancy(gpu(f"sm_{arch}"), 32, 16, here.shared_for(blocks)).blocks_per_sm
        assert held == blocks or here.shared_for(blocks) == here.shared_per_block
