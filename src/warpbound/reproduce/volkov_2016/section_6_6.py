"""Section 6.6: how far single accesses are from the mean."""

from warpbound.models.volkov_2016.readings import added, share
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Share of the peak, width of the middle 90 %, and the slowest access, row by row of the table."""
    peak, columns = given["machines"]["Kepler"]["peak_GBs"], given["percentiles"]
    found: dict[str, dict[str, float]] = {}
    for traffic, latencies in given["distribution"].items():
        at = dict(zip(columns, latencies, strict=True))
        found[f"{traffic} GB/s"] = {
            "share of the peak": float(100 * share(float(traffic), peak)),
            "middle 90 %": float(added(at["95"], at["5"])),
        }
        if traffic in given["mean"]:
            found[f"{traffic} GB/s"]["slowest over mean"] = float(share(at["max"], given["mean"][traffic]))
    return found
