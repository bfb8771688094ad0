"""The accesses of a trace, to compare two traces whose rows are joined in another way."""

import numpy as np


def listed(accesses) -> list[tuple[object, ...]]:
    """Every access with its active addresses, sorted."""
    times = accesses.repeated(np.ones(len(accesses.warp))).astype(int)
    rows = zip(accesses.instruction.tolist(), accesses.warp.tolist(), accesses.addresses, accesses.active, strict=True)
    found = [(at, warp, lanes[on].tobytes(), on.tobytes()) for at, warp, lanes, on in rows]
    return sorted(one for one, count in zip(found, times, strict=True) for _ in range(count))
