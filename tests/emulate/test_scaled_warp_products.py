"""Products of a warp with block scales (sm_120a), compiled from PTX's own instruction: values against NumPy."""

import pytest

from instruction_corpus import nvrtc_kernels
from instruction_corpus.cases import is_equal
from warpbound import machine
from warpbound.errors import InputError

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize(
    "case, opcode", [(nvrtc_kernels.scaled_fp8(), "QMMA"), (nvrtc_kernels.scaled_fp4(), "OMMA")], ids=["fp8", "fp4"]
)
def test_values_equal_numpys(case, opcode):
    ready = case.prepare(machine.gpu("rtx-5090"))
    assert opcode in {each.opcode for each in ready.program.instructions}
    assert is_equal(case, ready.run())


@pytest.mark.broad
def test_a_sparse_product_is_refused_by_name():
    with pytest.raises(InputError, match="HMMA.SP"):
        nvrtc_kernels.sparse_half().prepare(machine.gpu("rtx-5090")).run()
