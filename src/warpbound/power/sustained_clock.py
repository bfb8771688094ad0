"""The clock of a board under a load that lasts: the highest step at which its power stays within the limit.

Source   boards read their power over an interval of 0.1 to 1 s and step the clock down while it exceeds the limit
         (Yang and others, arXiv:2312.02741); so repeated launches decide, and a launch of milliseconds does not.
Models   equal launches one after the other, each as long as it takes at that clock.
Omits    how fast the clock settles; limits of temperature and of currents.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from warpbound.power.activity import Activity
from warpbound.power.draw import PowerParameters, watts
from warpbound.quick_dataclasses import dataclass

Array = NDArray[np.float64]
INTERVAL = 1.28  # standard deviations of an 80 % interval
LEAST = 0.15  # share of the highest clock: no board was seen to run slower under load
MOST_STEPS = 10_000  # finer steps move no clock by as much as a clock is known
Limiter = Literal["power", "step"]


@dataclass(frozen=True)
class Operation:
    """Launches that follow each other: clock, seconds of a launch, mean power, what limits the clock."""

    clock_hz: float
    seconds: float
    watts: float
    limiter: Limiter

    @property
    def joules(self) -> float:
        """Energy of one launch."""
        return self.watts * self.seconds


@dataclass(frozen=True)
class HeldClock:
    """The clock under a load. slow_hz, fast_hz : ends of its 80 % interval, by the spread of predicted watts."""

    operation: Operation
    slow_hz: float
    fast_hz: float


def clock_steps(p: PowerParameters) -> Array:
    """Clocks from the highest down, Hz."""
    if p.drop_hz is not None:
        return np.array([p.highest_hz, p.drop_hz])
    step_hz = max(p.step_hz, (1.0 - LEAST) * p.highest_hz / MOST_STEPS)
    count = int((1.0 - LEAST) * p.highest_hz / step_hz)
    return p.highest_hz - step_hz * np.arange(count + 1.0)


def operation_at(p: PowerParameters, x: Activity, clocks: Array, seconds: Array, limit: float) -> Operation:
    """The highest of `clocks` (falling, Hz) at which launches that take `seconds` stay within `limit`, W.

    The lowest of them where none does.
    """
    watts_at_clock = watts(p, x, seconds, clocks)
    within = np.flatnonzero(watts_at_clock <= limit)
    place = int(within[0]) if within.size else len(clocks) - 1
    limiter: Limiter = "step" if place == 0 else "power"
    return Operation(float(clocks[place]), float(seconds[place]), float(watts_at_clock[place]), limiter)


def held(p: PowerParameters, x: Activity, clocks: Array, seconds: Array, limit: float) -> HeldClock:
    """The clock at a limit, W, and its interval, from the uncertainty of the predicted watts."""
    off = math.exp(INTERVAL * p.spread)
    slow, middle, fast = (operation_at(p, x, clocks, seconds, limit * by) for by in (1.0 / off, 1.0, off))
    return HeldClock(middle, slow.clock_hz, fast.clock_hz)


def least_energy(p: PowerParameters, x: Activity, clocks: Array, seconds: Array) -> Operation:
    """At the clock at which a launch takes the fewest joules; the highest of equal ones."""
    watts_at_clock = watts(p, x, seconds, clocks)
    best = int(np.argmin(watts_at_clock * seconds))
    return Operation(float(clocks[best]), float(seconds[best]), float(watts_at_clock[best]), "step")
