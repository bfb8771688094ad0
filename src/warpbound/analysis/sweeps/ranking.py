"""Every tuning of a kernel compiled, predicted and ranked by its time, on all processors, without a GPU.

Models   as `analyze`, tuning by tuning; the machine code of a few tunings at a time is read by one call of nvdisasm.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import msgspec

from warpbound import machine
from warpbound.analysis import answer_cache
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.sweeps.tunings import Shape, Tuning, tunings
from warpbound.errors import InputError, WarpboundError
from warpbound.forked_process import processors
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.program.cuda import Options
from warpbound.program.source_files import variants
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult
from warpbound.result.plain import Entry, plain
from warpbound.result.refusal import Refusal, refusal

AT_ONCE = 12  # tunings whose machine code one call of nvdisasm reads
SHARES = 3  # parts of the work per process, so that none waits long for the last one

Answer = KernelResult | Refusal
Progress = Callable[[int, int], None]  # tunings done, of how many


@dataclass(frozen=True)
class Ranking:
    """Tunings of one kernel to be ranked on one board. analysis : of each, one of `answer_cache`."""

    source: Path
    board: Gpu
    kernel: str | None
    options: Options
    settings: Settings
    tunings: tuple[Tuning, ...]
    analysis: Callable[..., KernelResult] = answer_cache.answer


def rank(  # noqa: PLR0913  (the signature is the public one)
    source: str | Path,
    gpu: str | Path | Gpu,
    macros: Mapping[str, Sequence[object]],
    launch: Launch,
    grid: str | None = None,
    block: str | None = None,
    smem: str | None = None,
    where: str | None = None,
    kernel: str | None = None,
    options: Sequence[str] = (),
    include: Sequence[str | Path] = (),
    settings: Settings = DEFAULT,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Entry]:
    """Entries as of `analyze`, each with its macros under `defines`: the fastest first, those without a time last.

    macros : name -> values to try; every combination is one tuning. launch : arguments, and what no expression sets.
    grid, block : one to three expressions of the macros, with commas ("1024/TILE,1024/TILE"); smem : bytes, where : a
    condition, likewise. processes : by default one per processor; more than one need the usual
    `if __name__ == "__main__"` around the caller. progress : called with the number of tunings done, and of all.
    A tuning that does not compile, does not fit or could not be executed has `error` (reason, hint) in place of the
    answer. Raises CommandError where an expression is wrong, InputError where the source is not CUDA C++, and the first
    error where no tuning has a time.
    """
    ranking = ranking_of(
        source, gpu, macros, launch, Shape(grid, block, smem, where), kernel, options, include, settings
    )
    return [plain(answer) for answer in ranked(ranking, processes, progress)]


def ranking_of(  # noqa: PLR0913  (each is a part of the question)
    source: str | Path, gpu: str | Path | Gpu, macros: Mapping[str, Sequence[object]], launch: Launch, shape: Shape,
    kernel: str | None = None, options: Sequence[str] = (), include: Sequence[str | Path] = (),
    settings: Settings = DEFAULT,
) -> Ranking:  # fmt: skip
    """The tunings that `rank` compares."""
    board = machine.gpu(gpu)
    if not board.board:
        raise InputError(f"{board.name} is an architecture, not a board: it has no times to rank.", "Name a board.")
    compilation = Options(
        tuple(launch.defines.items()), (*launch.include, *map(Path, include)), (*launch.options, *options)
    )
    combinations = tuple(tunings(macros, shape, launch))
    return Ranking(Path(source), board, kernel or launch.kernel, compilation, settings, combinations)


def ranked(ranking: Ranking, processes: int | None = None, progress: Progress | None = None) -> list[Answer]:
    """An answer for each tuning, the fastest first. Raises the first error where no tuning has a time."""
    answers = answered(ranking, processes, progress)
    if isinstance(answers[0], Refusal):
        raise InputError(answers[0].error.reason, answers[0].error.hint)
    return answers


def ranked_by_time(ranking: Ranking, processes: int | None = None, progress: Progress | None = None) -> list[Answer]:
    """As `ranked`, in a third of the time: only the fastest and the slowest tuning have more than their time."""
    answers = ranked(replace(ranking, analysis=answer_cache.time_to_rank), processes, progress)
    with_time = [_name(answer) for answer in answers if isinstance(answer, KernelResult)]
    ends = tuple(tuning for tuning in ranking.tunings if tuning.name in (with_time[0], with_time[-1]))
    whole = {_name(answer): answer for answer in answered(replace(ranking, tunings=ends), 1)}
    return [whole.get(_name(answer), answer) for answer in answers]


def answered(ranking: Ranking, processes: int | None = None, progress: Progress | None = None) -> list[Answer]:
    """An answer for each tuning, the fastest first, those without a time last."""
    every = ranking.tunings
    workers = min(processes or processors(), len(every))
    size = min(AT_ONCE, -(-len(every) // (SHARES * workers)))
    shares = [replace(ranking, tunings=every[at : at + size]) for at in range(0, len(every), size)]
    answers: list[Answer] = []
    for some in _by_share(shares, workers):
        answers += some
        if progress is not None:
            progress(len(answers), len(every))
    order = {tuning.name: place for place, tuning in enumerate(every)}
    answers.sort(key=lambda answer: (_time(answer), order[_name(answer)]))
    return answers


def _by_share(shares: Sequence[Ranking], workers: int) -> Iterator[list[Answer]]:
    """The answers of each share, in the order in which they are done."""
    if workers == 1:
        yield from map(_answers, shares)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_answers, share) for share in shares]):
            yield future.result()


def _answers(share: Ranking) -> list[Answer]:
    """One answer for each tuning of a share, in their order."""
    launches = [tuning for tuning in share.tunings if isinstance(tuning.launch, Launch)]
    options = [replace(share.options, defines=(*share.options.defines, *tuning.macros.items())) for tuning in launches]
    outputs = variants(share.source, share.board, share.kernel, options)
    programs = dict(zip((tuning.name for tuning in launches), outputs, strict=True))
    return [
        msgspec.structs.replace(_answer(share, tuning, programs.get(tuning.name)), defines=dict(tuning.macros))
        for tuning in share.tunings
    ]


def _answer(share: Ranking, tuning: Tuning, program: Program | WarpboundError | None) -> Answer:
    try:
        for part in (tuning.launch, program):
            if isinstance(part, WarpboundError):
                raise part
        if not isinstance(tuning.launch, Launch) or not isinstance(program, Program):
            raise TypeError("a tuning has a launch and a program, or an error")
        answer = share.analysis(program, share.board, tuning.launch, share.settings)
        if answer.time_s is None:
            reason = answer.not_executed or "trip counts are unknown without the arguments"
            raise InputError(f"No time: {reason}.", "Give an argument for each parameter.")
    except WarpboundError as problem:
        return refusal(share.kernel, share.board.key, problem)
    return answer


def _time(answer: Answer) -> float:
    return float("inf") if isinstance(answer, Refusal) or answer.time_s is None else answer.time_s


def _name(answer: Answer) -> str:
    return " ".join(f"{name}={value}" for name, value in (answer.defines or {}).items())
