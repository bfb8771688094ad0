"""What an L1 without end would answer is known from the first walk through the caches."""

from dataclasses import replace

import pytest

from support.paths import EXAMPLES
from warpbound import compile, gpu, launch
from warpbound.analysis.cache_whatifs import ENDLESS
from warpbound.analysis.case import case_of
from warpbound.analysis.sampled import cache_facts, cache_settings, run_sample
from warpbound.analysis.settings import DEFAULT
from warpbound.memory.traffic import traffic

pytestmark = pytest.mark.cuda



NAMES = ["saxpy", "matmul_tiled", "transpose_naive", "stencil5", "spmv_csr"]


@pytest.mark.parametrize("name", [*NAMES, pytest.param("matmul_naive", marks=pytest.mark.broad)])
def test_repeats_are_the_hits_of_an_endless_cache(name: str) -> None:
    board, asked = gpu("h200"), launch(EXAMPLES / f"{name}.toml")
    program = compile(EXAMPLES / f"{name}.cu", board, kernel=asked.kernel, defines=asked.defines)
    case = case_of(program, board, asked, DEFAULT)
    seen, chosen, moved = run_sample(case, asked)
    assert moved is not None
    endless = traffic(program, seen, replace(cache_facts(case), l1_bytes=ENDLESS), cache_settings(case, chosen))
    assert moved.l1_repeat_rate == endless.l1_hit_rate
    assert (moved.l1_hit_rate or 0.0) <= (moved.l1_repeat_rate or 0.0)
