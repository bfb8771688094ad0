"""Quotients whose denominator may be zero.

Source   S. Hong, H. Kim, extended version of ISCA 2009, which leaves launches without memory or computation open.
Models   a value of the caller's in place of a division by zero.
Omits    everything else.
"""

import numpy as np

from warpbound.bounds import Real


def quotient(above: Real, below: Real, instead: Real) -> Real:
    """above / below, and `instead` where below is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(above, below)
    return ratio if np.all(below) else np.where(np.equal(below, 0), instead, ratio)
