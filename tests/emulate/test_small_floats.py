"""Conversions between FP32, FP16 and floats of 4, 6 and 8 bits against a search over all their numbers."""

import numpy as np
import pytest

from instruction_corpus.nvrtc_products import FLOATS, decoded
from warpbound import emulate
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda
KINDS = ("e3m2", "e2m3", "e2m1")
PAIR = 'asm("cvt.rn.satfinite.{kind}x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(x[i + 256]), "f"(x[i]));'
OF_FOUR = (
    'asm("{{.reg .b8 h; cvt.rn.satfinite.{kind}x2.f32 h, %1, %2; cvt.u16.u8 %0, h;}}"'
    ' : "=h"(pair) : "f"(x[i + 256]), "f"(x[i]));'
)
BACK = 'asm("cvt.rn.f16x2.{kind}x2 %0, %1;" : "=r"(both) : "h"(pair));'
BACK_OF_FOUR = 'asm("{{.reg .b8 h; cvt.u8.u16 h, %1; cvt.rn.f16x2.{kind}x2 %0, h;}}" : "=r"(both) : "h"(pair));'
SCALES = """
    asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(x[i + 256]), "f"(x[i])); up[i] = pair;
    asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(x[i + 256]), "f"(x[i])); down[i] = pair;
    asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(both) : "h"(pair)); back[i] = both;"""


SCALED = 'asm("cvt.rn{how}.scaled::n2::ue8m0.bf16x2.{kind}x2 %0, %1, %2;" : "=r"(both) : "h"(pair), "h"(scale));'
SCALED_OF_FOUR = (
    'asm("{{.reg .b8 h; cvt.u8.u16 h, %1; cvt.rn{how}.scaled::n2::ue8m0.bf16x2.{kind}x2 %0, h, %2;}}"'
    ' : "=r"(both) : "h"(pair), "h"(scale));'
)


ONCE = 'asm("cvt.rn.bf16x2.{kind}x2 %0, %1;" : "=r"(both) : "h"(pair));'


def executed(body, **arrays):
    """The kernel's arrays on sm_120a, whose parameters are x and then arrays of 32-bit words."""
    outputs = "".join(f", unsigned* {name}" for name in arrays if name != "x")
    source = f"""extern "C" __global__ void k(const float* x{outputs}) {{
        int i = threadIdx.x; unsigned short pair; unsigned both; {body} }}"""
    return emulate.run(compile_program(source, "sm_120", "k"), launch(grid=1, block=256, args=arrays))


def test_numbers_of_four_and_six_bits_are_the_nearest_ones():
    body = ""
    for kind in KINDS:
        there, back = (OF_FOUR, BACK_OF_FOUR) if kind == "e2m1" else (PAIR, BACK)
        body += f"{there.format(kind=kind)} {kind}[i] = pair; {back.format(kind=kind)} {kind}_back[i] = both;"
    numbers = np.random.default_rng(3)
    x = (numbers.standard_normal((2, 256)) * 2.0 ** numbers.integers(-6, 6, (2, 256))).astype(np.float32)
    x[:, :8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.25, 2.5, -5.0]  # the last three lie halfway in E2M1
    words = {f"{kind}{part}": np.zeros(256, np.uint32) for kind in KINDS for part in ("", "_back")}
    arrays = executed(body, x=x.reshape(-1), **words)
    for kind in KINDS:
        bits = 1 + FLOATS[kind][0] + FLOATS[kind][1]
        sizes = decoded(np.arange(1 << bits - 1), kind)
        apart = 4 if kind == "e2m1" else 8
        for half in (0, 1):
            own = arrays[kind] >> np.uint32(apart * half) & np.uint32((1 << apart) - 1)
            distance = np.abs(np.minimum(np.abs(x[half].astype(float)), sizes[-1])[:, None] - sizes)
            distance += 1e-9 * (np.arange(len(sizes)) % 2)  # of two that are as near the even one
            code = distance.argmin(axis=1) | np.signbit(x[half]).astype(int) << bits - 1
            code = np.where(np.isnan(x[half]), len(sizes) - 1, code)
            assert np.array_equal(own, code), kind
            there = (arrays[f"{kind}_back"] >> np.uint32(16 * half)).astype(np.uint16).view(np.float16)
            assert np.array_equal(there.astype(float), decoded(code, kind)), kind


