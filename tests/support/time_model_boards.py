"""A board for limits of the time model, with its own terms switched off."""

from dataclasses import replace

from warpbound.machine import gpu
from warpbound.time_model.parameters import Parameters, fitted_parameters

A100 = gpu("a100-sxm-80gb")
CLOCK = 1.41e9


def silent(board=A100) -> Parameters:
    """No tails, no waiting, no cost of mixing: m = b = kappa = 0, one capacity."""
    achievable = board.value("dram_achievable_bandwidth")
    return replace(
        fitted_parameters(board).values, store_cost=0.0, latency_spread=0.0, dram_wait_read=0.0, dram_wait_mixed=0.0,
        dram_read_capacity=achievable, dram_write_capacity=achievable, dram_mix_cost=0.0, warp_wait=0.0,
        block_wait=0.0, block_interval=0.0, l2_write_cost=1.0,
    )  # fmt: skip
