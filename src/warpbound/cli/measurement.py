"""`measure`: the microbenchmarks, on the GPU of this machine."""

import math
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpbound.errors import CommandError, InputError, WarpboundError

if TYPE_CHECKING:
    from warpbound.measure.runner import RawFile, RunRequest

ENDED = 143  # exit code of shells for SIGTERM

EXAMPLES = """
\b
Examples:
  warpbound measure --plan --quick
  warpbound measure --quick -o measured/h200
  warpbound measure --extract -o measured/h200 --page docs/measured/h200.md
  warpbound measure --judge -o measured/h200
  warpbound measure --build code --arch 90     # where a compiler is
  warpbound measure --cubins code -o measured  # where the GPU is
"""


@click.command(epilog=EXAMPLES)
@click.option("--only", metavar="NAME,...", help="Mechanisms to measure; default: all.")
@click.option("--quick", "effort", flag_value="quick", help="Fewer points, under eight minutes of GPU time.")
@click.option("--full", "effort", flag_value="full", default="full", help="All points (the default).")
@click.option("--plan", "task", flag_value="plan", help="Only list what would be measured and how long it takes.")
@click.option("--extract", "task", flag_value="extract", help="Only derive the profile from the raw files in DIR.")
@click.option("--counters", "task", flag_value="counters", help="Only profile a dozen kernels with Nsight Compute.")
@click.option("--judge", "task", flag_value="judge", help="Only predict the kernels whose times are in DIR.")
@click.option("--page", type=click.Path(path_type=Path), metavar="FILE", help="Also write the GPU's tables there.")
@click.option("--build", type=click.Path(path_type=Path), metavar="DIR", help="Only compile kernels, for --cubins.")
@click.option("--arch", metavar="NN,...", help="Architectures to build for; default: seven common ones.")
@click.option("--cubins", type=click.Path(path_type=Path), metavar="DIR", help="Machine code that --build wrote.")
@click.option("--within", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="Stop after this time; the same command resumes. With --plan: time limit of one call.")
@click.option("--device", type=click.IntRange(min=0), default=0, show_default=True, help="Index of the GPU.")
@click.option("--gpu", metavar="NAME", help="Board to compare with; default: the one of the same name.")
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for raw files and profile.")
def measure(
    only: str | None, effort: str, task: str | None, page: Path | None, build: Path | None, arch: str | None,
    cubins: Path | None, within: float | None, device: int, gpu: str | None, out: Path | None,
) -> None:  # fmt: skip
    """Measure the GPU of this machine.

    Writes raw files, a board file for the catalogue, and a comparison with the board file that the catalogue has.
    """
    from warpbound.measure import command, runner, suite

    names = suite.select(only)
    if build is not None:
        click.echo(command.build(build, names, command.architectures(arch)))
    elif task == "plan":
        click.echo("\n".join(command.plan_text(names, effort, device, within or command.CALL_S)))
    elif out is None:
        raise CommandError("measuring needs a folder for its files.", "Give -o DIR.")
    elif task == "counters":
        click.echo("\n".join(command.count(cubins, device, out, gpu)))
    elif task == "judge":
        click.echo("\n".join(command.judge(out, gpu, partial(click.echo, err=True))))
    else:
        if task == "extract":
            files = runner.read_folder(out, names)
        else:
            request = runner.RunRequest(names, effort, out, within or math.inf)
            files = _measured(device, cubins, request, gpu)
        click.echo("\n".join(command.conclude(files, out, gpu)))
        if page is not None:
            click.echo(command.document(files, gpu, page, out))


def _measured(device: int, cubins: Path | None, request: "RunRequest", gpu: str | None) -> "list[RawFile]":
    """Run the suite; where it ends early, print the verdict on the measurements so far, then raise the reason."""
    from warpbound.measure import command

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(ENDED))  # so that the measurements so far are written
    try:
        return command.measure(command.open_device(device), cubins, request, partial(click.echo, err=True))
    except KeyboardInterrupt:
        _say(command.conclude_early(request.names, request.out, gpu))
        raise InputError("stopped.", "The same command continues from there.") from None
    except WarpboundError:
        _say(command.conclude_early(request.names, request.out, gpu))
        raise


def _say(lines: list[str]) -> None:
    if lines:
        click.echo("\n".join(lines))
