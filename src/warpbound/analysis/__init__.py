"""One kernel on one GPU, from Program to an entry of the report: the order in which everything is asked."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from warpbound.adapt.answers import Launched, answers
from warpbound.analysis import entries, trust
from warpbound.analysis.case import DEFAULT, WARP, Case, Settings, asked_case, product
from warpbound.analysis.entries import Entry
from warpbound.analysis.execution_summary import execution_entry, traffic_entry
from warpbound.analysis.figure_data import figure_data
from warpbound.analysis.static import Piece, Work, address_notes, addresses_known, static_work
from warpbound.analysis.timing import LONGEST_NOTE, at_predicted_rate, launch_prediction, scaled_notes, times_of
from warpbound.analysis.timing import NOTE as TIME_NOTE
from warpbound.headline import LaunchPrediction
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.memory.traffic_counts import Traffic
from warpbound.predict import Prediction, predict, saturating_warps
from warpbound.program import Program
from warpbound.whatif import Seconds, whatifs
from warpbound.workload import Workload
from warpbound.workload.load_chains import longest_chain

__all__ = ["Settings", "analyze", "entry_of", "launched", "work_of"]

UNEVEN = 2.0  # longest warp over the typical one from which on the report says so
NOT_EXECUTED = "the code alone: the launch could not be executed ({reason})"
BOUNDS_NOTE = "bottleneck and what-ifs are those of Volkov's bounds"


def analyze(
    program: Program, gpu: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT
) -> Entry:
    """One entry of `results` (contract, section 3) for one kernel on one GPU.

    Raises CommandError where the launch breaks a limit, InputError where no block fits an SM.
    """
    case = asked_case(program, gpu, launch, settings)
    return entry_of(case, work_of(case) if case.gpu.board else None)


def entry_of(case: Case, work: Work | None) -> Entry:
    """The entry of a case whose work is known; `work` is None where the GPU is an architecture alone."""
    entry = _frame(case)
    if work is None:
        known = addresses_known(case)
        entry["accesses"] = entries.accesses_entry(case.program, known)
        entry["confidence"]["assumed"] += address_notes(case, known)
        entry["confidence"]["assumed"].append(f"{case.gpu.name} is an architecture, no board: nothing is said of time")
        return entry
    return _filled(entry, case, work)


def work_of(case: Case) -> Work:
    """What the blocks do, where the launch gives the arguments and the emulator can follow; else the code alone."""
    launch = case.launch
    if launch is None or not (launch.args or not case.program.parameters):
        return static_work(case)
    from warpbound.analysis.dynamic import dynamic_work  # the emulator is a fifth of a static answer's time to load

    found, reason = dynamic_work(case, launch)
    if found is not None:
        return found
    fallback = static_work(case)
    return replace(fallback, not_executed=reason)


def _filled(entry: Entry, case: Case, work: Work) -> Entry:
    prediction = predict(work.focus, case.place)
    timed = launch_prediction(case, work)
    if timed is not None:
        prediction = at_predicted_rate(case, prediction, timed)
    entry |= _verdict(case, work, prediction) | _time(case, timed) | _counts(work)
    entry["latency"] = entries.latency_entry(work.whole, work.by_level)
    entry["straight"] = _piece(case, work.whole)
    entry["loops"] = [_loop(case, piece) for piece in work.loops]
    entry["execution"] = _execution(case, work)
    entry["lines"] = entries.lines_entry(case.program, work.whole)
    entry["accesses"] = entries.accesses_entry(case.program, work.accesses)
    entry["models"] = answers(_models(case), launched(case, work))
    if (kind := trust.judged(case, timed)) is not None:
        entry["confidence"] |= {"expected_error": kind.mape, "interval_coverage": kind.coverage, "judged": kind.n}
    stopped = [NOT_EXECUTED.format(reason=work.not_executed)] if work.not_executed else []
    said = [*work.notes, *_timing_notes(timed, case.gpu), *_uneven(work), *_assumed_parameters(case)]
    entry["confidence"]["assumed"] += [*stopped, *said]
    if "sass" in case.settings.views:
        entry["sass"] = entries.sass_entry(case.program, work.timed, case.facts)
    if "figures" in case.settings.views:
        entry["figures"] = figure_data(case, work, launched(case, work))
    return entry


def _frame(case: Case) -> Entry:
    """The keys that every answer has, with nothing said of time."""
    assumed = [*case.program.assumed, *case.block_note]
    if case.program.proxy_isa:
        assumed.append(f"code of {case.program.proxy_isa} stands in for sm_{case.gpu.arch}, which has no compiler here")
    return {
        "kernel": case.program.title,
        "gpu": case.gpu.key,
        "mode": "static",
        "time_s": None,
        "time_interval_s": None,
        "cycles": None,
        "bottleneck": None,
        "runner_up": None,
        "occupancy": entries.occupancy_entry(case.residency),
        "latency": None,
        "bounds": [],
        "warps_needed": None,
        "instructions": entries.instructions_entry(None),
        "memory": entries.memory_entry(None) | traffic_entry(None),
        "flop": entries.flop_entry(None),
        "models": {},
        "whatifs": [],
        "loops": [],
        "confidence": {
            "expected_error": None,
            "interval_coverage": None,
            "judged": 0,
            "assumed": assumed,
            "unknown_opcodes": entries.unknown_opcodes(case.program, case.facts),
            "proxy_isa": case.program.proxy_isa,
        },
        "sample": None,
        "cache": case.settings.cache,
        "clock_MHz": None,
        "gpu_name": case.gpu.name,
        "program": entries.program_entry(case.program, case.facts),
        "launch": _launch_entry(case.launch),
        "scope": None,
        "straight": None,
        "not_executed": None,
        "execution": None,
        "lines": [],
        "accesses": [],
        "stalls": [],
        "doubts": [],
    }


def _launch_entry(launch: Launch | None) -> Entry | None:
    if launch is None:
        return None
    return {"grid": list(launch.grid), "block": list(launch.block), "smem": launch.smem}


def _verdict(case: Case, work: Work, prediction: Prediction) -> Entry:
    return {
        "mode": work.mode,
        "scope": work.focus.title,
        "bottleneck": prediction.bottleneck,
        "runner_up": prediction.runner_up,
        "bounds": entries.bounds_entry(prediction),
        "warps_needed": prediction.warps_needed,
        "whatifs": entries.whatif_entry(
            whatifs(
                work.focus, case.place, case.residency, _seconds(case, work), work.choices, _chain(case, work),
                prediction.cycles,
            )  # fmt: skip
        ),
        "clock_MHz": case.clock_hz / 1e6,
        "sample": work.sample,
        "not_executed": work.not_executed,
    }


def _chain(case: Case, work: Work) -> Callable[[], float] | None:
    """Loads of a warp that must follow each other; None where its way is not known."""
    if work.mode != "dynamic":
        return None
    return partial(longest_chain, case.program.instructions, work.timed.stream)


def _time(case: Case, timed: LaunchPrediction | None) -> Entry:
    """Time and its interval; nothing where trip counts are unknown."""
    if timed is None:
        return {}
    return {
        "time_s": timed.time_s,
        "time_interval_s": list(timed.interval),
        "cycles": timed.time_s * case.clock_hz,
        "dominant_doubt": max(timed.doubts, key=lambda name: timed.doubts[name]) if timed.doubts else None,
        "doubts": trust.doubts_entry(timed),
        "stalls": trust.stalls_entry(timed, case.clock_hz),
    }


def _timing_notes(timed: LaunchPrediction | None, board: Gpu) -> list[str]:
    if timed is None:
        return [BOUNDS_NOTE]
    return [TIME_NOTE, *scaled_notes(timed.assumed, board)]


def _seconds(case: Case, work: Work) -> Seconds | None:
    return partial(times_of, case) if work.focus.warps is not None and case.blocks is not None else None


def _uneven(work: Work) -> list[str]:
    """Whether some sampled warps run much longer than others."""
    return [LONGEST_NOTE.format(times=work.longest_warp)] if work.longest_warp > UNEVEN else []


def _counts(work: Work) -> Entry:
    """Whole-launch counts; nulls in static mode."""
    return {
        "instructions": entries.instructions_entry(work.whole),
        "memory": entries.memory_entry(work.launch_memory, *work.hit_rates) | traffic_entry(_traffic(work)),
        "flop": entries.flop_entry(work.whole),
    }


def _traffic(work: Work) -> Traffic | None:
    return work.observed.traffic if work.observed else None


def _execution(case: Case, work: Work) -> Entry | None:
    x = launched(case, work)
    return None if work.observed is None or x is None else execution_entry(case.program, work.whole, work.observed, x)


def _models(case: Case) -> tuple[str, ...]:
    """The models asked for; the roofline and Volkov's bounds always."""
    return tuple(dict.fromkeys(("roofline_2009", "volkov_2016", *case.settings.models)))


