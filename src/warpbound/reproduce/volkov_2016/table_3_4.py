"""Table 3.4: how long one warp occupies each resource of an SM."""

from warpbound.models.volkov_2016 import throughput_bound
from warpbound.models.volkov_2016.one_warp import busy_cycles, issue_events, transfer_cycles, unit_cycles
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Totals of the worksheet and the bound they give."""
    count = given["instructions"]
    total = sum(count.values())
    near, far = (transfer_cycles(given[kind]["bytes"], given["bytes_per_cycle"]) for kind in ("coalesced", "stride_2"))
    accesses = [given["coalesced"]["count"], given["stride_2"]["count"]]
    events = issue_events(total, given["dual_pairs"], sum(count[kind] for kind in given["reissued"]))
    conflicts = given["conflict_cycles"]
    busy = {
        "CUDA cores": busy_cycles([count["core"]], [unit_cycles(given["cores"])]),
        "SFU units": busy_cycles([count["sfu"]], [unit_cycles(given["sfus"])]),
        "Shared memory banks": busy_cycles([count[kind] for kind in conflicts], list(conflicts.values())),
        "Memory system": busy_cycles(accesses, [near, far]),
        "Warp scheduler": busy_cycles([events], [1 / given["schedulers"]]),
    }
    return {
        "Instructions": total,
        "Issue events": events,
        "Cycles per coalesced access": near,
        "Cycles per stride-2 access": far,
        **busy,
        "Memory system, of rounded cycles": busy_cycles(accesses, [round(float(near), 1), round(float(far), 1)]),
        "Warp throughput": throughput_bound(busy).rate,
    }
