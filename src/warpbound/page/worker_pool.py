"""Worker processes, one per source: started on demand, killed on timeout or when no longer needed.

Answers are cached by their question. A source that crashes its worker does not affect other answers.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections import OrderedDict
from contextlib import suppress
from threading import Lock, Timer
from typing import Any

import msgspec

from warpbound.errors import InputError
from warpbound.page.worker import receive, send
from warpbound.page.worker_messages import Answer, Question

SECONDS = 60.0
WORKERS = 4
ANSWERS = 256
_PASSED_ON = ("PATH", "HOME", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG")


class Worker:
    """One process, in an empty folder, that answers one question at a time."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._expired = seconds, False
        self._folder = tempfile.TemporaryDirectory(prefix="warpbound-page-")
        self.lock = Lock()
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "warpbound.page.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder.name,
            env=environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asks, self._tells = self._process.stdin, self._process.stdout

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def ask(self, question: Question) -> Answer:
        """The worker's answer. Raises InputError after its death or a timeout, which kills it."""
        watch = Timer(self._seconds, self._expire)
        watch.daemon = True
        watch.start()
        try:
            send(self._asks, msgspec.msgpack.encode(question))
            message = receive(self._tells)
            if message is not None:
                return msgspec.msgpack.decode(message, type=Answer)
        except (OSError, msgspec.DecodeError):
            pass
        finally:
            watch.cancel()
        self.kill()
        if not self._expired:
            raise InputError(
                "The compiler or the emulator broke down on this source.", "Try `warpbound analyze` on it."
            )
        raise InputError(
            f"This takes longer than the {self._seconds:.0f} s that the page allows.", "Use a smaller grid or arrays."
        )

    def _expire(self) -> None:
        self._expired = True
        self._end()

    def _end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End it and whatever it started, and remove its folder."""
        self._end()
        self._process.wait()
        with suppress(OSError):
            self._asks.close()
        self._tells.close()
        self._folder.cleanup()


class WorkerPool:
    """The running workers and a cache of their answers, both of bounded size."""

    def __init__(self, seconds: float = SECONDS, workers: int = WORKERS) -> None:
        self._seconds, self._most = seconds, workers
        self._workers: OrderedDict[str, Worker] = OrderedDict()
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
        self._lock = Lock()

    def ask(self, question: Question) -> Answer:
        """The answer, from the cache if it is there. Raises InputError as `Worker.ask` does."""
        with self._lock:
            if question in self._answers:
                self._answers.move_to_end(question)
                return self._answers[question]
        worker = self._worker(question.source)
        with worker.lock:
            if question in self._answers:  # somebody else asked meanwhile
                return self._answers[question]
            answer = worker.ask(question)
        with self._lock:
            self._answers[question] = answer
            while len(self._answers) > ANSWERS:
                self._answers.popitem(last=False)
        return answer

    def known(self, question: Question) -> Answer | None:
        """A cached answer, or None."""
        with self._lock:
            return self._answers.get(question)

    def _worker(self, source: str) -> Worker:
        with self._lock:
            worker = self._workers.pop(source, None)
            if worker is None or not worker.alive:
                worker = Worker(self._seconds)
            self._workers[source] = worker
            others = ((key, other) for key, other in self._workers.items() if other is not worker)
            spare: list[Any] = [key for key, other in others if not other.lock.locked()]
            for key in spare[: max(0, len(self._workers) - self._most)]:
                self._workers.pop(key).kill()
            return worker

    def close(self) -> None:
        """Kill every worker."""
        with self._lock:
            for worker in self._workers.values():
                worker.kill()
            self._workers.clear()
