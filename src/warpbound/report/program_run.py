"""The answer of `run` as text: a line per kernel, copies, errors."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from warpbound.report.formatting import count, kernel_labels
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
    yield Text(f"{run.program} on {run.gpu}: {summary(run)}\n")
    if run.kernels:
        yield _kernels(run)
    copies = [f"{each.name}: {each.count}, {seconds(each.time_s)}" for each in run.activities]
    if copies:
        yield Text("\n" + "; ".join(copies))
    yield from (Text("\n" + line) for line in notes(run))


def summary(run: ProgramRun) -> str:
    """How many launches of how many kernels, and their time."""
    launches, kernels = len(run.launches), len(run.kernels)
    launch_words = f"{launches} launch{'es' * (launches != 1)} of {kernels} kernel{'s' * (kernels != 1)}"
    return f"{launch_words}, predicted {seconds(run.end_s)} of device time"


def _kernels(run: ProgramRun) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("share", justify="right")
    for name in ("total", "launches", "mean"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bound by")
    table.add_column("kernel", overflow="fold")
    for kernel, label in zip(run.kernels, kernel_labels([each.name for each in run.kernels]), strict=True):
        share = "-" if kernel.share is None else f"{kernel.share:.1%}"
        table.add_row(
            share, seconds(kernel.time_s), str(kernel.launches), seconds(kernel.mean_time_s), kernel.bottleneck or "-",
            label,
        )  # fmt: skip
    return table


def notes(run: ProgramRun) -> Iterator[str]:
    """Sentences on what was executed, what has no time, what went wrong."""
    counts = [launch.executed for launch in run.launches]
    if "sampled" in counts:
        yield "Only samples of the blocks were executed: times are predicted, results of the program are not true."
    if repeated := counts.count("repeated"):
        yield f"Not executed again: {count(repeated, 'launch')} with the code, arguments and inputs of an earlier one."
    reasons = {launch.kernel: launch.not_timed for launch in run.launches if launch.not_timed and launch.time_s is None}
    for kernel, reason in reasons.items():
        if not any(reason.startswith(problem.rstrip(".")) for problem in run.problems):  # else it is said below
            yield f"No time for {kernel}: {reason}"
    yield from run.problems
    if run.unsupported:
        yield "Not supported, refused with cudaErrorNotSupported: " + "; ".join(run.unsupported)
