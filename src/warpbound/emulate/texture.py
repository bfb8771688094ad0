"""Textures, surfaces and wgmma: counted, not computed. What they give is unknown.

A fetch gives 0; the registers of a wgmma's sums keep what they held.
"""

from collections.abc import Callable, Mapping

import numpy as np

from warpbound.emulate.operand_access import Site
from warpbound.emulate.state import State
from warpbound.program.instruction import RZ

Handler = Callable[[State], None]

LARGEST_RESULT = 4  # registers that one fetch can write


def absent(here: Site) -> Handler:
    """A fetch that finds zeros: its destinations are the first one or two registers printed."""
    operands = here.instruction.operands
    first = []
    for one in operands[:3]:
        if one.kind != "register":
            break
        first.append(one)
    targets = [one.index for one in first[:2] if one.index != RZ] if here.instruction.opcode in READS else []
    mask = next((int(one.value) for one in reversed(operands) if one.kind == "immediate"), 1)
    count = min(LARGEST_RESULT, max(1, (mask & 15).bit_count()))

    def handler(x: State) -> None:
        if targets:
            for i in range(count):
                x.put(targets[-1] + i if count <= 2 or len(targets) == 1 else targets[i // 2] + i % 2, np.uint32(0))

    return handler


READS = frozenset({"TEX", "TLD", "TLD4", "TXD", "TMML", "TXQ", "SULD", "SUQUERY"})
MULTIPLIES = frozenset({"HGMMA", "IGMMA", "QGMMA", "BGMMA"})  # of four warps together


def _unchanged(here: Site) -> Handler:
    return lambda x: None


COUNTED: Mapping[str, Callable[[Site], Handler]] = {
    **{name: absent for name in (*sorted(READS), "SUST", "SURED", "SUATOM", "FOOTPRINT", "TTUCCTL")},
    **{name: _unchanged for name in (*sorted(MULTIPLIES), "WARPGROUP")},
}


def unknown_source(opcode: str) -> str:
    """What the unknown result of a counted instruction is called in a trace; nothing where it has none."""
    if opcode in MULTIPLIES:
        return "sums of wgmma (counted, not computed)"
    return "" if opcode == "WARPGROUP" else "textures and surfaces"
