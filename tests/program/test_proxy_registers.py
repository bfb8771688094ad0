"""Code of sm_75 that stands in: as many registers as a compiler gives where an SM has 2048 threads."""

from pathlib import Path

import pytest

import warpbound
from warpbound.program.cuda import Options
from warpbound.program.source_files import variants

PRODUCTS = Path(warpbound.__file__).parent / "validate" / "corpora" / "products" / "kernels.cu"
SMALL = 'extern "C" __global__ void small(float *x) { x[threadIdx.x] += 1.0f; }'


@pytest.mark.cuda
@pytest.mark.parametrize("gpu", ["v100-sxm2", "p100", "gtx1080"])
def test_no_more_registers_than_code_for_as_many_threads(gpu: str) -> None:
    """The tiled product: 39 registers of sm_75's would leave room for one block of 1024 threads, not two."""
    found, own, later = (warpbound.compile(PRODUCTS, board, "tiled") for board in (gpu, "t4", "a100-pcie-40gb"))
    assert later.registers <= 32 < own.registers
    assert found.registers == 32
    assert found.instructions == own.instructions
    (said,) = (note for note in found.assumed if note.startswith("32 registers a thread, as code for sm_80 has"))
    assert said.endswith(f"that of sm_75 has {own.registers}")
    blocks = warpbound.occupancy(gpu, 1024, found.registers, found.shared_bytes).blocks_per_sm
    assert int(blocks) == 2


@pytest.mark.cuda
def test_variants_have_them_too() -> None:
    (found,) = variants(PRODUCTS, warpbound.gpu("v100-sxm2"), "tiled", [Options()])
    assert found == warpbound.compile(PRODUCTS, "v100-sxm2", "tiled")


@pytest.mark.cuda
def test_code_of_few_registers_and_code_of_its_own_keep_theirs() -> None:
    small = warpbound.compile(SMALL, "v100-sxm2")
    assert small.registers == warpbound.compile(SMALL, "t4").registers
    assert not [said for said in small.assumed if "registers" in said]
    own = warpbound.compile(PRODUCTS, "t4", "tiled")
    assert not [said for said in own.assumed if "registers" in said]


@pytest.mark.cuda
def test_source_that_is_for_older_ones_alone_keeps_its_registers() -> None:
    """What sm_80 refuses: nothing is known but the number of the code that stands in."""
    text = "#if __CUDA_ARCH__ >= 800\n#error too new\n#endif\n" + PRODUCTS.read_text()
    found = warpbound.compile(text, "v100-sxm2", "tiled")
    assert found.registers == warpbound.compile(PRODUCTS, "t4", "tiled").registers
