"""A GPU that is none: it answers every kernel of the suite from parameters that the test knows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warpbound.headline.dram import capacity
from warpbound.headline.parameters import Parameters, known
from warpbound.headline.streams import STREAMS, Setting, stream_rate
from warpbound.machine import Gpu, gpu, override
from warpbound.measure import costs, global_patterns, hong_kim, mixes, shared_patterns, synthetic_family, wgmma
from warpbound.measure.building import Cubins
from warpbound.measure.case import Record
from warpbound.measure.corpus.subjects import subjects
from warpbound.measure.device import Facts, Geometry
from warpbound.measure.instruction_mix import repeated
from warpbound.measure.suite import MECHANISMS, units

FACTS = Facts(
    "NVIDIA H200", "9.0", "CUDA 13.0", 132, 233472, 232448, 1024, 2048, 32, 50 << 20, 141 << 30, 6144, 3.2e9, 1.98e9
)
KIB = 1024


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
    l1_bandwidth: float = 118.0     # B/cycle/SM
    l2_bandwidth: float = 7.3e12
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
        "fadd": 4.0, "ffma": 4.0, "imad": 4.5, "lop3": 5.0, "mufu": 18.0, "dfma": 9.0, "shfl": 24.0, "lds": 23.0,
        "hmma": 33.0, "banks_near": 4.0, "banks_apart": 4.0,
    })  # fmt: skip
    peaks: dict[str, float] = field(default_factory=lambda: {  # instructions per cycle and SM
        "fadd": 4.0, "ffma": 4.0, "imad": 2.0, "lop3": 2.0, "mufu": 0.5, "dfma": 2.0, "shfl": 1.0, "lds": 1.0,
        "hmma": 0.5, "banks_near": 4.0, "banks_apart": 2.7,
    })  # fmt: skip

    rates: dict[tuple[str, int, int], float] = field(default_factory=dict)  # of streams, remembered

    @cached_property
    def board(self) -> Gpu:
        """The catalogue's board with these latencies."""
        return override(gpu("h200"), {"dram_latency": self.dram, "l2_latency": self.near, "l1_latency": self.l1,
                                      "latency_clock": self.clock / 1e6, "l2_far_latency": self.far})  # fmt: skip

    @cached_property
    def parameters(self) -> Parameters:
        """Of the headline prediction."""
        values = known(self.board).values
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
    lines: dict[int, int] = field(default_factory=dict)   # and touches
    watched: int = 0
    next_address: int = 1 << 33
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def facts(self) -> Facts:
        return FACTS

    def load(self, cubin: bytes, kernel: str) -> str:
        assert cubin == b"cubin of " + kernel.encode() or cubin
        return kernel

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
        if address in self.sizes:
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

    def resident(self, geometry: Geometry) -> int:
        """Blocks on one SM by shared memory, threads and blocks."""
        by_memory = FACTS.shared_per_sm // (geometry.smem + FACTS.shared_reserved)
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


@answers("watch_clock")
def _watch(gpu_: FakeGpu, x: Launched) -> float:
    clock = gpu_.clock_of(gpu_.watched) if gpu_.clock_of else gpu_.truth.clock
    gpu_.watched += 1
    cycles = float(x.args[1])
    gpu_.memory[int(x.args[0])] = np.array([cycles, round(1e9 * cycles / clock)], dtype=np.uint64)
    return cycles / clock


# ---------------------------------------------------------------- pointer chase


@answers("link")
def _link(gpu_: FakeGpu, x: Launched) -> float:
    base, order, count, stride = (int(arg) for arg in x.args)
    assert (gpu_.memory[order] != np.arange(count)).any()
    assert len(gpu_.memory[order]) == count
    gpu_.chains[base] = count * stride
    gpu_.lines[base] = count * 128
    return 1e-4


