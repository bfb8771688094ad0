"""warpbound.run tells how far it is, and its arrays are the same whether it does or not."""

import numpy as np
import pytest

import warpbound
from warpbound.emulate.emulator import CHUNK_LANES

SOURCE = """
extern "C" __global__ void doubled(float *x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
extern "C" __global__ void beyond(float *x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; }
"""
BLOCKS, THREADS = 400, 256
CHUNKS = -(-BLOCKS * THREADS // CHUNK_LANES)


def asked(kernel, size=BLOCKS * THREADS):
    program = warpbound.compile(SOURCE, "a100-sxm-80gb", kernel=kernel)
    args = {"x": np.arange(size, dtype=np.float32), "n": np.int32(size)}
    return program, warpbound.launch(grid=(BLOCKS,), block=(THREADS,), args=args)


def test_it_is_told_after_every_chunk_until_all_blocks_have_ended():
    told = []
    arrays = warpbound.run(*asked("doubled"), progress=lambda done, of: told.append((done, of)))
    assert {of for _, of in told} == {BLOCKS}
    done = [done for done, _ in told]
    assert done == sorted(set(done))
    assert len(done) >= CHUNKS > 1
    assert done[-1] == BLOCKS
    assert np.array_equal(arrays["x"], warpbound.run(*asked("doubled"))["x"])


def test_nothing_is_told_of_blocks_that_have_not_ended():
    told = []
    with pytest.raises(warpbound.WarpboundError):
        warpbound.run(*asked("beyond", 100), progress=lambda done, of: told.append(done))
    assert told == []


def test_what_it_raises_ends_the_run():
    def enough(done, of):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        warpbound.run(*asked("doubled"), progress=enough)
