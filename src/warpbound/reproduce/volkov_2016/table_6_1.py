"""Table 6.1: operations per cycle and scheduler that the units of the hardware allow."""

from warpbound.models.volkov_2016.little import inst_per_cycle
from warpbound.reproduce.item import Given, Numbers

LANES = 32


def numbers(given: Given) -> Numbers:
    """An operation is one lane of one instruction."""
    return {name: _row(given["machines"][name], given["line_bytes"]) for name in given["gpus"]}


def _row(m: Given, line_bytes: float) -> dict[str, float]:
    schedulers, slots = m["schedulers"], LANES / m["issue_cycles"]
    banks = m["banks"] / m["bank_cycles"] / schedulers
    traffic = inst_per_cycle(m["peak_GBs"] * 1e9, m["clock_GHz"] * 1e9, m["sms"], line_bytes)
    return {
        "add": min(m["cores"] / schedulers, slots),
        "SFU": m["sfus"] / schedulers,
        "smem": banks,
        "smem2": banks / 2,
        "stream": float(traffic) * LANES / schedulers,
    }
