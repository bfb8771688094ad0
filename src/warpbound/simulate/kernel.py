"""A kernel as an experiment on the simulated SM: recorded warps, control words, pipes, traffic of each instruction.

Source   control words as `schedule.control_words` reads them; pipes and latencies of isa/; memory of the board.
Models   scoreboards as tokens (a counted wait leaves the youngest raises out); pipes of the sub-cores; one load/store
         unit of the SM whose data path takes a cycle for each wavefront (two on 7.5); L2 and DRAM as an even share of
         the chip's. A load is served by one level, drawn by the cache model's shares; a line's latency has an
         exponential part.
Omits    register-bank conflicts, instruction cache, other SMs, hot addresses, asynchronous copies beyond LDGSTS.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.isa.opcodes import OpcodeFacts, opcode_facts
from warpbound.latency import LEVELS, MemoryLatency, Shares, tensor_rate, waits, wavefront_cycles
from warpbound.machine import Gpu
from warpbound.program.instruction import Instruction
from warpbound.quick_dataclasses import dataclass
from warpbound.schedule import Wait
from warpbound.schedule.control_words import reading
from warpbound.schedule.control_words import step as controlled
from warpbound.simulate.experiment import (
    Access,
    Experiment,
    Launch,
    Machine,
    Pipe,
    Station,
    Step,
    Stream,
    two_exponentials,
)
from warpbound.simulate.warp_state import Reason
from warpbound.workload import Memory
from warpbound.workload.files.lanes import PIPE_OF, issue_rate, stretch

SECTOR_B, LINE_B = 32.0, 128.0
EULER = 0.5772156649  # the mean of the largest of n exponentials is ln n plus this, for large n
QUEUE = 16.0          # cycles of work that the queue of the load/store unit holds; assumed
TOKENS = 8            # increments of one scoreboard that are distinguished, for waits that leave some pending
VARIED, MOST_VARIANTS = 2_000, 32  # fewest instructions in all variants of a stream together; most variants
SHARED_UNITS, SHARED_BY = ("lsu", "tex"), 4  # shared by the SM; isa/ has their SM cycles times four
Board = int | str               # a scoreboard's number, or a register's name in a listing
_UNITS = {
    "alu": "alu", "aluheavy": "alu", "alulite": "alu", "fma": "fma", "fmaheavy": "fma", "fmalite": "fma",
    "fp16": "fma", "fp64": "fp64", "xu": "xu", "uniform": "uniform", "lsu": "lsu", "tex": "lsu", "tmem": "tmem",
}  # fmt: skip
_PIPES = ("alu", "fma", "fp64", "xu", "uniform", "tensor", "tmem", "lsu")
_BLAMES = {
    "l1": Reason.LONG_SCOREBOARD, "l2": Reason.LONG_SCOREBOARD, "dram": Reason.LONG_SCOREBOARD,
    "shared": Reason.SHORT_SCOREBOARD, "constant": Reason.IMC_MISS, "barrier": Reason.BARRIER, "fixed": Reason.WAIT,
}  # fmt: skip


@dataclass(frozen=True)
class Timing:
    """The board's memory beyond its unloaded latencies; cycles at the SM's clock.

    spread : scale of the exponential part of a line's latency, as a share of the latency. wait : of a line at half
    of DRAM's load. l2_read, l2_write : of a sector, l2_fill, l2_drain : of a byte that DRAM sends or gets, dram_byte :
    of a byte at DRAM, in one SM's share. l1_bytes : of the data path per cycle. block_start : to replace a block;
    block_interval : between the starts of two.
    """

    spread: float
    wait: float
    l2_read: float
    l2_write: float
    l2_fill: float
    l2_drain: float
    dram_byte: float
    l1_bytes: float
    block_start: float
    block_interval: float


@dataclass(frozen=True)
class Kernel:
    """A kernel on a board.

    streams : recorded warps, indices into `instructions`; blocks take them in turn. traffic : mean traffic of one
    execution of each instruction. shares : of the levels that serve each instruction's loads.
    """

    instructions: tuple[Instruction, ...]
    streams: tuple[NDArray[np.int32], ...]
    traffic: Sequence[Memory]
    shares: Sequence[Shares]
    gpu: Gpu
    latency: MemoryLatency
    timing: Timing


@dataclass(frozen=True)
class Place:
    """Blocks on the SM: warps of each, how many at a time and in all."""

    warps_per_block: int
    resident: int
    blocks: int


def experiment(kernel: Kernel, place: Place, policy: str = "greedy_then_oldest", seed: int = 1) -> Experiment:
    """All blocks of the place run to their end."""
    rows = _Rows(kernel, seed)
    variants = [rows.variants(stream) for stream in kernel.streams]
    lines = [step.access.demand.get("dram", 0.0) for step in rows.steps if step.access]
    service = max(lines, default=0.0)
    variation = 2.0 * kernel.timing.wait / service - 1.0 if service else 1.0
    return Experiment(
        machine=Machine(
            schedulers=kernel.gpu.limits.sub_cores,
            policy=policy,
            pipes=tuple(Pipe(name, name == "lsu", QUEUE if name == "lsu" else 0.0) for name in _PIPES),
            stations=(Station("l2"), Station("dram", two_exponentials(variation))),
        ),
        steps=tuple(rows.steps),
        streams=tuple(Stream(each) for own in variants for each in own),
        launch=Launch(
            warps=tuple((number,) * place.warps_per_block for number in _in_turn([len(own) for own in variants])),
            resident=place.resident,
            blocks=place.blocks,
            block_start=kernel.timing.block_start,
            block_interval=kernel.timing.block_interval,
        ),
        seed=seed,
    )


def _in_turn(counts: Sequence[int]) -> list[int]:
    """Indices of the variants: one of each recorded stream in turn, each stream equally often."""
    own = list(zip(np.cumsum([0, *counts[:-1]]).tolist(), counts, strict=True))
    return [begin + turn % count for turn in range(max(counts)) for begin, count in own]


class _Rows:
    """Distinct steps of the streams: an instruction with its tokens and the level that serves it."""

    def __init__(self, kernel: Kernel, seed: int) -> None:
        self.kernel, self.random = kernel, np.random.default_rng(seed)
        self.waits = {level: _waits_at(kernel, level) for level in LEVELS}
        self.facts = [
            opcode_facts(instruction.opcode, instruction.modifiers, kernel.gpu.arch)
            for instruction in kernel.instructions
        ]
        self.counted = _counted_boards(kernel.instructions)
        self.controlled = reading(self.waits["dram"])
        self.issue = kernel.gpu.limits.sub_cores / issue_rate(kernel.gpu)  # cycles of a scheduler for one instruction
        self.steps: list[Step] = []
        self.known: dict[tuple[object, ...], int] = {}

    def variants(self, path: NDArray[np.int32]) -> list[NDArray[np.int64]]:
        """Steps of warps that execute `path`; a short path has several variants, in which other levels serve its
        loads."""
        count = min(MOST_VARIANTS, -(-VARIED // len(path)))
        covers = _covers(path, self.waits["dram"], self.kernel.instructions)
        return [self._stream(path, levels, covers) for levels in self._levels(path, count)]

    def _stream(
        self, path: NDArray[np.int32], levels: Sequence[int], covers: Sequence[Board | None]
    ) -> NDArray[np.int64]:
        raised: dict[Board, int] = {}
        steps = np.empty(len(path), np.int64)
        for position, index in enumerate(path.tolist()):
            level = LEVELS[levels[position]]
            instruction, wait = self.kernel.instructions[index], self.waits[level][index]
            control = self.controlled(instruction, wait)
            awaited = tuple(t for board, pending in control.awaited for t in self._tokens(board, pending, raised))
            writes = self._raise(control.writes[0], raised) if control.writes else ""
            if not writes and covers[position] is not None:
                writes = self._next(covers[position], raised)
            frees = self._raise(control.source_board, raised) if control.source_board is not None else ""
            steps[position] = self._row(index, level, (writes, frees, awaited))
        return steps

    def _levels(self, path: NDArray[np.int32], count: int) -> list[list[int]]:
        """Level that serves each position in each variant; over all variants an instruction has the shares given."""
        turns = np.argsort(self.random.random((count, len(path))), axis=0)
        positions = (turns + self.random.random((count, len(path)))) / count
        bounds = np.cumsum([[shares.get(level, 0.0) for level in LEVELS] for shares in self.kernel.shares], axis=1)
        at = np.minimum((positions[:, :, None] >= bounds[path]).sum(axis=2), len(LEVELS) - 1)
        return [row.tolist() for row in at]

    def _raise(self, board: Board, raised: dict[Board, int]) -> str:
        raised[board] = raised.get(board, 0) + 1
        return self._name(board, raised[board])

    def _next(self, board: Board | None, raised: dict[Board, int]) -> str:
        return "" if board is None else self._name(board, raised.get(board, 0) + 1)

    def _name(self, board: Board, count: int) -> str:
        return f"SB{board}.{count % TOKENS}" if board in self.counted else f"SB{board}"

    def _tokens(self, board: Board, pending: int, raised: dict[Board, int]) -> list[str]:
        """Tokens of a scoreboard to wait for when the `pending` youngest increments may stay pending."""
        if board not in self.counted:
            return [f"SB{board}"]
        last = raised.get(board, 0) - pending
        return sorted({self._name(board, count) for count in range(max(1, last - TOKENS + pending + 1), last + 1)})

    def _row(self, index: int, level: str, tokens: tuple[str, str, tuple[str, ...]]) -> int:
        key = (index, level if self.kernel.traffic[index].l1_sectors_load else "", tokens)
        if key not in self.known:
            self.known[key] = len(self.steps)
            self.steps.append(self._step(index, level, tokens))
        return self.known[key]

    def _step(self, index: int, level: str, tokens: tuple[str, str, tuple[str, ...]]) -> Step:
        kernel, wait = self.kernel, self.waits[level][index]
        instruction, (writes, frees, awaited) = kernel.instructions[index], tokens
        control = self.controlled(instruction, wait)
        pipe, busy = _pipe(kernel, self.facts[index], kernel.traffic[index])
        access, latency = _access(kernel, index, level, wait)
        barrier = instruction.traits.is_block_barrier and wait.hold > 0
        stall = control.gaps[0] - (control.cause_cycles if barrier else 0.0)
        return Step(
            name=instruction.mnemonic, issue=self.issue, stall=stall, pipe=pipe, busy=busy,
            latency=wait.hold if barrier else latency, access=access, writes="" if barrier else writes,
            waits=awaited, frees=frees, source_wait=wait.source_wait, barrier=barrier,
            blames=_BLAMES.get(wait.causes[0][0], Reason.WAIT), throttle=_throttle(pipe, self.facts[index]),
        )  # fmt: skip


def _waits_at(kernel: Kernel, level: str) -> tuple[Wait, ...]:
    return waits(kernel.instructions, kernel.latency, lambda _: {level: 1.0})


def _counted_boards(instructions: Sequence[Instruction]) -> set[Board]:
    """Scoreboards with an instruction that waits for only a part of their increments."""
    awaited = (each for instruction in instructions for each in controlled(instruction, Wait()).awaited)
    return {board for board, pending in awaited if pending}


def _covers(
    path: NDArray[np.int32], timing: Sequence[Wait], instructions: Sequence[Instruction]
) -> list[Board | None]:
    """Position without a scoreboard -> scoreboard of the next instruction in its queue."""
    coming: dict[str, Board] = {}
    covers: list[Board | None] = [None] * len(path)
    for position in range(len(path) - 1, -1, -1):
        wait = timing[path[position]]
        if not wait.queue:
            continue
        writes = controlled(instructions[path[position]], wait).writes
        if writes:
            coming[wait.queue] = writes[0]
        else:
            covers[position] = coming.get(wait.queue)
    return covers


def _pipe(kernel: Kernel, facts: OpcodeFacts, traffic: Memory) -> tuple[str, float]:
    """The unit that an instruction occupies longest, and its cycles there."""
    if facts.tensor is not None:
        kind, multiply_adds = facts.tensor
        return "tensor", multiply_adds * kernel.gpu.limits.sub_cores / tensor_rate(kernel.gpu, kind)
    demand = {unit: cycles for unit, cycles in facts.demand.items() if unit in _UNITS}
    if not demand:
        return "", 0.0
    unit = max(demand, key=lambda name: demand[name])
    own = demand[unit] * stretch(kernel.gpu, PIPE_OF.get(unit, unit))
    cycles = own / SHARED_BY if unit in SHARED_UNITS else own
    return _UNITS[unit], max(cycles, _wavefronts(kernel, traffic)) if unit in SHARED_UNITS else cycles


def _wavefronts(kernel: Kernel, traffic: Memory) -> float:
    """Cycles of the data path that L1 and shared memory share."""
    shared = traffic.shared_wavefronts_load + traffic.shared_wavefronts_store + traffic.shared_wavefronts_atomic
    shared *= wavefront_cycles(kernel.gpu)
    return shared + traffic.l1_cycles(kernel.gpu.arch, kernel.timing.l1_bytes, kernel.gpu.get("store_piece_cost"))


def _access(kernel: Kernel, index: int, level: str, wait: Wait) -> tuple[Access | None, float]:
    """The access beyond L1, and the latency of one line."""
    traffic, shares, timing = kernel.traffic[index], kernel.shares[index], kernel.timing
    sectors_written, loads = traffic.l2_sectors_written, traffic.l2_sectors_read
    if sectors_written:
        to_dram = traffic.dram_bytes_written
        l2 = timing.l2_write * sectors_written + timing.l2_drain * to_dram
        return _lines(sectors_written, l2, timing.dram_byte * to_dram, 0.0), 0.0
    beyond = 1.0 - shares.get("l1", 0.0)
    if not loads or level == "l1" or beyond <= 0:
        return None, wait.write
    sectors, from_dram = loads / beyond, shares.get("dram", 0.0)
    dram_bytes = traffic.dram_bytes_read / from_dram if level == "dram" and from_dram else 0.0
    spread = timing.spread * kernel.latency.at(level)
    l2 = timing.l2_read * sectors + timing.l2_fill * dram_bytes
    return _lines(sectors, l2, timing.dram_byte * dram_bytes, spread), max(0.0, wait.write - EULER * spread)


def _lines(sectors: float, l2: float, dram: float, spread: float) -> Access:
    count = max(1, round(sectors * SECTOR_B / LINE_B))
    return Access(lines=count, spread=spread, demand={"l2": l2 / count, "dram": dram / count})


def _throttle(pipe: str, facts: OpcodeFacts) -> Reason:
    if pipe != "lsu":
        return Reason.MATH_PIPE_THROTTLE
    return Reason.MIO_THROTTLE if facts.latency_class == "shared" else Reason.LG_THROTTLE


def shortened(kernel: Kernel, most: int) -> Kernel:
    """The kernel with streams cut to `most` instructions; the last instruction stays."""
    cut = tuple(s if len(s) <= most else np.concatenate([s[: most - 1], s[-1:]]) for s in kernel.streams)
    return replace(kernel, streams=cut)
