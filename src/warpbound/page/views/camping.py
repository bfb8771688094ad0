"""The camping band: a kernel run on the memory partitions of an old board, or a profiler's counters set by sliders."""

from dataclasses import replace

import msgspec

from warpbound import machine
from warpbound.camping.prediction import Measured, benchmarks_of, predicted
from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.model_inputs import campprof_2011 as adapter
from warpbound.page.sliders import REACH, Control, whole_slider
from warpbound.page.subject import Subject, partition_board_key
from warpbound.page.views.view import Values, ViewOutput
from warpbound.page.worker_messages import CampingRun
from warpbound.report import figures
from warpbound.result.campprof import COUNTERS, CampingBand

THOUSAND = 1000.0
BARE = Measured({"gld_64": 1.0e6, "gst_64": 1.0e6}, grid=1024, block=256, warps=16)
MOST_MS = 50.0  # end of the slider for the measured time if no time is known
LARGEST_GRID = 8192
WORDS = {
    "gld_32": "Loads of 32 B", "gld_64": "Loads of 64 B", "gld_128": "Loads of 128 B",
    "gst_32": "Stores of 32 B", "gst_64": "Stores of 64 B", "gst_128": "Stores of 128 B",
}  # fmt: skip


def _board(subject: Subject) -> Gpu:
    return subject.partition_board or machine.gpu(partition_board_key(subject.gpu.key))


def counted(subject: Subject) -> tuple[Measured, tuple[str, ...]]:
    """The subject's counters on the old board, and where they come from."""
    board = _board(subject)
    if isinstance(subject.camping_run, CampingRun):
        ran = subject.camping_run
        origin = f"As {subject.name} runs there: {'; '.join(ran.notes)}."
        return Measured(ran.counters, ran.grid, ran.block, ran.warps, ran.time), (origin,)
    x = subject.facts
    counters = adapter.known(replace(x, gpu=board)) if x else {}
    transactions = {name: counters[name] for name in COUNTERS if name in counters}
    if x is None or not transactions:
        why = () if subject.entry is None else (f"{subject.name} has no counters there: {subject.camping_run}",)
        return _held(BARE, board), (*why, "The sliders give the counters, in a profiler's terms.")
    why = (f"No time on {board.name}: {subject.camping_run}",) if subject.camping_run else ()
    origin = f"Counters: the transactions of half-warps of {subject.name}, compiled for {subject.gpu.name}."
    threads, warps = x.threads_per_block or BARE.block, max(1, int(x.warps_per_sm or BARE.warps))
    return _held(Measured(transactions, int(x.blocks or BARE.grid), threads, warps), board), (origin, *why)


def _held(configuration: Measured, board: Gpu) -> Measured:
    """The inputs with warps and threads limited to those of the board's SM."""
    warps = min(configuration.warps, board.limits.max_warps_per_sm)
    return replace(configuration, warps=warps, block=min(configuration.block, board.limits.max_threads_per_block))


def camping_controls(subject: Subject) -> list[Control]:
    own, _ = counted(subject)
    rules = _board(subject).limits
    largest = max([*own.counters.values(), 1.0])
    time_ms = THOUSAND * (own.time or 0.0)
    return [
        *(Control(f"camp.{name}", words, "transactions", own.counters.get(name, 0.0), 0.0, REACH * largest)
          for name, words in WORDS.items()),
        whole_slider("camp.grid", "Blocks of the grid", "", own.grid, (1, max(LARGEST_GRID, int(REACH * own.grid)))),
        whole_slider("camp.block", "Threads per block", "", own.block, (1, rules.max_threads_per_block)),
        whole_slider("camp.warps", "Active warps", "per SM", own.warps, (1, rules.max_warps_per_sm)),
        Control("camp.time_ms", "Time, 0 for none", "ms", time_ms, 0.0, REACH * time_ms or MOST_MS),
    ]  # fmt: skip


def camping(subject: Subject, values: Values) -> ViewOutput:
    band = answered(subject, values)
    picture = figures.camping_band(
        band.warps_per_sm, band.best_s, band.worst_s, band.application_s or []
    )
    advice, (_, how) = band.advice, counted(subject)
    degree = "" if band.degree is None else f" Degree of camping {band.degree:.2f}, 0 none, 1 every access."
    return ViewOutput(picture, (f"On {_board(subject).name}: {advice[0].lower()}{advice[1:]}{degree}", *how))


def answered(subject: Subject, values: Values) -> CampingBand:
    """The answer of `campprof predict`, in the page's terms. Raises WarpboundError."""
    board = _board(subject)
    configuration, ran = measured(subject, values), subject.camping_run
    as_executed = isinstance(ran, CampingRun) and configuration == measured(subject, {})
    proof = ran.proof if isinstance(ran, CampingRun) and as_executed else None  # of no other configuration
    band = predicted(configuration, board, subject.runs or benchmarks_of(board), proof=proof)
    advice = band.advice.replace("--time tells", "a measured time tells")
    return msgspec.structs.replace(band, advice=advice, notes=[*band.notes, *counted(subject)[1]])


def measured(subject: Subject, values: Values) -> Measured:
    """The configuration with the numbers as set. Raises InputError where nothing is counted."""
    set_by_hand = {control.key: values.get(control.key, control.value) for control in camping_controls(subject)}
    counters = {name: set_by_hand[f"camp.{name}"] for name in COUNTERS}
    if not any(counters.values()):
        raise InputError("Every counter is 0.", "Set at least one of the counters.")
    grid, block, warps = (round(set_by_hand[f"camp.{name}"]) for name in ("grid", "block", "warps"))
    return Measured(counters, grid, block, warps, set_by_hand["camp.time_ms"] / THOUSAND or None)
