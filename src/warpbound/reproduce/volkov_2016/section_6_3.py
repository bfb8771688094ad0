"""Section 6.3: how far the measured occupancies and bandwidths of streaming are from simple estimates."""

import numpy as np

from warpbound.models.volkov_2016.readings import at_clock, share, shortfall, warps_without_ilp
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Of Table 6.4, and of the measurement by others that the section scales."""
    rows = {name: _row(given["table"][name], given["machines"][name]) for name in given["gpus"]}
    means = {f"{what}, mean": np.mean([row[what] for row in rows.values()]) for what in given["averaged"]}
    fermi, other = given["fermi"], given["mei_chu"]
    scaled = at_clock(other["copy_GBs"], other["full_clock_GHz"], other["clock_GHz"])
    missing = float(100 * shortfall(scaled, other["our_copy_GBs"]))
    return {
        **rows,
        **means,
        "Fermi at 95 %, from twice the work in flight": warps_without_ilp(fermi["warps"], fermi["ilp"]),
        "Mei and Chu at full memory clock": scaled,
        "Mei and Chu at full memory clock, below the best copy": missing,
        "Mei and Chu within a tenth": missing <= other["within_percent"],
    }


def _row(table: Given, machine: Given) -> dict[str, float]:
    return {
        "peak over pins": float(100 * share(machine["peak_GBs"], machine["pins_GBs"])),
        "90 % over linear": float(share(table["at_90"], table["linear"])),
        "95 % over linear": float(share(table["at_95"], table["linear"])),
    }
