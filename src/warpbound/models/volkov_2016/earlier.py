"""Earlier models as the thesis evaluates them: on its own family of kernels, in its own symbols.

Source   V. Volkov, EECS-2016-143, sections 7.1 to 7.8; equation numbers are sections.  The models
         are Hong and Kim 2009, Baghsorkhi et al. 2010, Zhang and Owens 2011, Sim et al. 2012 and
         Huang et al. 2014; the thesis corrects misprints of the last one.
Models   adds per cycle per SM, lane by lane, of a `Mix` (Huang: per scheduler where n is per scheduler).
Omits    what the originals have beyond this family: barriers, divergence, SFU, MSHRs.  Huang's
         delay at full bandwidth is negative beyond saturation, and so is then the throughput:
         that is the thesis' point and is kept.
"""

import numpy as np

from warpbound.bounds import Real
from warpbound.models.volkov_2016 import mixes, schemes
from warpbound.models.volkov_2016.little import cycles_of, rate
from warpbound.models.volkov_2016.mixes import LANES, Mix


def hong_kim_time(x: Mix, mwp_peak_bw: Real) -> Real:
    """Cycles in which every warp does one access and alpha adds.

    Where memory binds the thesis prints no time; here the accesses then go MWP at a time.
    """
    group = np.add(x.alu_per_op, 1.0) / x.alu_throughput                                    # eq. 7.1
    mwp = np.minimum(x.warps, mwp_peak_bw)                                                  # eq. 7.1
    cwp = np.minimum(x.warps, x.op_latency / group + 1.0)                                   # eq. 7.1
    computing = np.multiply(x.warps, group)                                                 # eq. 7.1
    waiting = rate(np.multiply(x.warps, x.op_latency), mwp)                                 # eq. 7.1
    many = np.where(np.less_equal(cwp, mwp), computing, waiting)                            # eq. 7.1
    few = np.equal(mwp, x.warps) & np.equal(cwp, x.warps)
    return np.where(few, x.op_latency + group, many)                                        # eq. 7.1


def hong_kim(x: Mix, mwp_peak_bw: Real) -> Real:
    """Adds per cycle per SM; `mwp_peak_bw` is latency times pin bandwidth, in accesses."""
    return LANES * np.multiply(x.warps, x.alu_per_op) / hong_kim_time(x, mwp_peak_bw)       # eq. 7.1


def baghsorkhi_latency(x: Mix) -> Real:
    """"Latency" of a warp per access and alpha adds; the issue latency is that of an add."""
    issue, transfer = rate(1.0, x.alu_throughput), rate(1.0, x.op_throughput)
    computing = cycles_of(x.alu_per_op, schemes.arithmetic_time(x))                         # eq. 7.2
    latency_bw = issue + np.maximum(0.0, transfer - computing - issue)                      # eq. 7.2
    exposed = x.op_latency - np.subtract(x.warps, 1.0) * (computing + issue)                # eq. 7.2
    return computing + np.maximum(latency_bw, exposed)                                      # eq. 7.2


def baghsorkhi(x: Mix) -> Real:
    """Adds per cycle per SM; warps' latencies are summed, so their number is no factor."""
    return LANES * np.divide(x.alu_per_op, baghsorkhi_latency(x))                           # eq. 7.2


def zhang_owens(alu_per_op: Real, adds: Real, accesses: Real) -> Real:
    """Adds per cycle per SM, from lanes per cycle measured at this occupancy in each kind alone."""
    return np.minimum(adds, np.multiply(alu_per_op, accesses))                              # eq. 7.3


def sim_memory_time(x: Mix, mwp_peak_bw: Real) -> Real:
    """Cycles of all warps' accesses, one per warp; note CWP - 1, which slows few warps."""
    group = np.add(x.alu_per_op, 1.0) * schemes.arithmetic_time(x)                          # eq. 7.4
    cwp = np.minimum(x.warps, 1.0 + x.op_latency / group)                                   # eq. 7.4
    together = np.minimum(np.minimum(x.warps, mwp_peak_bw), np.maximum(1.0, cwp - 1.0))     # eq. 7.4
    return rate(np.multiply(x.warps, x.op_latency), together)                               # eq. 7.4


