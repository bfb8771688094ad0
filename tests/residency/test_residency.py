"""Residency against NVIDIA's own header, against hand-worked cases, and against brute force."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import compute_capabilities, limits
from warpbound.machine import gpu
from warpbound.residency import UNLIMITED, ResidencySweep, occupancy

# --- differential: cuda_occupancy.h ---------------------------------------------------------------

DRIVER = r"""
#include <cstdio>
#include "cuda_occupancy.h"
int main() {
    cudaOccDeviceProp p; cudaOccFuncAttributes a; cudaOccDeviceState s; cudaOccResult r;
    int config, threads; size_t dynamic;
    p.warpSize = 32; p.numSms = 1;
    a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; a.maxThreadsPerBlock = 1 << 20;
    while (scanf("%d %d %d %d %d %d %zu %zu %zu %zu %d %d %zu %zu %d %d %d",
                 &p.computeMajor, &p.computeMinor, &p.maxThreadsPerBlock, &p.maxThreadsPerMultiprocessor,
                 &p.regsPerBlock, &p.regsPerMultiprocessor,
                 &p.sharedMemPerBlock, &p.sharedMemPerMultiprocessor, &p.sharedMemPerBlockOptin,
                 &p.reservedSharedMemPerBlock, &threads, &a.numRegs,
                 &a.sharedSizeBytes, &dynamic, &s.carveoutConfig, &config, &a.numBlockBarriers) == 17) {
        s.cacheConfig = (cudaOccCacheConfig)config;
        a.maxDynamicSharedSizeBytes = dynamic;
        int status = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, dynamic);
        printf("%d %d %d %d %d %d %d %u\n", status, r.activeBlocksPerMultiprocessor, r.blockLimitWarps,
               r.blockLimitBlocks, r.blockLimitRegs, r.blockLimitSharedMem, r.blockLimitBarriers,
               r.limitingFactors);
    }
}
"""
IN_HEADER = [cc for cc in compute_capabilities() if limits(cc).arch >= 30]
CONFIGURATIONS = 1200  # per compute capability; 24 of them
BITS = {"warps": 1, "registers": 2, "shared": 4, "blocks": 8, "barriers": 16}
PREFER_NONE, PREFER_SHARED, PREFER_L1, PREFER_EQUAL = range(4)


@pytest.fixture(scope="session")
def header(tmp_path_factory):
    """The compiled driver: rows of integers in, rows of integers out."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed: cuda_occupancy.h cannot be compiled")
    if sys.platform == "darwin":
        pytest.skip("the wheel with cuda_occupancy.h does not exist for macOS")
    import nvidia

    wheels = [Path(root) for root in nvidia.__path__]
    include = next(path for root in wheels for path in root.glob("*/include/cuda_occupancy.h")).parent
    folder = tmp_path_factory.mktemp("occupancy")
    (folder / "driver.cpp").write_text(DRIVER)
    subprocess.run([compiler, "-O1", f"-I{include}", "driver.cpp", "-o", "driver"], cwd=folder, check=True)

    def run(rows):
        text = "\n".join(" ".join(map(str, row)) for row in rows.tolist())
        done = subprocess.run([folder / "driver"], input=text, capture_output=True, text=True, check=True)
        return np.array([line.split() for line in done.stdout.splitlines()], dtype=np.int64)

    return run


