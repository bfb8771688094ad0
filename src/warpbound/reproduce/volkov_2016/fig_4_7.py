"""Figure 4.7: concurrent instructions are not concurrent warps."""

from warpbound.models.volkov_2016 import mixes
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Instructions in flight when arithmetic is at its peak, and what one warp less costs."""
    x = _mix(given, given["warps"])
    flying = mixes.warps_needed(x)
    return {
        "arithmetic instructions": flying.parts["arithmetic"],
        "memory instructions": flying.parts["memory"],
        "warps": flying.total,
        "arithmetic rate of 6 warps": given["alpha"] * mixes.predict(x).rate,
        "arithmetic rate of 5 warps": given["alpha"] * mixes.predict(_mix(given, given["warps"] - 1)).rate,
    }


def _mix(given: Given, warps: float) -> mixes.Mix:
    """Memory and issue have room to spare."""
    spare = 10 * given["rate"]
    return mixes.Mix(warps, given["alpha"], given["mem_lat"], given["alu_lat"], spare, given["rate"], spare)
