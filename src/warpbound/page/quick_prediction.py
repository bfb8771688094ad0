"""The predicted time without its interval: fast enough to follow a slider."""

from typing import Any

import numpy as np

from warpbound.analysis.timing import merged
from warpbound.page.subject import Subject
from warpbound.time_model.batch import launch_seconds
from warpbound.time_model.launch import resource_costs, steady
from warpbound.time_model.launched_work import LaunchedWork
from warpbound.time_model.parameters import fitted_parameters

THOUSAND = 1000.0


def _launch(subject: Subject) -> LaunchedWork:
    x = subject.facts
    assert x is not None
    assert x.blocks
    per_block = -(-(x.threads_per_block or subject.block.threads) // 32)
    return LaunchedWork(x.work, subject.gpu, x.clock_hz, x.blocks, subject.fitting, per_block)


def can_time(subject: Subject) -> bool:
    """Whether the subject is a launch in blocks whose every count is known."""
    x = subject.facts
    if x is None or not x.blocks or not subject.fitting:
        return False
    return x.work.warps is not None and x.work.unit == "warp"


def quick_seconds(subject: Subject) -> float:
    """Time of the launch."""
    return launch_seconds([_launch(subject)])[0]


def quick_bounds(subject: Subject) -> dict[str, float]:
    """Resource -> SM cycles per warp while the SMs are full, as the table of bounds lists them, none of them 0."""
    x, parameters = _launch(subject), fitted_parameters(subject.gpu).values
    full = steady(x.active_work(), parameters, x.population)
    cost_s = merged(resource_costs(full, parameters, x.blocks_per_active_sm))
    return {name: cost * x.clock_hz / x.warps_per_block for name, cost in cost_s.items() if cost > 0}


def quick_curve(subject: Subject) -> tuple[Any, Any]:
    """Warps per SM, shape (n,), and their throughput in warps per 1000 cycles and SM, at each number of blocks."""
    x = _launch(subject)
    blocks = np.arange(1.0, subject.fitting + 1.0)
    resident = np.minimum(blocks, x.blocks_per_active_sm)
    full = steady(x.active_work(), fitted_parameters(subject.gpu).values, resident)
    rate = np.broadcast_to(np.asarray(full.balance.rate), blocks.shape)
    return blocks * x.warps_per_block, THOUSAND * rate * x.warps_per_block / x.clock_hz
