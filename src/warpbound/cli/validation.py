"""`validate`: measured launches against the models."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from warpbound.cli.output import form_option, show, write
from warpbound.errors import CommandError, InputError

TELL_EVERY_S = 5.0
PAPERS = (
    "Score every model on up to N rows of each corpus and board and print their table; scored rows are "
    "kept, so the same command continues a stopped pass."
)
EXAMPLES = """
\b
Examples:
  warpbound validate streams --gpu v100-pcie
  warpbound validate my-measurements/ --format json -o scores.json
  warpbound validate --papers 8
  warpbound validate --recalibrate measured/ --gpu a100-sxm-80gb
"""


@click.command(epilog=EXAMPLES)
@click.argument("corpora", metavar="[CORPUS ...]", nargs=-1)
@click.option("--gpu", "gpus", metavar="NAME[,NAME...]", help="Only these boards; for --recalibrate, the one to refit.")
@click.option("--list", "names_only", is_flag=True, help="Only list the shipped corpora.")
@click.option("--shown", "from_store", is_flag=True, help="Print the scores that --write stored last; run nothing.")
@click.option("--write", "keep", is_flag=True, help="Update the stored scores and the accuracy pages in docs/.")
@click.option("--papers", "each", type=click.IntRange(1), metavar="N", help=PAPERS)
@click.option("--recalibrate", type=click.Path(path_type=Path), metavar="FOLDER", help="Refit a board to measurements.")
@form_option("text", "json")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def validate(
    corpora: tuple[str, ...], gpus: str | None, names_only: bool, from_store: bool, keep: bool, each: int | None,
    recalibrate: Path | None, form: str, out: str | None,
) -> None:  # fmt: skip
    """Score the predictions on measured launches.

    CORPUS is a name or a folder (default: all shipped corpora). Kernels are compiled, executed and predicted.
    Rows with readings of power (corpus intensities) have watts and MHz scored, too.
    """
    from warpbound.validate import corpus, validation_data

    if names_only:
        _list({name: corpus.corpus(name).shared.about for name in corpora or corpus.shipped()}, form, out)
    elif recalibrate is not None:
        write(_recalibrated(recalibrate, gpus), out)
    elif each is not None:
        write(_papers(corpora, gpus, each), out)
    else:
        if keep and (corpora or gpus):
            raise CommandError("--write renews the scores of all corpora.", "Leave CORPUS and --gpu out.")
        _present(validation_data.stored() if from_store else _run(corpora, gpus), form, out, keep)


def _list(about: dict[str, str], form: str, out: str | None) -> None:
    from warpbound.report.document import as_json
    from warpbound.result.catalogue import Summary

    if form == "json":
        write(as_json([Summary(*each) for each in about.items()]), out)
    else:
        width = max(map(len, about))
        write("".join(f"{name:{width}}  {words}\n" for name, words in about.items()), out)


def _recalibrated(folder: Path, name: str | None) -> str:
    """The board's file with every parameter that the measurements in `folder` give; what changed goes to stderr."""
    from warpbound.measure import board_profile, runner, suite

    raws = runner.read_folder(folder, suite.select(None))
    board = board_profile.catalogue_board(raws[0].device, name)
    summary = board_profile.summarise(raws, board)
    click.echo("\n".join(board_profile.verdict(summary, board)), err=True)
    return board_profile.profile(summary, board)


def _run(corpora: tuple[str, ...], gpus: str | None) -> Any:
    from warpbound.validate import results, validation_data

    return results.validate(*_selected(corpora, gpus), _counted, others=validation_data.stored().results)


def _selected(corpora: tuple[str, ...], gpus: str | None) -> tuple[list[Any], list[str]]:
    """The corpora, all shipped ones where none is named, and the keys of the boards."""
    from warpbound.machine import gpu
    from warpbound.validate import corpus

    keys = [gpu(name).key for name in (gpus or "").split(",") if name.strip()]
    return [corpus.corpus(word) for word in corpora or corpus.shipped()], keys


def _papers(corpora: tuple[str, ...], gpus: str | None, each: int) -> str:
    """The page of all models, after the rows that were not yet scored; each is kept as soon as it is."""
    from warpbound.validate import paper_rows, validation_data
    from warpbound.validate.accuracy_pages import papers_page

    selected, keys = _selected(corpora, gpus)
    for row_count, row in _counted(paper_rows.missing(selected, keys, each, paper_rows.kept())):
        paper_rows.append(paper_rows.score(row_count, row))
    return papers_page(validation_data.stored())


def _present(validation: Any, form: str, out: str | None, keep: bool) -> None:
    from warpbound.report.document import as_json
    from warpbound.validate import validation_data
    from warpbound.validate.score_tables import text

    refused = next((result for result in validation.results if result.refused), None)
    if keep and refused is not None:
        where = f"{refused.corpus} on {refused.gpu}"
        raise InputError(f"nothing is written, since {where} was not predicted. {refused.refused}", "Correct it first.")
    if keep:
        for place in validation_data.store(validation):
            click.echo(f"warpbound: {place} written", err=True)
    if form == "json":
        write(as_json(validation_data.as_builtins(validation)), out)
    else:
        show(text(validation), out)
    if validation.results and all(result.refused for result in validation.results):
        raise InputError("no launch could be predicted.", "The table gives each reason.")


def _counted(rows: Iterable[Any]) -> Iterator[Any]:
    """The same rows, counted on stderr every few seconds."""
    import time

    every = list(rows)
    last_report = time.monotonic()
    for number, row in enumerate(every):
        if time.monotonic() - last_report > TELL_EVERY_S:
            last_report = time.monotonic()
            click.echo(f"warpbound: {number} of {len(every)} launches ...", err=True)
        yield row
