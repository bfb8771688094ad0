"""Traffic of the example kernels as compiled and executed: exact counts, cold and warm."""


import numpy as np
import pytest

import warpbound
from support.paths import EXAMPLES
from warpbound.emulate import trace, trace_recorder
from warpbound.memory.hierarchy import Facts
from warpbound.memory.traffic import How, traffic

pytest.importorskip("cuda.bindings")
pytestmark = pytest.mark.cuda
MACHINE = Facts(arch=80, sm_count=8, blocks_per_sm=2, l1_bytes=64 << 10, l2_bytes=8 << 20)


def kernel(name, arch, **defines):
    return warpbound.compile(EXAMPLES / f"{name}.cu", warpbound.gpu(arch), defines=defines)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_tiled_matmul(arch):
    n, tile, warps = 128, 16, 8
    blocks, steps = (n // tile) ** 2, n // tile
    program = kernel("matmul_tiled", arch, TILE="16")
    arrays = [np.zeros((n, n), np.float32) for _ in range(3)]
    launch = warpbound.launch(
        grid=(n // tile, n // tile),
        block=(tile, tile),
        args={"A": arrays[0], "B": arrays[1], "C": arrays[2], "n": np.int32(n)},
    )
    found = traffic(program, trace(program, launch, range(blocks)), MACHINE, How("cold", "exact"))
    # each warp loads two rows of 16 floats of A and of B per step: 2 x 64 B = 4 sectors each
    assert found.global_load_requests == blocks * warps * steps * 2
    assert found.global_store_requests == blocks * warps
    assert found.l1_sectors_load == blocks * warps * steps * 8
    assert found.l1_sectors_store == found.l2_sectors_written == blocks * warps * 4
    assert found.sectors_per_request == 4
    assert found.shared_store_requests == found.shared_wavefronts_store == blocks * warps * steps * 2
    assert found.shared_conflict_wavefronts == 0
    # B by words: 16 loads per step; A by 16-byte words, two rows: 4 loads of 2 wavefronts, or by words
    assert found.shared_wavefronts_load in (blocks * warps * steps * k for k in (16 + 4, 16 + 8, 16 + 16))
    # compulsory traffic: A and B read once, C written once; 192 KiB fit
    assert found.dram_bytes_read == 2 * 4 * n * n
    assert found.dram_bytes_written == 4 * n * n
    warm = traffic(program, trace(program, launch, range(blocks)), MACHINE, How("warm"))
    assert (warm.dram_bytes_read, warm.dram_bytes_written) == (0, 0)


@pytest.mark.parametrize("blocks", [range(64), [0, 20, 21, 28, 63]], ids=["all", "some"])
@pytest.mark.parametrize("pad, ways", [("1", 1), ("0", 32)])
def test_tiled_transpose(blocks, pad, ways):
    n = 256
    program = kernel("transpose_tiled", "sm_80", PAD=pad)
    matrix = np.zeros((n, n), np.float32)
    args = {"in": matrix, "out": matrix.copy(), "width": np.int32(n), "height": np.int32(n)}
    launch = warpbound.launch(grid=(8, 8), block=(32, 8), args=args)
    found = traffic(program, trace(program, launch, blocks), MACHINE, How("cold"))
    requests = 64 * 8 * 4  # blocks x warps x rows per thread
    assert found.global_load_requests == found.global_store_requests == requests
    assert found.l1_sectors_load == found.l1_sectors_store == requests * 4
    assert found.store_pieces == 0  # whole lines
    assert found.shared_wavefronts_store == requests
    assert found.shared_wavefronts_load == requests * ways
    assert found.shared_conflict_wavefronts == requests * (ways - 1)
    assert found.dram_bytes_read == pytest.approx(4 * n * n, rel=0.05)
    assert found.dram_bytes_written == pytest.approx(4 * n * n, rel=0.05)


def test_naive_transpose_scatters_its_stores():
    n = 128
    program = kernel("transpose_naive", "sm_80")
    matrix = np.zeros((n, n), np.float32)
    args = {"in": matrix, "out": matrix.copy(), "width": np.int32(n), "height": np.int32(n)}
    launch = warpbound.launch(grid=(4, 4), block=(32, 8), args=args)
    found = traffic(program, trace(program, launch, range(16)), MACHINE, How("cold"))
    requests = 16 * 8 * 4
    assert found.l1_sectors_load == requests * 4
    assert found.l1_sectors_store == found.store_pieces == requests * 32
    assert found.sectors_per_request == 18
    assert found.dram_bytes_written == 4 * n * n  # 8 stores meet in every sector before it leaves


@pytest.mark.parametrize("blocks", [range(64), [0, 1, 30, 31, 62, 63]], ids=["all", "some"])
def test_saxpy(blocks):
    n = 64 * 256
    program = kernel("saxpy", "sm_90")
    x = np.zeros(n, np.float32)
    launch = warpbound.launch(
        grid=64, block=256, args={"n": np.int32(n), "a": np.float32(2), "x": x, "y": x.copy()}
    )
    found = traffic(program, trace(program, launch, blocks), MACHINE, How("cold"))
    assert found.global_load_requests == 2 * n / 32
    assert found.global_store_requests == n / 32
    assert found.dram_bytes_read == 8 * n
    assert found.dram_bytes_written == 4 * n
    assert found.l2_hit_rate == pytest.approx(1 / 3)
    assert found.l1_wavefronts == found.global_load_requests + found.global_store_requests


@pytest.mark.cuda
def test_counts_of_accesses_that_are_not_kept(monkeypatch):
    """What is kept stands for the rest, by the lanes that took part in each instruction."""
    n = np.int32(96)
    args = {"A": np.ones((96, 96), np.float32), "B": np.ones((96, 96), np.float32), "C": np.zeros((96, 96), np.float32)}
    launched = warpbound.launch(grid=(3, 3), block=(32, 32), args=args | {"n": n})
    program = warpbound.compile(EXAMPLES / "matmul_tiled.cu", "a100-sxm-80gb")
    board = Facts(arch=80, sm_count=108, blocks_per_sm=2, l1_bytes=100 << 10, l2_bytes=30 << 20)

    def counted():
        return traffic(program, trace(program, launched, [0, 4, 5, 8]), board, How("cold"))

    whole = counted()
    monkeypatch.setattr(trace_recorder, "MOST_ACCESSES", 2500)
    part = counted()
    for name in ("global_load_requests", "l1_sectors_load", "shared_wavefronts_load", "shared_wavefronts_store",
                 "l1_sectors_store"):  # fmt: skip
        assert getattr(part, name) == pytest.approx(getattr(whole, name), rel=1e-6)
        assert getattr(whole, name) > 0
    assert any("were not recorded" in note for note in trace(program, launched, [0, 4, 5, 8]).notes)