def test_scales_are_powers_of_two():
    """UE8M0, to and from: up to the next power, down to the last one."""
    x = np.array([1.0, 1.5, 2.0, 3.9e-39, 0.0, np.inf, np.nan, 3e38, 0.75] * 57)[:512].astype(np.float32)
    arrays = executed(SCALES, x=x, **{name: np.zeros(256, np.uint32) for name in ("up", "down", "back")})
    up, down = ([*(int(word) & 0xFF for word in arrays[name][:9])] for name in ("up", "down"))
    assert up == [127, 128, 128, 0, 0, 254, 255, 255 - 1, 127]
    assert down == [127, 127, 128, 0, 0, 254, 255, 254, 126]
    values = (arrays["back"][:9] << np.uint32(16)).view(np.float32)
    wanted = np.array([np.nan if code == 255 else 2.0 ** (code - 127) for code in down], np.float32)
    assert np.array_equal(values, wanted, equal_nan=True)


def test_pairs_become_bf16_without_scales():
    body = "pair = int(x[i]);" + ONCE.format(kind="e2m3") + " a[i] = both;"
    arrays = executed(body, x=np.arange(256, dtype=np.float32), a=np.zeros(256, np.uint32))
    assert np.array_equal((arrays["a"] << np.uint32(16)).view(np.float32), decoded(np.arange(256) & 63, "e2m3"))


@pytest.mark.parametrize("to", ["f16", "bf16"])
def test_each_byte_of_a_word_holds_a_pair_of_four_bits(to):
    body = 'asm("{.reg .b8 b<4>; mov.b32 {b0,b1,b2,b3}, %4;' + "".join(
        f" cvt.rn.{to}x2.e2m1x2 %{byte}, b{byte};" for byte in range(4)
    ) + '}" : "=r"(a[i]), "=r"(b[i]), "=r"(c[i]), "=r"(d[i]) : "r"(__float_as_int(x[i])));'
    words = np.random.default_rng(1).integers(0, 1 << 32, 256, np.uint32)
    arrays = executed(body, x=words.view(np.float32), **{name: np.zeros(256, np.uint32) for name in "abcd"})
    for byte, name in enumerate("abcd"):
        for half in (0, 1):
            bits = arrays[name] >> np.uint32(16 * half) & np.uint32(0xFFFF)
            own = bits.astype(np.uint16).view(np.float16) if to == "f16" else (bits << np.uint32(16)).view(np.float32)
            codes = (words >> np.uint32(8 * byte + 4 * half) & np.uint32(15)).astype(int)
            assert np.array_equal(own, decoded(codes, "e2m1"))


@pytest.mark.parametrize("how", ["", ".satfinite", ".satfinite.relu"])
def test_pairs_become_bf16_times_their_scales(how):
    """Every code of a byte, with scales that overflow, are tiny, or are no number."""
    kinds = (*KINDS, "e4m3", "e5m2")
    body = "pair = int(x[i]); unsigned short scale = int(x[i + 256]);"
    for kind in kinds:
        body += f"{(SCALED_OF_FOUR if kind == 'e2m1' else SCALED).format(kind=kind, how=how)} {kind}[i] = both;"
    pairs = np.arange(256) | np.arange(256)[::-1] << 8
    scales = np.tile([127, 130, 254, 0, 255, 100, 1, 128], 32) | np.roll(np.tile([127, 255, 3, 254], 64), 1) << 8
    x = np.concatenate([pairs, scales]).astype(np.float32)
    arrays = executed(body, x=x, **{kind: np.zeros(256, np.uint32) for kind in kinds})
    for kind in kinds:
        bits = 1 + FLOATS[kind][0] + FLOATS[kind][1]
        for half in (0, 1):
            codes = pairs >> (4 if kind == "e2m1" else 8) * half & (1 << bits) - 1
            value = decoded(codes, kind)
            if kind == "e5m2":
                value = np.where(codes & 0x7C == 0x7C, np.where(codes & 3, np.nan, np.copysign(np.inf, value)), value)
            if kind == "e4m3":
                value = np.where(codes & 0x7F == 0x7F, np.nan, value)
            scale = scales >> 8 * half & 0xFF
            value = value * np.where(scale == 255, np.nan, 2.0 ** (scale.astype(float) - 127))
            largest = 2.0**128 - 2.0**120
            if how:
                value = np.clip(value, -largest, largest)
            if "relu" in how:
                value = np.where(value < 0, 0.0, value)
            own = (arrays[kind] >> np.uint32(16 * half) << np.uint32(16)).view(np.float32)
            wanted = np.where(np.abs(value) > largest, np.copysign(np.inf, value), value)
            assert np.allclose(own, wanted, rtol=2**-9, atol=2.0**-134, equal_nan=True), kind
