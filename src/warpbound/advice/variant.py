"""A variant of a kernel: another source, options, launch or compiler, that a program can make."""

import difflib
from dataclasses import dataclass, replace
from pathlib import Path

from warpbound.kernel_launch import Launch
from warpbound.program.compile_options import Options
from warpbound.result.advice import Place

EXACT, ROUNDED = "equal", "rounding"


@dataclass(frozen=True)
class Question:
    """The original kernel. path : its file, whose folder is searched for headers. text : its source.

    options : how it is compiled, the launch's own macros and folders among them.
    """

    path: Path
    text: str
    kernel: str | None
    options: Options
    launch: Launch


@dataclass(frozen=True)
class Variant:
    """A change of a question.

    mechanism : its section in docs/advice.md. place : what changes. exactness : how the results may differ.
    line : of the source, from 1. apply : the words to add to the command line; "" where the source changes.
    per_thread : elements along x that a thread takes where it took one.
    """

    mechanism: str
    change: str
    place: Place
    question: Question
    exactness: str = EXACT
    line: int | None = None
    apply: str = ""
    per_thread: int = 1


def with_text(question: Question, mechanism: str, change: str, text: str, line: int) -> Variant:
    """A variant by its source."""
    return Variant(mechanism, change, "source", replace(question, text=text), line=line)


def difference(before: Question, after: Question) -> str:
    """The change of the source as a unified diff that `patch -p0` takes; "" where the source stays."""
    name = before.path.as_posix()
    lines = difflib.unified_diff(
        before.text.splitlines(keepends=True), after.text.splitlines(keepends=True), name, name, n=2
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
