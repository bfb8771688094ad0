"""Options and writing that the commands share: what is printed, and where."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from warpbound.errors import WarpboundError

WIDTH_OF_PIPES, WIDTH_OF_FILES = 80, 100  # columns
SILENCE = 1.0  # seconds without a word, at most
AGAIN = 10.0  # seconds after which a step that lasts is named again


def form_option(*choices: str) -> Callable[[Any], Any]:
    return click.option(
        "--format", "form", type=click.Choice(choices), default="text", help="What to print.", show_default=True,
        callback=_with_its_extra,
    )  # fmt: skip


def _with_its_extra(_: click.Context, __: click.Parameter, form: str) -> str:
    """The format, after a check that its packages are there: the error comes before the work, not after it."""
    if form == "html":
        from warpbound.report.html import needed

        for module in ("jinja2", "plotly"):
            needed(module)
    return form


def show_results(form: str, out: str | None, results: list[Any], pages: Callable[[list[Any]], Iterable[Any]]) -> None:
    if form == "json":
        from warpbound.report.document import as_json, document

        write(as_json(document(command_line(), results)), out)
    else:
        show(pages(results), out)


def command_line() -> str:
    """What was typed, for a reader of the file."""
    words = (os.fsencode(word).decode(errors="replace") for word in sys.argv[1:])
    return " ".join(["warpbound", *words])


def answer(form: str, entry: Any, text: Any, out: str | None = None) -> None:
    if form == "json":
        from warpbound.report.document import as_json

        write(as_json(entry), out)
    else:
        show([text], out)


def show(parts: Iterable[Any], out: str | None) -> None:
    """Rich text to the terminal (at its width), plain text to a pipe (80 columns, or as many
    as COLUMNS says) or a file (100).

    NO_COLOR is honoured, FORCE_COLOR too. Pipes and files get no blanks at the ends of lines.
    """
    from rich.console import Console

    if out is None and sys.stdout.isatty():
        console = Console(highlight=False)
        for part in parts:
            console.print(part)
        return
    if out is None:
        console = Console(width=_piped(), highlight=False)
        for part in parts:
            write(_lines(console, part), None)
    else:
        console = Console(width=WIDTH_OF_FILES, highlight=False, color_system=None)
        write("".join(_lines(console, part) for part in parts), out)


def _lines(console: Any, part: Any) -> str:
    """As the console would print it, without blanks at the ends of lines."""
    with console.capture() as captured:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _piped() -> int:
    """Columns for a reader that is no terminal."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) > 0 else WIDTH_OF_PIPES


def write(text: str, out: str | None) -> None:
    if out is None:
        click.echo(text, nl=False, color=True)
        return
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as failed:
        raise WarpboundError(f"{out} cannot be written ({failed.strerror}).", "Choose another -o.") from failed


def warn_without_numba() -> None:
    """Say before a long simulation what would make it quick."""
    from warpbound.errors import install
    from warpbound.simulate.numba_jit import COMPILED

    if not COMPILED:
        click.echo(f"warpbound: without Numba this takes some thirty times as long. {install('simulate')}", err=True)


def with_progress(steps: Iterable[Any]) -> Iterable[Any]:
    """The same steps, each named on stderr once a second has passed since the start or the last word, even while it
    lasts; and again every AGAIN seconds, with how long it has taken."""
    import time
    from threading import Event, Thread

    spoken = time.monotonic()

    def tell(title: str, over: Event) -> None:
        nonlocal spoken
        began, pause = time.monotonic(), max(0.0, spoken + SILENCE - time.monotonic())
        while not over.wait(pause):
            spoken = time.monotonic()
            lasted = spoken - began
            click.echo(f"warpbound: {title} ..." + (f" {lasted:.0f} s" if lasted >= AGAIN else ""), err=True)
            pause = AGAIN

    for title, step in steps:
        over = Event()
        Thread(target=tell, args=(title, over), daemon=True).start()
        try:
            yield step
        finally:
            over.set()


def remaining(noun: str) -> Callable[[int, int], None]:
    """Says on stderr how many are done, of how many, and the time left, once a second at most.

    The first call, before the work, says what was done already.
    """
    import time

    start = spoken = time.monotonic()
    before: int | None = None

    def progress(finished_units: int, of: int) -> None:
        nonlocal spoken, before
        before = finished_units if before is None else before
        now = time.monotonic()
        if now - spoken >= SILENCE and before < finished_units < of:
            spoken = now
            left_s = (of - finished_units) * (now - start) / (finished_units - before)
            click.echo(f"warpbound: {finished_units} of {of} {noun} predicted, about {left_s:.0f} s left ...", err=True)

    return progress
