"""Section 5.7: controlling occupancy by shared memory, within its granularity."""

import numpy as np

from warpbound.reproduce.item import Given, Numbers
from warpbound.residency import occupancy

STEP = 64  # bytes, no more than any granularity


def numbers(given: Given) -> Numbers:
    """Blocks that are resident, and whether some shared memory admits the missing number."""
    kepler = given["kepler"]
    found = occupancy(kepler["board"], kepler["threads"], 0, np.array(kepler["bytes"])).blocks_per_sm
    return {
        **{f"{size} B on Kepler": blocks for size, blocks in zip(kepler["bytes"], found, strict=True)},
        "Kepler reaches 15 blocks": _reached(kepler),
        "G80 reaches 7 blocks": _reached(given["g80"]),
        "Maxwell reaches 1 block": _reached(given["maxwell"]),
    }


def _reached(case: Given) -> bool:
    shared = np.arange(STEP, case["largest"] + 1, STEP)
    return bool((occupancy(case["board"], case["threads"], 0, shared).blocks_per_sm == case["missing"]).any())
