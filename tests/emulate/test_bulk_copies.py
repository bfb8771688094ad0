"""The copy engine against NumPy: boxes of tensors with every swizzle, rank and edge, and runs of bytes.

What a box holds is written here element by element from the PTX ISA; the maps are also made by the compiler's own
tensormap.replace.
"""

import itertools
from math import prod

import numpy as np
import pytest

import warpbound
from warpbound.emulate.tensor_maps import TensorMap, decode, encode
from warpbound.errors import InputError

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

SHARED_B = 16384
HEAD = """
#include <stdint.h>
extern "C" __global__ void copy(
    uint64_t *map, unsigned char *data, uint4 *out, int c0, int c1, int c2, int c3, int c4) {
    extern __shared__ __align__(1024) unsigned char buffer[];
    __shared__ __align__(8) uint64_t barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(buffer), signal = (unsigned)__cvta_generic_to_shared(&barrier);
    for (int i = threadIdx.x; i < SHARED / 16; i += 32) ((uint4 *)buffer)[i] = START;
    if (threadIdx.x == 0) {
        map[0] = (uint64_t)data;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(signal));
    }
    __syncthreads();
"""
WAIT = """
    unsigned done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                               : "=r"(done) : "r"(signal));
    for (int i = threadIdx.x; i < SHARED / 16; i += 32) out[i] = ((uint4 *)buffer)[i];
}
"""
COORDINATES = ("{%1}", "{%1,%2}", "{%1,%2,%3}", "{%1,%2,%3,%4}", "{%1,%2,%3,%4,%5}")


def source(body, start="make_uint4(0, 0, 0, 0)"):
    return (HEAD + body).replace("START", start).replace("SHARED", str(SHARED_B))


def box_B(tensor_map):
    """Bytes of a box in shared memory, those outside the tensor too."""
    return tensor_map.row_B * prod(tensor_map.counts[1:])


def loading(rank, count_B, form="tile"):
    """A kernel that waits for one box."""
    where = COORDINATES[rank - 1] if form != "gather" else COORDINATES[4]
    mode = ".tile::gather4" if form == "gather" else ""
    return source(f"""
    if (threadIdx.x == 0) {{
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], {count_B};" :: "r"(signal));
        asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes "
                     "[%0], [%6, {where}], [%7];"
                     :: "r"(at), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "l"(map), "r"(signal) : "memory");
    }}
""" + WAIT)  # fmt: skip


def storing(rank, operation=""):
    """A kernel that stores or reduces one box."""
    reduce = "cp.reduce" if operation else "cp"
    return source(f"""
    for (int i = threadIdx.x; i < SHARED / 16; i += 32) ((uint4 *)buffer)[i] = out[i];
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("{reduce}.async.bulk.tensor.{rank}d.global.shared::cta{operation}.bulk_group "
                     "[%6, {COORDINATES[rank - 1]}], [%0];"
                     :: "r"(at), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "l"(map) : "memory");
    asm volatile("cp.async.bulk.commit_group;cp.async.bulk.wait_group 0;" ::: "memory");
}}
""")


