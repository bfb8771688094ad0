"""Options and writing that the commands share: what is printed, and where."""

import io
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from warpbound.errors import WarpboundError


def form_option(*choices: str) -> Callable[[Any], Any]:
    return click.option(
        "--format", "form", type=click.Choice(choices), default="text", help="What to print.", show_default=True
    )


def show_results(form: str, out: str | None, results: list[Any], pages: Callable[[list[Any]], Iterable[Any]]) -> None:
    from warpbound.report.document import as_json, document

    if form == "json":
        write(as_json(document(command_line(), results)), out)
    else:
        show(pages(results), out)


def command_line() -> str:
    """What was typed, for a reader of the file."""
    return " ".join(["warpbound", *sys.argv[1:]])


def answer(form: str, entry: Any, text: Any) -> None:
    if form == "json":
        from warpbound.report.document import as_json

        write(as_json(entry), None)
    else:
        show([text], None)


def show(parts: Iterable[Any], out: str | None) -> None:
    """Rich text to the terminal (at its width, 80 where it has none) or plain text to a file."""
    from rich.console import Console

    if out is not None:
        console = Console(width=100, record=True, file=io.StringIO())
        for part in parts:
            console.print(part)
        write(console.export_text(), out)
        return
    console = Console(width=None if sys.stdout.isatty() else 80, highlight=False, soft_wrap=False)
    for part in parts:
        console.print(part)


def write(text: str, out: str | None) -> None:
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as failed:
        raise WarpboundError(f"{out} cannot be written ({failed.strerror}).", "Choose another -o.") from failed


def announced(steps: Iterable[Any]) -> Iterable[Any]:
    """The same steps, announced on stderr whenever a second has passed since the start or the last word."""
    import time

    spoken = time.monotonic()
    for title, step in steps:
        if time.monotonic() - spoken > 1.0:
            spoken = time.monotonic()
            click.echo(f"warpbound: {title} ...", err=True)
        yield step
