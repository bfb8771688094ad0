"""Reports of Nsight Compute: measured counters beside predictions for the same machine code and launch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpbound.kernel_launch import launch as launch_of
from warpbound.kernel_launch import override
from warpbound.nsight.report_file import ProfiledLaunch, Report, read_report
from warpbound.nsight.table_file import Frame, of_frame

__all__ = ["ProfiledLaunch", "Report", "compare", "read_report", "report"]


def report(path: str | Path) -> Report:
    """The launches of a report of Nsight Compute (.ncu-rep), with their counters.

    Raises InputError where the file cannot be read or is no report.
    """
    return read_report(path)


def compare(  # noqa: PLR0913  (the signature is the public one)
    path: str | Path | Frame | Sequence[str | Path | Frame],
    *,
    kernel: str | None = None,
    launch_index: int | None = None,
    args: Mapping[Any, Any] | None = None,
    arguments: str | Path | None = None,
    gpu: str | None = None,
    code: str | Path | None = None,
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] | None = None,
) -> list[dict[str, Any]]:
    """Measured beside predicted for the launches of one report or several: the entries of `launches` of the JSON.

    args : argument values by position, as `warpbound.launch` takes them. arguments : a TOML file of them. gpu : a board
    in place of the report's own. Raises the first error where no launch could be compared. A table (CSV) or a data
    frame of nsight-python has no machine code; code : a file with the kernel; grid, block : where a table has none.
    """
    from warpbound.nsight.answers import comparisons
    from warpbound.nsight.argument_file import read_arguments
    from warpbound.nsight.selection import Selection
    from warpbound.result.plain import plain

    own = override(launch_of(grid=grid or 1, block=block or 1), args=args)
    values = own.args if args else ()
    file = None if arguments is None else read_arguments(arguments)
    each = [path] if isinstance(path, str | Path | Frame) else list(path)
    sources = [of_frame(source) if isinstance(source, Frame) else source for source in each]
    choice = Selection(
        kernel, launch_index, values, file, gpu,
        code=None if code is None else Path(code), grid=own.grid if grid else None, block=own.block if block else None,
    )  # fmt: skip
    return [plain(entry) for entry in comparisons(sources, choice, lambda steps: (step for _, step in steps))]
