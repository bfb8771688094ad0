"""The answer of `run` as text: a line per kernel, copies, what went wrong."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from warpbound.result.program_run import ProgramRun

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def seconds(value: float | None) -> str:
    """A time with three digits and its unit."""
    if value is None:
        return "-"
    scale, unit = next(((s, u) for s, u in _UNITS if value >= s), _UNITS[-1])
    return f"{value / scale:.3g} {unit}"


def pages(run: ProgramRun) -> Iterator[Any]:
    """Parts to print."""
    yield Text(f"{run.program} on {run.gpu}: {_launches(run)}, predicted {seconds(run.end_s)} of device time\n")
    if run.kernels:
        yield _kernels(run)
    copies = [f"{each.name}: {each.count}, {seconds(each.time_s)}" for each in run.activities]
    if copies:
        yield Text("\n" + "; ".join(copies))
    yield from (Text(line) for line in _notes(run))


def _launches(run: ProgramRun) -> str:
    count = len(run.launches)
    return f"{count} launch{'es' * (count != 1)} of {len(run.kernels)} kernel{'s' * (len(run.kernels) != 1)}"


def _kernels(run: ProgramRun) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("share", justify="right")
    for name in ("total", "launches", "mean"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bound by")
    table.add_column("kernel", overflow="fold")
    for kernel in run.kernels:
        share = "-" if kernel.share is None else f"{kernel.share:.1%}"
        table.add_row(
            share, seconds(kernel.time_s), str(kernel.launches), seconds(kernel.mean_time_s), kernel.bottleneck or "-",
            kernel.name,
        )  # fmt: skip
    return table


def _notes(run: ProgramRun) -> Iterator[str]:
    executed = [launch.executed for launch in run.launches]
    if "sampled" in executed:
        yield "\nOnly samples of the blocks were executed: times are predicted, results of the program are not true."
    if repeated := executed.count("repeated"):
        yield f"\n{repeated} launches equal earlier ones and were executed once."
    reasons = {launch.kernel: launch.not_timed for launch in run.launches if launch.not_timed and launch.time_s is None}
    for kernel, reason in reasons.items():
        yield f"\nNo time for {kernel}: {reason}"
    for problem in run.problems:
        yield f"\n{problem}"
    if run.unsupported:
        yield "\nNot supported, refused with cudaErrorNotSupported: " + "; ".join(run.unsupported)
