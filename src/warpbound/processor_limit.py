"""A limit on the processor time of code that is not written to be stopped."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def processor_limit(seconds: float, error: Callable[[], Exception]) -> Iterator[None]:
    """Raise `error()` where the block takes more processor time of this process than that.

    Without effect in another thread than the first, where no signal arrives, and on systems without such a timer.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise error()

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
