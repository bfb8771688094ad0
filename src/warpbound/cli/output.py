"""Options and writing that the commands share: what is printed, and where."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from warpbound.errors import WarpboundError

WIDTH_OF_PIPES, WIDTH_OF_FILES = 80, 100  # columns


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
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else WIDTH_OF_PIPES


def write(text: str, out: str | None) -> None:
    if out is None:
        click.echo(text, nl=False, color=True)
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
