"""Capacity of device memory, and waiting of requests for it, by the mixture of reads and writes.

Source   our own fit of streaming kernels with no, half and only stores.
Models   time per byte linear in the share of writes, plus the cost of turning the bus round, which is largest when
         both are equal; waiting that vanishes for pure writes, since no warp waits for them.
Omits    locality in rows and channels, refresh, the order of requests.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Dram:
    """One board's device memory."""

    read_rate: Real          # c_r  bytes per second, reads only                              [B/s]
    write_rate: Real         # c_w  writes only                                               [B/s]
    turning: Real       # c_m  time per byte that an even mixture adds, times pin rate   [1]
    pins: Real          #      pin bandwidth                                             [B/s]
    wait_read: Real     # b_r  waiting of a read phase at half load, reads only          [s]
    wait_mixed: Real    # b_m  added by an even mixture                                  [s]


def capacity(x: Dram, writes: Real) -> NDArray[np.float64]:
    """Bytes per second at a share `writes` of written bytes."""
    reads = np.subtract(1.0, writes)
    per_byte = reads / x.read_rate + np.divide(writes, x.write_rate) + np.divide(x.turning, x.pins) * _evenness(writes)
    return np.asarray(1.0 / per_byte)


def wait(x: Dram, writes: Real) -> NDArray[np.float64]:
    """Waiting of one load phase at half of the capacity, s."""
    return np.asarray(x.wait_read * np.subtract(1.0, writes) + x.wait_mixed * _evenness(writes))


def _evenness(writes: Real) -> NDArray[np.float64]:
    """1 for as many bytes written as read, 0 for either alone."""
    return np.asarray(4.0 * np.multiply(writes, np.subtract(1.0, writes)))
