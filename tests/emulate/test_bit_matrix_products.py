"""Products of matrices of single bits (BMMA) count as NumPy does."""

import numpy as np
import pytest

from warpbound import emulate
from warpbound.errors import InputError
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]
ROWS = {"m8n8k128": 8, "m16n8k128": 16, "m16n8k256": 16}


def source(shape, operation):
    """One product; every lane hands its registers over from arrays in the order of the lanes."""
    depth = int(shape.partition("k")[2])
    a, b, c = ROWS[shape] * depth // 1024, depth // 128, ROWS[shape] // 4
    names = [f"%{i}" for i in range(c + a + b)]
    listed = ", ".join("{" + ", ".join(part) + "}" for part in (names[:c], names[c : c + a], names[c + a :], names[:c]))
    values = [f'"r"(a[t * {a} + {i}])' for i in range(a)] + [f'"r"(b[t * {b} + {i}])' for i in range(b)]
    return f"""extern "C" __global__ void bits(const unsigned* a, const unsigned* b, int* c) {{
        int t = threadIdx.x, *sum = c + t * {c};
        asm volatile("mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operation}.popc {listed};"
            : {", ".join(f'"+r"(sum[{i}])' for i in range(c))} : {", ".join(values)});
    }}"""


def fragments(matrix):
    """Rows of bits as lanes hold them: word t of every group of four of row g, rows 8 apart one after the other."""
    words = np.packbits(matrix, axis=1, bitorder="little").view(np.uint32)
    tall, wide = len(matrix) // 8, words.shape[1] // 4
    return words.reshape(tall, 8, wide, 4).transpose(1, 3, 2, 0).reshape(32, wide * tall).copy()


def ask(shape, operation, arch):
    random = np.random.default_rng(5)
    depth = int(shape.partition("k")[2])
    a, b = random.integers(0, 2, (ROWS[shape], depth)), random.integers(0, 2, (8, depth))
    program = compile_program(source(shape, operation), f"sm_{arch}", "bits")
    sums = np.full((32, ROWS[shape] // 4), 100, np.int32)
    args = {"a": fragments(a), "b": fragments(b), "c": sums}
    found = emulate.run(program, launch(grid=1, block=32, args=args))["c"]
    meet = np.bitwise_and if operation == "and" else np.bitwise_xor
    counts = meet(a[:, None, :], b[None]).sum(axis=2)  # (rows, 8)
    return found, 100 + counts.reshape(-1, 8, 4, 2).transpose(1, 2, 0, 3).reshape(32, -1)


@pytest.mark.parametrize("arch, shape, operation", [
    (75, "m8n8k128", "xor"), (80, "m8n8k128", "and"), (80, "m16n8k128", "xor"), (90, "m16n8k256", "and"),
    (86, "m16n8k256", "xor"),
])  # fmt: skip
def test_bits_in_common_or_different(arch, shape, operation):
    found, wanted = ask(shape, operation, arch)
    assert np.array_equal(found, wanted)


def test_where_the_compiler_makes_bytes_of_bits_the_instruction_is_named():
    with pytest.raises(InputError, match=r"does not execute MOVM\.U4TO8"):
        ask("m16n8k256", "xor", 120)
