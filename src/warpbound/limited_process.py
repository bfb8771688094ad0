"""One process that answers a server's requests; a request that takes too long ends it, and the next one starts another.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from warpbound.errors import InputError

T = TypeVar("T")
SMALLER = "Ask about a smaller launch."


class LimitedProcess:
    """limit_s : of one answer."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._pool: ProcessPoolExecutor | None = None

    async def answer(self, task: Callable[..., T], *arguments: object) -> T:
        """The task's value; InputError where it takes too long or its process is ended by the system."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, get_context("spawn"))
        future = self._pool.submit(task, *arguments)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.limit_s)
        except TimeoutError:
            self.end()
            raise InputError(f"No answer within {self.limit_s:g} s.", SMALLER) from None
        except BrokenProcessPool:
            self.end()
            raise InputError("The process that answers was ended by the system.", SMALLER) from None

    def end(self) -> None:
        """End the process, whatever it does."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)
