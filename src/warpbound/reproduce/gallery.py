"""Pictures of items as files: SVG one by one, or a page of Markdown with its pictures in a folder of the same name."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from warpbound.errors import CommandError, InputError
from warpbound.report.figures import svg
from warpbound.reproduce.item import PAPERS, Item, prose
from warpbound.reproduce.pages import kinds
from warpbound.reproduce.pictures import Shown
from warpbound.reproduce.reproduction import Reproduction

ENDINGS = (".html", ".svg", ".md")


class Drawn(NamedTuple):
    """An item and the pictures of it that are wanted."""

    one: Reproduction
    shown: Sequence[Shown]


def refuse(out: str) -> None:
    """Raises CommandError for an ending that no picture is written in."""
    if Path(out).suffix not in ENDINGS:
        raise CommandError(
            f"--show writes {', '.join(ENDINGS)}, not {Path(out).name}.",
            "For PNG write .html and use the camera above the picture.",
        )


def write(found: Sequence[Drawn], out: Path) -> list[Path]:
    """The files that are written: OUT.svg (numbered if several), or OUT.md and its pictures.

    Raises InputError where a file cannot be written.
    """
    drawn = [picture.drawn for one in found for picture in one.shown]
    if out.suffix == ".svg":
        names = [out] if len(drawn) == 1 else [out.with_stem(f"{out.stem}-{n}") for n in range(1, len(drawn) + 1)]
        return [_written(path, svg(picture)) for path, picture in zip(names, drawn, strict=True)]
    folder = out.with_suffix("")
    files = [_written(folder / name, text) for name, text in pictures(found).items()]
    return [_written(out, page(found, folder.name)), *files]


def pictures(found: Sequence[Drawn]) -> dict[str, str]:
    """File name -> SVG."""
    return {_name(one.one.item, n): svg(shown.drawn) for one in found for n, shown in enumerate(one.shown, 1)}


def page(found: Sequence[Drawn], folder: str) -> str:
    """The page, paper by paper."""
    parts = [prose("gallery.md")]
    for paper, own in groupby(found, key=lambda one: one.one.item.paper):
        parts.append(f"## {PAPERS[paper]}\n")
        parts += [section(one, folder) for one in own]
    return "\n".join(parts)


def section(drawn: Drawn, folder: str) -> str:
    """One item: its place in the paper, the verdict, its pictures with the figure that each is."""
    item = drawn.one.item
    lines = [f"### {item.title}", "", f"`{item.key}`: {item.where}. Verdicts: {_verdicts(drawn.one)}."]
    if item.stand_in:
        lines.append(f"In place of the experiment: {item.stand_in}.")
    for number, shown in enumerate(drawn.shown, 1):
        words = f"{shown.figure}: {shown.drawn.title}"
        lines += ["", f"**{words}**", "", f"![{words}]({folder}/{_name(item, number)})"]
    return "\n".join([*lines, ""])


def _verdicts(one: Reproduction) -> str:
    return kinds([row.verdict for row in one.rows]) or "nothing printed to compare with"


def _name(item: Item, number: int) -> str:
    return f"{item.paper}-{item.name}-{number}.svg"


def _written(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as failed:
        raise InputError(f"{path} cannot be written ({failed.strerror}).", "Choose another -o.") from failed
    return path
