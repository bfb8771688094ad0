"""Addresses of variables that the loader writes into instructions."""

import pytest

from warpbound.emulate.symbol_addresses import symbols_of, with_addresses
from warpbound.program.instruction import Instruction
from warpbound.program.operands import operand

TABLE = 0x1234_5678_9ABC_DEF0


def move(source: str) -> Instruction:
    operands = (operand("R2"), operand(source))
    return Instruction(address=0, opcode="MOV", modifiers=(), operands=operands, text=f"MOV R2, {source}")


@pytest.mark.parametrize(
    "source, value",
    [
        ("32@lo(table)", 0x9ABC_DEF0),
        ("32@hi(table)", 0x1234_5678),
        ("32@lo((table + 0x20))", 0x9ABC_DF10),
        ("32@hi((table+4294967296))", 0x1234_5679),
    ],
)
def test_the_half_of_an_address_takes_the_place_of_its_symbol(source, value):
    instruction = move(source)
    assert symbols_of(instruction) == {"table"}
    (_, filled) = with_addresses(instruction, {"table": TABLE}).operands
    assert (filled.kind, filled.value) == ("immediate", value)
    assert with_addresses(instruction, {"other": TABLE}) == instruction
