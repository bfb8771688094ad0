"""Atomics of many lanes on few and on many addresses equal those of the lanes one after the other."""

import numpy as np
import pytest

from warpbound.emulate.atomics import Atomic, apply

INTEGERS = ("MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "ADD", "CAS")
CASES = [
    *((name, "u4") for name in INTEGERS), *((name, kind) for name in ("MIN", "MAX") for kind in ("i4", "u8", "f4")),
    ("ADD", "f4"), ("ADD", "f8"), ("EXCH", "u8"),
]  # fmt: skip


def after(operation, old, value, compare):
    """The CUDA guide's words for the atomics of one lane."""
    return {
        "MIN": lambda: value if np.isnan(old) else old if np.isnan(value) else min(old, value),
        "MAX": lambda: value if np.isnan(old) else old if np.isnan(value) else max(old, value),
        "INC": lambda: 0 if old >= value else old + 1,
        "DEC": lambda: value if old == 0 or old > value else old - 1,
        "AND": lambda: old & value, "OR": lambda: old | value, "XOR": lambda: old ^ value, "EXCH": lambda: value,
        "ADD": lambda: old + value, "CAS": lambda: value if old == compare else old,
    }[operation]()  # fmt: skip


@pytest.mark.parametrize("words", [1, 3, 200])
@pytest.mark.parametrize("operation, kind", CASES)
def test_lanes_act_in_order(operation, kind, words):
    generator = np.random.default_rng(3)
    lanes, kind = 96, np.dtype(kind)
    memory, values, compare = (generator.integers(0, 9, n).astype(kind) for n in (words, lanes, lanes))
    if kind.kind == "f":
        values += generator.standard_normal(lanes).astype(kind)
        values[5] = np.nan if operation != "ADD" else values[5]
    places = generator.integers(0, words, lanes)
    wanted, before = memory.copy(), values.copy()
    for lane, place in enumerate(places):
        before[lane] = wanted[place]
        wanted[place] = after(operation, wanted[place], values[lane], compare[lane])
    given = [compare, values] if operation == "CAS" else [values]
    assert apply(Atomic(operation, kind), memory, places, given).tobytes() == before.tobytes()
    assert memory.tobytes() == wanted.tobytes()
