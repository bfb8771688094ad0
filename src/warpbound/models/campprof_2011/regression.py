"""The regressions of CampProf: least squares with the statistics that its authors read off SAS.

Source   A. M. Aji, M. Daga, W. Feng, CF 2011, section 4.1, equation 1.  Statistics as in any text on linear regression
         ("eq. OLS"); Student's distribution by the series of the incomplete beta function, M. Abramowitz, I. Stegun,
         "Handbook of Mathematical Functions", 26.5.4 and 26.7.1 ("eq. AS").
Models   t = alpha_1 w + alpha_2 b_2 + alpha_3 b_4 + beta, b_2 and b_4 being 1 for words of 2 and 4 bytes; on demand a
         slope for each word length.  Root mean square error over the degrees of freedom, as SAS prints it.
Omits    weights, robust errors.  The paper does not name its selection: backward elimination here, which keeps what
         is significant at 0.1, the default of SAS.
"""

import math

import numpy as np
from numpy.typing import NDArray

from warpbound.models.campprof_2011 import Equation
from warpbound.quick_dataclasses import dataclass

PUBLISHED = ("slope", "two_byte", "four_byte", "constant")  # alpha_1, alpha_2, alpha_3, beta
BY_SIZE = (*PUBLISHED, "slope_two_byte", "slope_four_byte")
FORMS = {"published": PUBLISHED, "by-size": BY_SIZE}
STAY = 0.1  # p at which backward elimination keeps a predictor
SERIES_UP_TO = 0.95  # argument up to which the series of the incomplete beta function is summed as it stands

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """One regression: coefficients by predictor, (k,) each, and how well they fit.

    t, p : of the hypothesis that the coefficient is 0. rmse : root of the squared error per degree of freedom.
    """

    names: tuple[str, ...]
    coefficients: Reals
    standard_errors: Reals
    t: Reals
    p: Reals
    r_squared: float
    rmse: float
    points: int

    @property
    def degrees_of_freedom(self) -> int:
        """Points beyond those that determine the coefficients."""
        return self.points - len(self.names)                                 # eq. OLS

    @property
    def equation(self) -> Equation:
        """The coefficients in the model's terms; 0 for predictors that are not in it."""
        by_name = dict.fromkeys(PUBLISHED, 0.0) | dict(zip(self.names, self.coefficients.tolist(), strict=True))
        return Equation(**by_name)


def fit(warps: Reals, word: Reals, time: Reals, names: tuple[str, ...] = PUBLISHED) -> Fit:
    """Least squares of times on those predictors; arrays (n,), words of 2, 4 or 8 bytes.

    Raises ValueError where the points do not determine the coefficients, or leave no degree of freedom.
    """
    x = np.column_stack([_predictor(name, warps, word) for name in names])
    if len(time) <= len(names) or np.linalg.matrix_rank(x) < len(names):
        raise ValueError(f"{len(time)} points do not determine {len(names)} coefficients and their errors")
    orthogonal, upper = np.linalg.qr(x)
    coefficients = np.linalg.solve(upper, orthogonal.T @ time)               # eq. OLS
    residuals = time - x @ coefficients
    rmse = math.sqrt(residuals @ residuals / (len(time) - len(names)))                 # eq. OLS
    inverse = np.linalg.inv(upper)
    errors = rmse * np.sqrt((inverse**2).sum(axis=1))                        # eq. OLS
    with np.errstate(divide="ignore", invalid="ignore"):
        t = coefficients / errors                                            # eq. OLS
    around = time - time.mean()
    p = np.array([two_sided(float(value), len(time) - len(names)) for value in t])
    r_squared = 1.0 - float(residuals @ residuals) / float(around @ around)            # eq. OLS
    return Fit(names, coefficients, errors, t, p, r_squared, rmse, len(time))


def select(warps: Reals, word: Reals, time: Reals, names: tuple[str, ...] = PUBLISHED) -> tuple[str, ...]:
    """Predictors left by backward elimination: the least significant goes while its p is above 0.1; never beta."""
    predictors = names
    while True:
        regression = fit(warps, word, time, predictors)
        p = {name: value for name, value in zip(predictors, regression.p.tolist(), strict=True) if name != "constant"}
        weakest = max(p, key=lambda name: p[name], default="")
        if not weakest or p[weakest] <= STAY:
            return predictors
        predictors = tuple(name for name in predictors if name != weakest)


def two_sided(t: float, degrees_of_freedom: int) -> float:
    """Probability that Student's t is at least as far from 0."""
    if math.isnan(t):
        return math.nan
    share = degrees_of_freedom / (degrees_of_freedom + t * t)
    return incomplete_beta(share, degrees_of_freedom / 2, 0.5)               # eq. AS 26.7.1


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, 0 to 1, for x from 0 to 1."""
    if x <= 0.0 or x >= 1.0:
        return float(x > 0.0)
    if x > SERIES_UP_TO:
        return 1.0 - incomplete_beta(1.0 - x, b, a)                          # eq. AS 26.5.2
    logarithm = math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    total, term, n = 1.0, 1.0, 0
    while term > 1e-17 * total:
        term *= x * (a + b + n) / (a + 1 + n)                                # eq. AS 26.5.4
        total, n = total + term, n + 1
    return math.exp(logarithm) * total


def _predictor(name: str, warps: Reals, word: Reals) -> Reals:
    """Column of the regression, (n,)."""
    group = np.where(word == {"two": 2, "four": 4}[name.split("_")[-2]], 1.0, 0.0) if "byte" in name else 1.0
    return np.asarray(group * (warps if "slope" in name else np.ones(len(warps))), dtype=np.float64)  # eq. 1
