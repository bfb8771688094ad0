"""`page`: the interactive page on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpbound.errors import CommandError, MissingTool

if TYPE_CHECKING:
    from warpbound.page.further_page import FurtherPage

EXAMPLES = """
\b
Examples:
  warpbound page
  warpbound page --port 9000
  warpbound page --sweep plan.parquet
"""


@click.command(epilog=EXAMPLES)
@click.option("--port", default=8050, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--sweep", metavar="PLAN.parquet", help="Results of a sweep; the page then has a view of them.")
def page(port: int, sweep: str | None) -> None:
    """Serve a web page with a kernel, a GPU and sliders.

    The server prints its address and accepts connections from this machine only.
    """
    try:
        from warpbound.page.server import serve
    except ImportError as missing:
        raise MissingTool(
            f"The page needs {missing.name}, which is not installed.", "Install it with: pip install 'warpbound[page]'"
        ) from missing
    try:
        further_page = None if sweep is None else _sweep_page(Path(sweep))
        name = "" if further_page is None else further_page.name
        serve(port, lambda address: click.echo(f"warpbound page: {address}{name}  (Ctrl+C ends it)"), further_page)
    except OSError as failed:
        raise CommandError(f"Port {port} cannot be used ({failed.strerror}).", "Choose another --port.") from failed


def _sweep_page(results: Path) -> "FurtherPage":
    """The view of a sweep's results, or of what a running sweep has so far. Raises InputError where there are none."""
    from warpbound.page.further_page import FurtherPage
    from warpbound.sweeping import storage, web_page

    file = results.with_suffix(".parquet")
    storage.so_far(file)
    return FurtherPage("sweep", lambda query: web_page.page(file, query), web_page.SCRIPT)
