"""Every kernel gives NumPy's results: the emulator's proof."""

import numpy as np
import pytest

from support.emulator.all_cases import CASES
from support.emulator.case import difference, program_of
from warpbound import emulate

USUAL, OTHERS = (80, 120), (75, 86, 89, 90, 100)
ARCHITECTURES = [*USUAL, *(pytest.param(arch, marks=pytest.mark.full) for arch in OTHERS)]


@pytest.mark.cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", CASES)
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
