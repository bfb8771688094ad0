"""Analysis of a page state: complete with the numbers that are set, or estimated while a slider moves."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from warpbound import machine
from warpbound.analysis import workload_prediction
from warpbound.camping.benchmarks import table
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.model_inputs.answers import LaunchFacts, answers, inputs_of
from warpbound.model_inputs.partition_benchmarks import Benchmarks, parse
from warpbound.models import MODELS
from warpbound.page import kernel_sources
from warpbound.page.launch_sliders import BLOCKS, LAUNCH, with_launch
from warpbound.page.slider_estimates import estimated, with_kernel
from warpbound.page.slider_table import SliderDefaults, changes
from warpbound.page.state import State, Texts
from warpbound.page.subject import (
    BARE_BLOCK,
    GPU,
    Change,
    Subject,
    catalogued,
    partition_board_key,
    partition_settings,
    refuse_impossible,
    set_board,
    set_partition_board,
    values_of_group,
)
from warpbound.page.views.view import REFUSED
from warpbound.page.views.x_graph import symbols
from warpbound.page.work_overrides import BLOCK, REGISTERS, SHARED, THREADS, WORK, kernel_values
from warpbound.page.worker_messages import RUNNERS, Answer, Question
from warpbound.page.worker_pool import WorkerPool
from warpbound.program.arch_match import OLDEST
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures import Block
from warpbound.result.kernel import KernelResult, SetByHand
from warpbound.simulate.numba_jit import COMPILED
from warpbound.simulate.partition_patterns import MICROS
from warpbound.workload.files import WorkloadCase

CAMPING = "camping"  # the view that needs memory partitions too
COMPILED_FOR = "t4"  # the oldest board that today's compiler writes code for
BY_HAND = "set by hand:"
SIMULATED = "The board's micro-benchmarks run again when you release the slider, which takes some seconds."
RUNNING = "The micro-benchmarks of the board as set are being run: {done} of {of}."
GET_NUMBA = "Install it with pip install 'warpbound[simulate]', or put the board's own numbers back."
LARGEST_NUMBER = 2**31 - 1  # limit of numbers of blocks, and of what a block takes
KERNELS = ("example", "text", "here")  # sources that are compiled
FOLLOWED = (GPU, LAUNCH, WORK, BLOCK, "x.", "mwp.")  # numbers that an analysis follows


@dataclass(frozen=True)
class AnalysisService:
    """Analyses states with the worker processes, and with the texts that are too long for an address."""

    pool: WorkerPool
    texts: Texts

    @np.errstate(all="ignore")
    def analyze(self, state: State) -> Subject:
        """The complete analysis with the numbers that are set; its entry lists them. Raises WarpboundError."""
        refuse_impossible(state)
        subject = self._analysed(state)
        return _marked(_with_symbols(subject, state), self.slider_defaults(state), state) if state.values else subject

    def own(self, state: State) -> Subject:
        """The complete analysis with no number set by hand. Raises WarpboundError."""
        return self._analysed(replace(state, values=()))

    @np.errstate(all="ignore")
    def slider_defaults(self, state: State) -> SliderDefaults:
        """Values of numbers that are not set. If the analysis with or without the set numbers fails, the other one's.

        Raises WarpboundError where there is no answer at all.
        """
        others = tuple(pair for pair in state.values if not pair[0].startswith((WORK, BLOCK)))
        candidates = [state, replace(state, values=others), replace(state, values=())]
        subjects: list[Subject | None] = []
        for candidate in candidates:
            try:
                subjects.append(self._analysed(candidate))
            except REFUSED:
                subjects.append(None)
        fallback = next((candidate for candidate in reversed(subjects) if candidate is not None), None)
        if fallback is None:
            return SliderDefaults(own := self._analysed(candidates[-1]), own, own)
        view, kernel, own = (fallback if candidate is None else candidate for candidate in subjects)
        return SliderDefaults(own, kernel, view)

    @np.errstate(all="ignore")
    def estimate(self, state: State) -> Subject:
        """An estimate from an earlier analysis, in a few milliseconds. Raises WarpboundError."""
        refuse_impossible(state)
        subject = _without_code(state) or self._estimated(state)
        return self._with_known_partitions(state, subject) if state.view == CAMPING else subject

    def _estimated(self, state: State) -> Subject:
        return _or_newer(self._estimated_on, state)

    def _estimated_on(self, state: State) -> Subject:
        launch = kernel_sources.launch_of(self._question(state))
        return estimated(self._base(state), set_board(state), launch, dict(state.values))

    def _base(self, state: State) -> Subject:
        """The earlier analysis of this launch if there is one, else that of the kernel alone."""
        launch_values = tuple(pair for pair in state.values if pair[0].startswith((LAUNCH, BLOCK)))
        as_launched = replace(state, values=launch_values)
        if launch_values and self.pool.known(self._question(as_launched)) is not None:
            return self._compiled(as_launched)
        return self._compiled(replace(state, values=()))

    def _analysed(self, state: State) -> Subject:
        subject = _without_code(state) or _or_newer(self._compiled, state)
        return self._with_partitions(state, subject) if state.view == CAMPING else subject

    def _compiled(self, state: State) -> Subject:
        question = self._question(state)
        answer = self.pool.ask(question)
        if answer.reason:
            raise InputError(answer.reason, answer.hint)
        subject = _of_answer(answer, set_board(state), kernel_sources.launch_of(question))
        return with_kernel(subject, kernel_values(dict(state.values)))

    # ---------------------------------------------------------------- memory partitions

    def _with_partitions(self, state: State, subject: Subject) -> Subject:
        """With the launch on the memory partitions, and with their micro-benchmarks if these are not the shipped
        ones."""
        subject = replace(subject, partition_board=set_partition_board(state), runs=self._runs(state))
        if not subject.compiled:
            return subject
        answer = self.pool.ask(self._camping(state))
        return replace(subject, camping_run=answer.camping_run or f"{answer.reason} {answer.hint}")

    def _camping(self, state: State) -> Question:
        return msgspec.structs.replace(
            self._question(state), gpu=COMPILED_FOR, settings=partition_settings(state), numbers=(),
            partitions=partition_board_key(state.gpu),
        )  # fmt: skip

    def _runs(self, state: State) -> Benchmarks | None:
        if not partition_settings(state):
            return None
        if not COMPILED:
            raise InputError("The micro-benchmarks of a board as set take minutes without Numba.", GET_NUMBA)
        with ThreadPoolExecutor(RUNNERS) as asking:
            return _joined(state, list(asking.map(self.pool.ask, _benchmarking(state))))

    def _with_known_partitions(self, state: State, subject: Subject) -> Subject:
        """Partitions and benchmarks as far as they are known; a note names those that are still being run."""
        own = replace(state, values=())
        benchmarks = _benchmarking(state) if partition_settings(state) else []
        answers = [self.pool.known(benchmark) for benchmark in benchmarks]
        finished = [answer for answer in answers if answer is not None]
        waits = len(finished) < len(answers)
        notes = ((RUNNING.format(done=len(finished), of=len(answers)) if finished else SIMULATED),) if waits else ()
        runs = _joined(state, finished) if answers and not waits else None
        board = set_partition_board(own if waits else state)
        subject = replace(subject, partition_board=board, runs=runs, waits=waits, notes=(*subject.notes, *notes))
        if not subject.compiled:
            return subject
        for candidate in (state, own):
            answer = self.pool.known(self._camping(candidate))
            if answer is not None:
                return replace(subject, camping_run=answer.camping_run or f"{answer.reason} {answer.hint}")
        return subject

    # ---------------------------------------------------------------- what is asked

    def _question(self, state: State) -> Question:
        kind, _, word = state.source.partition(":")
        values = dict(state.values)
        request = Question(
            example=word if kind == "example" else "",
            text="" if kind == "example" else self.texts.text(state.source),
            gpu=machine.gpu(catalogued(state.gpu)).key,
            settings=values_of_group(state, GPU),
            kernel=state.kernel,
            grid=state.grid,
            block=state.block,
            smem=state.smem,
            args=state.args,
            numbers=tuple(sorted(kernel_values(values).items())),
        )
        if not any(key.startswith(LAUNCH) for key in values):
            return request
        return with_launch(request, kernel_sources.launch_of(request), values)


def _without_code(state: State) -> Subject | None:
    """Sliders alone or a paper's workload, which need no compiler; None for a kernel. Raises WarpboundError."""
    kind, _, word = state.source.partition(":")
    if kind == "bare":
        return Subject("Sliders alone", set_board(state), BARE_BLOCK)
    if kind == "paper":
        return _written(word, set_board(state), dict(state.values))
    if kind not in KERNELS:
        raise InputError(f"The page knows no source {kind!r}.", "Choose one of the list.")
    return None


