"""`reproduce`: the papers' tables and figures, computed again and compared."""

import sys

import click

from warpbound.cli.output import announced, form_option, show, write
from warpbound.errors import CommandError, WarpboundError

EXAMPLES = """
\b
Examples:
  warpbound reproduce                           what can be reproduced
  warpbound reproduce volkov_2016:fig-4.5       one table or figure
  warpbound reproduce hong_kim_2009             one paper
  warpbound reproduce all > /dev/null           exit code 1 if a recorded verdict changed
  warpbound reproduce volkov_2016:fig-4.5 --format csv -o cusp.csv
  warpbound reproduce x_model_2016 --format html -o x.html
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", metavar="[PAPER[:ITEM]|all]", required=False)
@click.option("--record", is_flag=True, help="Record the verdicts found as the right ones.")
@form_option("text", "json", "csv", "html", "markdown")
@click.option("-o", "out", metavar="OUT", help="Write there instead of to the terminal.")
def reproduce(name: str | None, record: bool, form: str, out: str | None) -> None:
    """The papers' tables and figures beside what the models here give; without a name, what there is."""
    from warpbound import reproduce as papers
    from warpbound.report.document import as_json, document
    from warpbound.reproduce import pages

    known = papers.recorded()
    if name is None:
        _list(form, out)
        return
    if form == "markdown":
        raise CommandError("Markdown is the form of the list.", "Leave the name out, or take text, json, csv or html.")
    wanted = papers.chosen(name)
    found = [papers.reproduced(item) for item in announced((item.key, item) for item in wanted)]
    changed = papers.changes(found, known)
    if form == "csv":
        write(pages.as_csv(found), out)
    elif form == "html":
        from warpbound.reproduce.illustrated import html

        write(html(found, " ".join(["warpbound", *sys.argv[1:]])), out)
    elif form == "json":
        entries = [pages.entry(one, changed) for one in found]
        write(as_json(document(" ".join(["warpbound", *sys.argv[1:]]), entries)), out)
    else:
        show([*map(pages.page, found), pages.ending(found, changed)], out)
    if record:
        click.echo(f"warpbound: recorded in {papers.write(found, known)}.", err=True)
    elif changed:
        many = f"{len(changed)} numbers are" if len(changed) > 1 else f"{changed[0]}: it is"
        raise WarpboundError(f"{many} not as recorded.", "Mend what changed, or --record if it is right.")


def _list(form: str, out: str | None) -> None:
    from warpbound import reproduce as papers
    from warpbound.report.document import as_json, document
    from warpbound.reproduce import pages

    there, known = papers.items(), papers.recorded()
    if form == "json":
        write(as_json(document("warpbound reproduce", [pages.item_entry(item, known) for item in there])), out)
    elif form == "markdown":
        write(pages.markdown(there, known), out)
    elif form == "text":
        show(pages.listing(there, known), out)
    else:
        raise CommandError("The list has no series.", "Name an item, or take text, json or markdown.")
