"""Calls of the server's tools through a client of the protocol, in process."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from mcp.client.client import Client

from warpbound.agents.server import server


def asked(*calls, limit_s=120.0):
    """The structured content of each call, or the text of its error."""

    async def session():
        async with Client(server(limit_s)) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
            return [result.content[0].text if result.is_error else result.structured_content for result in results]

    with ThreadPoolExecutor(1) as apart:  # the thread of the tests may hold a browser's loop
        return apart.submit(asyncio.run, session()).result()
