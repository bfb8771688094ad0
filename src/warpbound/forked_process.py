"""Runs work in forks of this process, which share everything that it has loaded, and returns the results."""

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
    """A new process and the pipe that receives its result; EOFError there means that the process has died."""
    from multiprocessing import get_context  # which few answers need

    context = get_context("fork")
    end, other = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(task, other), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child uses no lock that another thread may hold
        process.start()
    other.close()
    return process, end


def _send(task: Callable[[], Any], out: "Connection") -> None:
    out.send(task())
    out.close()
