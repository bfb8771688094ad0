"""The questions in a source: options of `analyze` in comments, or a launch file beside it.

    // warpbound: --gpu h200 --grid 4096 --block 256 --arg n=1048576
    // warpbound: --arg x=f32[1048576]:rand --arg y=f32[1048576]:rand

Lines that follow each other are one question.
"""

import re
import shlex
from pathlib import Path

from warpbound.errors import CommandError
from warpbound.quick_dataclasses import dataclass

_COMMENT = re.compile(r"^\s*//\s*warpbound:(?P<words>.*)$")
_OF_A_LAUNCH = ("--grid", "--block", "--launch")


@dataclass(frozen=True)
class Question:
    """Options of `analyze`, and the line (from 1) of the comment that has them; 0 where there is none."""

    line: int
    words: tuple[str, ...]


def questions(text: str, beside: Path, gpu: str | None) -> list[Question]:
    """The questions about a source; none if neither it, a launch file nor `gpu` names a board.

    beside : the launch file that the source would have; it serves every question without a launch of its own.
    gpu : the board where nothing else names one. Raises CommandError, with the line, where quotes are not closed.
    """
    queries = list(_comments(text)) or [Question(0, ())]
    queries = [_with_launch(question, beside) for question in queries]
    return [complete for question in queries if (complete := _with_gpu(question, gpu))]


def _comments(text: str) -> list[Question]:
    queries: list[Question] = []
    last = -1
    for number, line in enumerate(text.splitlines(), 1):
        if match := _COMMENT.match(line):
            words = _split(match["words"], number)
            if number == last + 1:
                words = (*queries.pop().words, *words)
                queries.append(Question(number, words))
            else:
                queries.append(Question(number, words))
            last = number
    return queries


def _split(words: str, line: int) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(words))
    except ValueError as problem:
        raise CommandError(f"The comment on line {line} is not a list of options: {problem}.", "Correct it.") from None


def _with_launch(question: Question, beside: Path) -> Question:
    if _has(question, _OF_A_LAUNCH) or not beside.is_file():
        return question
    return Question(question.line, (*question.words, "--launch", str(beside)))


def _with_gpu(question: Question, gpu: str | None) -> Question | None:
    """A launch file may name the board itself; then the server's own board is not used.

    A comment without a board or launch is a question too: the answer names what is missing.
    """
    if _has(question, ("--gpu", "--launch")) or (question.line and not gpu):
        return question
    return Question(question.line, (*question.words, "--gpu", gpu)) if gpu else None


def _has(question: Question, options: tuple[str, ...]) -> bool:
    return any(word.partition("=")[0] in options for word in question.words)
