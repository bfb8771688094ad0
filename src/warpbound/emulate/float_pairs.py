"""FADD2, FMUL2, FFMA2: FP32 on both halves of register pairs."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from warpbound.emulate.aligned_buffers import FmaScratch
from warpbound.emulate.correct_rounding import directed, fused, rounded
from warpbound.emulate.float32 import direction, flush, source
from warpbound.emulate.operand_access import Read, Site, unsupported, write_single
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import RZ, Operand

Halves = list[Value]

_ORDERS = {"HI_LO": (0, 1), "LO_HI": (1, 0), "HI_HI": (1, 1), "LO_LO": (0, 0)}  # what the low and the high half take
_SIGNS = {"NP": (False, True), "PN": (True, False), "NN": (True, True), "PP": (False, False)}  # negated: low, high
_WITHOUT_MEANING = {"F32x2", "F32", "reuse"}


def on_pairs(operate: Callable[[Halves, str, FmaScratch], Value]) -> Callable[[Site], Handler]:
    """An operation on both halves of its sources."""

    def build(here: Site) -> Handler:
        halves = [[_half(operand, part, here) for operand in here.sources] for part in (0, 1)]
        output, way, flushes = here.output, direction(here), here.has("FTZ")
        assert output is not None
        writes = [write_single(replace(output, index=output.index + part)) for part in (0, 1)]

        def handler(x: State) -> None:
            results = [operate([reader(x) for reader in reads], way, x.fma_scratch) for reads in halves]
            for write, result in zip(writes, results, strict=True):
                write(x, flush(result) if flushes else result)

        return handler

    return build


def _add(values: Halves, way: str, scratch: FmaScratch) -> Value:
    a, b = values
    return a + b if way == "RN" else rounded(a.astype(np.float64), b.astype(np.float64), way)


def _multiply(values: Halves, way: str, scratch: FmaScratch) -> Value:
    a, b = values
    return a * b if way == "RN" else directed(np.multiply(a, b, dtype=np.float64), way)


def _multiply_add(values: Halves, way: str, scratch: FmaScratch) -> Value:
    a, b, c = values
    if way == "RN":
        return fused(a, b, c, scratch).copy()
    return rounded(np.multiply(a, b, dtype=np.float64), c.astype(np.float64), way)


executes("FADD2")(on_pairs(_add))
executes("FMUL2")(on_pairs(_multiply))
executes("FFMA2")(on_pairs(_multiply_add))


def _half(operand: Operand, part: int, here: Site) -> Read:
    """What a half of the result takes of a source: its own half, the other one, or with .F32 the only one; .NP negates
    the high half."""
    if set(operand.suffixes) - _WITHOUT_MEANING - set(_ORDERS) - set(_SIGNS):
        raise unsupported(here.instruction)
    negated = next((_SIGNS[suffix][part] for suffix in operand.suffixes if suffix in _SIGNS), False)
    plain = replace(operand, negate=operand.negate != negated)
    if operand.kind in ("float", "immediate"):
        return source(replace(operand, value=-operand.value) if plain.negate else operand, here)
    if operand.index == RZ or "F32" in operand.suffixes:
        return source(plain, here)
    order = next((_ORDERS[suffix][part] for suffix in operand.suffixes if suffix in _ORDERS), part)
    if operand.kind == "constant":
        return source(replace(plain, value=operand.value + 4 * order), here)
    return source(replace(plain, index=operand.index + order), here)
