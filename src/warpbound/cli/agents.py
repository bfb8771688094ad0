"""The `mcp` command."""

import click


@click.command(short_help="Answer code-writing agents (Model Context Protocol).")
@click.option("--patience", type=float, help="Seconds for one answer; 60 by default.")
def mcp(patience: float | None) -> None:
    """Answer agents over standard input and output, by the Model Context Protocol.

    Put `warpbound mcp` as a command into your agent's list of servers. docs/agents.md describes the tools.
    """
    from warpbound.agents.server import TIME_LIMIT_S, server

    server(TIME_LIMIT_S if patience is None else patience).run("stdio")
