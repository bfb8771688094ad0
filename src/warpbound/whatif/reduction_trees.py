"""Trees in shared memory, a barrier after each step, made of shuffles within warps.

Source   NVIDIA, CUDA Programming Guide, warp shuffle functions (3.0 and later); latency and pipe of SHFL: isa/.
Models   A block has at most 1024 threads, so a tree at most ten steps: five within a warp, then a barrier, and five
         more in one warp. Each is a shuffle and an addition. The steps, their barriers and their traffic go.
Omits    Other operations than FP32 additions; a tree whose values are read again from shared memory.
"""

from dataclasses import replace
from math import ceil

from warpbound.isa.opcodes import opcode_facts
from warpbound.model_inputs.resources import scaled_demand
from warpbound.predict import Place
from warpbound.whatif.alternative import Alternative
from warpbound.workload import Piece, Workload

SHUFFLES = "no barriers in trees (shuffles within a warp, then one barrier)"
FIRST_WITH_SHUFFLES = 30
MOST_STEPS, WITHIN_A_WARP = 10.0, 5.0
FEW_STEPS = 3  # steps of a tree below which nothing is won
HALF = 0.5     # most of a block's lanes that are active in a step of a tree
BEYOND_SM = ("l1", "l2", "dram", "start")


def shuffled(work: Workload, place: Place) -> Alternative | None:
    """The trees as shuffles; None where fewer than FEW_STEPS pieces between barriers are steps of one."""
    steps = [piece for piece in work.pieces if piece.taking_part <= HALF]
    count = sum(piece.times for piece in steps)
    if count < FEW_STEPS or place.gpu.arch < FIRST_WITH_SHUFFLES:
        return None
    trees = ceil(count / MOST_STEPS)
    gone = {name: sum(piece.demand[name] for piece in steps) for name in steps[0].demand}
    less = work
    for resource, share in gone.items():
        less = scaled_demand(less, resource, max(0.0, 1.0 - share))
    rest = _with_shuffles(less, place, trees, _share_of_path(work, steps))
    rest = replace(rest, barriers=max(0.0, work.barriers - count) + trees, pieces=_others(work, gone))
    part = sum(piece.taking_part * piece.times for piece in steps) / count
    why = f"{count:.0f} steps between barriers keep {100 * part:.0f} % of the lanes at work"
    return Alternative(SHUFFLES, why, rest, place)


def _share_of_path(work: Workload, steps: list[Piece]) -> float:
    """The share of these steps in a warp's work on the SM."""
    whole = sum(piece.path for piece in work.pieces)
    return min(1.0, sum(piece.path for piece in steps) / whole) if whole else 0.0


def _with_shuffles(work: Workload, place: Place, trees: int, share: float) -> Workload:
    """Without a share of the path on the SM, and with the shuffles of this many trees."""
    shuffle, addition = (opcode_facts(name, (), place.gpu.arch) for name in ("SHFL", "FADD"))
    each, step = trees * WITHIN_A_WARP, (shuffle.latency or 0.0) + (addition.latency or 0.0)
    parts = {name: cycles if name in BEYOND_SM else (1.0 - share) * cycles for name, cycles in work.parts.items()}
    saved, shuffles = sum(work.parts.values()) - sum(parts.values()), trees * MOST_STEPS * step
    units = dict(work.units)
    for facts in (shuffle, addition):
        for unit, busy in facts.demand.items():
            units[unit] = units.get(unit, 0.0) + each * busy
    return replace(
        work, units=units, warp_instructions=work.warp_instructions + 2 * each,
        issue_slots=None if work.issue_slots is None else work.issue_slots + 2 * each,
        latency=max(0.0, work.latency - saved) + shuffles, parts=parts | {"fixed": parts.get("fixed", 0.0) + shuffles},
    )  # fmt: skip


def _others(work: Workload, gone: dict[str, float]) -> tuple[Piece, ...]:
    """The pieces that are no step of a tree, with their shares of the rest; none if it is a single one."""
    rest = [piece for piece in work.pieces if piece.taking_part > HALF]
    path = sum(piece.path for piece in rest)
    if len(rest) < 2 or not path:
        return ()
    shares = {name: 1.0 - share for name, share in gone.items() if share < 1.0}
    return tuple(
        replace(piece, path=piece.path / path,
                demand={name: share / shares.get(name, 1.0) for name, share in piece.demand.items()})
        for piece in rest
    )  # fmt: skip
