"""`reproduce`: the papers' tables and figures, computed again and compared."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpbound.cli.output import command_line, form_option, show, with_progress, write
from warpbound.errors import CommandError, InputError, WarpboundError

if TYPE_CHECKING:
    from warpbound.reproduce import Change, Item, Reproduction
    from warpbound.reproduce.gallery import ItemPictures

EXAMPLES = """
\b
Examples:
  warpbound reproduce                           what can be reproduced
  warpbound reproduce volkov_2016:fig-4.5       one table or figure
  warpbound reproduce volkov_2016:fig-3.5 --show    its picture, in a browser
  warpbound reproduce volkov_2016:fig-3.5 --show -o graph.svg
  warpbound reproduce hong_kim_2009             one paper
  warpbound reproduce all > /dev/null           exit code 1 if a recorded verdict changed
  warpbound reproduce volkov_2016:fig-4.5 --format csv -o cusp.csv
  warpbound reproduce x_model_2016 --format html -o x.html
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", metavar="[PAPER[:ITEM|:fig-N]|all]", required=False)
@click.option("--show", "pictures", is_flag=True, help="Draw figures: to OUT.html, .svg or .md, or in a browser.")
@click.option("--record", is_flag=True, help="Record the verdicts of this run as the expected ones.")
@form_option("text", "json", "csv", "html", "markdown")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def reproduce(name: str | None, pictures: bool, record: bool, form: str, out: str | None) -> None:
    """Compute the papers' tables and figures again and compare.

    Without a name, the command lists all items.
    """
    from warpbound import reproduce as papers

    if name is None:
        _list(form, out, pictures)
        return
    if form == "markdown":
        raise CommandError(
            "--format markdown prints the list only.", "Leave the name out, or take text, json, csv or html."
        )
    if not pictures and Path(out or "").suffix == ".svg":
        raise CommandError(f"{out} would hold text, not a picture.", "Add --show for the picture, or name it .txt.")
    record_before = papers.recorded()
    items = _items_with_pictures(name, out) if pictures else papers.chosen(name)
    reproductions = [papers.reproduced(item) for item in with_progress((item.key, item) for item in items)]
    changed = papers.changes(reproductions, record_before)
    if pictures:
        _show(reproductions, name, out)
    else:
        _print(reproductions, changed, form, out)
    if record:
        click.echo(f"warpbound: recorded in {papers.write(reproductions, record_before)}.", err=True)
    elif changed:
        many = f"{len(changed)} numbers are" if len(changed) > 1 else f"{changed[0]}: it is"
        raise WarpboundError(f"{many} not as recorded.", "Correct what changed, or --record if it is right.")


def _print(reproductions: "list[Reproduction]", changed: "list[Change]", form: str, out: str | None) -> None:
    from warpbound.report.document import as_json, document
    from warpbound.reproduce import pages

    if form == "csv":
        write(pages.as_csv(reproductions), out)
    elif form == "html":
        from warpbound.reproduce.gallery import html

        write(html(_pictures(reproductions, ""), command_line()), out)
    elif form == "json":
        write(as_json(document(command_line(), [pages.entry(x, changed) for x in reproductions])), out)
    else:
        show([*map(pages.page, reproductions), pages.ending(reproductions, changed)], out)


def _items_with_pictures(name: str, out: str | None) -> "list[Item]":
    from warpbound import reproduce as papers
    from warpbound.reproduce.gallery import refuse
    from warpbound.reproduce.pictures import has_pictures

    if out is not None:
        refuse(out)
    items = papers.chosen(name)
    drawable = [item for item in items if has_pictures(item)]
    if not drawable:
        raise InputError(f"{items[0].key} has numbers but no picture.", "Leave --show out.")
    return drawable


def _pictures(reproductions: "list[Reproduction]", figure: str) -> "list[ItemPictures]":
    from warpbound.reproduce.gallery import ItemPictures
    from warpbound.reproduce.pictures import of_figure, pictures

    steps = with_progress((f"pictures of {x.item.key}", x) for x in reproductions)
    return [ItemPictures(x, of_figure(pictures(x), figure, x.item)) for x in steps]


def _show(reproductions: "list[Reproduction]", name: str, out: str | None) -> None:
    """Into files as the ending of `out` says; without it a page in a folder of its own, which a browser opens."""
    from warpbound.reproduce import gallery
    from warpbound.reproduce.gallery import html

    items = [item for item in _pictures(reproductions, name.partition(":")[2]) if item.pictures]
    if not items:
        raise InputError(f"{name} is not drawn here; {reproductions[0].item.key} has its numbers.", "Leave --show out.")
    many = sum(len(item.pictures) for item in items)
    if out is not None and not out.endswith(".html"):
        first, *_ = gallery.write(items, Path(out))
        click.echo(f"{many} picture{'s' if many > 1 else ''}: {first}{' and others' if many > 1 else ''}")
        return
    path = Path(out or _folder_of_its_own()) / ("" if out else f"{name.replace(':', '-')}.html")
    write(html(items, command_line()), str(path))
    click.echo(f"{many} picture{'s' if many > 1 else ''}: {path}")
    if out is None and _has_display():
        import webbrowser

        webbrowser.open(path.as_uri())


def _folder_of_its_own() -> str:
    import tempfile

    return tempfile.mkdtemp(prefix="warpbound-")


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _list(form: str, out: str | None, with_progress: bool) -> None:
    from warpbound import reproduce as papers
    from warpbound.report.document import as_json, document
    from warpbound.reproduce import pages

    if with_progress:
        raise CommandError("Nothing is named to show.", "Name PAPER:ITEM, a paper, or all.")
    items, record = papers.items(), papers.recorded()
    if form == "json":
        write(as_json(document("warpbound reproduce", [pages.item_entry(item, record) for item in items])), out)
    elif form == "markdown":
        write(pages.markdown(items, record), out)
    elif form == "text":
        show(pages.listing(items, record), out)
    else:
        raise CommandError(
            "The list has no series to print as --format csv.", "Name an item, or take text, json or markdown."
        )
