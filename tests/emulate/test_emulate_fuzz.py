"""Broken machine code gives a result or one clear error: no traceback, no hang, no access outside the image."""

import random
import time
from dataclasses import replace

import pytest
from case import EXAMPLES

from warpbound import emulate
from warpbound.errors import WarpboundError
from warpbound.kernel_launch import launch
from warpbound.program.reading import compile_program

pytestmark = pytest.mark.cuda

LAUNCHES = {
    "reduction": {"grid": 1, "block": 64, "args": {"input": "f32[500]:rand", "partial": "f32[4]", "n": 500}},
    "matmul_tiled": {
        "grid": 1,
        "block": (32, 32),
        "args": {"A": "f32[32,32]:rand", "B": "f32[32,32]:rand", "C": "f32[32,32]", "n": 32},
    },
}


def broken(program, chance):
    """The program with one to three instructions moved, or operands taken from elsewhere."""
    code = list(program.instructions)
    operands = [operand for one in code for operand in one.operands]
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(code))
        own = list(code[at].operands)
        if own and chance.random() < 0.5:
            own[chance.randrange(len(own))] = chance.choice(operands)
            code[at] = replace(code[at], operands=tuple(own))
        else:
            code[at] = replace(chance.choice(code), address=code[at].address)
    return replace(program, instructions=tuple(code))


def fuzz(arch, seconds, seed):
    chance = random.Random(seed)
    programs = [compile_program(EXAMPLES / f"{name}.cu", f"sm_{arch}") for name in LAUNCHES]
    end, outcomes = time.monotonic() + seconds, {"ran": 0, "refused": 0}
    while time.monotonic() < end:
        program = broken(chance.choice(programs), chance)
        try:
            emulate.run(program, launch(**LAUNCHES[program.title]), step_limit=3000)
            outcomes["ran"] += 1
        except WarpboundError:
            outcomes["refused"] += 1
    return outcomes


@pytest.mark.parametrize("arch", [80, 120])
def test_broken_code_for_a_moment(arch):
    assert all(fuzz(arch, 2, seed=arch).values())


@pytest.mark.full
@pytest.mark.parametrize("arch", [75, 80, 86, 89, 90, 100, 120])
def test_broken_code_for_long(arch):
    assert all(fuzz(arch, 60, seed=arch + 1).values())
