"""Table 4.1: three throughputs of each machine."""

from warpbound.models.volkov_2016.little import inst_per_cycle
from warpbound.reproduce.item import Given, Numbers

LANES = 32


def numbers(given: Given) -> Numbers:
    """Throughputs machine by machine; arithmetic is capped by single issue."""
    found = {}
    for name in given["gpus"]:
        m = given["machines"][name]
        issue = m["schedulers"] / m["issue_cycles"]
        found[name] = {
            "mem_thru": inst_per_cycle(m["peak_GBs"] * 1e9, m["clock_GHz"] * 1e9, m["sms"], given["line_bytes"]),
            "alu_thru": min(m["cores"] / LANES, issue),
            "issue_thru": issue,
        }
    return found
