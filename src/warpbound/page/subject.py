"""What a view is about: a compiled kernel, a paper's workload, or nothing but sliders; on one GPU, as it is set."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from warpbound import machine
from warpbound.adapt.answers import Launched
from warpbound.adapt.partition_benchmarks import shipped_boards
from warpbound.analysis import written
from warpbound.analysis.entries import Entry
from warpbound.errors import InputError
from warpbound.latency import memory_latency
from warpbound.machine import Gpu
from warpbound.models import MODELS
from warpbound.page import sources
from warpbound.page.analysts import Analysts
from warpbound.page.questions import Answer, Camped, Question
from warpbound.page.state import State, Texts
from warpbound.predict import active_sms
from warpbound.report.figures import Block
from warpbound.workload import Workload

GPU = "gpu."  # what the names of a board's numbers begin with among the values of a State
BARE_BLOCK = Block(threads=256, registers=32, shared_bytes=0)
CAMPING = "camping"  # the view that asks for more
COMPILED_FOR = "t4"  # the oldest board that today's compiler writes code for
WITH_PARTITIONS = "gtx280"  # where the board that was chosen has none that were benchmarked
_LATENCIES = {"dram": "dram_latency", "l2": "l2_latency", "l1": "l1_latency", "shared": "shared_latency"}


@dataclass(frozen=True)
class Subject:
    """launched, focus, entry : None where nothing is known of a launch, of work at all.

    estimated : whether waits were scaled with the board's latencies instead of scheduled again.
    imagined : whether numbers of the kernel are set by hand (see page.imagined).
    camped : the launch on the memory partitions of `old_board`, or why there is none; asked for by one view alone.
    """

    name: str
    gpu: Gpu
    block: Block
    launched: Launched | None = None
    focus: Workload | None = None
    entry: Entry | None = None
    fitting: int = 0
    estimated: bool = False
    imagined: bool = False
    camped: Camped | str = ""


@dataclass(frozen=True)
class Desk:
    """What answers are made with: the worker processes and the texts that no address holds."""

    analysts: Analysts
    texts: Texts

    def exactly(self, state: State) -> Subject:
        """Everything analysed with the numbers as set. Raises WarpboundError."""
        board = set_board(state)
        kind, _, word = state.source.partition(":")
        if kind == "bare":
            return Subject("Sliders alone", board, BARE_BLOCK)
        if kind == "paper":
            return _written(word, board)
        if kind not in ("example", "text", "here"):
            raise InputError(f"The page knows no source {kind!r}.", "Choose one of the list.")
        answer = self.analysts.ask(self._question(state))
        if answer.reason:
            raise InputError(answer.reason, answer.hint)
        found = _compiled(answer, board)
        return replace(found, camped=self._camped(state)) if state.view == CAMPING else found

    def _camped(self, state: State) -> Camped | str:
        asked = msgspec.structs.replace(
            self._question(state), gpu=COMPILED_FOR, settings=(), partitions=old_board(set_board(state)).key
        )
        answer = self.analysts.ask(asked)
        return answer.camped or f"{answer.reason} {answer.hint}"

    def quickly(self, state: State) -> Subject:
        """The same from what was analysed with the board's own numbers, in a few milliseconds. An estimate in that
        the waits of a warp are scaled with the latencies. Raises WarpboundError."""
        own = self.exactly(replace(state, values=tuple(pair for pair in state.values if not pair[0].startswith(GPU))))
        board = set_board(state)
        if board.parameters == own.gpu.parameters:
            return own
        if own.launched is None or own.entry is None or own.entry["mode"] == "written":
            return self.exactly(state) if own.entry is None or own.entry["mode"] == "written" else own
        return _estimated(own, board)

    def _question(self, state: State) -> Question:
        kind, _, word = state.source.partition(":")
        return Question(
            example=word if kind == "example" else "",
            text="" if kind == "example" else self.texts.text(state.source),
            gpu=machine.gpu(catalogued(state.gpu)).key,
            settings=gpu_values(state),
            kernel=state.kernel,
            grid=state.grid,
            block=state.block,
            smem=state.smem,
            args=state.args,
        )


def old_board(board: Gpu) -> Gpu:
    """The board whose memory partitions kernels are run on: the board itself if they are known."""
    return machine.gpu(board.key if board.key in shipped_boards() else WITH_PARTITIONS)


def catalogued(name: str) -> str:
    """The name itself; InputError where it is no board of the catalogue: an address names no file."""
    if name not in machine.catalogue():
        raise InputError(f"The page knows no GPU {name!r}.", f"There are {', '.join(machine.catalogue())}.")
    return name


def gpu_values(state: State) -> tuple[tuple[str, float], ...]:
    """Numbers of the board that are set by hand, in the catalogue's units, in a fixed order."""
    return tuple(sorted((name.removeprefix(GPU), value) for name, value in state.values if name.startswith(GPU)))


def set_board(state: State) -> Gpu:
    """The board with the numbers as set. Raises InputError or CommandError."""
    board = machine.gpu(catalogued(state.gpu))
    return machine.override(board, dict(gpu_values(state))) if gpu_values(state) else board


def _written(name: str, board: Gpu) -> Subject:
    case = sources.paper(name)
    entry = written.predicted(case, board, None, tuple(MODELS))
    x = written.launched(case, board)
    shape = case.shape
    threads = shape.threads_per_block or BARE_BLOCK.threads
    block = Block(threads, shape.registers or BARE_BLOCK.registers, int(shape.shared_bytes or 0))
    return Subject(case.name, board, block, x, x.work, entry, int(x.blocks_per_sm or 0))


def _compiled(answer: Answer, board: Gpu) -> Subject:
    entry = answer.entry
    launch, program = entry["launch"], entry["program"]
    own = entry["figures"]["block"] if "figures" in entry else None
    block = Block(**own) if own else Block(BARE_BLOCK.threads, program["registers"], program["shared_bytes"])
    launched = None
    if answer.numbers is not None and launch is not None:
        known: dict[str, Any] = {name: getattr(answer.numbers, name) for name in answer.numbers.__struct_fields__}
        launched = Launched(gpu=board, **known)
    return Subject(entry["kernel"], board, block, launched, answer.focus, entry, answer.fitting)


def _estimated(own: Subject, board: Gpu) -> Subject:
    """The same work on a board with other numbers; each wait grows with the latency that makes it."""
    x = own.launched
    assert x is not None
    grown = {
        cause: board.value(name) / own.gpu.value(name)
        for cause, name in _LATENCIES.items()
        if own.gpu.get(name) and board.get(name)
    }
    parts = {cause: cycles * grown.get(cause, 1.0) for cause, cycles in x.work.parts.items()}
    work = replace(x.work, parts=parts, latency=sum(parts.values()))
    clock_hz = machine.clock(board, "boost")
    launched = replace(
        x,
        gpu=board,
        work=work,
        clock_hz=clock_hz,
        dram_cycles=memory_latency(board, clock_hz).dram,
        active_sms=min(board.value("sm_count"), float(x.blocks or 1)),
    )
    return replace(own, gpu=board, launched=launched, focus=work, estimated=True)


def busy_sms(x: Launched) -> float:
    """SMs that have work, as bounds count them."""
    return active_sms(x.blocks, x.gpu.value("sm_count")) if x.blocks else x.gpu.value("sm_count")


