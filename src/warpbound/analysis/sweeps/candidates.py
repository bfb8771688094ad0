"""The tunings of a kernel that are worth measuring, one after the other, for autotuners of any kind.

    for tuning in (found := candidates("gemm.cu", "h200", {"TILE": [16, 32]}, launch, within=0.5, cache="gemm.cache")):
        measure(tuning.defines)
    for tuning in found.dropped:
        print(tuning.defines, tuning.reason)
"""

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import msgspec

from warpbound.analysis import answer_cache
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.sweeps.ranking import Answer, Progress, Ranking, answered, ranking_of
from warpbound.analysis.sweeps.tunings import Shape, Tuning
from warpbound.errors import CommandError, InputError, WarpboundError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.residency import occupancy
from warpbound.result.kernel import KernelResult

LEAST_REGISTERS = 16  # per thread; no kernel of interest takes fewer
DOES_NOT_FIT = "a block of {threads} threads with {smem} B of dynamic shared memory does not fit an SM ({limits})"


class Candidate(msgspec.Struct, frozen=True):
    """A tuning with its prediction."""

    defines: dict[str, str]
    time_s: float
    interval_s: tuple[float, float]
    bottleneck: str | None
    registers: int
    warps_per_sm: float


class Dropped(msgspec.Struct, frozen=True):
    """A tuning that is not worth measuring, and why; time_s and bottleneck are None where there is no prediction."""

    defines: dict[str, str]
    reason: str
    time_s: float | None = None
    bottleneck: str | None = None


class _Kept(msgspec.Struct, frozen=True):
    """A line of a cache: the digest of a question, and its answer."""

    key: str
    candidate: Candidate | None = None
    reason: str = ""


class Candidates(Iterator[Candidate]):
    """Yields candidates, the fastest predicted first. kept : all of them. dropped : the others, with their reasons."""

    def __init__(self, candidates: Sequence[Candidate], dropped: Sequence[Dropped]) -> None:
        self.kept, self.dropped = list(candidates), list(dropped)
        self._left = iter(self.kept)

    def __next__(self) -> Candidate:
        return next(self._left)

    def __len__(self) -> int:
        return len(self.kept)


def candidates(  # noqa: PLR0913  (the signature is the public one)
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
    top: int | None = None,
    within: float | None = None,
    cache: str | Path | None = None,
) -> Candidates:
    """The tunings as of `rank`, the fastest predicted first, and why the others are left out.

    Tunings whose block does not fit an SM are dropped before anything is compiled. top : how many at most. within :
    those predicted within this fraction of the best (0.5: 50 %). cache : a file of answers from earlier runs, to which
    this run adds its own; they depend on the contents of source and arguments, not of headers. Raises what `rank`
    raises for wrong words; tunings without an answer are dropped, even if none has one.
    """
    if (top is not None and top < 1) or (within is not None and within < 0):
        raise CommandError(f"top is {top}, within is {within}.", "top is 1 or more, within 0 or more.")
    shape = Shape(grid, block, smem, where)
    ranking = ranking_of(source, gpu, macros, launch, shape, kernel, options, include, settings)
    dropped = [misfit for tuning in ranking.tunings if (misfit := _unfit(tuning, ranking.board))]
    unfit = [misfit.defines for misfit in dropped]
    fitting = replace(ranking, tunings=tuple(each for each in ranking.tunings if dict(each.macros) not in unfit))
    answers = _predicted(fitting, processes, progress, None if cache is None else Path(cache))
    dropped += [Dropped(defines, reason) for defines, reason in answers if isinstance(reason, str)]
    with_time = (answer for _, answer in answers if isinstance(answer, Candidate))
    every = sorted(with_time, key=lambda answer: answer.time_s)
    survivors: list[Candidate] = []
    for place, tuning in enumerate(every):
        reason = _left_out(place, tuning.time_s / every[0].time_s, len(every), (top, within))
        if reason:
            dropped.append(Dropped(tuning.defines, reason, tuning.time_s, tuning.bottleneck))
        else:
            survivors.append(tuning)
    return Candidates(survivors, dropped)


