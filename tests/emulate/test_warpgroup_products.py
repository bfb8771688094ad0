"""Hopper's warpgroup products against NumPy: every layout of a factor in shared memory, every type, both sums.

The layouts are built here element by element from the table of the PTX ISA ("Strides", "Swizzling modes"), not by the
emulator's formula.
"""

import re

import numpy as np
import pytest

import warpbound

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

COLUMNS, DEPTH_B = 16, 32  # of B; bytes of a step along the depth
IMAGE_B = 32768
B_AT = 16384
SOURCE = """
#include <stdint.h>
extern "C" __global__ void product(
    const uint4 *image, TYPE *out, uint64_t a, uint64_t b, int add, const uint32_t *rows) {
    extern __shared__ __align__(1024) uint4 shared[];
    for (int i = threadIdx.x; i < 2048; i += 128) shared[i] = image[i];
    __syncthreads();
    uint64_t base = ((uint64_t)__cvta_generic_to_shared(shared) & 0x3ffff) >> 4;
    a += base; b += base;
    TYPE d[REGISTERS];
    for (int i = 0; i < REGISTERS; i++) d[i] = out[threadIdx.x * REGISTERS + i];
    asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %PREDICATE, 0;\\n"
                 "wgmma.mma_async.sync.aligned.SHAPE {SUMS}, FACTORS;\\n}\\n" : OUTPUTS : INPUTS);
    asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;\\n" ::: "memory");
    for (int i = 0; i < REGISTERS; i++) out[threadIdx.x * REGISTERS + i] = d[i];
}
"""
# type of A and B -> (PTX, NumPy as stored, type of the sum, bytes)
TYPES = {
    "f16": ("f32.f16.f16", np.float16, "float"),
    "tf32": ("f32.tf32.tf32", np.float32, "float"),
    "e4m3": ("f32.e4m3.e4m3", np.uint8, "float"),
    "e5m2": ("f32.e5m2.e4m3", np.uint8, "float"),
    "s8": ("s32.s8.s8", np.int8, "int"),
    "u8": ("s32.u8.s8", np.uint8, "int"),
}
ROW_B = {0: 16, 1: 128, 2: 64, 3: 32}  # swizzle mode -> bytes of a row of its atom
LEADING_B = {0: 8192, 1: 2048, 2: 2048, 3: 2048}  # by mode, so that no two atoms overlap
STRIDE_B = 1024


def kernel(ptx, sums, registers, turned=(0, 0), *, from_registers=False):
    """The source of one product; the sum in `registers` registers of type `sums`."""
    size = {"f": 2, "t": 4, "e": 1, "s": 1, "u": 1}[ptx.split(".")[1][0]]
    numbered = [f"%{i}" for i in range(registers)]
    flag = {"float": "+f", "int": "+r", "uint32_t": "+r"}[sums]
    inputs = [f"rows[threadIdx.x * 4 + {i}]" for i in range(4)] if from_registers else []
    a_words = [f"%{registers + i}" for i in range(len(inputs))]
    place = registers + len(inputs)
    a = "{" + ", ".join(a_words) + "}" if from_registers else f"%{place}"
    place += not from_registers
    scales = ", 1, 1" if sums != "int" else ""
    turns = ""
    if size == 2:
        turns = f", {turned[1]}" if from_registers else f", {turned[0]}, {turned[1]}"
    first = [f'"r"({word})' for word in inputs] if from_registers else ['"l"(a)']
    operands = ", ".join([*first, '"l"(b)', '"r"(add)'])
    return (
        SOURCE.replace("TYPE", sums).replace("REGISTERS", str(registers)).replace("PREDICATE", str(place + 1))
        .replace("SHAPE", f"m64n{COLUMNS}k{DEPTH_B // size}.{ptx}").replace("SUMS", ", ".join(numbered))
        .replace("FACTORS", f"{a}, %{place}, p{scales}{turns}")
        .replace("OUTPUTS", ", ".join(f'"{flag}"(d[{i}])' for i in range(registers))).replace("INPUTS", operands)
    )  # fmt: skip


