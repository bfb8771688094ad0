"""The what-ifs of a launch: of its work or of its longest block, and of blocks that leave at once or differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from warpbound.analysis.block_loads import scattered
from warpbound.analysis.case import Case
from warpbound.analysis.static import Work
from warpbound.analysis.timing import before_form, times_of, times_of_longest
from warpbound.program import Program
from warpbound.time_model import LaunchPrediction
from warpbound.whatif import WORTH, Seconds, WhatIf, whatifs
from warpbound.workload.load_chains import longest_chain

GATHERS = 1.1  # loaded sectors over those that would hold all bytes, from which on gathers are looked for
DATA = "data loaded"  # prefix of the reason why an address is not known


def changes_of_the_grid(case: Case, work: Work, prediction: LaunchPrediction | None) -> Iterator[WhatIf]:
    """A launch without the blocks that leave at once; the same work in blocks that all do as much."""
    yield from _smaller_grid(case, work, prediction)
    yield from _even_blocks(case, work, prediction)


def changes_of_the_work(
    case: Case, work: Work, cycles: Mapping[str, float], longest_s: float | None
) -> tuple[WhatIf, ...]:
    """Changes of the work; of the longest block's path where that sets the time."""
    if longest_s is not None and work.longest is not None:
        own, longest = work.longest, partial(times_of_longest, case, work)
        return whatifs(own.work, case.place, None, longest, chain=_chain(case.program, work, own.stream))
    return whatifs(
        work.focus, case.place, case.residency, _seconds(case, work), work.choices, work.of_l2,
        _chain(case.program, work, work.schedule.stream), cycles, work.again(), work.once(), _scattered(case, work),
    )  # fmt: skip


def _scattered(case: Case, work: Work) -> float:
    """The result of `block_loads.scattered`, where sectors are wasted; 0 where no block was executed."""
    memory = work.focus.memory
    if work.sample_run is None or memory.l1_sectors_load <= GATHERS * memory.ideal_sectors:
        return 0.0
    by_data = {index for (index, space), access in work.accesses().items()
               if space == "global" and access.depends_on.startswith(DATA)}  # fmt: skip
    return scattered(case.program, work.sample_run, by_data)


def _seconds(case: Case, work: Work) -> Seconds | None:
    return partial(times_of, case, work) if work.focus.warps is not None and case.blocks is not None else None


def _smaller_grid(case: Case, work: Work, prediction: LaunchPrediction | None) -> Iterator[WhatIf]:
    """A launch without the blocks that leave at once."""
    if prediction is None or work.idle is None or work.blocks is None:
        return
    without = before_form(case, replace(work, idle=None))
    gain = prediction.time_s / without.time_s if without else 1.0
    if gain >= WORTH:
        blocks = work.blocks + work.idle.blocks
        why = f"{work.idle.blocks} of {blocks} blocks leave before they touch memory"
        yield WhatIf(f"a grid of the {work.blocks} blocks that work", gain, why)


def _even_blocks(case: Case, work: Work, prediction: LaunchPrediction | None) -> Iterator[WhatIf]:
    """The same work in blocks and warps that all do as much."""
    if prediction is None or work.paths is None or not work.paths.uneven:
        return
    even = before_form(case, replace(work, paths=None, longest_warp=1.0, longest=None))
    gain = prediction.time_s / even.time_s if even else 1.0
    if gain >= WORTH:
        longest = float(work.paths.length[work.paths.of_block].max())
        why = f"the longest warp does {longest:.3g} times the work of the mean one, and the others wait for it"
        yield WhatIf("the same work in even parts (long blocks split, or started first)", gain, why)


def _chain(program: Program, work: Work, stream: Sequence[int]) -> Callable[[], float] | None:
    """Length of the longest chain of dependent loads along a warp's path; None where its path is not known."""
    return partial(_longest_chain, program, work, stream) if work.mode == "dynamic" else None


def _longest_chain(program: Program, work: Work, stream: Sequence[int]) -> float:
    """Through registers and shared memory, or through what the warp itself stores to global memory."""
    from warpbound.analysis.block_loads import round_trips

    through_memory = round_trips(program, work.sample_run) if work.sample_run else 0.0
    return max(longest_chain(program.instructions, stream), through_memory)
