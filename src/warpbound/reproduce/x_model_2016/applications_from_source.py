"""The X-model's symbols of kernels of our own, from their sources: compiled, executed in part, handed to the model.

Assumes   no available compiler makes code for boards before compute capability 7.5; code of sm_75 replaces theirs,
          so that their E, Z and registers are those of another instruction set.  Caches are cold: every byte comes
          from DRAM at least once, as in an application that does not repeat its launch.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from warpbound import machine
from warpbound.analysis import Settings
from warpbound.analysis.answer import launch_facts, result_of, work_of
from warpbound.analysis.case import Case, case_of
from warpbound.errors import InputError
from warpbound.kernel_launch import launch
from warpbound.model_inputs.accesses import accesses
from warpbound.model_inputs.answers import LaunchFacts, answers, inputs_of
from warpbound.program import compile_program

PROXY = "sm_75"
FIRST = 75  # the oldest architecture of the compiler
SETTINGS = Settings(clock="boost", cache="cold", models=("x_model_2016",))
DIGITS = 5  # significant ones that are kept
SIX = ("threads", "ilp", "intensity", "lanes", "latency", "ms_throughput")
NOT_EXECUTED = "{kernel} on {gpu} could not be followed: {reason}."

Symbols = dict[str, Any]


def counted(source: Path, gpu: str) -> Symbols:
    """One application on one board: the X-model's Inputs without a cache, its locality, warpbound's own time.

    Raises InputError where its launch file cannot be executed.
    """
    case = _case(source, gpu)
    work, x = _followed(case)
    answer = result_of(case, work)
    plain = replace(x, locality=None)  # the table's requests are those that leave the chip
    model, symbols = answers(("x_model_2016",), plain)["x_model_2016"], inputs_of("x_model_2016", plain)
    return _rounded(
        {symbol: getattr(symbols, symbol) for symbol in SIX}
        | {
            "ilp_as_published": answer.execution.x_model.E_as_published if answer.execution else math.nan,
            "intensity_all": x.work.warp_instructions / accesses(x).count,
            "registers": case.program.registers,
            "model_s": model.time_s,
            "headline_s": answer.time_s,
            "headline_binds": answer.bottleneck,
        }
    )


def cached(source: Path, gpu: str, cache_bytes: float, threads: float) -> Symbols:
    """The Inputs of a launch with its own locality and a cache of this size, threads warps on an SM; how well
    the locality's curve fits.

    Raises InputError where its launch file cannot be executed.
    """
    work, x = _followed(_case(source, gpu))
    locality = work.observed.traffic.locality
    own_symbols = {
        "alpha": locality.alpha,
        "beta": locality.beta,
        "cache_capacity": cache_bytes,
        "threads": threads,
    }
    symbols = asdict(inputs_of("x_model_2016", replace(x, file_symbols={"x_model_2016": own_symbols})))
    return _rounded(symbols | {"residual": locality.residual})


def _case(source: Path, gpu: str) -> Case:
    start, board = launch(source.with_suffix(".toml")), machine.gpu(gpu)
    if board.arch >= FIRST:
        return case_of(compile_program(source, board, start.kernel), board, start, SETTINGS)
    program = replace(compile_program(source, PROXY, start.kernel), proxy_isa=PROXY)
    return case_of(program, board, start, SETTINGS)


def _followed(case: Case) -> tuple[Any, LaunchFacts]:
    work = work_of(case)
    x = None if work is None else launch_facts(case, work)
    if work is None or x is None:
        reason = work.not_executed if work else "no board"
        raise InputError(NOT_EXECUTED.format(kernel=case.program.title, gpu=case.gpu.key, reason=reason))
    return work, x


def _rounded(symbols: Mapping[str, Any]) -> Symbols:
    return {name: of if isinstance(of, str) else float(f"{float(of):.{DIGITS}g}") for name, of in symbols.items()}
