"""`launches`: what the host code of a program launches, and launch files of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpbound.cli.output import answer, form_option, write
from warpbound.errors import CommandError, InputError

if TYPE_CHECKING:
    from warpbound.result.host_launches import HostLaunches

EXAMPLES = """
\b
Examples:
  warpbound launches matrixMul.cu -I ../../Common
  warpbound launches matrixMul.cu -o launch.toml
  warpbound launches reduction.cu --kernel 'reduce6<float, 256>' --gpu h200 -o launch.toml
  warpbound launches needle.cu --examples -o launch.toml -- 2048 10
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", metavar="FILE.cu")
@click.argument("words", metavar="[-- PROGRAM ARGUMENTS]", nargs=-1)
@click.option("-o", "out", metavar="LAUNCH.toml", help="Write a launch file, or one for each launch.")
@click.option("--kernel", metavar="NAME", help="Launches of this kernel only.")
@click.option("--line", type=click.IntRange(1), metavar="N", help="The launch in this line only.")
@click.option("--gpu", metavar="NAME", help="Board for cudaGetDeviceProperties, and for the launch file.")
@click.option("--examples", is_flag=True, help="Fill in examples for values that the host code leaves open.")
@click.option("--define", "defines", metavar="K=V", multiple=True, help="Define a preprocessor macro.")
@click.option("-I", "include", metavar="DIR", multiple=True, help="Folder to search for headers.")
@form_option("text", "json")
def launches(
    file: str, words: tuple[str, ...], out: str | None, kernel: str | None, line: int | None, gpu: str | None,
    examples: bool, defines: tuple[str, ...], include: tuple[str, ...], form: str,
) -> None:  # fmt: skip
    """Show what the host code of FILE launches, without running it.

    Values that the host code leaves open are shown as expressions: grid, block, shared memory and arguments.
    """
    from msgspec.structs import replace
    from rich.console import Group

    from warpbound import machine
    from warpbound.cli.request import parse_define
    from warpbound.program.host_launches import Assumed, device_properties, host_launches
    from warpbound.program.source_files import read_text
    from warpbound.report.host_launches import pages

    source = Path(file)
    folders = (source.parent, *(Path(folder) for folder in include))
    device = device_properties(machine.gpu(gpu)) if gpu else {}
    macros = dict(parse_define(word) for word in defines)
    everything = host_launches(read_text(source), file, Assumed(folders, macros, words, device))
    selection = [
        launch for launch in everything.launches if _is_chosen(launch.kernel, kernel) and line in (None, launch.line)
    ]
    if (kernel or line) and not selection:
        there = (
            ", ".join(dict.fromkeys(f"{launch.kernel} in line {launch.line}" for launch in everything.launches))
            or "none"
        )
        of_kernel, in_line = f" of {kernel}" if kernel else "", f" in line {line}" if line else ""
        raise InputError(f"{file} has no launch{of_kernel}{in_line}.", f"Its host code launches: {there}.")
    result = replace(everything, launches=selection)
    if out is None:
        answer(form, result, Group(*pages(result)))
        return
    if form == "json":
        raise CommandError("-o writes launch files, not JSON.", "Leave one of them out, or redirect the output.")
    _write_files(result, out, gpu, "" if examples else "# ")


def _is_chosen(title: str, kernel: str | None) -> bool:
    from warpbound.program.kernel_names import normalized

    return kernel is None or normalized(kernel) in (normalized(title), normalized(title.partition("<")[0]))


def _write_files(result: "HostLaunches", out: str, gpu: str | None, marks: str) -> None:
    """One launch file for each launch whose kernel is in the file; says on stderr what is left to fill in."""
    from warpbound.report.host_launches import distinct, names
    from warpbound.report.launch_file import launch_file

    own = [launch for launch, _ in distinct(result.launches) if launch.is_in_file]
    if not own:
        raise InputError(f"{result.file} launches no kernel that it defines.", "Give the file that has both.")
    own = [launch for launch in own if launch.is_reached] or own
    place = Path(out)
    stems = names(own, place.stem)
    for launch, stem in zip(own, stems, strict=True):
        path = place.with_name(f"{stem}{place.suffix or '.toml'}")
        write(launch_file(launch, gpu, marks=marks), str(path))
        open_values = f"to fill in: {'; '.join(launch.needed)}" if launch.needed and marks else "complete"
        click.echo(f"warpbound: {path}: {launch.kernel}, {open_values}.", err=True)