def sim(x: Mix, mwp_peak_bw: Real) -> Real:
    """Adds per cycle per SM; `mwp_peak_bw` from the sustained bandwidth, departure delay left out."""
    group = np.add(x.alu_per_op, 1.0) * schemes.arithmetic_time(x)                          # eq. 7.4
    computing = cycles_of(x.warps, group)                                                   # eq. 7.4
    waiting = sim_memory_time(x, mwp_peak_bw)
    mwp = np.minimum(x.warps, mwp_peak_bw)                                                  # eq. 7.4
    cwp = np.minimum(x.warps, 1.0 + x.op_latency / group)                                   # eq. 7.4
    uncovered = np.where(np.greater(cwp, mwp), waiting, waiting + group)                    # eq. 7.4
    return LANES * np.multiply(x.warps, x.alu_per_op) / np.maximum(computing, uncovered)    # eq. 7.4


def huang_round_robin(x: Mix) -> Real:
    """Instructions per cycle under round robin: the latency bound alone."""
    return rate(np.multiply(x.warps, np.add(x.alu_per_op, 1.0)), mixes.latency(x))          # eq. 7.5


def huang_greedy(x: Mix) -> Real:
    """Instructions per cycle under greedy-then-oldest."""
    alone = np.add(x.alu_per_op, 1.0) / mixes.latency(x)                                    # eq. 7.5
    memory = _not_overlapped(x.warps, alone, x.op_latency)                                  # eq. 7.6
    arithmetic = _not_overlapped(x.warps, alone, x.alu_latency)                             # eq. 7.6
    total = mixes.latency(x) + memory + x.alu_per_op * arithmetic                           # eq. 7.6
    return rate(np.multiply(x.warps, np.add(x.alu_per_op, 1.0)), total)                     # eq. 7.6


def huang_greedy_one_kind(warps: Real, latency: Real) -> Real:
    """The same for instructions of one kind, alpha = 0 or infinity; exceeds 1 for many warps."""
    crowded = np.subtract(warps, 1.0) * (1.0 - rate(1.0, latency)) + 1.0                    # eq. 7.6
    return rate(warps, np.maximum(latency, crowded))                                        # eq. 7.6


def huang_service(clock_Hz: Real, bytes_per_s: Real, bytes_per_request: Real) -> Real:
    """Cycles in which the pins transfer one request."""
    return np.divide(np.multiply(clock_Hz, bytes_per_request), bytes_per_s)                 # eq. 7.7


def huang_utilisation(
    warps: Real, op_latency: Real, requests: Real, sm_count: Real, service: Real
) -> Real:
    """Share of bandwidth asked for when every warp has `requests` in flight; may exceed 1."""
    arrivals = np.divide(np.multiply(requests, np.multiply(warps, sm_count)), op_latency)   # eq. 7.7
    return np.multiply(arrivals, service)                                                   # eq. 7.7


def huang_bandwidth_delay(
    warps: Real, op_latency: Real, requests: Real, sm_count: Real, service: Real
) -> Real:
    """Cycles of queueing per access; negative where the utilisation exceeds 1."""
    rho = huang_utilisation(warps, op_latency, requests, sm_count, service)
    queue = rate(np.multiply(rho, service), 2.0 * np.subtract(1.0, rho))                    # eq. 7.7
    requested = np.multiply(requests, np.multiply(warps, sm_count))                         # eq. 7.7
    whole = np.multiply(service, requested) / 2.0                                           # eq. 7.7
    return np.minimum(queue, whole)                                                         # eq. 7.7


def huang_cpi(inst: Real, delay: Real, alu_per_op: Real) -> Real:
    """Cycles per instruction from the rate without contention and the delay of each access."""
    return rate(1.0, inst) + np.divide(delay, np.add(alu_per_op, 1.0))                      # eq. 7.7


def huang_adds(inst: Real, alu_per_op: Real) -> Real:
    """Adds per cycle, lane by lane, at so many instructions per cycle."""
    adds = np.divide(np.multiply(inst, alu_per_op), np.add(alu_per_op, 1.0))                # eq. 7.5
    return np.multiply(LANES, adds)                                                         # eq. 7.5


def _not_overlapped(warps: Real, alone: Real, latency: Real) -> Real:
    stall = np.subtract(latency, 1.0)                                                       # eq. 7.6
    issued = np.multiply(np.minimum(np.multiply(alone, stall), 1.0), np.subtract(warps, 1.0))  # eq. 7.6
    return np.maximum(0.0, np.subtract(issued, stall))                                      # eq. 7.6
