"""The `mcp` command."""

import click

from warpbound.agents.server import TIME_LIMIT_S, server


@click.command(short_help="Answer code-writing agents (Model Context Protocol).")
@click.option("--patience", type=float, default=TIME_LIMIT_S, show_default=True, help="Seconds for one answer.")
def mcp(patience: float) -> None:
    """Answer agents over standard input and output, by the Model Context Protocol.

    Put `warpbound mcp` as a command into your agent's list of servers. docs/agents.md describes the tools.
    """
    server(patience).run("stdio")
