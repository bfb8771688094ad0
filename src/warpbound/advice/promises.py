"""What the what-ifs of resources promise beside what the changes that go their way obtained."""

from collections.abc import Sequence

from warpbound.result.advice import Promise, TriedChange
from warpbound.result.kernel import WhatIf

WORDS = {  # mechanism -> words of the what-ifs that it goes the way of
    "padding": ("bank conflicts", "shared-memory traffic"),
    "thread axes": ("coalesced", "L1 traffic", "L2 traffic", "DRAM traffic"),
    "hoisting": ("load and store instructions", "L1 traffic", "L2 traffic", "waits", "loads in flight", "DRAM traffic"),
    "restrict": ("loads in flight", "load and store instructions", "L1 traffic"),
    "unrolling": ("loads in flight", "fewer instructions", "fewer integer", "independent work"),
    "vector accesses": ("load and store instructions", "fewer instructions", "independent work", "loads in flight"),
    "launch bounds": ("registers", "resident", "spills"),
    "register limit": ("registers", "resident"),
    "block size": ("threads per block", "half the work each", "multiple of", "fill the GPU", "block fewer"),
    "carve-out": ("carve-out", "kept on the SM"),
    "fast math": ("special functions", "fewer instructions", "multiplications"),
    "fused multiply-add": (),
    "compiler": ("fewer instructions",),
}


def promises(whatifs: Sequence[WhatIf], rows: Sequence[TriedChange]) -> list[Promise]:
    """Each what-if with the best sound change of its kind, None where there is none."""
    sound = [row for row in rows if row.outcome in ("equal", "rounding", "untested") and row.speedup]
    answer = []
    for whatif in whatifs:
        fitting = [row for row in sound if any(word in whatif.change for word in WORDS.get(row.mechanism, ()))]
        best = max(fitting, key=lambda row: row.speedup or 0.0, default=None)
        obtained, by = (best.speedup, best.change) if best else (None, None)
        answer.append(Promise(change=whatif.change, speedup=whatif.speedup, obtained=obtained, by=by))
    return answer
