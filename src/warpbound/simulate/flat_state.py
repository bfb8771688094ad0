"""Converts an experiment to the flat array of integers that the event loop works on."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import InputError
from warpbound.simulate.experiment import Access, Experiment, Step, Table
from warpbound.simulate.warp_memory import MODULUS

# isort: off
from warpbound.simulate.warp_state import (
    BLAMES, BLOCK_INTERVAL, BLOCK_START, BLOCKS, BUSY, COST, DEMAND, DRAWN, DRAWS, END_WAIT, FIRST_WAIT, FREE, FREES,
    HEAD, HORIZON, ISSUED, LATENCY, LAUNCH, LIFE, LINES, LOG, LOG_ROWS, LOG_WIDTH, MEETS, NEVER, OFFSET, ORDERED, PAIRS,
    PATH, PIPE, PIPES, PLACE, PLACES, POLICIES, POLICY, RANDOM, READ, REASONS, RESIDENT, ROOM, SCHEDULERS, SEED, SIZE,
    SLOT, SLOTS, SLOTS_USED, SPREAD, STALL, STATION_FREE, STATIONS, STEPS, STREAMS, TABLES, TAIL, THROTTLE, TICK, TOKEN,
    TOKENS, TOKENS_EACH, UNIT, VARIANTS, WAITS, WARM, WARPS, WIDTH, WRITES, Reason,
)  # fmt: skip
# isort: on

Whole = NDArray[np.int64]


def ticks(cycles: float) -> int:
    """Cycles in the loop's unit of time."""
    return round(cycles * TICK)


def flatten(x: Experiment) -> Whole:
    """The array, ready to run. Raises InputError for an inconsistent experiment."""
    _check(x)
    names = _numbered([name for step in x.steps for name in (step.writes, step.frees, *step.waits) if name])
    tables = _constant_tables(x, names) | _initial_tables(x, len(names))
    head = np.zeros(HEAD, np.int64)
    for place, value in _numbers(x, len(names)).items():
        head[place] = value
    begin = HEAD
    for place, table in tables.items():
        head[place] = begin
        begin += len(table)
    return np.concatenate([head, *tables.values()])


def _numbers(x: Experiment, tokens: int) -> dict[int, int]:
    size = len(x.launch.warps[0])
    return {
        SIZE: x.machine.schedulers,
        POLICY: POLICIES[x.machine.policy],
        STATIONS: len(x.machine.stations),
        ROOM: x.machine.room,
        TOKENS_EACH: tokens,
        WARPS: size,
        RESIDENT: x.launch.resident,
        BLOCKS: x.launch.blocks,
        VARIANTS: len(x.launch.warps),
        SLOTS_USED: size * x.launch.resident,
        BLOCK_START: ticks(x.launch.block_start),
        BLOCK_INTERVAL: ticks(x.launch.block_interval),
        WARM: ticks(x.warm),
        HORIZON: NEVER - 1 if x.horizon is None else ticks(x.horizon),
        LOG_ROWS: x.log_rows,
        SEED: 1 + (x.seed * 2654435761 + 12345) % (MODULUS - 1),
    }


def _constant_tables(x: Experiment, names: Mapping[str, int]) -> dict[int, Whole]:
    """Tables that the loop only reads."""
    pipes, stations = x.machine.pipes, x.machine.stations
    demands = [step.access.demand if step.access else {} for step in x.steps]
    return {
        STEPS: _steps(x.steps, names, _numbered([pipe.name for pipe in pipes])),
        WAITS: _whole([names[name] for step in x.steps for name in step.waits]),
        DEMAND: _whole([ticks(demand.get(station.name, 0.0)) for demand in demands for station in stations]),
        STREAMS: _streams(x),
        PATH: np.concatenate([np.asarray(stream.steps, np.int64) for stream in x.streams]),
        LAUNCH: _whole([stream for row in x.launch.warps for stream in row] + [ticks(t) for t in _offsets(x)]),
        PIPES: _whole([number for pipe in pipes for number in (int(pipe.shared), ticks(pipe.ahead))]),
        RANDOM: _whole([int(np.ptp(station.service) > 0) for station in stations]),
        ORDERED: np.random.default_rng(x.seed).permutation(DRAWS),
        TABLES: np.concatenate([_fixed(table) for table in (x.machine.tail, *(s.service for s in stations))]),
    }


