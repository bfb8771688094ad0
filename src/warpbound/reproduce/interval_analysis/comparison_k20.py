"""K20c: the same kernel, with all instructions counted in two ways."""

from warpbound.reproduce.interval_analysis.solutions import solved
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """The solution's lines."""
    cycles, insts = given["cycles"], given["insts"]
    bare = solved(given, cycles, given["bytes"], insts)
    more = solved(given, cycles, given["bytes"], {**insts, "fp": insts["fp"] + given["extra"]})
    few = given["extra_less_accesses"]
    alike = solved(given, cycles + few, given["bytes"], {**insts, "fp": insts["fp"] + few})
    return {
        "L in time": bare.latency_ns,
        "P": bare.threads,
        "P per SM": bare.threads_per_sm,
        "issue time": bare.issue_cycles,
        "Q": bare.by_issue,
        "issue time, 1.2 instructions": more.issue_cycles,
        "Q, 1.2 instructions": more.by_issue,
        "Q, 1.2 instructions, as for the GTX 1080": alike.by_issue,
    }
