"""Which launches of which reports are meant, and their arguments."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from warpbound.errors import InputError
from warpbound.kernel_argument import Argument
from warpbound.nsight.argument_file import ArgumentFile
from warpbound.nsight.report_file import ProfiledLaunch, read_report
from warpbound.quick_dataclasses import dataclass

LISTED = 8  # kernels that a sentence names


@dataclass(frozen=True)
class Selection:
    """kernel, launch_index : None for all. arguments : of every launch that is chosen; file : for the others."""

    kernel: str | None = None
    launch_index: int | None = None
    arguments: tuple[Argument, ...] = ()
    file: ArgumentFile | None = None
    board: str | None = None

    def arguments_of(self, profiled: ProfiledLaunch) -> tuple[Argument, ...]:
        """The arguments of a launch; none where they are not known."""
        if self.arguments or self.file is None:
            return self.arguments
        return self.file.arguments(profiled)


def selected(paths: Sequence[str | Path], choice: Selection) -> Iterator[ProfiledLaunch]:
    """The launches of the reports that are meant.

    Raises InputError where a report has none of them, and where arguments are given for several kernels.
    """
    for path in paths:
        launches = read_report(path).launches
        chosen = [launch for launch in launches if _meant(launch, choice)]
        if not chosen:
            raise InputError(f"{path} has no such launch.", f"It holds: {_listed(launches)}.")
        if choice.arguments and len({launch.mangled for launch in chosen}) > 1:
            reason = f"--arg is for one kernel; {path} has launches of several."
            raise InputError(reason, f"Name one with --kernel or --launch-index: {_listed(chosen)}.")
        yield from chosen


def _meant(launch: ProfiledLaunch, choice: Selection) -> bool:
    names = (launch.kernel, launch.mangled, launch.demangled, launch.demangled.partition("(")[0])
    return choice.kernel in (None, *names) and choice.launch_index in (None, launch.index)


def _listed(launches: Sequence[ProfiledLaunch]) -> str:
    words = [f"{launch.index} {launch.kernel}" for launch in launches[:LISTED]]
    return ", ".join(words) + (f" and {len(launches) - LISTED} more" if len(launches) > LISTED else "")
