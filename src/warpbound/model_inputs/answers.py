"""Answers of the papers' models for a launch: time, rate and bottleneck in the model's terms, or why it has none.

An adapter is a module of the model's name with
    known(launched)           the symbols of the model's Inputs that follow from work, GPU and launch
    answer(inputs, launched)  the model's answer
    WANTED                    symbol -> what would have to be known, where `known` lacks it
Symbols that the launch gives for a model replace those of its adapter.
"""

import dataclasses
import math
from importlib import import_module
from typing import Any

import msgspec

from warpbound import models
from warpbound.model_inputs.launch_facts import LaunchFacts, no_answer
from warpbound.result.kernel import ModelAnswer

__all__ = ["LaunchFacts", "answers"]

NO_COUNTS = "needs the counts of the whole launch, which are not known here"
NOTHING_BINDS = "the kernel uses none of the resources of this model, so nothing binds"
WORDS = {  # symbols that several models share -> how to make them known
    "warps": "the resident warps: launch.warps_per_sm, or threads_per_block with registers and shared_bytes",
    "threads": "the resident warps: launch.warps_per_sm, or threads_per_block with registers and shared_bytes",
    "latency": "the latency of one warp: latency.parts or latency.phases",
    "insts": "the number of instructions: counts.instructions or counts.pipes",
    "intensity": "accesses that leave the chip, and the number of instructions",
}


def answers(names: tuple[str, ...], facts: LaunchFacts | None) -> dict[str, ModelAnswer]:
    """One entry per model name; without a known launch, all models give the same reason."""
    if facts is None:
        return {name: no_answer(NO_COUNTS) for name in names}
    return {name: _answer(name, facts) for name in names}


def inputs_of(name: str, x: LaunchFacts) -> Any:
    """The model's Inputs, or words for what is missing."""
    adapter, kind = import_module(f"warpbound.model_inputs.{name}"), getattr(models, name).Inputs
    fields = adapter.known(x) | dict(x.file_symbols.get(name, {}))
    required = [entry for entry in dataclasses.fields(kind) if entry.default is dataclasses.MISSING]
    missing = [entry.name for entry in required if entry.name not in fields]
    if missing:
        words_of_inputs = adapter.WANTED | {key: words for key, words in WORDS.items() if key not in adapter.WANTED}
        unknown = dict.fromkeys(words_of_inputs.get(symbol, f"inputs.{name}.{symbol}") for symbol in missing)
        return "needs " + "; ".join(unknown)
    return kind(**fields)


def _answer(name: str, x: LaunchFacts) -> ModelAnswer:
    inputs = inputs_of(name, x)
    if isinstance(inputs, str):
        return no_answer(inputs)
    answer: ModelAnswer = import_module(f"warpbound.model_inputs.{name}").answer(inputs, x)
    if answer.rate is not None and not math.isfinite(answer.rate):
        return no_answer(NOTHING_BINDS)
    if symbols := x.file_symbols.get(name):
        own_symbols = f"{x.given_by} {', '.join(symbols)}"
        return msgspec.structs.replace(answer, reason="; ".join(filter(None, (own_symbols, answer.reason))))
    return answer
