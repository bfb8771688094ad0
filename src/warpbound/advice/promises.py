"""Gains promised by what-ifs of resources, and gains obtained by tried changes of the same kind."""

from collections.abc import Mapping, Sequence

from warpbound.advice.combinations import ALONE, COMBINATIONS
from warpbound.result.advice import Promise, TriedChange
from warpbound.result.what_if import WhatIf

WORDS = {  # mechanism -> words of the what-ifs that it realises
    "padding": ("bank conflicts",),
    "thread axes": ("coalesced",),
    "staging": ("kept on the SM", "L1 traffic", "L2 traffic", "load and store instructions"),
    "loop order": ("coalesced", "kept in a register", "kept on the SM"),
    "cache hints": ("past L1",),
    "L2 policy": ("kept in L2",),
    "hoisting": ("kept in a register",),
    "restrict": ("loads in flight",),
    "unrolling": ("loads in flight",),
    "vector accesses": ("half the load and store instructions",),
    "launch bounds": ("registers per thread", "limit by registers", "no spills"),
    "register limit": ("registers per thread", "limit by registers"),
    "block size": ("threads per block", "half the work each", "multiple of", "fill the GPU", "block fewer"),
    "carve-out": ("carve-out", "kept on the SM"),
    "fast math": ("special functions", "fewer instructions", "multiplications"),
    "fused multiply-add": (),
    "compiler": ("fewer instructions",),
}


def promises(whatifs: Sequence[WhatIf], rows: Sequence[TriedChange]) -> list[Promise]:
    """Each what-if with the best sound change of its kind, None where there is none; of two at once, two together."""
    sound = [row for row in rows if row.outcome in ("equal", "rounding", "untested") and row.speedup]
    mechanisms = {row.change: row.mechanism for row in rows}
    answer = []
    for whatif in whatifs:
        parts = whatif.change.split("; and ")
        fitting = [row for row in sound if _fits(_made(row, mechanisms), parts)]
        best = max(fitting, key=lambda row: row.speedup or 0.0, default=None)
        obtained, by = (best.speedup, best.change) if best else (None, None)
        answer.append(Promise(change=whatif.change, speedup=whatif.speedup, obtained=obtained, by=by))
    return answer


def _made(row: TriedChange, mechanisms: Mapping[str, str]) -> list[str]:
    """The mechanisms of a change; two if it combines two."""
    halves = row.change.partition(ALONE)[0].split("; and ") if row.mechanism == COMBINATIONS else [row.change]
    return [mechanisms.get(half, "") for half in halves]


def _fits(sizes: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether these mechanisms, and no others, realise each part of a what-if."""
    return len(sizes) <= len(parts) and all(
        any(word in part for each in sizes for word in WORDS.get(each, ())) for part in parts
    )