@answers("chase_l1", "chase_l2")
def _chase(gpu_: FakeGpu, x: Launched) -> float:
    truth, size = gpu_.truth, gpu_.chains[int(x.args[1])]
    l2 = (truth.near + truth.far) / 2
    if x.kernel == "chase_l1" and size <= truth.l1_size:
        cycles = truth.l1
    elif gpu_.lines[int(x.args[1])] <= FACTS.l2_size:
        cycles = l2 + truth.translation * (size > truth.reach)
    else:
        share = max(0.0, 1.0 - (size - FACTS.l2_size) / (2.0 * FACTS.l2_size))
        cycles = share * l2 + (1 - share) * truth.dram
    loads = 32 * int(x.args[3])
    gpu_.memory[int(x.args[0])] = np.array([round(loads * cycles), 0], dtype=np.uint32)
    return loads * cycles / truth.clock


@answers("chase_each")
def _each(gpu_: FakeGpu, x: Launched) -> float:
    truth, size, count = gpu_.truth, gpu_.chains[int(x.args[1])], int(x.args[3])
    if size <= FACTS.l2_size:
        cycles = np.where(gpu_.random.random(count) < 0.5, truth.near, truth.far)
    else:
        tail = truth.tail * truth.dram
        cycles = truth.dram - tail + gpu_.random.exponential(tail, count)
    gpu_.memory[int(x.args[0])] = np.round(cycles + truth.timing).astype(np.uint32)
    return float(cycles.sum()) / truth.clock


# ---------------------------------------------------------------- stream


def _stream(gpu_: FakeGpu, x: Launched) -> float:
    name = x.kernel.removesuffix("_persistent").replace("copy", "scale")
    truth, stream = gpu_.truth, STREAMS[name]
    place = (name, x.geometry.block, gpu_.resident(x.geometry))
    if place not in truth.rates:
        setting = Setting(truth.board, truth.clock, float(place[2]))
        truth.rates[place] = float(stream_rate(name, setting, truth.parameters, x.geometry.block / 32))
    rate = truth.rates[place]
    return 8.0 * float(x.args[4]) * (stream.reads + stream.writes) / rate


for _name in (*STREAMS, "copy"):
    ANSWERS[_name] = ANSWERS[f"{_name}_persistent"] = _stream


@answers("mixed")
def _mixed(gpu_: FakeGpu, x: Launched) -> float:
    writes = int(x.args[5]) / 8
    return 8.0 * float(x.args[4]) / float(capacity(gpu_.truth.parameters.dram, writes))


@answers("read_wide")
def _wide(gpu_: FakeGpu, x: Launched) -> float:
    """Little's law with 16 lines of 128 B in flight per warp."""
    truth, moved = gpu_.truth, 16.0 * float(x.args[3])
    alone = truth.dram / truth.clock * (1.0 + truth.stream["latency_spread"] * np.log(16))
    warps = x.blocks * x.geometry.block / 32
    rates = np.linspace(1e9, truth.stream["dram_read_capacity"] * (1 - 1e-6), 400_000)
    busy = rates / truth.stream["dram_read_capacity"]
    flying = rates * (alone + truth.stream["dram_wait_read"] * busy / (1 - busy))
    return moved / float(np.interp(warps * 16 * 128, flying, rates))


# ---------------------------------------------------------------- launch


@answers("empty", "store_one")
def _empty(gpu_: FakeGpu, x: Launched) -> float:
    truth = gpu_.truth
    block = truth.start + truth.store * (x.kernel == "store_one")
    waves = x.blocks / FACTS.sm_count / gpu_.resident(x.geometry)
    if x.blocks <= FACTS.sm_count:
        return truth.launch
    return max(waves * block, x.blocks * truth.interval)


@answers("when")
def _when(gpu_: FakeGpu, x: Launched) -> float:
    return gpu_.truth.gap + float(x.args[2]) / gpu_.truth.clock


@answers("small_scale")
def _small(gpu_: FakeGpu, x: Launched) -> float:
    return gpu_.truth.launch + x.blocks * gpu_.truth.interval


# ---------------------------------------------------------------- instructions


def _instructions(gpu_: FakeGpu, x: Launched) -> float:
    name, _, ilp = x.kernel.rpartition("_") if x.kernel not in gpu_.truth.peaks else (x.kernel, "", "4")
    truth, conflict = gpu_.truth, int(x.args[4])
    warps = x.blocks // FACTS.sm_count * x.geometry.block // 32
    count = int(x.args[1]) * repeated(name)
    alone = truth.latencies[name] + 2.0 * (conflict - 1)
    per_warp = max(alone / int(ilp), warps * conflict / truth.peaks[name])
    return gpu_.stamps(int(x.args[0]), x.geometry, count * per_warp)


