"""A GPU that is none, but for its answers: memory that is copied, launches that are counted, a clock, noise."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import DTypeLike, NDArray

from support.fake_gpu.sm import Place
from warpbound.machine import Gpu, gpu, override
from warpbound.measure.cubin_build import Cubins
from warpbound.measure.device import Facts, Geometry
from warpbound.measure.instruction_mix import SHARED_WORDS
from warpbound.measure.suite import MECHANISMS, units
from warpbound.time_model.parameters import Parameters, fitted_parameters

FACTS = Facts(
    "NVIDIA H200", "9.0", "CUDA 13.0", 132, 233472, 232448, 1024, 2048, 32, 50 << 20, 141 << 30, 6144, 3.2e9, 1.98e9
)
KIB = 1024
SEEDS = 2           # of the simulated SM: what is simulated twice is remembered
SYMBOLS = 1 << 20  # the address of the first of them


@dataclass(frozen=True)
class Truth:
    """What the fake GPU is like; cycles at `clock`, s, B/s."""

    clock: float = 1.8e9
    l1: float = 38.0
    near: float = 212.0
    far: float = 311.0
    timing: float = 11.0            # cycles that timing a single load adds
    dram: float = 701.0
    l1_size: int = 200 * KIB
    tail: float = 0.11              # of single loads, in units of dram
    launch: float = 2.1e-6
    gap: float = 1.3e-6
    interval: float = 0.8e-9
    start: float = 171e-9
    store: float = 93e-9
    contention: float = 0.08        # Volkov's b in units of dram
    transaction: float = 3.0        # cycles that each lane of a diverging load adds
    departure: float = 0.4          # and each sector of another warp of the same SM
    block_start: float = 150e-9     # to replace a block
    bank_conflict: float = 1.0      # cycles of a scheduler
    l1_bandwidth: float = 118.0     # B/cycle/SM
    l2_bandwidth: float = 7.3e12
    l2_together: float = 6.1e12     # of data that all SMs ask for at once
    l2_far: float = 6.4e12          # of lines of the other side of L2
    l2_reach: float = 0.8           # of L2, by what all SMs read
    lead_reach: float = 1.6         # of older warps in L1
    l2_write_cost: float = 1.6
    reach: int = 2 << 30            # bytes that are translated without delay
    translation: float = 190.0      # cycles of one that is not
    camping: float = 2.5            # times slower
    camped_stride: int = 1 << 18
    wgmma: float = 4096.0           # FMA/cycle/SM
    wgmma_alone: float = 70.0       # cycles of one product at least
    code_cache: int = 128 * KIB
    delays: tuple[float, float, float] = (690.0, 7.0, 3.0)  # Hong and Kim's Mem_LD and departure delays
    stream: dict[str, float] = field(default_factory=lambda: {
        "block_start": 190e-9, "store_cost": 81e-9, "latency_spread": 0.17, "dram_wait_read": 31e-9,
        "dram_wait_mixed": 47e-9, "dram_read_capacity": 4.5e12, "dram_write_capacity": 4.4e12, "dram_mix_cost": 0.11,
    })  # fmt: skip
    latencies: dict[str, float] = field(default_factory=lambda: {  # cycles
        "fadd": 4.0, "ffma": 4.0, "imad": 5.0, "lop3": 6.0, "mufu": 18.0, "dfma": 9.0, "shfl": 24.0, "lds": 23.0,
        "hmma": 33.0,
    })  # fmt: skip
    peaks: dict[str, float] = field(default_factory=lambda: {  # instructions per cycle and SM
        "fadd": 4.0, "ffma": 4.0, "imad": 2.0, "lop3": 2.0, "mufu": 0.5, "dfma": 2.0, "shfl": 1.0, "lds": 1.0,
        "hmma": 0.5,
    })  # fmt: skip

    rates: dict[tuple[str, int, int], float] = field(default_factory=dict)  # of streams, remembered

    @cached_property
    def board(self) -> Gpu:
        """The catalogue's board with these latencies."""
        return override(gpu("h200"), {"dram_latency": self.dram, "l2_latency": self.near, "l1_latency": self.l1,
                                      "latency_clock": self.clock / 1e6, "l2_far_latency": self.far,
                                      "l2_bandwidth": self.l2_bandwidth / 1e9, "l2_write_cost": self.l2_write_cost,
                                      "block_interval": self.interval * 1e9})  # fmt: skip

    @cached_property
    def parameters(self) -> Parameters:
        """Of the time model."""
        values = fitted_parameters(self.board).values
        return Parameters(**{**vars(values), **self.stream})


