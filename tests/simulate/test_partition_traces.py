"""Executed kernels as access patterns: what was accessed, where the block met, what was executed in between."""


import numpy as np
import pytest

from support.paths import EXAMPLES
from warpbound.emulate import trace
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program
from warpbound.simulate.partition_patterns import counters
from warpbound.simulate.partition_traces import traced

pytestmark = pytest.mark.cuda


def test_a_transpose_loads_meets_and_stores() -> None:
    program = compile_program(EXAMPLES / "transpose_tiled.cu", "sm_75")
    asked = launch(EXAMPLES / "transpose_tiled.toml")
    seen = trace(program, asked, list(range(70)))
    pattern = traced(program, seen)
    assert (pattern.block_warps, pattern.blocks) == (8, 70)
    each = pattern.waits.reshape(560, -1)
    loads = each.shape[1] // 2
    assert each[:, :loads].all()
    assert not each[:, loads:].any()
    met = pattern.barrier.reshape(560, -1)
    assert met[:, loads].all()
    assert met.sum() == 560
    assert counters(pattern) == dict.fromkeys(counters(pattern), 0) | {"gld_64b": 70 * 64, "gst_64b": 70 * 64}


def test_arithmetic_before_an_access_is_what_was_executed_since_the_last_one() -> None:
    program = compile_program(EXAMPLES / "saxpy.cu", "sm_75")
    args = {"n": 2048, "a": 2.0, "x": "f32[2048]:ones", "y": "f32[2048]:ones"}
    seen = trace(program, launch(grid=8, block=256, args=args), list(range(8)))
    pattern = traced(program, seen)
    stream = next(iter(seen.streams.values())).tolist()
    opcodes = [program.instructions[i].opcode for i in stream]
    at = [i for i, opcode in enumerate(opcodes) if opcode in ("LDG", "STG")]
    assert len(at) == 3
    expected = 4 * np.diff(at, prepend=-1)
    assert (pattern.cycles.reshape(64, 3) == expected).all()
    assert not pattern.barrier.any()
    assert pattern.waits.reshape(64, 3).tolist() == [[True, True, False]] * 64
    base = pattern.address.reshape(64, 3, 2)
    assert (np.diff(base, axis=2) == 64).all()
    assert (np.diff(base[:, 0, 0]) == 128).all()
