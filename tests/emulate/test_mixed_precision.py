"""Sums of halves and float32 numbers of Blackwell against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

import warpbound

pytestmark = pytest.mark.cuda

SOURCE = """
extern "C" __global__ void mixed(const unsigned short *a, const unsigned short *b, const float *c, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum, fused;
    asm("PTX_ADD %0, %1, %2;" : "=f"(sum) : "h"(a[i]), "f"(c[i]));
    asm("PTX_FMA %0, %1, %2, %3;" : "=f"(fused) : "h"(a[i]), "h"(b[i]), "f"(c[i]));
    out[2 * i] = sum;
    out[2 * i + 1] = fused;
}
"""


def nearest(exact):
    """The float32 next to a fraction; of two the even one."""
    guess = np.float32(float(exact))
    near = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(near, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1))


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_sums_are_rounded_once(type_):
    random = np.random.default_rng(11)
    raw = random.integers(0, 0x7800 if type_ == "f16" else 0x4600, (2, 256)).astype(np.uint16)
    raw |= (random.integers(0, 2, raw.shape) << 15).astype(np.uint16)
    c = (random.standard_normal(256) * 10.0 ** random.integers(-3, 4, 256)).astype(np.float32)
    text = SOURCE.replace("PTX_ADD", f"add.rn.f32.{type_}").replace("PTX_FMA", f"fma.rn.f32.{type_}")
    program = warpbound.compile(text, "b200", options=["-arch=sm_100a"])
    assert {"FHADD", "FHFMA"} <= {instruction.opcode for instruction in program.instructions}
    arguments = {"a": raw[0], "b": raw[1], "c": c, "out": np.zeros(512, np.float32)}
    out = warpbound.run(program, warpbound.launch(grid=2, block=128, args=arguments))["out"].reshape(-1, 2)
    halves = raw.view(np.float16) if type_ == "f16" else (raw.astype(np.uint32) << 16).view(np.float32)
    for i in range(256):
        first, second, last = (Fraction(float(value)) for value in (halves[0, i], halves[1, i], c[i]))
        assert out[i, 0] == nearest(first + last)
        assert out[i, 1] == nearest(first * second + last)