def swizzled(address, mode):
    """Bits 4 and up changed by bits 7 and up: one bit for 32 bytes, two for 64, three for 128."""
    bits = {0: 0, 1: 3, 2: 2, 3: 1}[mode]
    for bit in range(bits):
        address ^= ((address >> (7 + bit)) & 1) << (4 + bit)
    return address


def place(row, byte, depth_first, mode, element, start):
    """Where the byte of (row of the extent, byte along the depth) lies: the table's strides, case by case."""
    width = ROW_B[mode]
    if depth_first:
        atom = (row // 8) * STRIDE_B + (row % 8) * width
        inside = byte if mode else (byte // 16) * LEADING_B[mode] + byte % 16
        return swizzled(start + atom + inside, mode)
    deep, rest = byte // element, byte % element
    along = row * element + rest
    if mode:
        atom = (deep // 8) * STRIDE_B + (along // width) * LEADING_B[mode]
        return swizzled(start + atom + (deep % 8) * width + along % width, mode)
    return start + (deep // 8) * LEADING_B[mode] + (along // 16) * STRIDE_B + (deep % 8) * 16 + along % 16


def image_of(matrices):
    """Shared memory with (matrix, depth first, mode, start) laid out; each byte may be written once."""
    image, used = np.zeros(IMAGE_B, np.uint8), np.zeros(IMAGE_B, np.bool_)
    for matrix, depth_first, mode, start in matrices:
        raw = np.ascontiguousarray(matrix).view(np.uint8).reshape(len(matrix), -1)
        for row, byte in np.ndindex(raw.shape):
            at = place(row, byte, depth_first, mode, matrix.itemsize, start)
            assert not used[at]
            image[at], used[at] = raw[row, byte], True
    return image


def descriptor(mode, start):
    return start >> 4 | LEADING_B[mode] >> 4 << 16 | STRIDE_B >> 4 << 32 | mode << 62


def sums_of(words, columns=COLUMNS):
    """(64, columns) from what each lane holds: per 8 columns two of row g, then two of row g + 8."""
    lane = np.arange(128)
    total = np.zeros((64, columns), words.dtype)
    for i in range(words.shape[1]):
        row = lane // 32 * 16 + lane % 32 // 4 + 8 * (i // 2 % 2)
        total[row, 8 * (i // 4) + lane % 4 * 2 + i % 2] = words[:, i]
    return total


def executed(source, image, a, b, sums, add=0, rows=None):
    launch = warpbound.launch(grid=1, block=128, smem=IMAGE_B, args={
        "image": image.view(np.uint32), "out": sums, "a": np.uint64(a), "b": np.uint64(b), "add": add,
        "rows": np.zeros(512, np.uint32) if rows is None else rows,
    })  # fmt: skip
    program = warpbound.compile(source, "h200", options=["-arch=sm_90a"])
    assert any(re.match("[HQI]GMMA", instruction.opcode) for instruction in program.instructions)
    return warpbound.run(program, launch)["out"].reshape(128, -1)


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_every_layout_of_halves(mode, turned):
    numbers = np.random.default_rng(mode)
    a, b = (numbers.standard_normal((extent, 16)).astype(np.float16) for extent in (64, COLUMNS))
    image = image_of([(a, not turned[0], mode, 0), (b, not turned[1], mode, B_AT)])
    before = numbers.standard_normal((128, 8)).astype(np.float32)
    source = kernel("f32.f16.f16", "float", 8, turned)
    product = a.astype(np.float64) @ b.astype(np.float64).T
    for add in (0, 1):
        after = executed(source, image, descriptor(mode, 0), descriptor(mode, B_AT), before.ravel(), add)
        np.testing.assert_allclose(sums_of(after), product + add * sums_of(before), rtol=1e-6, atol=1e-6)


def values(raw, type_):
    """Numbers of stored elements; the 8-bit floats by their definition."""
    if type_ == "tf32":
        return (raw.view(np.uint32) & 0xFFFFE000).view(np.float32).astype(np.float64)
    if type_[0] != "e":
        return raw.astype(np.float64)
    exponent_bits, mantissa_bits = int(type_[1]), int(type_[3])
    bias = 2 ** (exponent_bits - 1) - 1
    exponent = (raw.astype(int) & 0x7F) >> mantissa_bits
    fraction = (raw & (1 << mantissa_bits) - 1) / 2.0**mantissa_bits
    size = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))
    return np.where(raw >> 7, -size, size)


@pytest.mark.parametrize("type_", TYPES)
def test_every_type(type_):
    ptx, stored, sums = TYPES[type_]
    numbers = np.random.default_rng(3)
    shape = DEPTH_B // np.dtype(stored).itemsize
    other = {"e5m2": "e4m3", "u8": "s8"}.get(type_, type_)
    if stored is np.float32:
        a, b = (numbers.standard_normal((extent, shape)).astype(stored) for extent in (64, COLUMNS))
    else:  # codes below the largest exponents: no NaN
        a, b = (numbers.integers(0, 0x70, (extent, shape)).astype(np.uint8) for extent in (64, COLUMNS))
        a, b = a.view(stored), b.view(np.int8 if other == "s8" else stored)
    if stored is np.float16:
        a, b = (numbers.standard_normal((extent, shape)).astype(stored) for extent in (64, COLUMNS))
    image = image_of([(a, True, 3, 0), (b, True, 3, B_AT)])
    before = np.zeros(128 * 8, np.float32 if sums == "float" else np.int32)
    after = executed(kernel(ptx, sums, 8), image, descriptor(3, 0), descriptor(3, B_AT), before)
    product = values(a, type_) @ values(b, other).T
    np.testing.assert_allclose(sums_of(after), product, rtol=1e-6, atol=1e-6 * np.abs(product).max())


def test_the_first_factor_in_registers():
    numbers = np.random.default_rng(5)
    a, b = (numbers.standard_normal((extent, 16)).astype(np.float16) for extent in (64, COLUMNS))
    lane = np.arange(128)
    rows = np.zeros((128, 4), np.uint32)
    for i in range(4):
        row, column = lane // 32 * 16 + lane % 32 // 4 + 8 * (i % 2), lane % 4 * 2 + 8 * (i // 2)
        rows[:, i] = a.view(np.uint16)[row, column] | a.view(np.uint16)[row, column + 1].astype(np.uint32) << 16
    source = kernel("f32.f16.f16", "float", 8, from_registers=True)
    image = image_of([(b, True, 3, B_AT)])
    after = executed(source, image, 0, descriptor(3, B_AT), np.zeros(1024, np.float32), rows=rows.ravel())
    np.testing.assert_allclose(sums_of(after), a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-6, atol=1e-6)


def test_sums_of_packed_halves():
    numbers = np.random.default_rng(7)
    a, b = (numbers.standard_normal((extent, 16)).astype(np.float16) for extent in (64, COLUMNS))
    image = image_of([(a, True, 3, 0), (b, True, 3, B_AT)])
    source = kernel("f16.f16.f16", "uint32_t", 4)
    after = executed(source, image, descriptor(3, 0), descriptor(3, B_AT), np.zeros(512, np.uint32))
    product = (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float16)
    assert np.array_equal(sums_of(np.ascontiguousarray(after).view(np.float16)), product)


def test_a_descriptor_beyond_shared_memory_is_named():
    source, image, sums = kernel("f32.f16.f16", "float", 8), np.zeros(IMAGE_B, np.uint8), np.zeros(1024, np.float32)
    with pytest.raises(warpbound.InputError, match="descriptor of a matrix leads to"):
        executed(source, image, descriptor(3, 0), descriptor(3, 0x38000), sums)
