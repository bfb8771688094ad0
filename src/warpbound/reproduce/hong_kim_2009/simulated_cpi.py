"""Simulates the machine that the paper describes, warp by warp: its exact CPI, which the model only estimates.

Warps compute, and their loads leave the SM a departure delay apart and take a fixed time; the oldest ready warp issues.
It stands in for the four GPUs on which the paper measures the model's errors of 5.4 and 13.3 %.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.models.hong_kim_2009 import Inputs, cpi, mem_insts
from warpbound.simulate.experiment import Access, Experiment, Launch, Machine, Station, Step, Stream
from warpbound.simulate.warp_simulation import run
from warpbound.simulate.warp_state import Reason

LOADS = 24  # of a warp that are simulated: the computation between them is the same for each


def simulated_cpi(x: Inputs) -> float:
    """Cycles per instruction of one SM full of its active blocks; scalars, one kind of access."""
    loads = float(mem_insts(x))
    if not loads:
        return float(x.issue_cycles)
    between = float(x.comp_insts) / loads
    transactions = float(x.uncoal_per_mw) if x.uncoal_mem_insts else 1.0
    departure = float(x.departure_uncoal if x.uncoal_mem_insts else x.departure_coal)
    issue, busy = float(x.issue_cycles), float(x.issue_cycles) * between
    compute = Step("compute", issue=busy, stall=busy, waits=("value",))
    load = Step(
        "load", issue=issue, stall=issue, latency=float(x.mem_latency) + (transactions - 1.0) * departure,
        access=Access(demand={"departure": transactions * departure}), writes="value", blames=Reason.LONG_SCOREBOARD,
    )  # fmt: skip
    warps, blocks = int(np.ceil(float(x.threads_per_block) / 32)), int(x.active_blocks)
    turns = min(LOADS, round(loads))
    outcome = run(
        Experiment(
            machine=Machine(policy="oldest", stations=(Station("departure"),)),
            steps=(compute, load),
            streams=(Stream((0, 1), turns),),
            launch=Launch(((0,) * warps,), resident=blocks, blocks=blocks),
        )
    )
    return outcome.cycles / (turns * (between + 1.0) * warps * blocks)


def errors(kernels: list[Inputs]) -> NDArray[np.float64]:
    """Relative error of the model's CPI against the simulated one, shape (n,)."""
    return np.array([abs(float(cpi(x)) / simulated_cpi(x) - 1.0) for x in kernels])
