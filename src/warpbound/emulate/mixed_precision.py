"""Float32 sums with halves as they are: FHADD and FHFMA, from sm_100 on.

Source   PTX ISA, "add" and "fma" of mixed precision; which operands are halves was read off compiled code of sm_100a.
"""

import numpy as np

from warpbound.emulate.correct_rounding import rounded
from warpbound.emulate.float16 import unary_read
from warpbound.emulate.float32 import direction, finish
from warpbound.emulate.operand_access import Site, single
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State


@executes("FHADD FHFMA")
def add(here: Site) -> Handler:
    """A half, or the product of two, plus a float32 number, rounded once."""
    *halves, last = here.sources
    factors, addend = [unary_read(half, here) for half in halves], single(last, here)
    write, way = finish(here), direction(here)

    def handler(x: State) -> None:
        product = factors[0](x) if len(factors) == 1 else factors[0](x) * factors[1](x)
        write(x, rounded(product, addend(x).astype(np.float64), way))

    return handler
