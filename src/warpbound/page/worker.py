"""Worker process for one source: compiles it, executes it in the emulator, returns numbers.

`python -m warpbound.page.worker` reads questions from its standard input and writes answers to its standard output,
each a length of eight bytes and a message. It holds the trace, so that another number of the GPU costs no second
execution. Nothing of the source runs natively. The system bounds its memory and files, whoever started it its time.
"""

import os
import re
import resource
import struct
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import msgspec

from warpbound.errors import WarpboundError
from warpbound.page.worker_messages import Answer, CampingRun, Numbers, Question

if TYPE_CHECKING:
    from warpbound.emulate import Trace
    from warpbound.kernel_launch import Launch
    from warpbound.program import Program

MEMORY_B = 6 << 30
FILE_B = 64 << 20
LONGEST_B = 64 << 20
LENGTH = struct.Struct(">Q")
_AT_LINE = re.compile(r"(\S+?)(?:\(\d+\)|, line \d+)")  # path(3): error ..., path, line 3
FOREIGN = "The source reads a file that is none of the compiler's headers."


def main() -> None:
    """Answer until the input ends."""
    confine()
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library writes by itself is no part of an answer
    analyzer = Analyzer()
    while (message := receive(requests)) is not None:
        question = msgspec.msgpack.decode(message, type=Question)
        send(replies, msgspec.msgpack.encode(answered(analyzer, question)))


def confine() -> None:
    """No more memory than MEMORY_B, no file larger than FILE_B, no core dump."""
    for kind, most in ((resource.RLIMIT_AS, MEMORY_B), (resource.RLIMIT_FSIZE, FILE_B), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message; None at the end of the input or for a message over the limit."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if length > LONGEST_B:
        return None
    body = stream.read(length)
    return body if len(body) == length else None


def send(stream: IO[bytes], message: bytes) -> None:
    """One message with its length before it."""
    stream.write(LENGTH.pack(len(message)) + message)
    stream.flush()


def answered(analyzer: "Analyzer", question: Question) -> Answer:
    """The answer, or the error's message."""
    try:
        return camping_run(question) if question.partitions else analyzer.analysed(question)
    except WarpboundError as error:
        if not question.example and names_local_file(f"{error.reason}\n{error.hint}"):
            return Answer(reason=FOREIGN, hint="Paste what is needed of it.")
        return Answer(reason=error.reason, hint=error.hint)
    except MemoryError:
        return Answer(reason="The kernel needs more memory than the page allows.", hint="Use smaller arrays.")
    except Exception as fault:  # noqa: BLE001  (a reader is never shown a traceback)
        return Answer(reason=f"Internal error: {type(fault).__name__}.", hint="Please report it with the source.")


def names_local_file(message: str) -> bool:
    """Whether a message of the compiler is about a file of this machine that is not one of its own headers."""
    from warpbound.program.nvrtc import header_folders

    with header_folders() as places:
        roots = tuple(os.path.realpath(place) for place in places)
    files = {path for path in _AT_LINE.findall(message) if os.path.isfile(path)}
    return any(not os.path.realpath(path).startswith(tuple(f"{root}{os.sep}" for root in roots)) for path in files)


def camping_run(question: Question) -> Answer:
    """The launch on the memory partitions of a board. Raises WarpboundError."""
    from warpbound import machine
    from warpbound.camping.benchmarks import axis, runs
    from warpbound.camping.kernel_counters import executed
    from warpbound.page.kernel_sources import launch_of, program_of
    from warpbound.simulate.partition_patterns import MICROS
    from warpbound.simulate.partitions import machine_of

    board = machine.override(machine.gpu(question.partitions), dict(question.settings))
    benchmark = MICROS[question.micro : question.micro + 1]
    if not question.example and not question.text:
        return Answer(rows=tuple(row for _, rows in runs(machine_of(board), axis(board), benchmark) for row in rows))
    launch = launch_of(question)
    if launch is None:
        return Answer(reason="the launch is not known", hint="Fill in Grid, Block and the arguments.")
    execution = executed(program_of(question), launch, board)
    return Answer(camping_run=msgspec.convert(execution, CampingRun, from_attributes=True))


class Analyzer:
    """Analyses questions; caches the last program and its execution."""

    def __init__(self) -> None:
        self._key: object = None
        self._held: Any = None

    def analysed(self, question: Question) -> Answer:
        """One answer. Raises WarpboundError."""
        from warpbound import machine
        from warpbound.analysis import Settings
        from warpbound.analysis.answer import launch_facts, result_of
        from warpbound.analysis.case import case_of
        from warpbound.analysis.sustained_clock import settled
        from warpbound.models import MODELS
        from warpbound.page.kernel_sources import launch_of, program_of
        from warpbound.page.work_overrides import overridden_case, overridden_counts, overridden_program

        program, launch, numbers = program_of(question), launch_of(question), dict(question.numbers)
        board = machine.override(machine.gpu(question.gpu), dict(question.settings))
        settings = Settings(models=tuple(MODELS), views=("sass", "figures"))
        followed_case = case_of(overridden_program(program, numbers), board, launch, settings)
        case = overridden_case(followed_case, numbers)
        fitting = case.residency.fitting_blocks_per_sm
        if not board.board:
            return Answer(entry=result_of(case, None), fitting=fitting)
        work = overridden_counts(self._work(followed_case, question, program), numbers)
        case, work = settled(
            case, work, lambda _, work_at_clock: work_at_clock
        )  # overridden counts hold at every clock
        x = launch_facts(case, work)
        numbers_of_launch = msgspec.convert(x, Numbers, from_attributes=True) if x is not None else None
        return Answer(entry=result_of(case, work), numbers=numbers_of_launch, focus=work.focus, fitting=fitting)

    def _work(self, case: Any, question: Question, program: Any) -> Any:
        """As `analysis.answer.work_of`, the blocks followed once for all questions that they answer.

        program : the code that is executed, whatever registers and shared memory are imagined for residency.
        """
        from warpbound.analysis.answer import work_of
        from warpbound.analysis.executed import work_from
        from warpbound.analysis.sampled import cache_facts, run_sample
        if case.launch is None or not (case.launch.args or not case.program.parameters):
            return work_of(case)
        key = msgspec.structs.replace(question, settings=(), numbers=()), cache_facts(case)
        if key != self._key:
            own = partial(_of_program, program)
            self._key, self._held = key, run_sample(case, case.launch, own)
        blocks, sample, traffic = self._held
        return work_of(case) if traffic is None else work_from(case, blocks, sample, traffic)


def _of_program(
    program: "Program", _: "Program", launch: "Launch", blocks: list[int], /, *, at_once: int | None = None
) -> "Trace":
    """The emulator for a program whose registers and shared memory are imagined."""
    from warpbound.emulate import trace

    return trace(program, launch, blocks, at_once=at_once)


if __name__ == "__main__":
    main()
