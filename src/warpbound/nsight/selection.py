"""Which launches of which reports are meant, and their arguments."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from warpbound.errors import InputError
from warpbound.kernel_argument import Argument
from warpbound.kernel_launch import Dim
from warpbound.nsight.argument_file import ArgumentFile
from warpbound.nsight.report_file import ProfiledLaunch, Report, read_report
from warpbound.nsight.table_file import NO_SIZE, is_table, read_table
from warpbound.quick_dataclasses import dataclass

LISTED = 8  # kernels that a sentence names


@dataclass(frozen=True)
class Selection:
    """kernel, launch_index : None for all. arguments : of every launch that is chosen; file : for the others.

    code, grid, block : a file with the kernel, and sizes, for tables, which lack them. views : of the answers.
    """

    kernel: str | None = None
    launch_index: int | None = None
    arguments: tuple[Argument, ...] = ()
    file: ArgumentFile | None = None
    board: str | None = None
    code: Path | None = None
    grid: Dim | None = None
    block: Dim | None = None
    views: tuple[str, ...] = ()

    def arguments_of(self, profile: ProfiledLaunch) -> tuple[Argument, ...]:
        """The arguments of a launch; none where they are not known."""
        if self.arguments or self.file is None:
            return self.arguments
        return self.file.arguments(profile)


def selected(paths: Sequence[str | Path | Report], choice: Selection) -> Iterator[ProfiledLaunch]:
    """The launches of the reports and tables that are meant.

    Raises InputError where a report has none of them, and where arguments are given for several kernels.
    """
    for each in paths:
        report = _opened(each)
        path, launches = report.path, [_completed(launch, choice) for launch in report.launches]
        selection = [launch for launch in launches if _meant(launch, choice)]
        if not selection:
            raise InputError(
                f"No launch of {path} has the kernel and the index asked for.", f"It holds: {_listed(launches)}."
            )
        if choice.arguments and len({launch.mangled for launch in selection}) > 1:
            reason = f"--arg is for one kernel; {path} has launches of several."
            raise InputError(reason, f"Name one with --kernel or --launch-index: {_listed(selection)}.")
        yield from selection


def _opened(source: str | Path | Report) -> Report:
    if isinstance(source, Report):
        return source
    return read_table(source) if is_table(source) else read_report(source)


def _completed(launch: ProfiledLaunch, choice: Selection) -> ProfiledLaunch:
    """A launch of a table with what the table lacks."""
    if launch.images:
        return launch
    grid, block = (
        requested or own for requested, own in ((choice.grid, launch.grid), (choice.block, launch.block))
    )
    if NO_SIZE in (grid, block):
        raise InputError(f"{launch.report} states no grid or block.", "Give --grid and --block.")
    return replace(launch, code=choice.code, grid=grid, block=block)


def _meant(launch: ProfiledLaunch, choice: Selection) -> bool:
    names = (launch.kernel, launch.mangled, launch.demangled, launch.demangled.partition("(")[0])
    return choice.kernel in (None, *names) and choice.launch_index in (None, launch.index)


def _listed(launches: Sequence[ProfiledLaunch]) -> str:
    words = [f"{launch.index} {launch.kernel}" for launch in launches[:LISTED]]
    return ", ".join(words) + (f" and {len(launches) - LISTED} more" if len(launches) > LISTED else "")
