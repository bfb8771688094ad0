"""docs/accuracy/tensor-rates.md: what the catalogue predicts of each instruction that others measured."""

import pytest

from support.paths import ROOT
from warpbound import machine
from warpbound.isa.opcodes import opcode_facts
from warpbound.latency import tensor_rate

PAGE = (ROOT / "docs" / "accuracy" / "tensor-rates.md").read_text("utf-8").splitlines()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE if "MMA." in line and line[0] == "|"]
_PICO = 1e-12


def rate(board, instruction):
    opcode, *modifiers = instruction.split(".")
    own = machine.gpu(board)
    tensor = opcode_facts(opcode, tuple(modifiers), own.arch).tensor
    assert tensor is not None
    return tensor_rate(own, tensor[0])


@pytest.mark.parametrize("row", [row for row in ROWS if len(row) == 6], ids=lambda row: row[2])
def test_predicted_operations_per_second(row):
    board, clock, instruction, measured, predicted, ratio = row
    operations = 2 * rate(board, instruction) * machine.gpu(board).value("sm_count") * float(clock) * 1e6 * _PICO
    assert operations == pytest.approx(float(predicted), abs=0.06)
    assert operations / float(measured) == pytest.approx(float(ratio), abs=0.006)
    assert operations == pytest.approx(float(measured), rel=0.02)


@pytest.mark.parametrize("row", [row for row in ROWS if len(row) == 4], ids=lambda row: row[1])
def test_predicted_multiply_adds_per_cycle(row):
    board, instruction, measured, predicted = row
    assert rate(board, instruction) == float(predicted) == pytest.approx(float(measured), rel=0.01)
