"""The time of a resident warp by Nsight Compute's stall reasons.

Source   residence and waiting of the flow balance; the reasons as Nsight Compute's documentation names them.
Models   parts of the path of one warp by cause; waiting behind other warps by the resource of the queue; the time in
         which a block's slots wait for its last warp, its start and its stores.
         A warp that starts waits for its first instruction (isa/instruction_caches.toml), which is part of the start of
         its block.
Omits    stalls that the model lacks: dispatch, sleeping, membar, texture throttle, branch resolving; the cycles without
         an instruction behind each taken branch.
"""

import numpy as np

from warpbound.bounds import Real
from warpbound.isa.instruction_caches import code_path, instruction_caches
from warpbound.time_model.block_residence import Block, last_warp_delay, pipe_contention, residence, slowest_warp_lag
from warpbound.time_model.flow_balance import Balance
from warpbound.time_model.launched_work import ActiveWork

NO_INSTRUCTION = "no instruction"
REPLACEMENT = "block replacement"  # no stall of a warp: its slot waits for a block to start, store or end
REASONS = ("selected", "not selected", "wait", "math pipe throttle", "mio throttle", "lg throttle", "short scoreboard",
           "long scoreboard", "imc miss", NO_INSTRUCTION, "barrier", REPLACEMENT)  # fmt: skip
OF_CAUSE = {"issue": "selected", "fixed": "wait", "shared": "short scoreboard", "constant": "imc miss",
            "barrier": "barrier"}  # fmt: skip
_QUEUES = {"issue": "not selected", "shared": "mio throttle", "lsu": "lg throttle", "l1": "lg throttle",
           "l2": "long scoreboard", "l2 far": "long scoreboard", "dram": "long scoreboard",
           "one address": "lg throttle", "fetch": NO_INSTRUCTION, "block start": REPLACEMENT}  # fmt: skip
PIPES = "math pipe throttle"  # every other resource


def reason_of(resource: str) -> str:
    """The stall of a warp that queues at a resource."""
    return _QUEUES.get(resource, PIPES)


def stalls(x: ActiveWork, alone: Block, tightest: str, balance: Balance, population: Real) -> dict[str, float]:
    """Reason -> s of one warp from the start of its block to the start of the next in its place; all of REASONS.

    tightest : the on-chip resource at which the block's own warps queue. Time that the balance does not explain is
    waiting at the busiest resource, which is in use all the time.
    """
    reasons = dict.fromkeys(REASONS, 0.0)
    own = {cause: cycles for cause, cycles in x.work.parts.items() if cause in OF_CAUSE}
    per_cycle = _first(alone.compute) / sum(own.values()) if sum(own.values()) else 0.0
    for cause, cycles in own.items():
        reasons[OF_CAUSE[cause]] += cycles * per_cycle
    reasons["long scoreboard"] += _first(alone.memory) + _first(np.multiply(alone.spread, alone.own_lines))
    reasons[NO_INSTRUCTION] = min(_first(alone.start), _until_first_instruction(x))
    reasons[REPLACEMENT] += _first(alone.start) + _first(alone.store) - reasons[NO_INSTRUCTION]
    in_the_pipe = _first(pipe_contention(alone)) / 2  # of the mean warp
    for_the_last, times = _first(last_warp_delay(alone)) - in_the_pipe, _first(alone.joins)
    reasons[reason_of(tightest)] += in_the_pipe
    reasons["barrier"] += for_the_last * (times - 1) / times + _first(slowest_warp_lag(alone))
    reasons[REPLACEMENT] += for_the_last / times
    queueing = _first(residence(alone)) - sum(reasons.values())
    reasons[reason_of(tightest)] += max(0.0, queueing)
    for name, wait in balance.waiting.items():
        reasons[reason_of(name)] += _first(wait)
    remainder = _first(np.divide(population, balance.rate)) - sum(reasons.values())
    busiest = max(balance.utilization, key=lambda name: _first(balance.utilization[name]))
    reasons[reason_of(busiest)] += max(0.0, remainder)
    return reasons


def _until_first_instruction(x: ActiveWork) -> float:
    """Time of a warp that starts, s; 0 where nothing is known of instruction caches."""
    return code_path().start_cycles / x.clock_hz if instruction_caches(x.gpu.arch) else 0.0


def _first(values: Real) -> float:
    return float(np.ravel(values)[0])
