"""Runs a program with the replacement of libcudart and answers it, process by process, until it ends."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from warpbound.analysis import Settings
from warpbound.analysis.settings import DEFAULT
from warpbound.emulate.native.engine import compile_in_background
from warpbound.errors import InputError
from warpbound.freed_memory import keep_freed_memory
from warpbound.machine import Gpu
from warpbound.program_run import protocol, runtime_build
from warpbound.program_run.executable import Executable
from warpbound.program_run.launches import Predictor
from warpbound.program_run.session import LaunchChoice, Log, Session
from warpbound.quick_dataclasses import dataclass

LAST_WORDS_S = 10.0  # time in which a connection is still answered after the program has ended


@dataclass(frozen=True)
class EndedProgram:
    """A program that is over. exit_code : as a shell gives it, 128 + n for signal n. stopped : it took too long."""

    exit_code: int
    signal_name: str = ""
    stopped: bool = False


@dataclass(frozen=True)
class RunOptions:
    """RunOptions a program runs. output : file descriptor for what it prints; None: ours."""

    board: Gpu
    choice: LaunchChoice
    settings: Settings = DEFAULT
    timeout_s: float | None = None
    output: int | None = None


def run_program(program: Executable, arguments: Sequence[str], how: RunOptions) -> tuple[EndedProgram, Log]:
    """Run a program to its end. Temporary files are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="warpbound-") as folder:
        path = Path(folder)
        environment = {**os.environ, **_preloaded(program, path), "WARPBOUND_SOCKET": str(path / "socket")}
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path / "socket"))
        listener.listen()
        server = _Server(listener, how)
        server.start()
        try:
            ended = _started([str(program.path), *arguments], environment, how)
        finally:
            server.stop()
    return ended, server.log


def _preloaded(program: Executable, folder: Path) -> dict[str, str]:
    """Environment variables that put the replacements before the program's own libraries."""
    if program.cudart is None:
        return {}
    cudart = program.cudart
    raw = runtime_build.replacement(program.release, cudart.soname, cudart.version, cudart.imported)
    libraries = {cudart.soname: raw}
    for other in program.others:
        libraries[other.soname] = runtime_build.stub_library(other.soname, other.version, other.imported)
    for name, contents in libraries.items():
        (folder / name).write_bytes(contents)
    own = os.environ.get("LD_PRELOAD", "")
    preload = [str(folder / name) for name in libraries] + ([own] if own else [])
    return {"LD_PRELOAD": ":".join(preload)}


def _started(command: list[str], environment: dict[str, str], how: RunOptions) -> EndedProgram:
    try:
        process = subprocess.Popen(command, env=environment, stdout=how.output)
    except OSError as failed:
        reason = f"{command[0]} does not start ({failed.strerror})."
        raise InputError(reason, "Give a program of this machine.") from failed
    try:
        code = process.wait(how.timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return EndedProgram(124, stopped=True)
    except (KeyboardInterrupt, SystemExit):
        process.terminate()
        process.wait()
        raise
    return EndedProgram(128 - code, signal.Signals(-code).name) if code < 0 else EndedProgram(code)


class _Server:
    """Accepts the processes of a program and answers each in a thread of its own, one question at a time."""

    def __init__(self, listener: socket.socket, how: RunOptions) -> None:
        self.listener = listener
        self.how, self.log, self.predictor = how, Log(), Predictor(how.board, how.settings)
        self.turn = threading.Lock()
        self.threads: list[threading.Thread] = []
        self.accepting = threading.Thread(target=self._accept, daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        keep_freed_memory()
        compile_in_background()
        self.accepting.start()

    def stop(self) -> None:
        """Wait until what has been asked is answered. Raises what went wrong in an answer."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(LAST_WORDS_S)
        if self.failure is not None:
            raise self.failure

    def _accept(self) -> None:
        while True:
            try:
                channel, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(channel,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _serve(self, channel: socket.socket) -> None:
        with channel:
            greeting = protocol.hello(channel)
            if greeting is None:
                return
            try:
                session = Session(self.how.board, self.predictor, self.how.choice, self.log)
            except InputError as refused:
                self.failure = refused
                return
            try:
                socket.send_fds(channel, [b"m"], [session.heap.file])
                while (question := protocol.receive(channel)) is not None:
                    with self.turn:
                        answer = session.answer(question)
                    protocol.send(channel, answer)
            except OSError:
                return  # the program has ended meanwhile
            except Exception as failure:  # noqa: BLE001  (raised again where the user is told)
                self.failure = failure
            finally:
                session.close()
