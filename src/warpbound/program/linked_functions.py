"""Device functions in sections of their own, as a linker leaves them: their code is put behind the kernel's.

A call is `CALL.ABS` to the function's name; `MOV R20, 32@lo((kernel + .L_x_1@srel))` is half of the address where it
returns to. A GPU's loader places the sections; here addresses count from the start of the kernel.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from warpbound.program.instruction import Instruction, Operand
from warpbound.program.nvdisasm_lines import Section

_CALLED = re.compile(r"`\(([\w$.]+)\)$")
_ADDRESS = re.compile(r"32@(lo|hi)\(\(?([\w$.]+)(?:\s*\+\s*(\.\w+)@srel)?\)?\)$")


def with_functions(kernel: Section, sections: Mapping[str, Section]) -> Section:
    """The kernel with all functions of `sections` that it reaches; those of other files stay calls by name."""
    starts, labels, instructions = {kernel.name: 0}, dict(kernel.labels), list(kernel.instructions)
    pending = list(_names(instructions))
    while pending:
        name = pending.pop(0)
        if name in starts or name not in sections:
            continue
        start = starts[name] = instructions[-1].address + 16 if instructions else 0
        labels |= {label: start + at for label, at in sections[name].labels.items()} | {name: start}
        own = [_moved(instruction, start) for instruction in sections[name].instructions]
        instructions += own
        pending += _names(own)
    if not any(_names(instructions)):
        return kernel
    resolved = [
        replace(each, operands=tuple(_resolved(x, starts, labels) for x in each.operands)) for each in instructions
    ]
    return replace(kernel, labels=labels, instructions=resolved)


def _names(instructions: Iterable[Instruction]) -> Iterator[str]:
    """The functions that instructions call or take the address of."""
    for instruction in instructions:
        for x in instruction.operands:
            if x.kind == "label" and x.index and (match := _CALLED.match(x.text)):
                yield match[1]
            elif x.kind == "other" and (match := _ADDRESS.match(x.text)):
                yield match[2]


def _moved(instruction: Instruction, by: int) -> Instruction:
    operands = tuple(_moved_target(x, by) for x in instruction.operands)
    return replace(instruction, address=instruction.address + by, operands=operands)


def _moved_target(operand: Operand, by: int) -> Operand:
    if operand.kind == "targets":
        return replace(operand, terms=tuple(_moved_target(x, by) for x in operand.terms))
    is_address = operand.kind == "label" and operand.index == 0
    return replace(operand, value=int(operand.value) + by) if is_address else operand


def _resolved(operand: Operand, starts: Mapping[str, int], labels: Mapping[str, int]) -> Operand:
    if operand.kind == "label" and operand.index and (match := _CALLED.match(operand.text)):
        return replace(operand, value=starts[match[1]], index=0) if match[1] in starts else operand
    match = _ADDRESS.match(operand.text) if operand.kind == "other" else None
    if match is None or match[2] not in starts:
        return operand
    address = labels[match[3]] if match[3] else starts[match[2]]
    return Operand("immediate", operand.text, value=address if match[1] == "lo" else 0)
