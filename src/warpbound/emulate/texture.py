"""Textures, surfaces and single-bit products of a warpgroup: counted, not computed; their results are unknown.

A fetch returns 0; the accumulators of a product keep their old values.
"""

from collections.abc import Callable, Mapping

import numpy as np

from warpbound.emulate import warpgroup_products  # noqa: F401  (enters what is computed)
from warpbound.emulate.operand_access import Site
from warpbound.emulate.semantics import PLAIN, Handler
from warpbound.emulate.state import State
from warpbound.isa.traits import Traits, table
from warpbound.program.instruction import RZ

LARGEST_RESULT = 4  # registers that one fetch can write


def absent(here: Site) -> Handler:
    """A fetch that returns zeros; its destinations are the first one or two registers printed."""
    operands = here.instruction.operands
    first = []
    for operand in operands[:3]:
        if operand.kind != "register":
            break
        first.append(operand)
    targets = [x.index for x in first[:2] if x.index != RZ] if here.instruction.traits.result != "none" else []
    mask = next((int(operand.value) for operand in reversed(operands) if operand.kind == "immediate"), 1)
    count = min(LARGEST_RESULT, max(1, (mask & 15).bit_count()))

    def handler(x: State) -> None:
        if targets:
            for i in range(count):
                x.put(targets[-1] + i if count <= 2 or len(targets) == 1 else targets[i // 2] + i % 2, np.uint32(0))

    return handler


def _unchanged(here: Site) -> Handler:
    return lambda x: None


_BY_KIND = {"texture": absent, "surface": absent, "warpgroup_matrix": _unchanged}
COUNTED: Mapping[str, Callable[[Site], Handler]] = {
    opcode: _BY_KIND[traits.kind]
    for opcode, traits in table().items()
    if traits.kind in _BY_KIND and opcode not in PLAIN
}


def unknown_source(traits: Traits) -> str:
    """Name in a trace for the unknown result of a counted instruction; empty for a computed instruction."""
    if traits.opcode not in COUNTED:
        return ""
    return "textures and surfaces" if traits.kind in ("texture", "surface") else "sums of wgmma (counted, not computed)"
