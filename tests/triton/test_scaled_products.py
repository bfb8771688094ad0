"""Products with a scale for each block of 32 numbers: values against NumPy, in tensor memory and in registers."""

import pytest

pytest.importorskip("triton")

from instruction_corpus import triton_kernels
from instruction_corpus.cases import is_equal
from warpbound import machine

pytestmark = pytest.mark.cuda
SCALED = {case.name: case for case in triton_kernels.cases() if case.name.startswith("scaled product")}


@pytest.mark.parametrize("kind", ["e4m3", pytest.param("e5m2", marks=pytest.mark.broad), "e2m1"])
def test_products_of_tensor_memory_equal_numpys(kind):
    case = SCALED[f"scaled product {kind}"]
    ready = case.prepare(machine.gpu("b200"))
    opcode = "UTCOMMA" if kind == "e2m1" else "UTCQMMA"
    assert opcode in {each.opcode for each in ready.program.instructions}
    assert is_equal(case, ready.run())


@pytest.mark.broad
@pytest.mark.parametrize("board", ["h200", "b200", "rtx-5090"])
@pytest.mark.parametrize("name", ["product of half sums", "scaled product e4m3 bf16", "scaled product e2m1 bf16"])
def test_half_sums_and_small_floats_times_bf16_equal_numpys(board, name):
    (case,) = (case for case in triton_kernels.cases() if case.name == name)
    assert is_equal(case, case.prepare(machine.gpu(board)).run())
