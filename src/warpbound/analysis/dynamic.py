"""Work from sampled blocks: the kernel executed, its addresses followed through the caches."""

from dataclasses import replace
from functools import partial

from warpbound.analysis.cache_whatifs import cache_choices
from warpbound.analysis.case import Case, product
from warpbound.analysis.executed import work_from
from warpbound.analysis.sampled import fit_at_once, followed
from warpbound.analysis.static import Work
from warpbound.emulate.launch_memory import waits_for_grid
from warpbound.kernel_launch import Launch

GRID_TOO_LARGE = "{blocks} blocks with a barrier of the whole grid cannot be launched: {fit} fit at once. Give fewer."


def dynamic_work(case: Case, launch: Launch) -> tuple[Work | None, str]:
    """The work of the whole launch; or None and the reason why the blocks could not be executed.

    Raises InputError where the kernel itself is at fault: a wild address, a deadlock, a wrong argument.
    """
    blocks, fit = product(launch.grid), fit_at_once(case)
    if blocks > fit and waits_for_grid(case.program):
        return None, GRID_TOO_LARGE.format(blocks=blocks, fit=fit)
    seen, chosen, moved = followed(case, launch)
    if moved is None:
        return None, seen.stopped
    work = replace(work_from(case, seen, chosen, moved), followed=(seen, chosen, moved))
    return replace(work, choices=partial(cache_choices, case, seen, chosen, moved)), ""
