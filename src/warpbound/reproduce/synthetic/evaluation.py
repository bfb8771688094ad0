"""Every model against the simulated SM on the synthetic family, as sections 4.6, 7.9 and 7.10 of the thesis judge them.

The thesis' five machines have a memory whose waiting is fitted to its Table 6.5; H100 and H200, of which no such fit
is known, one with exponential service. Occupancies are whole warps on every scheduler, as in the thesis.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError
from warpbound.machine import gpu
from warpbound.models.volkov_2016.mixes import peak
from warpbound.quick_dataclasses import dataclass
from warpbound.reproduce.item import chosen
from warpbound.reproduce.volkov_2016.machines import machines
from warpbound.result.simulation import FamilyEvaluation, RatioRange
from warpbound.simulate.synthetic_family import Setting, loads_per_cycle
from warpbound.synthetic_family.comparison import Ratios, alphas, whole_warps
from warpbound.synthetic_family.machine import Machine, on_board
from warpbound.synthetic_family.predictors import PREDICTORS

Curve = NDArray[np.float64]
MODERN = ("h100-sxm", "h200")
LOADS = 6_000         # counted in a point where they are the bottleneck; scatter of a few per cent remains
INSTRUCTIONS = 150_000  # most instructions of a point
LEAST_ROUNDS = 12
SHARE = 0.9           # of a peak, that needs so many warps


@dataclass(frozen=True)
class Evaluation:
    """One machine.

    simulated : loads per cycle and SM, (alphas, occupancies). ratios : model -> extremes of model over simulation.
    warps_needed : model, or "simulated" -> least whole warps for SHARE of the tightest limit, NaN where none.
    """

    machine: Machine
    alpha: Curve
    warps: Curve
    simulated: Curve
    ratios: dict[str, Ratios]
    warps_needed: dict[str, Curve]


def subjects(names: str | None = None) -> dict[str, Machine]:
    """The machines of the thesis by generation, then H100 and H200; or those named in a comma list."""
    every = machines(chosen("volkov_2016:section-7.9")[0].inputs) | {key: on_board(gpu(key)) for key in MODERN}
    if names is None:
        return every
    subset = {name: every[name] for name in names.split(",") if name in every}
    if len(subset) < len(names.split(",")):
        raise CommandError(f"--gpu {names!r}: not all of these are evaluated.", f"There are {', '.join(every)}.")
    return subset


def intensities(steps: int = 19) -> Curve:
    """0, then the thesis' powers of the square root of 2 up to 512, rounded to whole additions."""
    return np.unique(np.concatenate([[0.0], np.round(alphas(steps))]))


def evaluate(machine: Machine, alpha: Curve, every: int = 1) -> Evaluation:
    """All models on one machine; `alpha` whole numbers."""
    warps = whole_warps(machine)[every - 1 :: every]
    simulated = np.array([[_point(machine, int(n), float(a)) for n in warps] for a in alpha])
    limits = peak(machine.mix(0.0, np.maximum(alpha, 1e-9)[:, None])).rate
    ratios, least_warps = {}, {"simulated": _needed(simulated, limits, warps)}
    for name, model in PREDICTORS.items():
        if name == "volkov_2016, contention" and machine.contention is None:
            continue
        with np.errstate(all="ignore"):
            modelled = np.array(model(machine, warps, np.maximum(alpha, 1e-9)[:, None]), np.float64)
            quotient = modelled / simulated
        ratios[name] = Ratios(alpha, np.nanmin(quotient, axis=1), np.nanmax(quotient, axis=1))
        least_warps[name] = _needed(modelled, limits, warps)
    return Evaluation(machine, alpha, warps, simulated, ratios, least_warps)


def answer(evaluation: Evaluation) -> FamilyEvaluation:
    """One machine's evaluation as an answer."""
    return FamilyEvaluation(
        machine=evaluation.machine.name,
        alpha=evaluation.alpha.tolist(),
        warps_per_sm=evaluation.warps.tolist(),
        loads_per_cycle=evaluation.simulated.tolist(),
        ratios={
            name: RatioRange(least=each.least.tolist(), most=each.most.tolist())
            for name, each in evaluation.ratios.items()
        },
        needed={name: warps.tolist() for name, warps in evaluation.warps_needed.items()},
    )


def _point(machine: Machine, warps: int, alpha: float) -> float:
    memory = "fitted" if machine.contention else "exponential"
    rounds = min(LOADS / warps, INSTRUCTIONS / (warps * (alpha + 1)))
    return loads_per_cycle(machine, warps, alpha, replace(Setting(memory), rounds=max(LEAST_ROUNDS, round(rounds))))


def _needed(rate: Curve, limits: Curve, warps: Curve) -> Curve:
    enough = rate >= SHARE * limits * (1 - 1e-12)
    return np.where(enough.any(axis=1), warps[enough.argmax(axis=1)], np.nan)
