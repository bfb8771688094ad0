"""The rate at which blocks flow through one SM: resident blocks over their residence, waiting included.

Source   flow balance of a closed queueing network (Lazowska et al. 1984); the law of one waiting line is
         V. Volkov, EECS-2016-143, section 6.4, and with `met` below one the closed form of its on-chip stations.
Models   residence + waiting at each resource, waiting growing as u / (1 - u) with its utilisation u; no resource
         busier than all the time; spaces that are held for a while and run out.
Omits    which of the waiting blocks goes first; rates that differ from SM to SM.
"""

from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass

Array = NDArray[np.float64]
PIECES = 16     # that the bracket is cut into at a time: one evaluation on a longer array costs hardly more
CUTS = 30       # ends early: the bracket is down to neighbouring numbers before
MANY = 256      # numbers from which the bracket is halved instead: the arrays are long already


@dataclass(frozen=True)
class Queue:
    """One resource and a block's demand on it, for one SM."""

    demand: Real        # d   time that one block keeps it busy, as seen by one SM   [s/block]
    wait: Real = 0.0    # b   waiting of one block at u = 1/2                        [s/block]
    newcomers: Real = 1.0     # share of the customers that a newcomer can meet, (n-1)/n   [1]


@dataclass(frozen=True)
class Space:
    """Limit on requests in flight on one SM, such as miss entries."""

    room: Real          # how many fit                                   [1/SM]
    per_block: Real         # by one block                                   [1/block]
    hold: Real          # unloaded; the waiting at `behind` comes on top  [s]
    behind: str         # the queue that prolongs it
    times: Real = 1.0   # that a block waits there, one after the other  [1]


@dataclass(frozen=True)
class Flow:
    """Blocks that run on one SM and are replaced; everything broadcasts."""

    population: Real    # N   resident blocks                            [block/SM]
    residence: Real     # R   of one block, nothing else on the GPU      [s]
    queues: Mapping[str, Queue]
    spaces: Mapping[str, Space] = field(default_factory=dict)
    in_step: Real = 0.0  # residence of blocks that are in the same piece at the same time  [s]


@dataclass(frozen=True)
class Balance:
    """Result of the balance, all fields of one shape.

    rate : blocks per second and SM. waiting : resource -> s per block. utilization : resource -> share of its time.
    """

    rate: Array
    waiting: dict[str, Array]
    utilization: dict[str, Array]


def balance(x: Flow) -> Balance:
    """The largest rate that population, demands and spaces allow, by repeated division of the bracket."""
    ceiling = _ceiling(x)
    queues = _waited_at(x, ceiling.ndim)
    low, high = np.zeros_like(ceiling), ceiling
    pieces, cuts = (PIECES, CUTS) if ceiling.size < MANY else (2, 4 * CUTS)
    share = np.arange(1, pieces).reshape(-1, *(1,) * ceiling.ndim) / pieces
    with np.errstate(divide="ignore", invalid="ignore"):  # once, not for each of a thousand queues
        for _ in range(cuts):
            inner = low + share * (high - low)
            fits = _allowed(x, queues, inner)
            narrowed = np.max(np.where(fits, inner, low), axis=0), np.min(np.where(fits, high, inner), axis=0)
            if np.array_equal(narrowed[0], low) and np.array_equal(narrowed[1], high):
                break
            low, high = narrowed
        rate = np.where(_allowed(x, queues, ceiling), ceiling, low)
    return Balance(
        rate,
        {name: waiting(queue, rate) for name, queue in x.queues.items()},
        {name: np.asarray(rate * queue.demand) for name, queue in x.queues.items()},
    )


def _waited_at(x: Flow, axes: int) -> tuple[dict[str, int], Queue]:
    """The queues at which a block may wait, together, and the number of each; axes : of the numbers of a queue.

    Their arrays have the queues first, then one axis for several rates.
    """
    queues = {name: queue for name, queue in x.queues.items() if np.any(np.multiply(queue.wait, queue.demand) > 0)}

    def together(values: list[Real]) -> Array:
        whole = np.array(np.broadcast_arrays(*values), np.float64) if values else np.zeros(0)
        return whole.reshape(len(values), *(1,) * (axes + 2 - whole.ndim), *whole.shape[1:])

    demands, waits, newcomers = (
        together([getattr(queue, name) for queue in queues.values()]) for name in ("demand", "wait", "newcomers")
    )
    return {name: number for number, name in enumerate(queues)}, Queue(demands, waits, newcomers)


def waiting(queue: Queue, rate: Real) -> Array:
    """Time that one block waits at a queue when every SM completes `rate` blocks per second, s."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _waiting(queue, rate)


def _waiting(queue: Queue, rate: Real) -> Array:
    u = np.minimum(np.multiply(queue.newcomers, np.multiply(rate, queue.demand)), 1.0)
    each = np.multiply(queue.wait, u)
    return np.where(each > 0, each / (1.0 - u), 0.0)


def _ceiling(x: Flow) -> Array:
    """Blocks per second and SM at which the first resource is busy all the time; no waiting counts."""
    shape = np.broadcast_shapes(
        np.shape(x.population),
        np.shape(x.residence),
        np.shape(x.in_step),
        *(np.shape(v) for q in x.queues.values() for v in (q.demand, q.wait, q.newcomers)),
    )
    residence = np.maximum(x.residence, x.in_step)
    limits = [np.divide(x.population, residence), *(_inverse(queue.demand) for queue in x.queues.values())]
    return np.array(np.broadcast_to(np.minimum.reduce(np.broadcast_arrays(*limits)), shape))


def _inverse(demand: Real) -> Array:
    """Infinite for demands of zero, or nearly."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.divide(1.0, demand))


def _allowed(x: Flow, queues: tuple[dict[str, int], Queue], rate: Array) -> NDArray[np.bool_]:
    """queues : those at which a block may wait, as `_waited_at` gives them. rate : (rates, ...) or (...)."""
    numbers, queue = queues
    waits = _waiting(queue, rate)
    if rate.ndim < waits.ndim - 1:
        waits = waits[:, 0]
    residence = x.residence + sum(waits, np.zeros(()))  # one after the other
    fits = rate * residence <= x.population
    for space in x.spaces.values():
        behind = waits[numbers[space.behind]] if space.behind in numbers else 0.0
        fits = fits & (rate * np.multiply(space.per_block, space.hold + behind / space.times) <= space.room)
    return np.asarray(fits)
