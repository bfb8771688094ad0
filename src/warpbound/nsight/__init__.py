"""Reports of Nsight Compute: what was measured, beside what is predicted for the same machine code and launch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpbound.kernel_launch import launch as launch_of
from warpbound.kernel_launch import override
from warpbound.nsight.report_file import ProfiledLaunch, Report, read_report

__all__ = ["ProfiledLaunch", "Report", "compare", "read_report", "report"]


def report(path: str | Path) -> Report:
    """The launches of a report of Nsight Compute (.ncu-rep), with their counters.

    Raises InputError where the file cannot be read or is no report.
    """
    return read_report(path)


def compare(  # noqa: PLR0913  (the signature is the public one)
    path: str | Path | Sequence[str | Path],
    *,
    kernel: str | None = None,
    launch_index: int | None = None,
    args: Mapping[Any, Any] | None = None,
    arguments: str | Path | None = None,
    gpu: str | None = None,
) -> list[dict[str, Any]]:
    """Measured beside predicted for the launches of one report or several: the entries of `launches` of the JSON.

    args : argument values by position, as `warpbound.launch` takes them. arguments : a TOML file of them. gpu : a board
    in place of the report's own. Raises the first error where no launch could be compared.
    """
    from warpbound.nsight.answers import comparisons
    from warpbound.nsight.argument_file import read_arguments
    from warpbound.nsight.selection import Selection
    from warpbound.result.plain import plain

    values = override(launch_of(grid=1, block=1), args=args).args if args else ()
    file = None if arguments is None else read_arguments(arguments)
    paths = [path] if isinstance(path, str | Path) else list(path)
    choice = Selection(kernel, launch_index, values, file, gpu)
    return [plain(entry) for entry in comparisons(paths, choice, lambda steps: (step for _, step in steps))]