ANSWERS.update(dict.fromkeys(Truth().peaks, _instructions))


@answers("wgmma")
def _wgmma(gpu_: FakeGpu, x: Launched) -> float:
    """A group alone has half of the rate with half of the widest product."""
    width, groups = int(x.kernel.rpartition("_")[2]), x.geometry.block // 128
    each = wgmma.HEIGHT * wgmma.DEPTH * width
    per = max(gpu_.truth.wgmma_alone, groups * each / gpu_.truth.wgmma)
    return gpu_.stamps(int(x.args[0]), x.geometry, wgmma.REPEATED * int(x.args[1]) * per)


@answers("mix")
def _mix(gpu_: FakeGpu, x: Launched) -> float:
    """A chain as long as its parts; as many groups as the busier pipe takes."""
    _, name, adds, others = x.kernel.split("_")
    truth, a, o, conflict = gpu_.truth, int(adds), int(others), int(x.args[4])
    alone = a * truth.latencies["fadd"] + o * (truth.latencies[name] + 2.0 * (conflict - 1))
    warps = _warps(x)
    per = max(alone, warps * a / truth.peaks["fadd"], warps * o * conflict / truth.peaks[name])
    return gpu_.stamps(int(x.args[0]), x.geometry, mixes.groups(a, o) * int(x.args[1]) * per)


# ---------------------------------------------------------------- chains over many warps


@answers("weave", "weave_random", "weave_own")
def _weave(gpu_: FakeGpu, x: Launched) -> float:
    gpu_.chains[int(x.args[0])] = 1
    return 1e-4


def _warps(x: Launched) -> float:
    """Per SM."""
    return x.blocks / FACTS.sm_count * x.geometry.block / 32


def _equilibrium(warps: float, bytes_of_one: float, truth: Truth, alone: float) -> float:
    """Cycles of one step of a warp that waits for `bytes_of_one`: latency a + b X / (c - X), X = warps / latency."""
    limit = truth.stream["dram_read_capacity"] / FACTS.sm_count / truth.clock / bytes_of_one  # steps per cycle and SM
    a, b = alone, truth.contention * truth.dram
    p, q = a - b, a * limit + warps
    return warps * 2 * p / (q - (q * q - 4 * p * warps * limit) ** 0.5)


@answers("loaded")
def _loaded(gpu_: FakeGpu, x: Launched) -> float:
    assert int(x.args[1]) in gpu_.chains
    loads = 16 * int(x.args[3])
    pattern_bytes = 1024.0 if loads == 32 else 256.0 if int(x.args[2]) == 2 else 128.0
    step = _equilibrium(_warps(x), pattern_bytes, gpu_.truth, gpu_.truth.dram)
    return gpu_.stamps(int(x.args[0]), x.geometry, loads * step)


@answers("synthetic")
def _synthetic(gpu_: FakeGpu, x: Launched) -> float:
    alpha = int(x.kernel.rpartition("_")[2])
    alone = gpu_.truth.dram + alpha * gpu_.truth.latencies["fadd"]
    step = max(_equilibrium(_warps(x), 128.0, gpu_.truth, alone), _warps(x) * alpha / gpu_.truth.peaks["fadd"])
    steps = synthetic_family.groups(alpha) * int(x.args[3])
    return gpu_.stamps(int(x.args[0]), x.geometry, steps * step)


@answers("supply")
def _supply(gpu_: FakeGpu, x: Launched) -> float:
    truth, own = gpu_.truth, 4 * int(x.args[2])
    share = 0.9 if x.geometry.carveout == 0 else 0.12
    missed = max(0.0, 1.0 - share * truth.l1_size / (own * _warps(x)))
    cycles = (1 - missed) * truth.l1 + missed * _equilibrium(_warps(x), 128.0, truth, truth.dram)
    return gpu_.stamps(int(x.args[0]), x.geometry, 16 * int(x.args[3]) * cycles)


@answers("demand")
def _demand(gpu_: FakeGpu, x: Launched) -> float:
    step = max(gpu_.truth.latencies["fadd"], _warps(x) / gpu_.truth.peaks["fadd"])
    return gpu_.stamps(int(x.args[0]), x.geometry, 256 * int(x.args[1]) * step)


