"""Volkov's refined model with adders that fill gradually, which section 6.4 of the thesis omits at the cusp.

Source   V. Volkov, EECS-2016-143, equation 6.5 for the memory; E. Lazowska et al., Quantitative System Performance,
         1984, chapter 8: a centre whose rate depends on its queue, with a fixed number of customers.
Models   each scheduler's warps either wait for memory, a + b X / (c - X) cycles long, or add; k warps that add share
         min(k, alu_lat alu_thru) latency slots of the adders. The number of warps that add at once is random: adders
         are sometimes idle although on average there is enough work.
Omits    priorities among warps; correlation between warps that started together.
"""

import numpy as np

from warpbound.measure.case import Array
from warpbound.models.volkov_2016 import contention, mixes
from warpbound.models.volkov_2016.contention import Memory
from warpbound.models.volkov_2016.mixes import Mix

SCHEDULERS = 4
HALVINGS = 60
CLOSEST = 1e-9  # relative distance that the search keeps below the tightest limit


def predict(x: Mix, memory: Memory) -> Array:
    """Loads per cycle per SM for whole warps; arrays of `x` have one shape (n,)."""
    warps, alpha = np.broadcast_arrays(np.asarray(x.warps, np.float64), np.asarray(x.alu_per_op, np.float64))
    ceiling = float(np.min(np.stack(np.broadcast_arrays(*memory.ceiling))))
    most = np.minimum(np.asarray(mixes.peak(x).rate), ceiling * (1.0 - CLOSEST))
    low, high = np.zeros(warps.shape), np.broadcast_to(most, warps.shape).copy()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        above = sm_rate(x, warps, alpha, contention.loaded_latency(memory, middle)) >= middle  # eq. 6.5
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low


def sm_rate(x: Mix, warps: Array, alpha: Array, latency: Array) -> Array:
    """Loads per cycle per SM at a loaded latency, cycles."""
    least = np.floor(warps / SCHEDULERS)
    fuller = warps - SCHEDULERS * least
    alone = np.asarray(x.alu_latency, np.float64)
    demand, slots = alpha * alone, alone * np.asarray(x.alu_throughput) / SCHEDULERS
    more, fewer = (_scheduler_rate(count, demand, slots, latency) for count in (least + 1, least))
    return np.asarray(fuller * more + (SCHEDULERS - fuller) * fewer)


def _scheduler_rate(warps: Array, demand: Array, slots: Array, latency: Array) -> Array:
    """Groups per cycle of a scheduler whose warps wait `latency` cycles, then need `demand` cycles of a slot.

    The balance of the numbers of adding warps, p(k) / p(k - 1) = (warps - k + 1) demand / (latency min(k, slots)).
    """
    weight, total, busy = np.ones(warps.shape), np.ones(warps.shape), np.zeros(warps.shape)
    for adding in range(1, int(warps.max(initial=0.0)) + 1):
        running = np.minimum(adding, slots)
        weight = weight * np.maximum(warps - adding + 1, 0.0) * demand / (latency * running)
        total, busy = total + weight, busy + weight * running
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(demand > 0, busy / (total * demand), warps / latency)
