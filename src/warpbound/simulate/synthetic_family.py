"""Volkov's synthetic family on the simulated SM: one load and alpha dependent additions, again and again.

Source   V. Volkov, EECS-2016-143, sections 4.1 (the kernel), 5.8 (occupancies), 6.4 to 6.6 (latency under load).
Models   schedulers with their own adders, an even share of the chip's memory as one station; whole warps that never
         end, so that what is lost at starts and ends of blocks does not count.
Omits    dual issue (the chain allows none), caches, TLBs, other SMs.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.errors import InputError
from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.experiment import (
    Access,
    Experiment,
    Launch,
    Machine,
    Pipe,
    Station,
    Step,
    Stream,
    Table,
    deterministic,
    empirical,
    exponential,
    two_exponentials,
)
from warpbound.simulate.warp_simulation import Outcome, run
from warpbound.simulate.warp_state import Reason

MEMORIES = ("constant", "spread", "exponential", "fitted")
ENDLESS = 1 << 40
# Table 6.6, row of 3.8 GB/s: percentiles of single accesses on the GTX 680 when memory is all but idle, cycles. The
# last is not the slowest of ten million, 536, but what the printed mean of 303 leaves for the slowest twentieth.
IDLE_SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
IDLE_CYCLES = (280.0, 292.0, 296.0, 300.0, 304.0, 324.0, 360.0)
IDLE_MEAN = 303.0


class Sm(Protocol):
    """One SM as the family sees it; cycles, and instructions per cycle and SM."""

    @property
    def name(self) -> str: ...
    @property
    def memory_latency(self) -> float: ...
    @property
    def memory_throughput(self) -> float: ...
    @property
    def alu_latency(self) -> float: ...
    @property
    def alu_throughput(self) -> float: ...
    @property
    def issue_throughput(self) -> float: ...
    @property
    def schedulers(self) -> int: ...


@dataclass(frozen=True)
class Setting:
    """How the family is run.

    memory : "constant" latency and service; "spread": single latencies scatter as on an idle GTX 680; "exponential":
    service times vary as well; "fitted": they vary so much that latency grows with load as the machine's contention
    does. rounds : iterations of the chain that are counted, after a third as many that are not. ilp : independent
    chains of a warp, whose instructions alternate.
    """

    memory: str = "exponential"
    policy: str = "greedy_then_oldest"
    rounds: int = 30
    seed: int = 1
    ilp: int = 1


DEFAULT = Setting()


def idle_tail() -> Table:
    """The part of that distribution above its least latency, in units of its mean."""
    return empirical(np.array(IDLE_SHARES), np.array(IDLE_CYCLES) - IDLE_CYCLES[0])


def throughput(sm: Sm, warps: Real, alpha: Real, setting: Setting = DEFAULT) -> NDArray[np.float64]:
    """Loads per cycle per SM for whole numbers of warps and of additions per load, arrays that broadcast.

    Below alpha = 1 there are 1 / alpha loads to one addition; other alphas are rounded to whole additions.
    """
    n, a = np.broadcast_arrays(np.asarray(warps, np.float64), np.asarray(alpha, np.float64))
    rates = np.array([loads_per_cycle(sm, int(w), float(x), setting) for w, x in zip(n.flat, a.flat, strict=True)])
    return rates.reshape(n.shape)


def loads_per_cycle(sm: Sm, warps: int, alpha: float, setting: Setting = DEFAULT) -> float:
    """Throughput of one point."""
    return float(steady(sm, warps, alpha, setting).rates[::2].sum())


def steady(sm: Sm, warps: int, alpha: float, setting: Setting = DEFAULT) -> Outcome:
    """What happens while `warps` warps run; instructions are loads, then additions."""
    return run(experiment(sm, warps, alpha, setting))


def experiment(sm: Sm, warps: int, alpha: float, setting: Setting = DEFAULT) -> Experiment:
    """The kernel with `warps` warps of one block each, all of them started together."""
    path, loads, adds = interleaved(chain(alpha), setting.ilp), *counts(chain(alpha))
    alone = loads * sm.memory_latency + adds * sm.alu_latency
    busiest = max(loads / sm.memory_throughput, adds / sm.alu_throughput, (loads + adds) / sm.issue_throughput)
    turn = max(alone, warps * setting.ilp * busiest)
    return Experiment(
        machine=machine(sm, setting),
        steps=steps(sm, setting),
        streams=(Stream(path, ENDLESS),),
        launch=Launch(((0,),), resident=warps, blocks=warps),
        seed=setting.seed,
        warm=setting.rounds * turn / 3,
        horizon=setting.rounds * turn * 4 / 3,
    )


def chain(alpha: float) -> tuple[int, ...]:
    """One turn: 0 for a load, 1 for an addition, spread as evenly as can be."""
    if alpha >= 1 or alpha == 0:
        return (0,) + (1,) * round(alpha)
    return (0,) * round(1 / alpha) + (1,)


def counts(path: tuple[int, ...]) -> tuple[int, int]:
    """Loads and additions of a turn."""
    return path.count(0), path.count(1)


def interleaved(path: tuple[int, ...], ilp: int) -> tuple[int, ...]:
    """`ilp` chains, an instruction of each in turn: steps 0 and 1 belong to the first, 2 and 3 to the second."""
    return tuple(2 * own + step for step in path for own in range(ilp))


def machine(sm: Sm, setting: Setting = DEFAULT) -> Machine:
    """The SM and its share of the memory. Raises InputError for an unknown kind of memory, or one not fitted."""
    return Machine(
        schedulers=sm.schedulers,
        policy=setting.policy,
        pipes=(Pipe("alu"),),
        stations=(Station("memory", _service(sm, setting)),),
        tail=idle_tail(),
    )


def steps(sm: Sm, setting: Setting = DEFAULT) -> tuple[Step, ...]:
    """Load and addition of each independent chain; each waits for the previous one in its chain."""
    return tuple(step for own in range(setting.ilp) for step in _steps(sm, setting, f"value {own}"))


def _steps(sm: Sm, setting: Setting, value: str) -> tuple[Step, Step]:
    issue = sm.schedulers / sm.issue_throughput
    scatter = 0.0 if setting.memory == "constant" else sm.memory_latency * (1.0 - IDLE_CYCLES[0] / IDLE_MEAN)
    load = Access(spread=scatter, demand={"memory": 1.0 / sm.memory_throughput})
    return (
        Step(
            "load", issue=issue, stall=issue, latency=sm.memory_latency - scatter, access=load,
            writes=value, waits=(value,), blames=Reason.LONG_SCOREBOARD,
        ),
        Step(
            "add", issue=issue, stall=issue, pipe="alu", busy=sm.schedulers / sm.alu_throughput,
            latency=sm.alu_latency, writes=value, waits=(value,),
        ),
    )  # fmt: skip


def _service(sm: Sm, setting: Setting) -> Table:
    """Waiting in front of one server is s (1 + v) / 2 X / (c - X) with the squared variation v of service times s."""
    match setting.memory:
        case "constant" | "spread":
            return deterministic()
        case "exponential":
            return exponential()
        case "fitted":
            contention = getattr(sm, "contention", None)
            if contention is None:
                raise InputError(f"The memory of {sm.name} under load was not fitted.", "Take exponential.")
            return two_exponentials(2.0 * sum(contention.growth) * sm.memory_throughput - 1.0)
    raise InputError(f"--memory {setting.memory!r} is not known.", f"Known are {', '.join(MEMORIES)}.")
