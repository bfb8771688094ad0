"""Figures 30 and 31: what a barrier adds."""

from warpbound.models.hong_kim_2009 import Inputs, synch_cost, terms
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.hong_kim_2009.machines import THREADS, on
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Cycles of the launch spent at its barriers."""
    alone = {f"{warps:g} warp{'s' if warps > 1 else ''}": _cost(given, warps, 1.0) for warps in given["warps"]}
    full = {name: _cost(given, given["warps_of_blocks"], blocks) for name, blocks in given["blocks"].items()}
    rising = list(alone.values())
    return {
        **alone,
        "grows with warps": all(a <= b for a, b in zip(rising, rising[1:], strict=False)) and rising[0] < rising[-1],
        **full,
        "grows with blocks": full["BL2"] < full["BL4"],
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Figure 30: one block on one SM."""
    costs = [_cost(given, warps, 1.0) for warps in given["warps"]]
    return (
        Figure(
            f"Cost of a barrier on {given['gpu']}",
            Axis("warps of the block", "warp"),
            Axis("cost", "cycle"),
            (series("one block", given["warps"], costs, "both"),),
            "Hong and Kim 2009, Figure 30: the model",
        ),
    )


def _cost(given: Given, warps: float, blocks: float) -> float:
    x = _inputs(given, warps, blocks)
    return float(synch_cost(x, terms(x)))


def _inputs(given: Given, warps: float, blocks: float) -> Inputs:
    return on(
        given,
        given["gpu"],
        threads_per_block=warps * THREADS,
        blocks=blocks,
        active_sms=1.0,
        active_blocks=blocks,
        comp_insts=given["comp_insts"],
        coal_mem_insts=given["mem_insts"],
        synch_insts=given["barriers"],
    )
