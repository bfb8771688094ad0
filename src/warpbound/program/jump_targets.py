"""Turns jumps to plain addresses, as cuobjdump prints them, into jumps to labels."""

from dataclasses import replace
from itertools import pairwise

from warpbound.program.control_flow import always, calls, leaves
from warpbound.program.instruction import Instruction, Operand
from warpbound.program.nvdisasm_lines import Section


def label_targets(section: Section) -> Section:
    """Turn the addresses that instructions lead to into labels of the section, those of calls into functions.

    Where a table of targets is not printed, code behind an end of the flow counts as a target too.
    """
    section.instructions = [
        _labelled(instruction, section) if leads(instruction) else instruction for instruction in section.instructions
    ]
    if any(unknown_targets(instruction) for instruction in section.instructions):
        for instruction, after in pairwise(section.instructions):
            ends = instruction.traits.kind == "branch" or leaves(instruction)
            if ends and always(instruction):  # then some jump leads behind it
                section.labels.setdefault(f".L_{after.address:x}", after.address)
    return section


def unknown_targets(instruction: Instruction) -> bool:
    """Whether it jumps by a table that is not printed; then every label is a possible target."""
    return instruction.traits.indirect and not any(x.kind == "targets" for x in instruction.operands)


def leads(instruction: Instruction) -> bool:
    """Whether its last number is an address in the kernel. A call through registers adds one to the number."""
    if calls(instruction):
        plain = "REL" in instruction.modifiers or instruction.opcode != "CALL"
        return plain and not any(x.kind in ("register", "uniform") for x in instruction.operands)
    traits = instruction.traits
    direct = traits.kind in ("branch", "return", "target") and not (traits.indirect or traits.target_set_by)
    return direct or (instruction.opcode == "WARPSYNC" and "COLLECTIVE" in instruction.modifiers)


def _labelled(instruction: Instruction, section: Section) -> Instruction:
    place = next(
        (i for i in reversed(range(len(instruction.operands))) if instruction.operands[i].kind == "immediate"), None
    )
    if place is None:
        return instruction
    address = int(instruction.operands[place].value)
    function = calls(instruction)
    section.labels.setdefault(f"function_{address:x}" if function else f".L_{address:x}", address)
    target = Operand("label", instruction.operands[place].text, index=0, value=address)
    return replace(instruction, operands=(*instruction.operands[:place], target, *instruction.operands[place + 1 :]))
