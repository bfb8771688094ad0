"""`reproduce`: the papers' tables and figures, computed again and compared."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpbound.cli.output import announced, command_line, form_option, show, write
from warpbound.errors import CommandError, InputError, WarpboundError

if TYPE_CHECKING:
    from warpbound.reproduce import Change, Item, Reproduction
    from warpbound.reproduce.gallery import Drawn

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
@click.option("--show", "shown", is_flag=True, help="Draw the figures: OUT.html, OUT.svg, OUT.md; else in a browser.")
@click.option("--record", is_flag=True, help="Record the verdicts found as the right ones.")
@form_option("text", "json", "csv", "html", "markdown")
@click.option("-o", "out", metavar="OUT", help="Write there instead of to the terminal.")
def reproduce(name: str | None, shown: bool, record: bool, form: str, out: str | None) -> None:
    """The papers' tables and figures beside what the models here give; without a name, what there is."""
    from warpbound import reproduce as papers

    if name is None:
        _list(form, out, shown)
        return
    if form == "markdown":
        raise CommandError("Markdown is the form of the list.", "Leave the name out, or take text, json, csv or html.")
    if not shown and Path(out or "").suffix == ".svg":
        raise CommandError(f"{out} would hold text, not a picture.", "Add --show for the picture, or name it .txt.")
    known = papers.recorded()
    wanted = _drawn_ones(name, out) if shown else papers.chosen(name)
    found = [papers.reproduced(item) for item in announced((item.key, item) for item in wanted)]
    changed = papers.changes(found, known)
    if shown:
        _show(found, name, out)
    else:
        _print(found, changed, form, out)
    if record:
        click.echo(f"warpbound: recorded in {papers.write(found, known)}.", err=True)
    elif changed:
        many = f"{len(changed)} numbers are" if len(changed) > 1 else f"{changed[0]}: it is"
        raise WarpboundError(f"{many} not as recorded.", "Mend what changed, or --record if it is right.")


def _print(found: "list[Reproduction]", changed: "list[Change]", form: str, out: str | None) -> None:
    from warpbound.report.document import as_json, document
    from warpbound.reproduce import pages

    if form == "csv":
        write(pages.as_csv(found), out)
    elif form == "html":
        from warpbound.reproduce.html_page import html

        write(html(_drawn(found, ""), command_line()), out)
    elif form == "json":
        write(as_json(document(command_line(), [pages.entry(one, changed) for one in found])), out)
    else:
        show([*map(pages.page, found), pages.ending(found, changed)], out)


def _drawn_ones(name: str, out: str | None) -> "list[Item]":
    from warpbound import reproduce as papers
    from warpbound.reproduce.gallery import refuse
    from warpbound.reproduce.pictures import has_pictures

    if out is not None:
        refuse(out)
    wanted = papers.chosen(name)
    found = [item for item in wanted if has_pictures(item)]
    if not found:
        raise InputError(f"{wanted[0].key} has numbers and no picture.", "Leave --show out.")
    return found


def _drawn(found: "list[Reproduction]", figure: str) -> "list[Drawn]":
    from warpbound.reproduce.gallery import Drawn
    from warpbound.reproduce.pictures import of_figure, pictures

    steps = announced((f"pictures of {one.item.key}", one) for one in found)
    return [Drawn(one, of_figure(pictures(one), figure)) for one in steps]


def _show(found: "list[Reproduction]", name: str, out: str | None) -> None:
    """Into files as the ending of `out` says; without it a page in a folder of its own, which a browser opens."""
    from warpbound.reproduce import gallery
    from warpbound.reproduce.html_page import html

    drawn = _drawn(found, name.partition(":")[2])
    many = sum(len(one.shown) for one in drawn)
    if out is not None and not out.endswith(".html"):
        first, *_ = gallery.write(drawn, Path(out))
        click.echo(f"{many} picture{'s' if many > 1 else ''}: {first}{' and others' if many > 1 else ''}")
        return
    path = Path(out or _folder_of_its_own()) / ("" if out else f"{name.replace(':', '-')}.html")
    write(html(drawn, command_line()), str(path))
    click.echo(f"{many} picture{'s' if many > 1 else ''}: {path}")
    if out is None and _has_display():
        import webbrowser

        webbrowser.open(path.as_uri())


def _folder_of_its_own() -> str:
    import tempfile

    return tempfile.mkdtemp(prefix="warpbound-")


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _list(form: str, out: str | None, shown: bool) -> None:
    from warpbound import reproduce as papers
    from warpbound.report.document import as_json, document
    from warpbound.reproduce import pages

    if shown:
        raise CommandError("Nothing is named to show.", "Name PAPER:ITEM, a paper, or all.")
    there, known = papers.items(), papers.recorded()
    if form == "json":
        write(as_json(document("warpbound reproduce", [pages.item_entry(item, known) for item in there])), out)
    elif form == "markdown":
        write(pages.markdown(there, known), out)
    elif form == "text":
        show(pages.listing(there, known), out)
    else:
        raise CommandError("The list has no series.", "Name an item, or take text, json or markdown.")
