"""MUFU: the special functions, computed in float64 and rounded; within 1 ulp of the true value.

The hardware's own error is up to 1 ulp (RCP, SQRT), 2 ulp (RSQ, EX2, LG2 away from 1) and 2**-20.9
absolute (SIN, COS in [-pi, pi]) (CUDA C++ Programming Guide, intrinsic functions), so results differ
from silicon by that much.
"""

from collections.abc import Callable

import numpy as np

from warpbound.emulate.float16 import BFLOAT, format_of, half_bits, round_to_bfloat, unary_read
from warpbound.emulate.float32 import flush
from warpbound.emulate.operand_access import Site, constant, raw, single, unsupported, write_single, write_words
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State, Value

_TURN = 2 * np.pi
_REAL: dict[str, Callable[[Value], Value]] = {  # modifier of MUFU -> its function
    "RCP": lambda v: 1.0 / v,
    "RSQ": lambda v: 1.0 / np.sqrt(v),
    "SQRT": np.sqrt,
    "LG2": np.log2,
    "EX2": np.exp2,
    "SIN": lambda v: np.sin(v * _TURN),
    "COS": lambda v: np.cos(v * _TURN),
    "TANH": np.tanh,
}


@executes("MUFU")
def special_function(here: Site) -> Handler:
    """MUFU. Subnormal inputs count as zero and subnormal results are flushed, except by TANH and SQRT's relatives.

    SIN and COS take turns: RRO or a multiplication by 1 / (2 pi) came before.
    """
    name = next((m for m in here.instruction.modifiers if m in _REAL or m in ("RCP64H", "RSQ64H")), None)
    if name is None:
        raise unsupported(here.instruction)
    if name in ("RCP64H", "RSQ64H"):
        return _upper_word(here, name)
    if here.has("F16", "F16_V2", "BF16_V2", "BF16"):
        return _half(here, name)
    reader, write = single(here.sources[0], here), write_single(here.output)
    function = _REAL[name]

    def handler(x: State) -> None:
        value = np.asarray(flush(reader(x))).astype(np.float64)
        write(x, flush(np.asarray(function(value).astype(np.float32))))

    return handler


def _half(here: Site, name: str) -> Handler:
    reader, write, function = unary_read(here.sources[0], here), write_words(here.output), _REAL[name]
    rounded = round_to_bfloat if format_of(here) is BFLOAT else half_bits
    return lambda x: write(x, np.asarray(rounded(function(reader(x)))).astype(np.uint32))


def _upper_word(here: Site, name: str) -> Handler:
    """RCP64H, RSQ64H: the upper word of the result for a float64 whose upper word is given."""
    operand, write, function = here.sources[0], write_words(here.output), _REAL[name[:3]]
    reader = raw(operand, here)
    if operand.kind in ("float", "immediate"):  # printed as the number whose upper word it is
        reader = constant(np.float64(operand.value).view(np.uint64) >> np.uint64(32))

    def handler(x: State) -> None:
        value = (np.asarray(reader(x)).astype(np.uint64) << np.uint64(32)).view(np.float64)
        value = np.where(np.abs(value) < 2.0**-1022, np.copysign(0.0, value), value)
        result = np.asarray(function(value))
        result = np.where(np.abs(result) < 2.0**-1022, np.copysign(0.0, result), result)
        write(x, (result.view(np.uint64) >> np.uint64(32)).astype(np.uint32))

    return handler
