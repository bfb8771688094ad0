"""Figures 5 to 8: how periods of computation and memory add up."""

from collections.abc import Mapping
from typing import Any

from warpbound.bounds import Stack
from warpbound.models.hong_kim_2009.periods import (
    computation_dominates,
    cwp_full,
    few_warps,
    memory_dominates,
    memory_dominates_by_figure,
)
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """The figures' times, then Equation 23 and the printed dispatch where they differ from them."""
    cases = given["cases"]
    first, busy = cases["Case 1"], cases["Case 5"]
    return {
        **{name: _time(case).total for name, case in cases.items()},
        "CWP of case 1": cwp_full(first["mem"], first["comp"]),
        "Case 1, Equation 23": memory_dominates(first["mem"], first["comp"], first["n"], first["mwp"]).total,
        "Case 5, printed dispatch": memory_dominates(busy["mem"], busy["comp"], busy["n"], busy["mwp"]).total,
    }


def _time(case: Mapping[str, Any]) -> Stack:
    whole_mem, whole_comp = case["periods"] * case["mem"], case["periods"] * case["comp"]
    if case["kind"] == "memory":
        return memory_dominates_by_figure(whole_mem, case["comp"], case["n"], case["mwp"])
    if case["kind"] == "computation":
        return computation_dominates(case["mem"], whole_comp, case["n"])
    return few_warps(whole_mem, whole_comp, case["comp"], case["n"], case["mwp"])
