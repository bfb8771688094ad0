"""Textures, surfaces and single-bit products of a warpgroup that a trace counts without computing them.

A fetch returns 0 where no texture object is described, or where its form is not executed (`texture_fetches`); the
accumulators of a product keep their old values.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from warpbound.emulate import (
    texture_fetches,  # noqa: F401  (enters what is executed)
    warpgroup_products,  # noqa: F401  (enters what is computed)
)
from warpbound.emulate.operand_access import Site
from warpbound.emulate.semantics import PLAIN, Build, Handler
from warpbound.emulate.state import State
from warpbound.errors import InputError
from warpbound.isa.traits import Traits, table
from warpbound.program.instruction import RZ

LARGEST_RESULT = 4  # registers that one fetch can write
UNKNOWN = "textures and surfaces"


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
        if x.recorder is not None:
            x.recorder.uncomputed(UNKNOWN)
        if targets:
            for i in range(count):
                x.put(targets[-1] + i if count <= 2 or len(targets) == 1 else targets[i // 2] + i % 2, np.uint32(0))

    return handler


def _where_described(build: Callable[..., Handler], here: Site) -> Handler:
    """The handler that `build` makes; zeros where it cannot make one, and in lanes without an object."""
    zeros = absent(here)
    try:
        return build(here, lambda x, _: zeros(x))
    except InputError:
        return zeros


def _unchanged(here: Site) -> Handler:
    return lambda x: None


def _counted(traits: Traits) -> Build | None:
    """What builds an opcode's handler for a trace, where a trace does not execute it like the emulator."""
    build = PLAIN.get(traits.opcode)
    if traits.kind in ("texture", "surface"):
        return absent if build is None else partial(_where_described, build)
    return _unchanged if traits.kind == "warpgroup_matrix" and build is None else None


COUNTED: Mapping[str, Build] = {
    opcode: build for opcode, traits in table().items() if (build := _counted(traits)) is not None
}


def unknown_source(traits: Traits) -> str:
    """Name in a trace for the unknown result of a counted product; empty for any other instruction."""
    is_counted = traits.opcode in COUNTED and traits.kind == "warpgroup_matrix"
    return "sums of wgmma (counted, not computed)" if is_counted else ""
