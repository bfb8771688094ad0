"""Small kernels for tests, written as listings: control word in CuAssembler's notation, then the instruction.

    B01----:R-:W2:-:S04  LDG.E R2, [R4.64]

waits for scoreboards 0 and 1, raises 2 until the result is there, does not yield, stalls for 4 cycles. `#7` at the
end of a line says which source line it is from; a line that ends with a colon is a label.
"""

import re

from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.nvdisasm_listing import read_listing

_LINE = re.compile(r"B([0-5-]{6}):R([0-5-]):W([0-5-]):([Y-]):S(\d\d)\s+([^#]*?)\s*(?:#(\d+))?$")
PLAIN = "B------:R-:W-:-:S{:02}  {}"


def high_word(waits: str, read: str, write: str, yields: str, stall: str) -> int:
    """Bits 64 to 127 of an instruction with this control word and nothing else."""
    bits = int(stall) | (yields != "Y") << 4
    bits |= (7 if write == "-" else int(write)) << 5 | (7 if read == "-" else int(read)) << 8
    return (bits | sum(1 << int(board) for board in waits if board != "-") << 11) << 41


def nvdisasm_text(text: str, arch: int) -> str:
    """The same as nvdisasm would print it."""
    rows = [f"\t.target\tsm_{arch}", '\t.section\t.text.k,"ax",@progbits', ".text.k:"]
    address = 0
    for line in filter(None, (row.strip() for row in text.splitlines())):
        if line.endswith(":"):
            rows.append(line)
            continue
        found = _LINE.match(line)
        assert found, line
        *control, code, source = found.groups()
        if source:
            rows.append(f'\t//## File "/k.cu", line {source}')
        rows.append(f"        /*{address:04x}*/  {code} ;  /* 0x{0:016x} */")
        rows.append(f"                /* 0x{high_word(*control):016x} */")
        address += 16
    return "\n".join(rows)


def kernel(text: str, arch: int = 86, registers: int = 32) -> Program:
    """A kernel of these instructions."""
    section = read_listing(nvdisasm_text(text, arch), "test").sections[0]
    labels = frozenset(section.labels.values())
    return Program("k", "k", arch, tuple(section.instructions), labels, registers=registers)


def code(text: str) -> tuple[Instruction, ...]:
    """Only the instructions."""
    return kernel(text).instructions
