"""Jumps to plain addresses, as cuobjdump and people print them, made jumps to labels."""

from dataclasses import replace
from itertools import pairwise

from warpbound.program.control_flow import always, calls, leaves
from warpbound.program.instruction import Instruction, Operand
from warpbound.program.nvdisasm_lines import Section


def label_targets(section: Section) -> Section:
    """Turn the addresses that instructions lead to into labels of the section, those of calls into functions.

    Where a table of targets is not printed, code behind an end of the flow counts as a target too.
    """
    section.instructions = [_labelled(one, section) if leads(one) else one for one in section.instructions]
    if any(unknown_targets(one) for one in section.instructions):
        for one, after in pairwise(section.instructions):
            if always(one) and (one.traits.kind == "branch" or leaves(one)):  # then a jump leads behind it
                section.labels.setdefault(f".L_{after.address:x}", after.address)
    return section


def unknown_targets(one: Instruction) -> bool:
    """Whether it jumps by a table that is not printed; then it may lead to every label."""
    return one.traits.indirect and not any(x.kind == "targets" for x in one.operands)


def leads(one: Instruction) -> bool:
    """Whether its last number is an address in the kernel. A call through registers adds one to the number."""
    if calls(one):
        plain = "REL" in one.modifiers or one.opcode != "CALL"
        return plain and not any(x.kind in ("register", "uniform") for x in one.operands)
    traits = one.traits
    direct = traits.kind in ("branch", "return", "target") and not traits.indirect
    return direct or (one.opcode == "WARPSYNC" and "COLLECTIVE" in one.modifiers)


def _labelled(one: Instruction, section: Section) -> Instruction:
    place = next((i for i in reversed(range(len(one.operands))) if one.operands[i].kind == "immediate"), None)
    if place is None:
        return one
    address = int(one.operands[place].value)
    function = calls(one)
    section.labels.setdefault(f"function_{address:x}" if function else f".L_{address:x}", address)
    target = Operand("label", one.operands[place].text, index=0, value=address)
    return replace(one, operands=(*one.operands[:place], target, *one.operands[place + 1 :]))
