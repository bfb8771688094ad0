"""`page`: the interactive page on this machine."""

import click

from warpbound.errors import CommandError, MissingTool

EXAMPLES = """
\b
Examples:
  warpbound page
  warpbound page --port 9000
"""


@click.command(epilog=EXAMPLES)
@click.option("--port", default=8050, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
def page(port: int) -> None:
    """A page in the browser: a kernel, a GPU, and sliders for every number. It listens on this machine only."""
    try:
        from warpbound.page.server import serve
    except ImportError as missing:
        raise MissingTool(
            f"The page needs {missing.name}, which is not installed.", "Install it with: pip install 'warpbound[page]'"
        ) from missing
    try:
        serve(port, lambda address: click.echo(f"warpbound page: {address}  (Ctrl+C ends it)"))
    except OSError as failed:
        raise CommandError(f"Port {port} cannot be used ({failed.strerror}).", "Choose another --port.") from failed