def _or_newer(ask: Callable[[State], Subject], state: State) -> Subject:
    """The kernel on the board; if no compiler supports the board, memory partitions use the code of a newer one.

    Raises WarpboundError.
    """
    try:
        return ask(state)
    except REFUSED:
        if state.view != CAMPING or machine.gpu(state.gpu).arch >= OLDEST:
            raise
    others = tuple(pair for pair in state.values if not pair[0].startswith(GPU))
    return ask(replace(state, gpu=COMPILED_FOR, values=others))


def _benchmarking(state: State) -> list[Question]:
    board, settings = partition_board_key(state.gpu), partition_settings(state)
    return [Question("", "", board, settings, partitions=board, micro=number) for number in range(len(MICROS))]


def _joined(state: State, answers: list[Answer]) -> Benchmarks:
    """The runs of all micro-benchmarks, as the simulated table has them. Raises InputError."""
    refused = next((answer for answer in answers if answer.reason), None)
    if refused is not None:
        raise InputError(refused.reason, refused.hint)
    return _table(table(set_partition_board(state), [row for answer in answers for row in answer.rows]))


@lru_cache(maxsize=16)
def _table(text: str) -> Benchmarks:
    return parse(text, "the runs of the board as set")


def _written(name: str, board: Gpu, values: dict[str, float]) -> Subject:
    case = _case(name, values)
    x = workload_prediction.launched(case, board)
    shape = case.shape
    threads = shape.threads_per_block or BARE_BLOCK.threads
    block = Block(threads, shape.registers or BARE_BLOCK.registers, int(shape.shared_bytes or 0))
    subject = Subject(case.name, board, block, x, x.work, None, int(x.blocks_per_sm or 0))
    subject = with_kernel(subject, kernel_values(values))
    assert subject.facts is not None
    return replace(subject, entry=workload_prediction.predicted_of(case, subject.facts, tuple(MODELS)))


