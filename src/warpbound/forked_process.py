"""Work in copies of this process, which have everything that it has loaded; their results come back."""

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def forked(task: Callable[[], Any]) -> "tuple[ForkProcess, Connection]":
    """A new process and the end of the pipe on which its result comes; EOFError there means that it has died."""
    from multiprocessing import get_context  # which few answers need

    context = get_context("fork")
    end, other = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(task, other), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the process calls nothing that other threads may hold
        process.start()
    other.close()
    return process, end


def _send(task: Callable[[], Any], out: "Connection") -> None:
    out.send(task())
    out.close()
