"""Every tuning of a kernel compiled, predicted and ranked by its time, on all processors, without a GPU.

Models   as `analyze`, tuning by tuning; the machine code of a few tunings at a time is read by one call of nvdisasm.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from warpbound import machine
from warpbound.analysis import analyze
from warpbound.analysis.case import DEFAULT, Settings
from warpbound.analysis.entries import Entry
from warpbound.analysis.sweeps.tunings import Shape, Tuning, tunings
from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.program.cuda import Options
from warpbound.program.source_files import variants

AT_ONCE = 12  # tunings whose machine code one call of nvdisasm reads
SHARES = 3  # parts of the work per process, so that none waits long for the last one

Progress = Callable[[int, int], None]  # tunings done, of how many


@dataclass(frozen=True)
class _Share:
    """Some tunings of one kernel."""

    source: Path
    board: Gpu
    kernel: str | None
    options: Options
    settings: Settings
    tunings: tuple[Tuning, ...]


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

    macros : name -> values to try; every combination is one tuning. launch : arguments, and what no expression says.
    grid, block : one to three expressions of the macros, with commas ("1024/TILE,1024/TILE"); smem : bytes, where : a
    condition, likewise. processes : by default one per processor; more than one need the usual
    `if __name__ == "__main__"` around the caller. progress : is told how many tunings are done, of how many.
    A tuning that does not compile, does not fit or could not be executed has `error` (reason, hint) in place of the
    answer. Raises CommandError where an expression is wrong, InputError where the source is no CUDA C++, and the first
    error where no tuning has a time.
    """
    board = machine.gpu(gpu)
    if not board.board:
        raise InputError(f"{board.name} is an architecture, no board: nothing can be ranked by time.", "Name a board.")
    asked = tunings(macros, Shape(grid, block, smem, where), launch)
    compiled = Options(
        tuple(launch.defines.items()), (*launch.include, *map(Path, include)), (*launch.options, *options)
    )
    workers = min(processes or processors(), len(asked))
    size = min(AT_ONCE, -(-len(asked) // (SHARES * workers)))
    shares = [
        _Share(Path(source), board, kernel or launch.kernel, compiled, settings, tuple(asked[at : at + size]))
        for at in range(0, len(asked), size)
    ]
    found: list[Entry] = []
    for some in _answered(shares, workers):
        found += some
        if progress is not None:
            progress(len(found), len(asked))
    order = {one.name: place for place, one in enumerate(asked)}
    found.sort(key=lambda one: (_time(one), order[_name(one)]))
    if "error" in found[0]:
        raise InputError(found[0]["error"]["reason"], found[0]["error"]["hint"])
    return found


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _answered(shares: Sequence[_Share], workers: int) -> Iterator[list[Entry]]:
    """The entries of each share, as they come."""
    if workers == 1:
        yield from map(_entries, shares)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_entries, share) for share in shares]):
            yield done.result()


def _entries(share: _Share) -> list[Entry]:
    """One entry for each tuning of a share, in their order."""
    launched = [one for one in share.tunings if isinstance(one.launch, Launch)]
    each = [replace(share.options, defines=(*share.options.defines, *one.macros.items())) for one in launched]
    made = variants(share.source, share.board, share.kernel, each)
    programs = dict(zip((one.name for one in launched), made, strict=True))
    return [_entry(share, one, programs.get(one.name)) for one in share.tunings]


def _entry(share: _Share, tuning: Tuning, program: Program | WarpboundError | None) -> Entry:
    named: Entry = {"defines": dict(tuning.macros)}
    try:
        for one in (tuning.launch, program):
            if isinstance(one, WarpboundError):
                raise one
        if not isinstance(tuning.launch, Launch) or not isinstance(program, Program):
            raise TypeError("a tuning has a launch and a program, or an error")
        entry = analyze(program, share.board, tuning.launch, share.settings)
    except WarpboundError as problem:
        return named | _refusal(share, problem)
    if entry["time_s"] is None:
        reason = entry["not_executed"] or "trip counts are unknown without the arguments"
        return named | _refusal(share, InputError(f"No time: {reason}.", "Give an argument for each parameter."))
    return named | entry


def _refusal(share: _Share, problem: WarpboundError) -> Entry:
    error = {"reason": problem.reason, "hint": problem.hint}
    return {"kernel": share.kernel, "gpu": share.board.key, "error": error}


def _time(entry: Entry) -> float:
    return float("inf") if "error" in entry else float(entry["time_s"])


def _name(entry: Entry) -> str:
    return " ".join(f"{name}={value}" for name, value in entry["defines"].items())