def draw(cc, seed):
    """Random launches of one compute capability: dense at the edges of every rule."""
    rules, rng, n = limits(cc), np.random.default_rng(seed), CONFIGURATIONS
    threads = np.where(rng.random(n) < 0.6, 32 * rng.integers(1, 33, n), rng.integers(1, 1025, n))
    registers = np.where(
        rng.random(n) < 0.7,
        rng.integers(0, min(97, rules.max_registers_per_thread + 1), n),
        rng.integers(0, rules.max_registers_per_thread + 1, n),
    )
    edge = 1024 * rng.choice(rules.carveouts_KiB, n) // rng.integers(1, 9, n) + rng.integers(-1100, 1100, n)
    shared = np.select(
        [rng.random(n) < 0.2, rng.random(n) < 0.5],
        [np.zeros(n, int), np.clip(edge, 0, None)],
        rng.integers(0, rules.max_shared_per_block + 3000, n),
    )
    static = np.minimum(shared, rng.integers(0, rules.default_shared_per_block + 1, n))
    barriers = np.where(rng.random(n) < 0.5, 0, rng.integers(1, 17, n))
    percent, config = np.full(n, -1), np.full(n, PREFER_NONE)
    carveout = np.full(n, float(rules.carveouts_KiB[-1]))
    if rules.arch >= 70:
        percent = np.where(rng.random(n) < 0.3, -1, rng.integers(0, 101, n))
        carveout = np.where(percent < 0, carveout, percent * rules.shared_per_sm // 100 / 1024)
    elif rules.arch < 50:
        config = rng.integers(0, 4, n)
        low, middle, high = rules.carveouts_KiB
        carveout = np.array([high, high, low, middle])[config]
    return threads, registers, static, shared - static, percent, config, barriers, carveout


@pytest.mark.parametrize("cc", IN_HEADER)
def test_every_limit_is_the_header_s(cc, header):
    rules = limits(cc)
    threads, registers, static, dynamic, percent, config, barriers, carveout = draw(cc, rules.arch)
    device = (*map(int, cc.split(".")), rules.max_threads_per_block, rules.max_threads_per_sm)
    device += (rules.max_registers_per_block, rules.registers_per_sm, rules.default_shared_per_block)
    device += (rules.shared_per_sm, rules.max_shared_per_block, rules.reserved_shared_per_block)
    columns = (*device, threads, registers, static, dynamic, percent, config, barriers)
    theirs = header(np.stack(np.broadcast_arrays(*columns), axis=1))
    assert not theirs[:, 0].any()  # no status but success
    ours = occupancy(
        f"sm_{rules.arch}", threads, registers, static + dynamic, carveout, barriers=barriers
    )
    np.testing.assert_array_equal(ours.blocks_per_sm, theirs[:, 1])
    counts = dict(zip(("warps", "blocks", "registers", "shared", "barriers"), theirs[:, 2:7].T, strict=True))
    if "barriers" not in ours.block_limits:
        assert (counts.pop("barriers") == UNLIMITED).all()
    assert ours.block_limits.keys() == counts.keys()
    for name, count in counts.items():
        np.testing.assert_array_equal(ours.block_limits[name], count, err_msg=name)
    # Where barriers push below the rest, the header leaves the older marks standing: not compared.
    without = np.min([count for name, count in counts.items() if name != "barriers"], axis=0)
    same = ours.blocks_per_sm == without
    for name, mask in ours.binds.items():
        np.testing.assert_array_equal(mask[same], (theirs[same, 7] & BITS[name]) > 0, err_msg=name)


def test_the_random_launches_meet_every_limiter():
    met = {}
    for cc in ("3.0", "6.1", "8.6", "9.0", "10.3"):
        threads, registers, static, dynamic, _, _, barriers, carveout = draw(cc, limits(cc).arch)
        ours = occupancy(
            f"sm_{limits(cc).arch}", threads, registers, static + dynamic, carveout, barriers=barriers
        )
        alone = np.sum(list(ours.binds.values()), axis=0) == 1
        for name, mask in ours.binds.items():
            met[name] = met.get(name, 0) + np.count_nonzero(mask & alone)
        met["refused"] = met.get("refused", 0) + np.count_nonzero(ours.blocks_per_sm == 0)
    assert min(met.values()) >= 20, met
    assert set(met) == {"warps", "blocks", "registers", "shared", "barriers", "refused"}


# --- worked by hand -------------------------------------------------------------------------------

HAND = {  # id: (architecture, threads, registers, shared, carveout) -> blocks, limiters
    # G80: 8 warps; 10*32*8 = 2560 = 10 units of 256; 8192/2560 = 3.2; 24/8 = 3
    "g80 ten registers": (("sm_10", 256, 10, 4096, None), 3, ("warps", "registers")),
    # 11*256 = 2816; 8192/2816 = 2.9: one register more costs a third of the occupancy
    "g80 eleven registers": (("sm_10", 256, 11, 4096, None), 2, ("registers",)),
    # 3 warps count as 4: 24/4 = 6 blocks, though 24/3 = 8
    "g80 warps in pairs": (("sm_10", 96, 4, 0, None), 6, ("warps",)),
    # 5000 -> 5120 (512 units): 16384/5120 = 3.2
    "gt200 shared": (("sm_13", 64, 16, 5000, None), 3, ("shared",)),
    # 4 warps (3 rounded up): 20*32*4 = 2560 = 5 units of 512; 16384/2560 = 6.4; 32/4 = 8
    "gt200 registers": (("sm_13", 96, 20, 0, None), 6, ("registers",)),
    # 8 blocks of one warp
    "fermi blocks": (("sm_20", 32, 20, 0, None), 8, ("blocks",)),
    # 21 registers double the unit: 672 -> 768 (not 704); 16384/768 = 21 per sub-core, 42 warps, 42/23 = 1
    "fermi 21 registers": (("sm_20", 736, 21, 0, None), 1, ("registers",)),
    # 20*32 = 640; 16384/640 = 25, 50 warps; 50/23 = 2 and 48/23 = 2
    "fermi 20 registers": (("sm_20", 736, 20, 0, None), 2, ("warps", "registers")),
    # 16 KiB carve-out holds one block of 16 KiB; one byte more and the SM falls back to 48 KiB: 2
    "fermi small carve-out": (("sm_20", 256, 16, 16384, 16), 1, ("shared",)),
    "fermi carve-out too small": (("sm_20", 256, 16, 16385, 16), 2, ("shared",)),
    # GP100: 2048 per warp, 32768/2048 = 16 per half, 32 warps, 32/8 = 4
    "gp100": (("sm_60", 256, 64, 0, None), 4, ("registers",)),
    # A100: (5000 + 1024) -> 6144 with 128-byte units: 167936/6144 = 27
    "a100 reserve": (("sm_80", 64, 16, 5000, None), 27, ("shared",)),
    # carve-out 0 still holds the 1 KiB reserve: 8 KiB / 1 KiB = 8 blocks
    "h100 no shared, carve-out 0": (("sm_90", 64, 16, 0, 0), 8, ("shared",)),
    # the largest block: 227 KiB and its reserve
    "h100 opt-in": (("sm_90", 64, 16, 232448, None), 1, ("shared",)),
    "h100 beyond opt-in": (("sm_90", 64, 16, 232449, None), 0, ("shared",)),
    # 1024 threads of 65 registers: 72*32*32 > 65536
    "too many registers in a block": (("sm_90", 1024, 65, 0, None), 0, ("registers",)),
    "full": (("sm_90", 1024, 32, 0, None), 2, ("warps", "registers")),
}


@pytest.mark.parametrize("launch, blocks, limiters", HAND.values(), ids=HAND)
def test_worked_by_hand(launch, blocks, limiters):
    resident = occupancy(*launch)
    assert (resident.blocks_per_sm, resident.limiters) == (blocks, limiters)
    assert resident.warps_per_sm == blocks * -(-launch[1] // 32)
    assert type(resident.blocks_per_sm) is type(resident.warps_per_sm) is int


def test_carveout_is_taken_to_the_next_size():
    assert occupancy("sm_90", 128, 16, 20000, 33).block_limits["shared"] == 3  # 64 KiB / 21.1 KB
    assert occupancy("sm_90", 128, 16, 20000, 64).block_limits["shared"] == 3
    assert occupancy("sm_90", 128, 16, 20000, 32).block_limits["shared"] == 1
    assert occupancy("sm_90", 128, 16, 20000, 8).block_limits["shared"] == 1  # grown to 32 KiB


def test_grid_limits_when_it_cannot_fill_the_sms():
    few = occupancy("h200", 256, 32, 0, grid_blocks=200)  # 132 SMs: two blocks on the busiest
    assert (few.blocks_per_sm, few.warps_per_sm, few.limiters) == (2, 16, ("grid",))
    assert few.fitting_blocks_per_sm == 8
    assert "grid" not in occupancy("h200", 256, 32, 0, grid_blocks=132 * 8 + 1).limiters
    assert few.next_step == ()
    # 40 one-warp blocks per SM, 32 fit; as 64-thread blocks there are only 20 per SM
    (step,) = occupancy("h200", 32, 32, 0, grid_blocks=132 * 40).next_step
    assert (step.change, step.to, step.blocks_per_sm, step.warps_per_sm) == ("threads", 64, 20, 40)
    with pytest.raises(InputError, match="sm_90 .architecture only. has no value for sm_count"):
        occupancy("sm_90", 256, 32, 0, grid_blocks=200)


@pytest.mark.parametrize(
    "launch, message",
    [
        (("h200", 2000, 32, 0), "2000 threads per block are not possible for compute .* range is 1 to 1024"),
        (("sm_10", 513, 8, 0), "513 threads per block .* 1 to 512"),
        (("h200", 0, 32, 0), "0 threads per block"),
        (("h200", 256, 256, 0), "256 registers per thread .* 0 to 255"),
        (("sm_20", 256, 64, 0), "64 registers per thread .* 0 to 63"),
        (("h200", 256, 32, -4), "-4 bytes of shared memory per block"),
        (("h200", 256.5, 32, 0), "256.5 threads per block is not a whole number"),
        (("h200", float("nan"), 32, 0), "not a whole number"),
        (("h200", np.array([32, 4096]), 32, 0), "4096 threads per block"),
        (("h200", 256, 32, 0, 229), "carve-out of 229 KiB.* 0, 8, 16, 32, 64, 100, 132, 164, 196, 228 KiB"),
        (("h200", 256, 32, 0, -1), "carve-out of -1 KiB"),
        (("h201", 256, 32, 0), "GPU 'h201' .* mean h200"),
    ],
)
def test_illegal_launches_are_refused(launch, message):
    with pytest.raises(CommandError, match=message):
        occupancy(*launch)


def test_arrays_that_do_not_broadcast_are_refused():
    with pytest.raises(CommandError, match=r"shapes \(2,\), \(3,\) do not go together"):
        occupancy("h200", [32, 64], [16, 32, 64], 0)


def test_illegal_barriers_and_grid_are_refused():
    with pytest.raises(CommandError, match="17 barriers per block"):
        occupancy("h200", 256, 32, 0, barriers=17)
    with pytest.raises(CommandError, match="0 blocks in the grid"):
        occupancy("h200", 256, 32, 0, grid_blocks=0)


def test_barriers_limit_from_hopper_on():
    assert occupancy("sm_90", 32, 16, 0, barriers=16).limiters == ("barriers",)  # 64 barriers
    assert occupancy("sm_90", 32, 16, 0, barriers=16).blocks_per_sm == 4
    assert occupancy("sm_80", 32, 16, 0, barriers=16).blocks_per_sm == 32


# --- invariants -----------------------------------------------------------------------------------

launches = st.tuples(
    st.sampled_from([f"sm_{limits(cc).arch}" for cc in compute_capabilities()]),
    st.integers(1, 512),
    st.integers(0, 63),
    st.integers(0, 50_000),
)


@settings(deadline=None)
@given(launches)
def test_more_registers_never_give_more_blocks(launch):
    name, threads, _, shared = launch
    top = limits(gpu(name).compute_capability).max_registers_per_thread
    blocks = occupancy(name, threads, np.arange(top + 1), shared).blocks_per_sm
    assert (np.diff(blocks) <= 0).all()


@settings(deadline=None)
@given(launches)
def test_residents_fit_and_one_more_would_not(launch):
    resident = occupancy(*launch)
    rules = limits(gpu(launch[0]).compute_capability)
    assert 0 <= resident.blocks_per_sm <= rules.max_blocks_per_sm
    assert 0 <= resident.warps_per_sm <= resident.max_warps_per_sm == rules.max_warps_per_sm
    assert 0 <= resident.occupancy <= 1
    registers = resident.warps_per_sm * rules.warp_size * launch[2]
    assert registers <= rules.registers_per_sm
    assert resident.blocks_per_sm * launch[3] <= rules.shared_per_sm
    assert resident.limiters == tuple(
        name for name, count in resident.block_limits.items() if count == resident.blocks_per_sm
    )


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(["sm_10", "sm_20", "sm_61", "sm_75", "h200", "rtx-4090"]))
def test_arrays_equal_scalars(data, name):
    def some(low, high):
        return data.draw(st.lists(st.integers(low, high), min_size=3, max_size=3))

    threads, registers, shared = some(1, 512), some(0, 63), some(0, 60_000)
    grid = some(1, 5000) if gpu(name).board else None
    sweep = occupancy(
        name, np.array(threads)[:, None], np.array(registers), shared[0], barriers=np.array([[1], [0], [9]]),
        grid_blocks=None if grid is None else np.array(grid),
    )
    assert isinstance(sweep, ResidencySweep)
    assert sweep.blocks_per_sm.shape == sweep.limiters.shape == (3, 3)
    for i, j in np.ndindex(3, 3):
        barriers = (1, 0, 9)[i]
        one = occupancy(
            name, threads[i], registers[j], shared[0], barriers=barriers,
            grid_blocks=None if grid is None else grid[j],
        )
        assert (sweep.blocks_per_sm[i, j], sweep.warps_per_sm[i, j]) == (one.blocks_per_sm, one.warps_per_sm)
        assert sweep.limiters[i, j] == one.limiters
        assert sweep.at((i, j)) == one
        assert sweep.next_step[i, j] == one.next_step


# --- next step ------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["sm_13", "sm_20", "sm_35", "sm_70", "sm_86", "sm_90", "sm_120"]),
    st.one_of(st.integers(1, 512), st.integers(1, 16).map(lambda warps: 32 * warps)),
    st.integers(1, 63),
    st.integers(0, 6000),
    st.booleans(),
)
def test_next_step_is_the_smallest_change(name, threads, registers, shared, small):
    rules = limits(gpu(name).compute_capability)
    sizes = rules.carveouts_KiB
    carveout = sizes[0] if small else sizes[-1]
    now = occupancy(name, threads, registers, shared, carveout)
    steps = {step.change: step for step in now.next_step}
    assert len(steps) == len(now.next_step)

    def better(change, values, then):
        wins = [v for v, n in zip(values, then.blocks_per_sm, strict=True) if n > now.blocks_per_sm]
        assert (change in steps) == bool(wins)
        if wins:
            assert steps[change].to == wins[0]

    fewer = np.arange(registers - 1, 0, -1)
    better("registers", fewer, occupancy(name, threads, fewer, shared, carveout))
    less = np.arange(shared - 1, -1, -1)
    better("shared", less, occupancy(name, threads, registers, less, carveout))
    larger = np.array([size for size in sizes if size > carveout])
    better("carveout", larger, occupancy(name, threads, registers, shared, larger))

    blocks = np.arange(32, rules.max_threads_per_block + 1, 32)
    warps = occupancy(name, blocks, registers, shared, carveout).warps_per_sm
    wins = [(abs(b - threads), -w) for b, w in zip(blocks, warps, strict=True) if w > now.warps_per_sm]
    assert ("threads" in steps) == bool(wins)
    if wins:
        step = steps["threads"]
        assert (abs(step.to - threads), -step.warps_per_sm) == min(wins)

    for step in now.next_step:
        changed = {"threads": threads, "registers": registers, "shared": shared, "carveout": carveout}
        assert step.from_ == changed[step.change]
        then = occupancy(name, *(changed | {step.change: step.to}).values())
        assert (then.blocks_per_sm, then.warps_per_sm) == (step.blocks_per_sm, step.warps_per_sm)


def test_next_step_reads_as_a_sentence():
    steps = occupancy("h200", 256, 40, 0).next_step
    assert [step.sentence for step in steps] == [
        "32 registers per thread instead of 40 would let an SM hold 8 blocks (64 warps)."
    ]
    assert occupancy("h200", 256, 32, 0).next_step == ()  # full already
    # 192 and 256 threads are equally near to 224; 36 and 40 warps: the better one
    assert occupancy("h200", 224, 41, 0).next_step[0].to == 256
    one = occupancy("h200", 1024, 65, 0).next_step
    assert "64 registers per thread instead of 65 would let an SM hold 1 block (32 warps)." in [
        step.sentence for step in one
    ]


def test_tensor_memory_holds_512_columns() -> None:
    limited = occupancy("b200", 128, 32, 1024, tensor_columns=256)
    assert (limited.blocks_per_sm, limited.limiters) == (2, ("tensor memory",))
    assert "tensor memory" not in occupancy("b200", 128, 32, 1024).block_limits
    assert [step.change for step in limited.next_step] == ["threads"]  # neither registers nor shared memory make room
