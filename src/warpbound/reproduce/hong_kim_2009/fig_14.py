"""Figure 14: cycles per instruction of the micro-benchmarks that fitted the memory."""

import numpy as np

from warpbound.models.hong_kim_2009 import cpi, issue_floor
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.hong_kim_2009.machines import on
from warpbound.reproduce.item import Given, Numbers

HIDDEN = 1.01  # times the CPI of issue alone


def numbers(given: Given) -> Numbers:
    """CPI of each, and what section 5.1 says of them."""
    found = {f"{name}_{kind}": _cpi(given, name, kind) for name in given["memory"] for kind in ("C", "UC")}
    x = on(given, given["gpu"])
    coalesced = [found[f"{name}_C"] for name in given["memory"]]
    per_load = {given["memory"][name] / given["computation"][name]: found[f"{name}_UC"] for name in given["memory"]}
    grows = np.diff([value for _, value in sorted(per_load.items())])
    return {
        **found,
        "coalesced loads almost hidden": max(coalesced) < HIDDEN * float(issue_floor(x)),
        "uncoalesced grows with loads": bool((grows > 0).all()),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Both kinds over loads per instruction."""
    share = [given["memory"][n] / (given["memory"][n] + given["computation"][n]) for n in given["memory"]]
    return (
        Figure(
            "CPI of the micro-benchmarks",
            Axis("loads per instruction", "1"),
            Axis("CPI", "cycle/inst"),
            tuple(
                series(words, share, [_cpi(given, name, kind) for name in given["memory"]], "points")
                for kind, words in (("C", "coalesced"), ("UC", "uncoalesced"))
            ),
            "Hong and Kim 2009, Figure 14: the model",
        ),
    )


def _cpi(given: Given, name: str, kind: str) -> float:
    loads, turns = given["turns"] * given["memory"][name], given["turns"]
    x = on(
        given,
        given["gpu"],
        threads_per_block=given["threads_per_block"],
        blocks=given["blocks"],
        active_blocks=given["active_blocks"],
        comp_insts=turns * given["computation"][name],
        uncoal_mem_insts=loads if kind == "UC" else 0.0,
        coal_mem_insts=loads if kind == "C" else 0.0,
    )
    return float(cpi(x))
