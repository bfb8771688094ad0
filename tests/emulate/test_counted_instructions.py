"""What a trace counts without computing it: a kernel with wgmma is executed, timed, and says what it took as 0."""

import numpy as np
import pytest

import warpbound
from warpbound.errors import InputError

pytestmark = pytest.mark.cuda

SOURCE = """
extern "C" __global__ void wgmma(const float* in, float* out, int n) {
    __shared__ alignas(128) unsigned char a[8192];
    for (int i = threadIdx.x; i < 8192; i += 128) a[i] = 0;
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    unsigned long long at = 0x4000004000010000ull | ((unsigned)__cvta_generic_to_shared(a) >> 4);
    asm volatile("wgmma.fence.sync.aligned;");
    for (int i = 0; i < n; ++i)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(at));
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned 0;");
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3] + in[threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def program():
    return warpbound.compile(SOURCE, "sm_90", kernel="wgmma", options=["-arch=sm_90a"])


def launch(n):
    args = {"in": np.ones(128, np.float32), "out": np.zeros(2048, np.float32), "n": n}
    return warpbound.launch(grid=16, block=128, args=args)


def test_a_kernel_with_wgmma_is_counted_and_timed(program):
    some, more = (warpbound.analyze(program, "h100-sxm", launch(n)) for n in (10, 20))
    assert some["mode"] == "dynamic"
    assert 0 < some["time_s"] < more["time_s"]
    assert more["instructions"]["by_pipe"]["tensor"] - some["instructions"]["by_pipe"]["tensor"] == 16 * 4 * 10
    assert more["flop"]["tensor"] - some["flop"]["tensor"] == 16 * 10 * 2 * 64 * 8 * 16
    assert not any("sums of wgmma" in note for note in some["confidence"]["assumed"])


def test_single_bit_products_are_counted_and_their_values_are_not_given():
    source = SOURCE.replace("m64n8k16.f32.f16.f16", "m64n8k256.s32.b1.b1.and.popc")
    source = source.replace("%4, %4, 1, 1, 1, 0, 0;", "%4, %4, 1;").replace('"+f"', '"+r"').replace("float d", "int d")
    program = warpbound.compile(source, "sm_90", kernel="wgmma", options=["-arch=sm_90a"])
    answer = warpbound.analyze(program, "h100-sxm", launch(10))
    assert answer["mode"] == "dynamic"
    assert any("sums of wgmma (counted, not computed)" in note for note in answer["confidence"]["assumed"])
    with pytest.raises(InputError, match="does not execute BGMMA"):
        warpbound.run(program, launch(1))
