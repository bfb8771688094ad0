"""How far predictions are from measurements: errors, ranking, choice and coverage. Arrays in, numbers out."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass

Array = NDArray[np.float64]
ALL = "all"   # a score of all kernels or boards, in place of one
NEAR = 0.2    # relative error that counts as near
APART = 0.1   # pairs whose measured times differ by more than this are ranked


@dataclass(frozen=True)
class Score:
    """Of n launches; errors are relative to the measured time. None where it is not defined.

    mape : mean of |error|; bias : median of the signed error. within : share with |error| up to NEAR. ranked : share
    of pairs in the right order less the share in the wrong one. regret_1, regret_5 : how much slower the best of the
    1 or 5 predicted best is than the best, mean over groups of choices. coverage : share inside the interval. width :
    of the interval, relative to the prediction, median.
    """

    n: int
    mape: float
    bias: float
    median: float
    p90: float
    p95: float
    worst: float
    within: float
    ranked: float | None
    regret_1: float | None
    regret_5: float | None
    coverage: float | None
    width: float | None = None


def score(
    predicted_s: Array, measured_s: Array, groups: Sequence[object] = (), intervals: Array | None = None
) -> Score:
    """Scores of times, both of shape (n,), n at least 1; rows of one group, None aside, are ways to do one work.

    intervals : low and high edges, shape (n, 2).
    """
    signed = predicted_s / measured_s - 1.0
    errors = np.abs(signed)
    return Score(
        n=len(errors),
        mape=float(errors.mean()),
        bias=float(np.median(signed)),
        median=float(np.median(errors)),
        p90=float(np.percentile(errors, 90)),
        p95=float(np.percentile(errors, 95)),
        worst=float(errors.max()),
        within=float(np.mean(errors <= NEAR)),
        ranked=kendall_tau(predicted_s, measured_s),
        regret_1=regret(predicted_s, measured_s, groups, 1),
        regret_5=regret(predicted_s, measured_s, groups, 5),
        coverage=None if intervals is None else covered(measured_s, intervals),
        width=None if intervals is None else float(np.median((intervals[:, 1] - intervals[:, 0]) / predicted_s)),
    )


def covered(measured_s: Array, intervals: Array) -> float:
    """Share of times, shape (n,), between the edges, shape (n, 2)."""
    return float(np.mean((intervals[:, 0] <= measured_s) & (measured_s <= intervals[:, 1])))


def kendall_tau(predicted_s: Array, measured_s: Array) -> float | None:
    """Kendall's tau over the pairs whose measured times lie more than APART from each other; None without any."""
    slower = np.log(measured_s[:, None] / measured_s[None, :])
    apart = slower > math.log(1.0 + APART)
    if not apart.any():
        return None
    return float(np.sign(np.log(predicted_s[:, None] / predicted_s[None, :]))[apart].mean())


def regret(predicted_s: Array, measured_s: Array, groups: Sequence[object], k: int) -> float | None:
    """Mean over groups of more than k choices: the best of the k predicted best over the best, less one."""
    lost = []
    for group in {group: None for group in groups if group}:
        of_group = np.array([g == group for g in groups])
        if of_group.sum() > k:
            best_predicted = np.argsort(predicted_s[of_group], kind="stable")[:k]
            lost.append(measured_s[of_group][best_predicted].min() / measured_s[of_group].min() - 1.0)
    return float(np.mean(lost)) if lost else None
