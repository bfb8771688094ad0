"""The cell magic `%%warpbound` of IPython and Jupyter: a cell of CUDA C++, answered below it.

    %load_ext warpbound
    %%warpbound --gpu h200 --grid 4096 --block 256 --arg n=1048576 --arg x=f32[1048576]:rand

Source   IPython 8 or later: an extension is a module with `load_ipython_extension`; an object with `_repr_html_` is
         shown as HTML.
"""

import io
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpbound.errors import CommandError, WarpboundError

if TYPE_CHECKING:
    from warpbound.result.kernel import KernelResult
    from warpbound.result.refusal import Refusal

WIDTH = 100  # columns of a card
_STYLE = "white-space:pre;overflow-x:auto;line-height:1.3;font-family:Menlo,Consolas,monospace"
_CARD = f'<pre style="{_STYLE}">{{code}}</pre>'


class Card:
    """Answers as a notebook shows them. results : as of `analyze`, for the cells that follow."""

    def __init__(self, results: "Sequence[KernelResult | Refusal]", views: Sequence[str]) -> None:
        self.results, self.views = list(results), tuple(views)

    def __repr__(self) -> str:
        return str(self._console().export_text())

    def _repr_html_(self) -> str:
        """The report with its colours."""
        return str(self._console().export_html(inline_styles=True, code_format=_CARD))

    def _console(self) -> Any:
        from rich.console import Console

        from warpbound.report.text import pages

        console = Console(width=WIDTH, highlight=False, record=True, file=io.StringIO(), force_terminal=True)
        for part in pages(self.results, self.views):
            console.print(part)
        return console


class Complaint:
    """What a cell cannot be answered for, in one sentence."""

    def __init__(self, problem: WarpboundError) -> None:
        self.problem = problem

    def __repr__(self) -> str:
        return f"warpbound: {self.problem}"


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext warpbound`."""
    shell.register_magic_function(warpbound, "cell")


def warpbound(line: str, cell: str) -> Card | Complaint:
    """%%warpbound OPTIONS: what bounds the kernels of this cell. OPTIONS are those of `warpbound analyze`."""
    from warpbound.cli.analysis import answers

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cell.cu"
        file.write_text(cell, encoding="utf-8")
        try:
            try:
                words = shlex.split(line)
            except ValueError as problem:
                raise CommandError(f"The options cannot be read: {problem}.", "Close the quotes.") from None
            results, views = answers([*words, str(file)])
        except WarpboundError as problem:
            return Complaint(problem)
        return Card(results, views)
