"""Loads that read what the kernel stored before, against a walk through the accesses one by one."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.emulate import store_to_load
from warpbound.emulate.trace import accesses_of
from warpbound.program.registers import lane_bytes
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda

CODE = """__global__ void k(volatile char* x, volatile float* a, volatile double* b) {
    a[threadIdx.x] = x[threadIdx.x]; b[threadIdx.x] = a[threadIdx.x + 1]; a[0] = b[threadIdx.x + 3]; }"""
ROW = st.tuples(st.integers(0, 20), st.integers(0, 40), st.integers(1, 8), st.integers(1, 2**32 - 1))


@given(st.lists(ROW, max_size=12), st.integers(1, 7), st.sampled_from([1, 3, store_to_load.FEW_ROWS]))
def test_loads_after_stores_are_found(rows, chosen, few):
    program = compile_program(CODE, "sm_90")
    code = program.instructions
    moving = [i for i, instruction in enumerate(code) if instruction.opcode in ("LDG", "STG")]
    every_store = [i for i in moving if code[i].opcode == "STG"]
    stores = [i for bit, i in enumerate(every_store) if chosen >> bit & 1]
    instruction = np.array([moving[row[0] % len(moving)] for row in rows], np.int32)
    widths = np.array([max(4, lane_bytes(code[i])) for i in instruction], np.int64)
    first, stride = np.array([row[1] for row in rows], np.int64), np.array([row[2] for row in rows], np.int64)
    addresses = (4096 + (first[:, None] + stride[:, None] * np.arange(32)) * widths[:, None]).astype(np.uint64)
    active = np.array([[row[3] >> lane & 1 for lane in range(32)] for row in rows], np.bool_).reshape(-1, 32)
    trace = accesses_of(instruction, np.zeros(len(rows), np.int32), addresses, active)
    written, expected = set(), set()
    for at, own, lanes, width in zip(instruction.tolist(), addresses, active, widths.tolist(), strict=True):
        words = {int(address) // 4 + n for address in own[lanes] for n in range(width // 4)}
        if at in stores:
            written |= words
        elif code[at].opcode == "LDG" and words & written:
            expected.add(at)
    with patch.object(store_to_load, "FEW_ROWS", few):
        assert store_to_load._loaded_after(program, trace, stores) == expected
