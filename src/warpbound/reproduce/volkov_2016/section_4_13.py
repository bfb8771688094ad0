"""Section 4.13: the peak of issue is no bound on memory."""

from warpbound.models.volkov_2016.readings import share
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.predictors import basic, chen_aamodt
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Traffic that the model would allow, and its throughput beside the basic model's."""
    machine = machines(given)[given["machine"]]
    traffic = given["issue_IPC"] * given["clock_GHz"] * given["line_bytes"]
    beside_basic = {
        f"{warps:g} warps": chen_aamodt(machine, warps, given["alpha"]) / basic(machine, warps, given["alpha"])
        for warps in given["warps"]
    }
    return {
        "traffic at the peak of issue": traffic,
        "over the pins": share(traffic, given["pins_GBs"]),
        "share of the basic model": beside_basic,
    }
