"""Answers to profiled launches: analyses and comparisons, each launch by itself."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from warpbound.errors import WarpboundError
from warpbound.nsight.comparison import analyzed, compare_launch
from warpbound.nsight.launch_case import LaunchCase, launch_case
from warpbound.nsight.report_file import ProfiledLaunch, Report
from warpbound.nsight.selection import Selection, selected
from warpbound.result.comparison import LaunchComparison, NotCompared
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Error, Refusal, refusal

Progress = Callable[[Iterable[Any]], Iterable[Any]]


def comparisons(
    paths: Sequence[str | Path | Report], choice: Selection, progress: Progress
) -> list[LaunchComparison | NotCompared]:
    """One entry per launch.

    Raises the first error where no launch could be compared.
    """
    entries: list[LaunchComparison | NotCompared] = []
    failures: list[WarpboundError] = []
    for profile in progress(_titled(selected(paths, choice))):
        try:
            entries.append(compare_launch(_case(profile, choice)))
        except WarpboundError as error:
            failures.append(error)
            entries.append(_not_compared(profile, error))
    if len(failures) == len(entries):
        raise failures[0]
    return entries


def analyses(paths: Sequence[str | Path], choice: Selection, progress: Progress) -> list[KernelResult | Refusal]:
    """One entry per kind of launch (kernel, grid, block, arguments), the first of its kind in each report.

    Raises the first error where nothing could be answered.
    """
    entries: list[KernelResult | Refusal] = []
    failures: list[WarpboundError] = []
    for profile in progress(_titled(_each_kind(selected(paths, choice)))):
        try:
            entries.append(analyzed(_case(profile, choice))[0])
        except WarpboundError as error:
            failures.append(error)
            entries.append(refusal(profile.kernel, choice.board or profile.board_name, error))
    if len(failures) == len(entries):
        raise failures[0]
    return entries


def _case(profile: ProfiledLaunch, choice: Selection) -> LaunchCase:
    return launch_case(profile, choice.arguments_of(profile), choice.board, choice.views)


def _titled(launches: Iterable[ProfiledLaunch]) -> Iterator[tuple[str, ProfiledLaunch]]:
    for launch in launches:
        yield f"{launch.kernel}, launch {launch.index} of {launch.report.name}", launch


def _each_kind(launches: Iterable[ProfiledLaunch]) -> Iterator[ProfiledLaunch]:
    kinds = set()
    for launch in launches:
        kind = launch.report, launch.mangled, launch.grid, launch.block
        if kind not in kinds:
            kinds.add(kind)
            yield launch


def _not_compared(profile: ProfiledLaunch, error: WarpboundError) -> NotCompared:
    return NotCompared(
        kernel=profile.kernel,
        gpu=profile.board_name,
        report=str(profile.report),
        launch_index=profile.index,
        error=Error(error.reason, error.hint),
    )
