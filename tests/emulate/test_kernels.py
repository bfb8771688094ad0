"""Every kernel gives NumPy's results: the emulator's proof."""

from typing import Any

import numpy as np
import pytest

from support.emulator.all_cases import CASES
from support.emulator.case import difference, program_of
from warpbound import emulate

pytestmark = pytest.mark.usefixtures("disassembled_together")

USUAL, OTHERS = (80, 120), (75, 86, 89, 90, 100)
NEWER = ("corner", "judged", "modern", "ptx", "tensor")  # groups with instructions that sm_80 lacks


def cases() -> list[Any]:
    """Every kernel on all architectures; `broad` on the newer usual one where the older one has its instructions."""
    return [
        pytest.param(name, arch, marks=() if arch == USUAL[0] or name.startswith(NEWER) else pytest.mark.broad)
        for name in CASES
        for arch in USUAL
    ] + [pytest.param(name, arch, marks=pytest.mark.full) for name in CASES for arch in OTHERS]



@pytest.mark.cuda
@pytest.mark.parametrize("name, arch", cases())
def test_results_are_those_of_numpy(name, arch):
    case = CASES[name](np.random.default_rng(7))
    if arch < case.least_arch:
        pytest.skip(f"sm_{arch} has no such instruction")
    arrays = emulate.run(program_of(case, arch), case.launch, step_limit=200_000)
    for key, wanted in case.expected.items():
        assert not difference(wanted, arrays[key]), key


@pytest.mark.cuda
def test_a_loop_of_plain_loads_lets_nobody_past_its_end():
    """On sm_75, whose plain loads are .SYS: a uniform register counts the rounds, and who comes past takes it."""
    test_results_are_those_of_numpy("judged-walks", 75)