def _initial_tables(x: Experiment, tokens: int) -> dict[int, Whole]:
    """Tables that the loop changes, in their initial state."""
    size, schedulers = len(x.launch.warps[0]), x.machine.schedulers
    slots = size * x.launch.resident
    return {
        SCHEDULERS: _whole([NEVER, 0, -1] * schedulers),
        FREE: _whole([0] * (len(x.machine.pipes) * schedulers)),
        STATION_FREE: _whole([0] * len(x.machine.stations)),
        SLOTS: _whole([NEVER, *[0] * (SLOT - 1)] * slots),
        TOKENS: _whole([0] * (TOKEN * slots * tokens)),
        PLACES: _whole([0] * (PLACE * x.launch.resident)),
        DRAWN: _whole([0] * (2 + 2 * len(x.machine.stations))),
        LIFE: np.full(2 * size * x.launch.blocks, -1, np.int64),
        ISSUED: _whole([0] * len(x.steps)),
        REASONS: _whole([0] * len(Reason)),
        LOG: np.zeros(x.log_rows * LOG_WIDTH, np.int64),
    }


def _steps(steps: Sequence[Step], names: Mapping[str, int], pipes: Mapping[str, int]) -> Whole:
    table, waited = np.zeros((len(steps), WIDTH), np.int64), 0
    for row, step in zip(table, steps, strict=True):
        access = step.access or Access(lines=0)
        row[COST], row[STALL], row[BUSY], row[LATENCY] = map(ticks, (step.issue, step.stall, step.busy, step.latency))
        row[OFFSET], row[SPREAD], row[READ] = map(ticks, (access.offset, access.spread, step.source_wait))
        row[TAIL], row[LINES] = ticks(step.tail), access.lines
        row[PIPE], row[WRITES] = pipes.get(step.pipe, -1), names.get(step.writes, -1)
        row[FREES] = names.get(step.frees, -1)
        row[MEETS], row[PAIRS] = step.barrier, step.pairs
        row[BLAMES], row[THROTTLE] = step.blames, step.throttle
        row[FIRST_WAIT], row[END_WAIT] = waited, waited + len(step.waits)
        waited += len(step.waits)
    return table.ravel()


def _streams(x: Experiment) -> Whole:
    lengths = np.array([len(stream.steps) for stream in x.streams], np.int64)
    repeats = [stream.repeats for stream in x.streams]
    return np.column_stack([np.cumsum(lengths) - lengths, lengths, repeats]).astype(np.int64).ravel()


def _offsets(x: Experiment) -> tuple[float, ...]:
    return x.launch.offsets or (0.0,) * (len(x.launch.warps[0]) * x.launch.resident)


def _check(x: Experiment) -> None:
    """Raise InputError for an inconsistent experiment."""
    pipes = [pipe.name for pipe in x.machine.pipes]
    if x.machine.policy not in POLICIES:
        raise InputError(f"No scheduler is called {x.machine.policy!r}.", f"There are {', '.join(POLICIES)}.")
    for step in x.steps:
        if step.pipe and step.pipe not in pipes:
            raise InputError(f"{step.name} needs the pipe {step.pipe!r}.", f"The machine has {', '.join(pipes)}.")
    if not all(len(stream.steps) for stream in x.streams) or any(stream.repeats < 1 for stream in x.streams):
        raise InputError("A warp has nothing to execute.", "Give each stream at least one instruction, once.")
    size = len(x.launch.warps[0])
    if any(len(row) != size for row in x.launch.warps) or len(_offsets(x)) != size * x.launch.resident:
        raise InputError(
            "Blocks have different numbers of warps, or offsets.",
            f"Give {size} warps to each block, and {size * x.launch.resident} offsets or none.",
        )


def _fixed(table: Table) -> Whole:
    if table.shape != (DRAWS,):
        raise InputError(f"A distribution has {table.size} quantiles.", f"Give {DRAWS}.")
    return np.rint(table * UNIT).astype(np.int64)


def _numbered(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _whole(values: Sequence[int]) -> Whole:
    return np.array(values, np.int64)
