"""Products of a warp that are sparse, have scales or numbers of 4 and 6 bits: values against NumPy."""

import pytest

from instruction_corpus import nvrtc_products
from instruction_corpus.cases import is_equal
from warpbound import machine

pytestmark = pytest.mark.cuda
CASES = {case.name: case for case in nvrtc_products.cases()}
SAMPLE = {  # name -> board and start of the instruction
    "sparse f16 m16n8k32": ("a100-sxm-80gb", "HMMA.SP.16832"),
    "sparse tf32 m16n8k8": ("h200", "HMMA.SP.1688"),
    "sparse s8 m16n8k64": ("rtx-4090", "IMMA.SP.16864"),
    "sparse s4 m16n8k64": ("rtx-3090", "IMMA.SP.16864"),
    "product e2m1 e4m3 ue8m0": ("rtx-5090", "QMMA.SF.16832.F32.E2M1.E4M3"),
    "product e3m2 e2m3 unscaled": ("rtx-5090", "QMMA.16832.F32.E3M2.E2M3"),
    "product e4m3 e5m2 ue8m0": ("rtx-5090", "QMMA.SF.16832"),
    "product e2m1 e2m1 ue4m3": ("rtx-5090", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X"),
}
BOARDS = {80: "a100-sxm-80gb", 89: "rtx-4090", 120: "rtx-5090"}


@pytest.mark.parametrize("name", SAMPLE)
def test_values_equal_numpys(name):
    board, instruction = SAMPLE[name]
    ready = CASES[name].prepare(machine.gpu(board))
    assert any(each.text.startswith(instruction) for each in ready.program.instructions)
    assert is_equal(CASES[name], ready.run())


@pytest.mark.broad
@pytest.mark.parametrize("name", sorted(CASES.keys() - SAMPLE.keys()))
def test_other_values_equal_numpys(name):
    case = CASES[name]
    assert is_equal(case, case.prepare(machine.gpu(BOARDS[case.architectures[0]])).run())