def run(text, data, coordinates, tensor_map=None, out=None, gpu="h200"):
    """All arrays after the kernel."""
    arch = {"h200": "sm_90a", "b200": "sm_100a"}[gpu]
    program = warpbound.compile(text, gpu, options=[f"-arch={arch}"])
    words = np.frombuffer(encode(tensor_map), np.uint64) if tensor_map else np.zeros(16, np.uint64)
    launch = warpbound.launch(grid=1, block=32, smem=SHARED_B, args={
        "map": words.copy(), "data": data.reshape(-1).view(np.uint8),
        "out": np.zeros(SHARED_B // 4, np.uint32) if out is None else out.view(np.uint32),
        **{f"c{i}": int(c) for i, c in enumerate((*coordinates, 0, 0, 0, 0, 0)[:5])},
    })  # fmt: skip
    return warpbound.run(program, launch)


def map_of(array, kind, box, *, swizzle=0, steps=None, nan=False):
    """The map of a C-ordered array, innermost axis first."""
    strides = tuple(array.strides[::-1][1:])
    return TensorMap(
        0, kind, 8 * array.itemsize, array.shape[::-1], strides, box, steps or (1,) * array.ndim, swizzle, nan
    )


def swizzled(address, mode):
    for bit in range(mode):
        address ^= ((address >> (7 + bit)) & 1) << (4 + bit)
    return address


def box_bytes(array, start, box, swizzle, steps, fill):
    """Shared memory with the box: each element where the innermost index runs fastest."""
    image = np.zeros(SHARED_B, np.uint8)
    counts = [-(-size // step) for size, step in zip(box, steps, strict=True)]
    for number, index in enumerate(itertools.product(*(range(count) for count in counts[::-1]))):
        at = [c + i * s for c, i, s in zip(start[::-1], index, steps[::-1], strict=True)]
        inside = all(0 <= c < extent for c, extent in zip(at, array.shape, strict=True))
        element = array[tuple(at)] if inside else fill
        for byte, value in enumerate(element.tobytes()):
            image[swizzled(number * array.itemsize + byte, swizzle)] = value
    return image


@pytest.mark.parametrize("swizzle", [0, 1, 2, 3])
@pytest.mark.parametrize("start", [(0, 0), (8, 3), (3, 10), (-2, -1)])
def test_a_box_of_halves_lies_as_its_swizzle_says(swizzle, start):
    array = np.random.default_rng(1).standard_normal((13, 72)).astype(np.float16)
    box = ({0: 64, 1: 16, 2: 32, 3: 64}[swizzle], 8)
    tensor_map = map_of(array, "f16", box, swizzle=swizzle)
    after = run(loading(2, box_B(tensor_map)), array, start, tensor_map)["out"].view(np.uint8)
    assert np.array_equal(after, box_bytes(array, start, box, swizzle, (1, 1), np.float16(0)))


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_boxes_of_every_rank(rank):
    extents = (8, 5, 4, 3, 2)[:rank]
    array = np.arange(np.prod(extents), dtype=np.float32).reshape(extents[::-1])
    box, start = (4, 3, 2, 2, 2)[:rank], (1, 3, 2, 1, 1)[:rank]
    tensor_map = map_of(array, "f32", box)
    after = run(loading(rank, box_B(tensor_map)), array, start, tensor_map)["out"].view(np.uint8)
    assert np.array_equal(after, box_bytes(array, start, box, 0, (1,) * rank, np.float32(0)))


def test_every_second_element_and_row():
    array = np.arange(32 * 8, dtype=np.int32).reshape(8, 32)
    tensor_map = map_of(array, "s32", (16, 6), steps=(2, 3))
    after = run(loading(2, box_B(tensor_map)), array, (4, 1), tensor_map)["out"].view(np.uint8)
    assert np.array_equal(after, box_bytes(array, (4, 1), (16, 6), 0, (2, 3), np.int32(0)))


@pytest.mark.parametrize(("kind", "dtype", "bits"), [("f16", np.uint16, 0x7FFF), ("f32", np.uint32, 0x7FFFFFFF)])
def test_nan_outside_the_tensor(kind, dtype, bits):
    array = np.arange(16 * 4, dtype=dtype).reshape(4, 16)
    tensor_map = map_of(array, kind, (16, 4), nan=True)
    after = run(loading(2, box_B(tensor_map)), array, (8, 2), tensor_map)["out"].view(np.uint8)
    assert np.array_equal(after, box_bytes(array, (8, 2), (16, 4), 0, (1, 1), dtype(bits)))


def test_a_store_leaves_out_what_is_outside():
    array = np.zeros((6, 40), np.float16)
    values = np.random.default_rng(2).standard_normal(SHARED_B // 2).astype(np.float16)
    tensor_map = map_of(array, "f16", (32, 4), swizzle=2)
    after = run(storing(2), array, (24, 4), tensor_map, values)["data"].view(np.float16).reshape(6, 40)
    stored = np.array([[values[swizzled(2 * (32 * i + j), 2) // 2] for j in range(32)] for i in range(4)])
    expected = array.copy()
    expected[4:, 24:] = stored[:2, :16]
    assert np.array_equal(after, expected)


@pytest.mark.parametrize(
    ("operation", "kind", "dtype", "combine"),
    [
        ("add", "f32", np.float32, np.add), ("add", "f16", np.float16, np.add), ("add", "u32", np.uint32, np.add),
        ("min", "s32", np.int32, np.minimum), ("max", "f16", np.float16, np.maximum),
        ("and", "u32", np.uint32, np.bitwise_and), ("xor", "u64", np.uint64, np.bitwise_xor),
    ],
)  # fmt: skip
def test_reductions_of_boxes(operation, kind, dtype, combine):
    numbers = np.random.default_rng(3)
    array = numbers.integers(0, 100, (4, 16)).astype(dtype)
    values = numbers.integers(0, 100, SHARED_B // array.itemsize).astype(dtype)
    tensor_map = map_of(array, kind, (16, 4))
    after = run(storing(2, f".{operation}"), array, (0, 1), tensor_map, values)["data"].view(dtype).reshape(4, 16)
    expected = array.copy()
    expected[1:] = combine(array[1:], values[:64].reshape(4, 16)[:3])
    assert np.array_equal(after, expected)


def test_four_rows_gathered_on_a_b200():
    array = np.random.default_rng(4).standard_normal((20, 64)).astype(np.float16)
    tensor_map = map_of(array, "f16", (64, 1), swizzle=3)
    rows = (17, 2, 9, 2)
    after = run(loading(2, 512, "gather"), array, (0, *rows), tensor_map, gpu="b200")["out"].view(np.uint8)
    expected = box_bytes(np.ascontiguousarray(array[list(rows)]), (0, 0), (64, 4), 3, (1, 1), np.float16(0))
    assert np.array_equal(after, expected)


REPLACED = """
#include <stdint.h>
extern "C" __global__ void replace(uint64_t *map) {
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], 0x123456789a0;" :: "l"(map));
    asm volatile("tensormap.replace.tile.rank.global.b1024.b32 [%0], 2;" :: "l"(map));
    BODY
}
"""


def test_the_bits_of_a_map_are_those_that_the_compiler_sets():
    wanted = TensorMap(
        0x123456789A0, "bf16", 16, (70, 500, 3), (4096, 0x3_0000_0010), (64, 8, 2), (1, 2, 8), 3, fills_nan=True
    )
    modes = {"swizzle_mode": 3, "elemtype": 10, "interleave_layout": 0, "fill_mode": 1}
    fields = [(name, "b32", str(mode)) for name, mode in modes.items()]
    fields += [("box_dim", "b32", f"{i}, {n}") for i, n in enumerate(wanted.box)]
    fields += [("global_dim", "b32", f"{i}, {n}") for i, n in enumerate(wanted.extents)]
    fields += [("global_stride", "b64", f"{i}, {n}") for i, n in enumerate(wanted.strides_B)]
    fields += [("element_stride", "b32", f"{i}, {n}") for i, n in enumerate(wanted.steps)]
    lines = [
        f'asm volatile("tensormap.replace.tile.{name}.global.b1024.{width} [%0], {value};" :: "l"(map));'
        for name, width, value in fields
    ]
    program = warpbound.compile(REPLACED.replace("BODY", "\n".join(lines)), "h200", options=["-arch=sm_90a"])
    launch = warpbound.launch(grid=1, block=1, args={"map": np.zeros(16, np.uint64)})
    raw = warpbound.run(program, launch)["map"].tobytes()
    assert raw == encode(wanted)
    assert decode(raw) == wanted


RUNS = """
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" :: "r"(signal));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(at + 64), "l"(data + 16 * c0), "r"(512), "r"(signal) : "memory");
    }
"""


def test_a_run_of_bytes_arrives_and_ends_the_phase():
    data = np.random.default_rng(5).integers(0, 256, 1024).astype(np.uint8)
    after = run(source(RUNS + WAIT), data, (3,))["out"].view(np.uint8)
    assert np.array_equal(after[64:576], data[48:560])
    assert not after[:64].any()
    assert not after[576:].any()


@pytest.mark.parametrize(
    ("ptx", "dtype", "combine"),
    [("", np.uint32, lambda old, new: new), (".add.u32", np.uint32, np.add), (".min.s32", np.int32, np.minimum),
     (".add.f32", np.float32, np.add), (".add.noftz.f16", np.float16, np.add), (".max.u64", np.uint64, np.maximum)],
)  # fmt: skip
def test_runs_stored_and_reduced(ptx, dtype, combine):
    numbers = np.random.default_rng(6)
    data = numbers.integers(0, 100, 512 // np.dtype(dtype).itemsize).astype(dtype)
    values = numbers.integers(0, 100, SHARED_B // np.dtype(dtype).itemsize).astype(dtype)
    text = source(f"""
    for (int i = threadIdx.x; i < SHARED / 16; i += 32) ((uint4 *)buffer)[i] = out[i];
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.{'reduce.' if ptx else ''}async.bulk.global.shared::cta.bulk_group{ptx} [%0], [%1], %2;"
                     :: "l"(data + 16), "r"(at), "r"(c0) : "memory");
}}
""")
    after = run(text, data, (480,), out=values)["data"].view(dtype)
    skipped = 16 // data.itemsize
    count = 480 // data.itemsize
    expected = data.copy()
    expected[skipped : skipped + count] = combine(data[skipped : skipped + count], values[:count])
    assert np.array_equal(after, expected)


def test_a_box_beyond_shared_memory_is_named():
    array = np.zeros((64, 64), np.float32)
    tensor_map = map_of(array, "f32", (64, 64))
    text = loading(2, box_B(tensor_map)).replace('"r"(at), "r"(c0)', '"r"(at + 8192), "r"(c0)')
    with pytest.raises(InputError, match="a bulk copy reaches byte .* of shared memory"):
        run(text, array, (0, 0), tensor_map)


def test_a_map_that_nobody_filled_in_is_named():
    text = loading(2, 512).replace("map[0] = (uint64_t)data;", "")
    with pytest.raises(InputError, match="tensor map cannot be followed: it describes no tensor"):
        run(text, np.zeros(64, np.float32), (0, 0))