def _case(name: str, numbers: dict[str, float]) -> WorkloadCase:
    """The paper's case with its launch and what its block takes as set."""
    case = kernel_sources.paper(name)
    parameter_names = {THREADS: "threads_per_block", REGISTERS: "registers", SHARED: "shared_bytes"}
    shape: Any = {parameter_names[key]: _whole(key, value) for key, value in numbers.items() if key in parameter_names}
    if BLOCKS in numbers:
        shape |= {"blocks": _whole(BLOCKS, numbers[BLOCKS]), "threads": None}
    return replace(case, shape=msgspec.structs.replace(case.shape, **shape)) if shape else case


def _whole(key: str, value: float) -> int:
    least = 1 if key in (BLOCKS, THREADS) else 0
    if not least <= value <= LARGEST_NUMBER:
        raise InputError(
            f"{key.partition('.')[2]} = {value:g} is out of range.", f"Give a whole number from {least} on."
        )
    return round(value)


def mark(change: Change) -> SetByHand:
    """A number set by hand, in a file's form."""
    return SetByHand(change.key, change.label, change.unit, change.value, change.own)


def _of_answer(answer: Answer, board: Gpu, launch: Launch | None) -> Subject:
    entry = answer.entry
    assert entry is not None
    block = Block(BARE_BLOCK.threads, entry.program.registers, entry.program.shared_bytes)
    if entry.figures:
        block = Block(**msgspec.structs.asdict(entry.figures.block))
    facts = None
    if answer.numbers is not None and entry.launch is not None:
        numbers: dict[str, Any] = {name: getattr(answer.numbers, name) for name in answer.numbers.__struct_fields__}
        facts = LaunchFacts(gpu=board, **numbers)
    return Subject(entry.kernel, board, block, facts, answer.focus, entry, answer.fitting, launch)


def _with_symbols(subject: Subject, state: State) -> Subject:
    """Predictions of papers' models with their own symbols as set, in place of those for the launch."""
    x, entry = subject.facts, subject.entry
    own_symbols = symbols(dict(state.values))
    if x is None or entry is None or not own_symbols:
        return subject
    merged = {name: {**x.file_symbols.get(name, {}), **own} for name, own in own_symbols.items()}
    x = replace(x, file_symbols={**x.file_symbols, **merged}, given_by="set by hand:")
    changed: Any = msgspec.structs.replace(entry, models=entry.models | answers(tuple(own_symbols), x))
    if subject.figures:
        inputs = subject.figures.inputs | {name: _numbers_of(inputs_of(name, x)) for name in own_symbols}
        changed = msgspec.structs.replace(changed, figures=msgspec.structs.replace(subject.figures, inputs=inputs))
    return replace(subject, facts=x, entry=changed)


def _numbers_of(inputs: Any) -> dict[str, float] | None:
    return None if isinstance(inputs, str) else {name: float(value) for name, value in vars(inputs).items()}


def _marked(subject: Subject, defaults: SliderDefaults, state: State) -> Subject:
    """The subject with the numbers set by hand, recorded in its entry too."""
    all_changes = changes(defaults, state)
    if subject.entry is None:
        return replace(subject, changes=all_changes)
    followed_changes = [change for change in all_changes if change.key.startswith(FOLLOWED)]
    if not followed_changes:
        return replace(subject, changes=all_changes)
    notes = [f"{BY_HAND} {change.words}" for change in followed_changes]
    marks: dict[str, Any] = {"set_by_hand": [mark(change) for change in followed_changes]}
    if isinstance(subject.entry, KernelResult):
        confidence = subject.entry.confidence
        marks["confidence"] = msgspec.structs.replace(confidence, assumed=[*confidence.assumed, *notes])
    else:
        marks["assumed"] = [*subject.entry.assumed, *notes]
    return replace(subject, entry=msgspec.structs.replace(subject.entry, **marks), changes=all_changes)
