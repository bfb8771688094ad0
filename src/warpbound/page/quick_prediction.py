"""The headline prediction of a launch as fast as a slider moves: the same model, its interval left out."""

from typing import Any

import numpy as np

from warpbound.analysis.timing import merged
from warpbound.headline.launch import launch_time, resource_costs, steady
from warpbound.headline.parameters import fitted_parameters
from warpbound.headline.queue_demands import Launched
from warpbound.page.subject import Subject

THOUSAND = 1000.0


def _stationed(subject: Subject) -> tuple[Launched, float, int]:
    """The launch as the model takes it, blocks for each SM that has work, warps of a block."""
    x = subject.launched
    assert x is not None
    assert x.blocks
    per_block = -(-(x.threads_per_block or subject.block.threads) // 32)
    active = min(subject.gpu.value("sm_count"), float(x.blocks))
    return Launched(x.work, subject.gpu, x.clock_hz, float(per_block), active), x.blocks / active, per_block


def can_time(subject: Subject) -> bool:
    """Whether the subject is a launch in blocks whose every count is known."""
    x = subject.launched
    if x is None or not x.blocks or not subject.fitting:
        return False
    return x.work.warps is not None and x.work.unit == "warp"


def quick_seconds(subject: Subject) -> float:
    """Time of the launch."""
    x, per_sm, _ = _stationed(subject)
    parameters = fitted_parameters(subject.gpu).values
    full = steady(x, parameters, min(float(subject.fitting), per_sm))
    return float(np.ravel(launch_time(x, parameters, full, per_sm))[0])


def quick_bounds(subject: Subject) -> dict[str, float]:
    """Resource -> SM cycles per warp while the SMs are full, as the table of bounds lists them, none of them 0."""
    x, per_sm, per_block = _stationed(subject)
    parameters = fitted_parameters(subject.gpu).values
    full = steady(x, parameters, min(float(subject.fitting), per_sm))
    cost_s = merged(resource_costs(full, parameters, per_sm))
    return {name: cost * x.clock_hz / per_block for name, cost in cost_s.items() if cost > 0}


def quick_curve(subject: Subject) -> tuple[Any, Any]:
    """Warps per SM, shape (n,), and their throughput in warps per 1000 cycles and SM, at each number of blocks."""
    x, per_sm, per_block = _stationed(subject)
    blocks = np.arange(1.0, subject.fitting + 1.0)
    full = steady(x, fitted_parameters(subject.gpu).values, np.minimum(blocks, per_sm))
    rate = np.broadcast_to(np.asarray(full.balance.rate), blocks.shape)
    return blocks * per_block, THOUSAND * rate * per_block / x.clock_hz
