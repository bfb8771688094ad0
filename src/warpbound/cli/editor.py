"""The `lsp` command, and how a source in an editor is answered."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpbound.editor.server import TIME_LIMIT_S
from warpbound.errors import WarpboundError

if TYPE_CHECKING:
    from warpbound.editor.annotations import Answered


@click.command(short_help="Annotate source lines in editors (Language Server Protocol).")
@click.option("--gpu", metavar="NAME", help="Board of sources that name none.")
@click.option("--patience", type=float, default=TIME_LIMIT_S, show_default=True, help="Seconds for one answer.")
def lsp(gpu: str | None, patience: float) -> None:
    """Annotate CUDA sources in an editor over standard input and output, by the Language Server Protocol.

    A launch file beside the source, or a comment `// warpbound: --gpu h200 --grid 4096 --block 256 --arg n=4096`, gives
    the launch; without it, the answer is for the code alone. docs/editors.md has the settings of editors.
    """
    from warpbound.editor.server import server

    server(answers, gpu, patience).start_io()


def answers(path: str, gpu: str | None) -> "list[Answered]":
    """What `analyze` answers to the questions of a source file; paths in them are relative to its folder."""
    from warpbound.cli.analysis import answers as analyzed
    from warpbound.editor.annotations import Answered
    from warpbound.editor.questions import questions
    from warpbound.result.refusal import refusal

    file = Path(path)
    if not file.is_file():
        return []
    os.chdir(file.parent)  # of this process, which answers only this server
    all_answers: list[Answered] = []
    try:
        file_questions = questions(file.read_text(encoding="utf-8", errors="replace"), file.with_suffix(".toml"), gpu)
    except WarpboundError as problem:
        return [Answered(0, refusal(None, "", problem))]
    for question in file_questions:
        try:
            entries, _ = analyzed([*question.words, file.name])
            all_answers += [Answered(question.line, entry) for entry in entries]
        except WarpboundError as problem:
            all_answers.append(Answered(question.line, refusal(None, gpu or "", problem)))
    return all_answers