def _unfit(tuning: Tuning, board: Gpu) -> Dropped | None:
    """Why no block of a tuning can run, from its launch alone."""
    if isinstance(tuning.launch, WarpboundError):
        return Dropped(dict(tuning.macros), tuning.launch.reason)
    x, y, z = tuning.launch.block
    try:
        resident = occupancy(board, x * y * z, LEAST_REGISTERS, tuning.launch.smem, tuning.launch.carveout)
    except (CommandError, InputError) as problem:
        return Dropped(dict(tuning.macros), problem.reason)
    if resident.blocks_per_sm:
        return None
    limits = ", ".join(resident.limiters)
    return Dropped(dict(tuning.macros), DOES_NOT_FIT.format(threads=x * y * z, smem=tuning.launch.smem, limits=limits))


def _left_out(place: int, times: float, of: int, limits: tuple[int | None, float | None]) -> str:
    top, within = limits
    if top is not None and place >= top:
        return f"rank {place + 1} of {of}: predicted {times:.2f} times the best"
    if within is not None and times > 1 + within:
        return f"predicted {times:.2f} times the best, more than {1 + within:.2f}"
    return ""


def _predicted(
    ranking: Ranking, processes: int | None, progress: Progress | None, cache: Path | None
) -> list[tuple[dict[str, str], Candidate | str]]:
    """Macros of each tuning with its candidate, or the reason why it has no time."""
    keys = {_name(tuning.macros): _key(ranking, tuning) for tuning in ranking.tunings}
    by_key = {} if cache is None else {answer.key: answer for answer in _read(cache)}
    missing = tuple(tuning for tuning in ranking.tunings if keys[_name(tuning.macros)] not in by_key)
    if missing:
        times_alone = replace(ranking, tunings=missing, analysis=answer_cache.time_alone)
        answers = answered(times_alone, processes, progress)
        new = [_kept(answer, keys) for answer in answers]
        by_key |= {answer.key: answer for answer in new}
        if cache is not None:
            with cache.open("ab") as file:
                file.write(b"\n")  # ends a line that was cut off
                file.writelines(msgspec.json.encode(answer) + b"\n" for answer in new)
    entries = [(dict(tuning.macros), by_key[keys[_name(tuning.macros)]]) for tuning in ranking.tunings]
    return [(macros, answer.candidate or answer.reason) for macros, answer in entries]


def _kept(answer: Answer, keys: Mapping[str, str]) -> _Kept:
    macros = answer.defines if isinstance(answer.defines, dict) else {}
    key = keys[_name(macros)]
    if not isinstance(answer, KernelResult):
        return _Kept(key, None, answer.error.reason)
    assert answer.time_s is not None
    low, high = answer.time_interval_s or (answer.time_s, answer.time_s)
    registers, resident = answer.program.registers, answer.occupancy.warps_per_sm
    return _Kept(key, Candidate(macros, answer.time_s, (low, high), answer.bottleneck, registers, resident))


def _name(macros: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in macros.items())


def _key(ranking: Ranking, tuning: Tuning) -> str:
    """A digest of everything but headers that decides an answer."""
    board = {name: (quantity.value, quantity.unit) for name, quantity in ranking.board.parameters.items()}
    source = ranking.source.read_bytes() if ranking.source.is_file() else b""
    parts = (
        version("warpbound"), ranking.board.key, board, dict(ranking.board.changed_limits), ranking.kernel,
        ranking.options, ranking.settings, dict(tuning.macros),
    )  # fmt: skip
    return hashlib.sha256(source + repr(parts).encode() + pickle.dumps(tuning.launch)).hexdigest()[:24]


def _read(cache: Path) -> list[_Kept]:
    """The answers of a cache; a line that was cut off is passed over. Raises InputError where it is another file."""
    if not cache.exists():
        return []
    try:
        lines = cache.read_bytes().split(b"\n")
    except OSError as failed:
        raise InputError(f"The cache {cache} cannot be read ({failed.strerror}).", "Name another file.") from None
    entries, wrong = [], ""
    for number, line in enumerate(lines, 1):
        try:
            entries += [msgspec.json.decode(line, type=_Kept)] if line else []
        except msgspec.MsgspecError as fault:
            wrong = f"{cache}:{number} is not an answer of a cache ({fault})."
    if wrong and not entries:
        raise InputError(wrong, "Name another file.")
    return entries
