"""Kernels of the suite on the simulated SM: latencies, rates and contention are put in, its warps do the rest."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from support.logged_run import run_logged
from warpbound.simulate.experiment import (
    Access,
    Experiment,
    Launch,
    Machine,
    Pipe,
    Station,
    Step,
    Stream,
    two_exponentials,
)
from warpbound.simulate.warp_simulation import run
from warpbound.simulate.warp_state import Reason

SCHEDULERS = 4
LOADS_LOGGED = 40_000
QUEUE = 16.0  # cycles of work that may wait in front of a unit of the SM


@dataclass(frozen=True)
class Kind:
    """An instruction: cycles until its result is there, how many per cycle and SM, whether the SM has one unit."""

    latency: float
    rate: float
    shared: bool = False


@dataclass(frozen=True)
class Memory:
    """latency : of a load alone, cycles, of it the mean random part `spread`. rate : loads of a warp per cycle and SM.
    growth : b of a + b X / (c - X), cycles."""

    latency: float
    rate: float
    growth: float
    spread: float = 0.0


Part = Kind | Memory


@dataclass(frozen=True)
class Chain:
    """Parts one after the other, `turns` times over, in `ilp` chains side by side; every instruction waits for the
    one before it in its chain."""

    parts: tuple[Part, ...]
    turns: int
    ilp: int = 1


@dataclass(frozen=True)
class Place:
    """Blocks on an SM, how many of them at once, warps of each, cycles until a block is replaced."""

    blocks: int
    resident: int
    warps: int
    block_start: float = 0.0


@dataclass(frozen=True)
class Times:
    """Starts and ends of the warps of an SM's blocks, (blocks, warps), and latencies of its loads; cycles."""

    started: NDArray[np.float64]
    ended: NDArray[np.float64]
    loads: NDArray[np.float64]


@cache
def played(chain: Chain, place: Place, seed: int, logged: int = 0) -> Times:
    """What an SM's blocks do."""
    experiment = _experiment(chain, place, seed)
    blocks, warps = place.blocks, place.warps
    done = run_logged(experiment, logged) if logged else run(experiment)
    loads = done.log[done.log["kind"] == "request"]
    started, ended = (one.reshape(blocks, warps) for one in (done.started, done.ended))
    return Times(started, ended, loads["until"] - loads["cycle"])


def _experiment(chain: Chain, place: Place, seed: int) -> Experiment:
    kinds = list(dict.fromkeys(chain.parts))
    tokens = [f"x{j}" for j in range(chain.ilp)]
    steps = [_step(kind, number, token) for number, kind in enumerate(kinds) for token in tokens]
    steps.append(Step("end", waits=tuple(tokens)))
    turn = [kinds.index(part) * chain.ilp + j for part in chain.parts for j in range(chain.ilp)]
    memory = next((kind for kind in kinds if isinstance(kind, Memory)), None)
    variation = 2.0 * memory.growth * memory.rate - 1.0 if memory else 1.0
    return Experiment(
        Machine(
            schedulers=SCHEDULERS,
            pipes=tuple(_pipe(number, one) for number, one in enumerate(kinds) if isinstance(one, Kind)),
            stations=(Station("memory", two_exponentials(variation)),) if memory else (),
        ),
        tuple(steps),
        (Stream(np.array(turn * chain.turns + [len(steps) - 1], np.int64)),),
        Launch(((0,) * place.warps,), place.resident, place.blocks, place.block_start),
        seed=seed,
    )  # fmt: skip


def _pipe(number: int, kind: Kind) -> Pipe:
    return Pipe(f"p{number}", kind.shared, QUEUE if kind.shared else 0.0)


def _step(kind: Part, number: int, token: str) -> Step:
    if isinstance(kind, Memory):
        access = Access(spread=kind.spread, demand={"memory": 1.0 / kind.rate})
        return Step("load", latency=kind.latency - kind.spread, access=access, writes=token, waits=(token,),
                    blames=Reason.LONG_SCOREBOARD)  # fmt: skip
    units = 1 if kind.shared else SCHEDULERS
    return Step("work", pipe=f"p{number}", busy=units / kind.rate, latency=kind.latency, writes=token, waits=(token,))
