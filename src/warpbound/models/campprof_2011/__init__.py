"""Bounds on the time of a memory-bound kernel: no request camps in one memory partition, or every one does.

Source   A. M. Aji, M. Daga, W. Feng, "Bounding the Effect of Partition Camping in GPU Kernels", CF 2011.  Equation 1 is
         its only numbered one and is checked; the others are told in words ("eq. 4.2" is section 4.2).
Models   four regressions of the time of micro-benchmarks on active warps and word length: reads and writes, with and
         without camping.  A kernel's transactions cost what those of the micro-benchmarks cost at the same number of
         active warps; reads and writes add up.  A measured time lies at a constant share between the bounds.
Omits    arithmetic, latency of the kernel's own code, camping in some of the partitions, caches.
Reading  The paper does not say how counts scale the regressed times: here by transactions, counted over the same part
         of the chip.  Its equation has one slope for all word lengths; where their times grow at different rates, it
         falls below zero at few warps.  The slopes by word length are ours, and 0 in the paper.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real, Stack, stack
from warpbound.quick_dataclasses import dataclass

SIZES = (32, 64, 128)  # bytes of a transaction: 16 lanes with words of 2, 4 or 8 bytes
WORDS = (2, 4, 8)


@dataclass(frozen=True)
class Equation:
    """Coefficients of one regression; 8-byte words are the baseline."""

    slope: Real                  # alpha_1  of active warps             [s/warp]
    two_byte: Real               # alpha_2  of words of 2 bytes         [s]
    four_byte: Real              # alpha_3  of words of 4 bytes         [s]
    constant: Real               # beta                                 [s]
    slope_two_byte: Real = 0.0   # ours     of warps with 2-byte words  [s/warp]
    slope_four_byte: Real = 0.0  # ours     of warps with 4-byte words  [s/warp]


@dataclass(frozen=True)
class Inputs:
    """Machine as its micro-benchmarks show it, then a kernel's counters, over the same part of the chip."""

    reads: Equation           # (1) without camping
    writes: Equation          # (2) without camping
    camped_reads: Equation    # (3)
    camped_writes: Equation   # (4)
    per_warp: Real            #      transactions of a micro-benchmark for each active warp per SM  [1/warp]
    warps: Real               # w    active per SM                                                  [warp/SM]
    gld_32: Real = 0.0        #      loads of 32 bytes                                              [transaction]
    gld_64: Real = 0.0
    gld_128: Real = 0.0
    gst_32: Real = 0.0        #      stores of 32 bytes                                             [transaction]
    gst_64: Real = 0.0
    gst_128: Real = 0.0
    degree: Real = 0.0        #      of camping: 0 at the best case, 1 at the worst                 [1]


def predict(x: Inputs) -> Stack:
    """Parts of the kernel's time: each type of transaction at its best, and what camping adds. Seconds."""
    parts: dict[str, Real] = {
        **_parts(x.reads, x, "gld"),
        **_parts(x.writes, x, "gst"),
        "camping": x.degree * (worst(x) - best(x)),                          # eq. 4.2.1
    }
    return stack("s", **parts)


def best(x: Inputs) -> Real:
    """Lower bound of the time: nothing camps. Seconds."""
    return _sum(_parts(x.reads, x, "gld")) + _sum(_parts(x.writes, x, "gst"))  # eq. 4.1


def worst(x: Inputs) -> Real:
    """Upper bound of the time: every transaction camps. Seconds."""
    return _sum(_parts(x.camped_reads, x, "gld")) + _sum(_parts(x.camped_writes, x, "gst"))  # eq. 4.1


def benchmark_time(equation: Equation, warps: Real, word: Real) -> Real:
    """t of one micro-benchmark with words of 2, 4 or 8 bytes. Seconds."""
    b2, b4 = np.equal(word, 2), np.equal(word, 4)
    one_slope = equation.slope * warps + equation.two_byte * b2 + equation.four_byte * b4 + equation.constant  # eq. 1
    return one_slope + (equation.slope_two_byte * b2 + equation.slope_four_byte * b4) * warps


def degree_of_camping(time: Real, best: Real, worst: Real) -> Real:
    """Where a time lies between its bounds: 0 at the best, 1 at the worst, beyond them outside. NaN without a band."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.subtract(time, best) / np.subtract(worst, best)       # eq. 4.2.2
    return np.where(np.equal(worst, best), np.nan, share)


def application(degree: Real, best: Real, worst: Real) -> Real:
    """Time at other numbers of active warps, in constant proportion to the band. Seconds."""
    return best + degree * np.subtract(worst, best)                          # eq. 4.2.1


def extrapolated(time: Real, at: tuple[Real, Real], best: Real, worst: Real) -> Real:
    """The application line through a time measured where the band was `at` (best, worst). Seconds."""
    return application(degree_of_camping(time, *at), best, worst)        # eq. 4.2.1


def active_warps(most: int, block_warps: int) -> tuple[int, ...]:
    """Numbers of active warps per SM that one block or two equal ones of at most `block_warps` reach; at most `most`.

    On 1.2 and 1.3, with 32 and 16, the 24 of the paper. Three and more blocks reach 21, 25 and 27 too.
    """
    reached = {blocks * warps for blocks in (1, 2) for warps in range(1, block_warps + 1)}  # eq. 2
    return tuple(sorted(warps for warps in reached if warps <= most))


def relative_errors(predictions: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Magnitudes, of the measured value. Any shape."""
    return np.asarray(np.abs(predictions - times) / times)               # eq. 6.2


def application_lines(
    times: NDArray[np.float64], best: NDArray[np.float64], worst: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Application line through each of n measured times at all n numbers of warps, (n, n). Seconds.

    best, worst : the band at each number of warps, (n,), or a band by the counters of each time, (n, n).
    """
    count = len(times)
    low, high = (np.broadcast_to(bound, (count, count)) for bound in (best, worst))
    degree = np.asarray(degree_of_camping(times, np.diagonal(low), np.diagonal(high)))
    return np.asarray(application(degree[:, None], low, high))               # eq. 4.2.1


def extrapolation_errors(
    times: NDArray[np.float64], best: NDArray[np.float64], worst: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Errors of the application lines through each of n measured times at the n - 1 others, (n, n - 1).

    The starting point of a line is left out: its error is 0, and would make any geometric mean 0.
    """
    errors = relative_errors(application_lines(times, best, worst), times)
    others = max(0, len(times) - 1)
    return errors[~np.eye(len(times), dtype=bool)].reshape(len(times), others)  # eq. 6.2


def geometric_mean(errors: NDArray[np.float64]) -> float:
    """Of errors of any shape; 0 where one of them is."""
    with np.errstate(divide="ignore"):
        return float(np.exp(np.mean(np.log(errors))))                        # eq. 6.2


def _parts(equation: Equation, x: Inputs, kind: str) -> dict[str, Real]:
    """Time of each size of transaction."""
    transactions = np.multiply(x.per_warp, x.warps)  # of the micro-benchmark
    return {
        f"{kind}_{size}": getattr(x, f"{kind}_{size}")
        * benchmark_time(equation, x.warps, word) / transactions  # eq. 4.1
        for size, word in zip(SIZES, WORDS, strict=True)
    }


def _sum(parts: dict[str, Real]) -> Real:
    small, middle, large = parts.values()
    return small + middle + large
