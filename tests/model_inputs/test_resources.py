"""Demands on shared memory and the load/store unit: by architecture."""

import pytest

from support.unit_of_work import work
from warpbound.isa.opcodes import opcode_facts
from warpbound.machine import gpu, override
from warpbound.model_inputs.resources import demand
from warpbound.workload import Memory

LOADS = 100.0
BOARDS = {  # board -> cycles of an SM for each load of shared memory with 1, 2 and 4 wavefronts
    "v100-pcie": (1, 2, 4),         # GV100 and GA100: a wavefront a cycle
    "a100-pcie-40gb": (1, 2, 4),
    "h100-pcie": (1, 2, 4),
    "rtx-3090": (2, 2, 4),          # GA10x: an instruction every other cycle, which a two-way conflict does not exceed
    "rtx-4090": (2, 2, 4),
    "rtx-5090": (2, 2, 4),
    "t4": (2, 4, 8),                # Turing: two cycles a wavefront
    "rtx-2080-ti": (2, 4, 8),
    "gtx-1660-super": (2, 4, 8),
}


def loads(name: str, wavefronts: float, **changes: float) -> float:
    """SM cycles of one warp's loads, by the tighter of the load/store unit and shared memory."""
    board = override(gpu(name), changes)
    lsu = opcode_facts("LDS", (), board.arch).demand["lsu"]
    x = work(units={"lsu": LOADS * lsu}, memory=Memory(shared_wavefronts_load=LOADS * wavefronts))
    cycles = demand(x, board, board.value("boost_clock"))
    return max(cycles["lsu"], cycles["shared"])


@pytest.mark.parametrize("name", BOARDS)
def test_loads_of_shared_memory(name: str) -> None:
    assert [loads(name, ways) / LOADS for ways in (1, 2, 4)] == list(BOARDS[name])


def test_another_cost_of_a_wavefront_can_be_set() -> None:
    assert loads("v100-pcie", 4.0, shared_wavefront_cost=1.5) == pytest.approx(6 * LOADS)
