"""Models against any reference on the synthetic family, as in sections 7.9 and 7.10 of the thesis.

A reference is any function of (machine, warps per SM, alpha) that returns accesses per cycle per SM: a model, a
simulator, or `measured(path)`, the samples of a CSV file.

    from warpbound.machine import gpu
    from warpbound.synthetic_family import comparison, machine, predictors
    h200 = machine.on_board(gpu("h200"))
    comparison.ratios(predictors.sim, predictors.basic, h200, comparison.alphas())
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.errors import InputError
from warpbound.models.volkov_2016.mixes import peak
from warpbound.quick_dataclasses import dataclass
from warpbound.synthetic_family.machine import Machine
from warpbound.synthetic_family.predictors import Throughput

Curve = NDArray[np.float64]
HEADER = ("alpha", "warps_per_sm", "accesses_per_cycle_per_sm")


@dataclass(frozen=True)
class Ratios:
    """A model's throughput over the reference's, extremes over all occupancies; shape (alphas,)."""

    alpha: Curve
    least: Curve
    most: Curve


@dataclass(frozen=True)
class Needed:
    """Least warps per SM that reach a share of any peak, NaN where none does; shape (alphas,)."""

    alpha: Curve
    warps: Curve

    @property
    def cusp(self) -> bool:
        """Whether the need has a maximum in between: over both ends by more than a tenth of an SM's warps."""
        attained = self.warps[~np.isnan(self.warps)]
        if attained.size < 3 or np.isnan(self.warps[0]):
            return False
        return bool(attained.max() > 1.1 * max(attained[0], attained[-1]))


def alphas(steps: int = 19) -> Curve:
    """Arithmetic intensities of the thesis: powers of the square root of 2 from 1, to 512 in 19 steps."""
    return np.asarray(2.0 ** (np.arange(steps) / 2))


def whole_warps(machine: Machine) -> Curve:
    """Occupancies with as many warps on every scheduler, up to what an SM holds."""
    return np.arange(machine.schedulers, machine.max_warps + 1.0, machine.schedulers)


def ratios(model: Throughput, reference: Throughput, machine: Machine, alpha: Curve) -> Ratios:
    """Extremes of model over reference for every alpha, over whole warps per scheduler."""
    warps = whole_warps(machine)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = model(machine, warps, alpha[:, None]) / reference(machine, warps, alpha[:, None])
    return Ratios(alpha, np.nanmin(quotient, axis=1), np.nanmax(quotient, axis=1))


def needed(model: Throughput, machine: Machine, alpha: Curve, share: float = 0.9) -> Needed:
    """Least whole number of warps per SM at which the model reaches `share` of a peak of the machine."""
    warps = np.arange(1.0, machine.max_warps + 1)
    target = share * peak(machine.mix(0.0, alpha[:, None])).rate * (1 - 1e-12)
    enough = model(machine, warps, alpha[:, None]) >= target
    return Needed(alpha, np.where(enough.any(axis=1), warps[enough.argmax(axis=1)], np.nan))


def measured(path: Path) -> Throughput:
    """Throughputs from a CSV file with the columns of HEADER, straight lines between its occupancies, NaN beyond.

    Raises InputError where the file is no such table.
    """
    samples = _samples(path)

    def throughput(machine: Machine, warps: Real, alpha: Real) -> Curve:
        n, a = np.broadcast_arrays(np.asarray(warps, dtype=np.float64), np.asarray(alpha, dtype=np.float64))
        rates = np.full(n.shape, np.nan)
        for at in np.unique(samples[:, 0]):  # no interpolation between two alphas
            own = samples[samples[:, 0] == at]
            own = own[np.argsort(own[:, 1])]
            here = np.isclose(a, at)
            rates[here] = np.interp(n[here], own[:, 1], own[:, 2], left=np.nan, right=np.nan)
        return rates

    return throughput


def _samples(path: Path) -> Curve:
    hint = f"Its first line is {','.join(HEADER)}, then one sample a line."
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        if not lines or tuple(lines[0].split(",")) != HEADER:
            raise InputError(f"{path} is not a table of the synthetic family.", hint)
        return np.array([[float(word) for word in line.split(",")] for line in lines[1:] if line]).reshape(-1, 3)
    except OSError as failed:
        raise InputError(f"{path} cannot be read ({failed.strerror}).", hint) from failed
    except ValueError as wrong:
        raise InputError(f"{path}: a line does not have three numbers ({wrong}).", hint) from wrong
