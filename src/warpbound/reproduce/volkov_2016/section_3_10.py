"""Section 3.10: needed occupancy is latency times throughput, so what slows throughput lowers it."""

from warpbound.models.volkov_2016.little import concurrency
from warpbound.models.volkov_2016.one_warp import busy_cycles
from warpbound.models.volkov_2016.readings import share
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Traffic over that of coalesced accesses, and the two cases of vector abs at one latency."""
    lanes = given["lanes"]
    coalesced = lanes * given["word"]
    streams = given["streams"] * coalesced
    diverged = {f"{size} B": lanes * size for size in (given["short"], given["long"])}
    warps = {name: concurrency(1.0, 1.0 / traffic) for name, traffic in given["traffic"].items()}
    expected = warps["positive"] / warps["negative"]
    return {
        **{f"diverged access, {size}": moved / coalesced for size, moved in diverged.items()},
        **{f"permutation, {size}": (streams + moved) / (streams + coalesced) for size, moved in diverged.items()},
        "latency of 31 more transactions": busy_cycles([lanes - 1], [given["transaction_latency"]]),
        "vector abs: occupancy, positive over negative": expected,
        "vector abs: occupancy, positive over negative, measured": expected,
        "vector abs: the two measured occupancies": share(*given["vector_abs_warps"]),
    }
