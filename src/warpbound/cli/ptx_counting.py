"""`count`: the instructions of PTX by the kinds of Hong and Kim's model."""

import re
from pathlib import Path

import click

from warpbound.cli.output import answer, write
from warpbound.errors import CommandError

EXAMPLES = """\b
Examples:
  warpbound count tiled.ptx --trips '$OUTERLOOP=3' --uncoalesced all
  warpbound count kernel.ptx --trips '$L__BB0_2=128' --format toml > k.toml
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--trips", multiple=True, metavar="LABEL=N", help="Trip count of the loop at a label.")
@click.option("--uncoalesced", metavar="LINES", default="", help="Lines whose accesses are uncoalesced, or all.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "toml"]), default="text", help="toml: a workload file."
)
def count(file: Path, trips: tuple[str, ...], uncoalesced: str, form: str) -> None:
    """Count the instructions of PTX by Hong and Kim's kinds.

    The kinds are computation, memory and synchronisation. --trips gives the trip count of each loop; accesses count
    as coalesced unless --uncoalesced names their lines. FILE may be a piece of PTX as papers print it.
    """
    from warpbound.program.ptx_counts import count_ptx
    from warpbound.program.source_files import read_text
    from warpbound.report.ptx_counts import counts_entry, counts_table, workload_text

    lines = None if uncoalesced == "all" else _lines(uncoalesced)
    counts = count_ptx(read_text(file), str(file), dict(map(_trips, trips)), lines)
    if form == "toml":
        write(workload_text(counts, str(file)), None)
    else:
        answer(form, [counts_entry(kernel) for kernel in counts], counts_table(counts))


def _trips(word: str) -> tuple[str, float]:
    label, _, times = word.rpartition("=")
    if not label or not re.fullmatch(r"\d{1,15}(?:\.\d+)?", times):
        raise CommandError(f"--trips {word} is not of the form LABEL=NUMBER.", "Write a label and its trip count.")
    return label, float(times)


def _lines(words: str) -> frozenset[int]:
    parts = [part for part in words.split(",") if part]
    if not all(re.fullmatch(r"\d{1,9}", part) for part in parts):
        raise CommandError(f"--uncoalesced {words} is not a list of lines.", "Write line numbers with commas, or all.")
    return frozenset(map(int, parts))