# ---------------------------------------------------------------- caches, patterns, costs


@answers("sweep_l1", "sweep_l2", "sweep_write")
def _sweep(gpu_: FakeGpu, x: Launched) -> float:
    truth, size = gpu_.truth, 16.0 * int(x.args[2])
    blocks = x.blocks / FACTS.sm_count
    moved = size * int(x.args[4]) * blocks
    if x.kernel == "sweep_l1" and size * blocks <= truth.l1_size:
        rate = truth.l1_bandwidth
    else:
        chip = truth.l2_bandwidth if size <= FACTS.l2_size else truth.stream["dram_read_capacity"]
        rate = chip / FACTS.sm_count / truth.clock / (truth.l2_write_cost if x.kernel == "sweep_write" else 1.0)
    return gpu_.stamps(int(x.args[0]), x.geometry, moved / rate)


@answers("load", "store")
def _shared(gpu_: FakeGpu, x: Launched) -> float:
    stride, width = int(x.args[1]), int(x.kernel.rpartition("_")[2])
    words = np.unique(np.arange(32) * stride)
    degree = int(np.bincount(words % 32).max()) * (width // 4 if stride else 1)
    return gpu_.stamps(int(x.args[0]), x.geometry, shared_patterns.REPEATED * int(x.args[2]) * _warps(x) * degree)


@answers("gather")
def _gather(gpu_: FakeGpu, x: Launched) -> float:
    words = int(x.args[3]) + np.arange(32) * int(x.args[2])
    lines = len(np.unique(words // 32))
    cycles = lines * (1.0 if x.kernel.endswith("l1") else 3.0)
    return gpu_.stamps(int(x.args[0]), x.geometry, global_patterns.REPEATED * int(x.args[4]) * _warps(x) * cycles)


@answers("cost")
def _cost(gpu_: FakeGpu, x: Launched) -> float:
    name = x.kernel.removeprefix("cost_")
    return gpu_.stamps(int(x.args[0]), x.geometry, costs.COSTS[name].repeated * int(x.args[3]) * (20.0 + _warps(x)))


ANSWERS.update({f"cost_{name}": _cost for name in costs.COSTS})


@answers("camp_read", "camp_write")
def _camp(gpu_: FakeGpu, x: Launched) -> float:
    return 1e-5 * _warps(x) * (gpu_.truth.camping if int(x.args[2]) == 0 else 1.0)


@answers("stride_scan")
def _scan(gpu_: FakeGpu, x: Launched) -> float:
    slow = gpu_.truth.camping if int(x.args[1]) == gpu_.truth.camped_stride else 1.0
    return slow * 128.0 * int(x.args[3]) / gpu_.truth.stream["dram_read_capacity"]


@answers("straight")
def _straight(gpu_: FakeGpu, x: Launched) -> float:
    length = int(x.kernel.rpartition("_")[2])
    per = max(1.0, _warps(x) / gpu_.truth.peaks["ffma"]) * (1.0 if 16 * length <= gpu_.truth.code_cache else 3.0)
    return gpu_.stamps(int(x.args[0]), x.geometry, length * int(x.args[1]) * per)


def _hong_kim(gpu_: FakeGpu, x: Launched) -> float:
    axes = {"kernel": x.kernel, "pattern": "C" if int(x.args[2]) == 1 else "UC", "rounds": int(x.args[5]),
            "blocks": x.blocks // FACTS.sm_count}  # fmt: skip
    record = Record(axes, {}, 1, 0.0, gpu_.truth.clock)
    cycles = hong_kim.predicted([record], FACTS, hong_kim.Delays(*gpu_.truth.delays), gpu_.truth.clock)
    return gpu_.stamps(int(x.args[0]), x.geometry, float(cycles[0]))


ANSWERS.update(dict.fromkeys(hong_kim.BENCHMARKS, _hong_kim))


# ---------------------------------------------------------------- corpus


def _example(gpu_: FakeGpu, x: Launched) -> float:
    return gpu_.truth.launch + x.blocks * 1e-9


ANSWERS.update({one.kernel: _example for one in subjects().values()})