@dataclass
class FakeGpu:
    """A Device; `wobble` is the relative noise of times, `clock_of` the SM clock of each clock watch."""

    truth: Truth = field(default_factory=Truth)
    wobble: float = 0.0
    clock_of: Callable[[int], float] | None = None
    now: float = 0.0
    launched: int = 0
    memory: dict[int, NDArray[Any]] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    chains: dict[int, int] = field(default_factory=dict)  # address -> bytes that a chain spans
    symbols: dict[str, NDArray[Any]] = field(default_factory=dict)  # of the modules, as filled
    lines: dict[int, int] = field(default_factory=dict)   # and touches
    watched: int = 0
    next_address: int = 1 << 33
    seed: int = 7
    turn: int = 0  # of the launch at hand among those alike: what is random depends on nothing else, not on how long
    turns: Counter[str] = field(default_factory=Counter)  # the host took, nor on what it launched in between
    random: np.random.Generator = field(default_factory=np.random.default_rng)  # of the launch at hand

    @property
    def chance(self) -> int:
        """Seed of the simulated SM for the launch at hand."""
        return SEEDS * self.seed + self.turn % SEEDS

    def facts(self) -> Facts:
        return FACTS

    def load(self, cubin: bytes, kernel: str) -> str:
        assert cubin == b"cubin of " + kernel.encode() or cubin
        return kernel

    def symbol(self, cubin: bytes, name: str) -> tuple[int, int]:
        self.symbols[name] = np.empty(0)
        return SYMBOLS + list(self.symbols).index(name), 1 << 16

    def allocate(self, size: int) -> int:
        address = self.next_address
        self.next_address += -(-size // 512) * 512
        self.sizes[address] = size
        return address

    def free(self, address: int) -> None:
        self.memory.pop(address, None)
        self.chains.pop(address, None)
        del self.sizes[address]

    def upload(self, address: int, contents: NDArray[Any]) -> None:
        if SYMBOLS <= address < SYMBOLS + len(self.symbols):
            self.symbols[list(self.symbols)[address - SYMBOLS]] = contents
        elif address in self.sizes:
            assert contents.nbytes <= self.sizes[address]
            self.memory[address] = contents

    def download(self, address: int, count: int, dtype: DTypeLike) -> NDArray[Any]:
        assert np.dtype(dtype).itemsize * count <= self.sizes[address]
        found = self.memory[address]
        assert found.dtype == np.dtype(dtype)
        assert len(found) >= count
        return found[:count].copy()

    def fill(self, address: int, size: int, byte: int) -> None:
        assert size <= self.sizes[address]

    def mark(self) -> float:
        return self.now

    def elapsed(self, begin: float, end: float) -> float:
        return end - begin

    def sensors(self) -> dict[str, float]:
        return {"sm_MHz": self.truth.clock / 1e6}

    def launch(self, kernel: str, geometry: Geometry, args: Sequence[np.generic]) -> None:
        assert all(isinstance(arg, np.generic) for arg in args)
        assert geometry.smem <= FACTS.shared_per_block
        assert geometry.block <= 1024
        self.launched += 1
        alike = f"{kernel} {geometry} {[arg.item() for arg in args]}"
        self.turn = self.turns[alike]
        self.turns[alike] += 1
        self.random = np.random.default_rng((self.seed, self.turn, crc32(alike.encode())))
        seconds = ANSWERS[answer_name(kernel)](self, Launched(kernel, geometry, tuple(args)))
        self.now += seconds * (1.0 + self.wobble * float(self.random.standard_normal()))

    # ------------------------------------------------------------ what answers share

    def stamps(self, address: int, geometry: Geometry, cycles: float) -> float:
        """Stamps of warps that all last `cycles`; the time of the launch, s."""
        warps_per_block = -(-geometry.block // 32)
        blocks = np.repeat(np.arange(prod(geometry.grid)), warps_per_block)
        sm = blocks % FACTS.sm_count
        start = 1_000_000 + 7919 * sm
        self.memory[address] = np.stack([start, start + round(cycles), sm], axis=1).astype(np.uint64).ravel()
        return cycles / self.truth.clock + self.truth.launch

    def stamps_of(self, address: int, started: NDArray[Any], ended: NDArray[Any]) -> float:
        """The same for every SM with the starts and ends of its blocks' warps, (blocks, warps); the time of it, s."""
        blocks, warps = started.shape
        sm = np.repeat(np.tile(np.arange(FACTS.sm_count), blocks), warps)
        begin = 1_000_000 + 7919 * sm
        begun, done = (np.repeat(one[:, None, :], FACTS.sm_count, axis=1).ravel() for one in (started, ended))
        rows = [begin + np.round(begun).astype(np.int64), begin + np.round(done).astype(np.int64), sm]
        self.memory[address] = np.stack(rows, axis=1).astype(np.uint64).ravel()
        return float(ended.max() - started.min()) / self.truth.clock + self.truth.launch

    def place(self, x: "Launched") -> Place:
        """Of a launch on each SM."""
        blocks = x.blocks // FACTS.sm_count
        start = self.truth.block_start * self.truth.clock
        static = 4 * SHARED_WORDS if "lds" in x.kernel else 0
        return Place(blocks, min(blocks, self.resident(x.geometry, static)), x.geometry.block // 32, start)

    def resident(self, geometry: Geometry, static: int = 0) -> int:
        """Blocks on one SM by shared memory, threads and blocks."""
        by_memory = FACTS.shared_per_sm // (geometry.smem + static + FACTS.shared_reserved)
        return min(by_memory, FACTS.threads_per_sm // geometry.block, FACTS.blocks_per_sm)


@dataclass(frozen=True)
class Launched:
    """One launch as an answer sees it."""

    kernel: str
    geometry: Geometry
    args: tuple[Any, ...]

    @property
    def blocks(self) -> int:
        return prod(self.geometry.grid)

    @property
    def warps(self) -> float:
        """Per SM."""
        return self.blocks / FACTS.sm_count * self.geometry.block / 32


Answer = Callable[[FakeGpu, Launched], float]
ANSWERS: dict[str, Answer] = {}


def answers(*kernels: str) -> Callable[[Answer], Answer]:
    """Register what a kernel does."""

    def put(answer: Answer) -> Answer:
        ANSWERS.update(dict.fromkeys(kernels, answer))
        return answer

    return put


def answer_name(kernel: str) -> str:
    """The kernel itself, or the family that its last number or its first word belongs to."""
    ways = (kernel, kernel.rpartition("_")[0], kernel.partition("_")[0])
    return next(name for name in ways if name in ANSWERS)


def cubins() -> Cubins:
    """Something to load, for every unit."""
    return Cubins({"shared": b"x", **{unit: b"x" for name in MECHANISMS for unit in units(name)}}, {})


# ---------------------------------------------------------------- prelude


@answers("burn", "evict")
def _busy(gpu_: FakeGpu, x: Launched) -> float:
    return 1e-3


@answers("hold")
def _hold(gpu_: FakeGpu, x: Launched) -> float:
    return 1e-9 * float(x.args[1])


@answers("watch_clock")
def _watch(gpu_: FakeGpu, x: Launched) -> float:
    clock = gpu_.clock_of(gpu_.watched) if gpu_.clock_of else gpu_.truth.clock
    gpu_.watched += 1
    cycles = float(x.args[1])
    gpu_.memory[int(x.args[0])] = np.array([cycles, round(1e9 * cycles / clock)], dtype=np.uint64)
    return cycles / clock