def launched(case: Case, work: Work) -> Launched | None:
    if case.launch is None or case.blocks is None or work.whole.warps is None:
        return None
    return Launched(
        work=work.whole,
        gpu=case.gpu,
        clock_hz=case.clock_hz,
        dram_cycles=case.latency.dram,
        warps_per_sm=case.place.warps_per_sm,
        active_sms=min(case.gpu.value("sm_count"), float(case.blocks)),
        blocks=case.blocks,
        blocks_per_sm=case.residency.blocks_per_sm,
        threads_per_block=product(case.launch.block),
        locality=work.observed.locality if work.observed else None,
    )


def _loop(case: Case, piece: Piece) -> Entry:
    place = {"depth": piece.loop.depth, "parent": piece.loop.parent, "trip_count": piece.trips}
    runs = None if piece.trips is None or piece.entries is None else piece.trips * piece.entries
    often = {"entries_per_warp": piece.entries, "cycles_per_warp": None if runs is None else runs * piece.work.latency}
    return _piece(case, piece.work) | place | often


def _piece(case: Case, work: Workload) -> Entry:
    threads = {name: WARP * n for name, n in saturating_warps(work, case.gpu, case.clock_hz).items()}
    return entries.piece_entry(work, predict(work, case.place), threads, case.gpu)


def _assumed_parameters(case: Case) -> list[str]:
    assumed = [name for name in case.gpu.assumed if not name.startswith("tensor")]
    said = "taken from relatives or estimated, as `warpbound gpus"
    return [f"values of {case.gpu.name} {said} {case.gpu.key}` says: {', '.join(assumed)}"] if assumed else []
