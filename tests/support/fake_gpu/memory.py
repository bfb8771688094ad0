"""Memory of the GPU that is none: loads of many warps on the simulated SM, sizes and places by formula."""

import numpy as np

from support.fake_gpu.code import kind
from support.fake_gpu.device import FACTS, KIB, FakeGpu, Launched, Truth, answers
from support.fake_gpu.sm import LOADS_LOGGED, Chain, Memory, played
from warpbound.measure import global_patterns, l2_partitions, latency_distribution, shared_patterns, synthetic_family
from warpbound.measure.chains import SECTOR, SECTORS
from warpbound.measure.loaded_latency import LOADS_PER_ROUND

LEFT_L1 = 224 * KIB   # of 256, without shared memory
LEAD_BEGINS = 500     # rounds over a set

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


# ---------------------------------------------------------------- chains over many warps


@answers("weave", "weave_random", "weave_own")
def _weave(gpu_: FakeGpu, x: Launched) -> float:
    base, *numbers = (int(arg) for arg in x.args)
    gpu_.chains[base] = 4 * (numbers[1] * numbers[2] if x.kernel == "weave_random" else numbers[0])
    return 1e-4


def memory(truth: Truth, level: str, pattern: str, spread: float = 0.0) -> Memory:
    """What a load of a warp meets; rates are an SM's even share."""
    moved = SECTORS[pattern] * SECTOR
    shares = {"l1": truth.l1_bandwidth, "l2": truth.l2_bandwidth / FACTS.sm_count / truth.clock,
              "dram": truth.stream["dram_read_capacity"] / FACTS.sm_count / truth.clock}  # fmt: skip
    alone = {"l1": truth.l1, "l2": (truth.near + truth.far) / 2, "dram": truth.dram}[level]
    return Memory(alone, shares[level] / moved, truth.contention * alone, spread * alone)


def _chased(gpu_: FakeGpu, x: Launched) -> tuple[str, str]:
    """Level and pattern of a chain that a kernel's arguments begin with."""
    _, array, order, count, gap, _, touched, *_ = (int(arg) for arg in x.args)
    assert 0 <= gpu_.chains[array] - 4 * count * gap < 4 * gap
    pattern = "random" if order else {1: "stream", 2: "stride2"}[gap]
    level = "l1" if touched else "l2" if gpu_.chains[array] <= FACTS.l2_size else "dram"
    return level, pattern


@answers("loaded_ca", "loaded_cg")
def _loaded(gpu_: FakeGpu, x: Launched) -> float:
    (level, pattern), ilp = _chased(gpu_, x), int(x.kernel.rpartition("_")[2])
    loads = LOADS_PER_ROUND * int(x.args[-1])
    if x.blocks == 1:
        return _alone(gpu_, x, level, pattern)
    chain = Chain((memory(gpu_.truth, level, pattern),), loads // ilp, ilp)
    times = played(chain, gpu_.place(x), gpu_.chance)
    return gpu_.stamps_of(int(x.args[0]), times.started, times.ended)


def _alone(gpu_: FakeGpu, x: Launched, level: str, pattern: str) -> float:
    """One block on the device: lanes of a diverging load and sectors of other warps come one after the other."""
    truth, lanes = gpu_.truth, min(32, x.geometry.block)
    more = truth.transaction * (lanes - 1) if pattern == "random" else 0.0
    more += truth.departure * SECTORS[pattern] * max(0, x.geometry.block // 32 - 1)
    cycles = memory(truth, level, pattern).latency + more
    return gpu_.stamps(int(x.args[0]), x.geometry, LOADS_PER_ROUND * int(x.args[-1]) * cycles)


@answers("single_ca", "single_cg")
def _single(gpu_: FakeGpu, x: Launched) -> float:
    """Every load of the simulated SM, in any order."""
    level, pattern = _chased(gpu_, x)
    timed, rounds = int(x.args[-2]), int(x.args[-1])
    loads = rounds * (1 + latency_distribution.BETWEEN)
    chain = Chain((memory(gpu_.truth, level, pattern, gpu_.truth.tail),), loads)
    times = played(chain, gpu_.place(x), gpu_.chance, LOADS_LOGGED)
    cycles = gpu_.random.choice(times.loads, timed * rounds) + gpu_.truth.timing
    gpu_.memory[int(x.args[0])] = np.round(cycles).astype(np.uint32)
    return float(times.ended.max()) / gpu_.truth.clock


@answers("synthetic")
def _synthetic(gpu_: FakeGpu, x: Launched) -> float:
    alpha = int(x.kernel.rpartition("_")[2])
    assert gpu_.chains[int(x.args[1])] > FACTS.l2_size
    parts = (memory(gpu_.truth, "dram", "stream"), *(kind(gpu_.truth, "fadd"),) * alpha)
    times = played(Chain(parts, synthetic_family.groups(alpha) * int(x.args[3])), gpu_.place(x), gpu_.chance)
    return gpu_.stamps_of(int(x.args[0]), times.started, times.ended)


# ---------------------------------------------------------------- halves of L2


def _far(sm: int, line: int) -> bool:
    """Lines go to either half by a hash, SMs by turns."""
    return bool((line * 7 // 3 + sm) % 2)


@answers("map_lines")
def _map(gpu_: FakeGpu, x: Launched) -> float:
    truth, lines = gpu_.truth, int(x.args[3])
    rows = [
        [sm, *(round(truth.timing + (truth.far if _far(sm, line) else truth.near)) for line in range(lines))]
        for sm in range(x.blocks)
    ]  # fmt: skip
    gpu_.memory[int(x.args[0])] = np.array(rows, np.uint32).ravel()
    return 1e-4


@answers("part_lines")
def _part(gpu_: FakeGpu, x: Launched) -> float:
    gpu_.chains[int(x.args[2])] = l2_partitions.LINE_B * int(x.args[3])
    return 2e-2


@answers("half_of_l2")
def _half(gpu_: FakeGpu, x: Launched) -> float:
    truth, ilp = gpu_.truth, int(x.kernel.rpartition("_")[2])
    assert int(x.args[1]) in gpu_.chains
    both = memory(truth, "l2", "stream")
    slower = truth.l2_far / truth.l2_bandwidth if int(x.args[4]) else 1.0
    mine = Memory(truth.far if int(x.args[4]) else truth.near, both.rate * slower, both.growth)
    times = played(Chain((mine,), LOADS_PER_ROUND * int(x.args[5]) // ilp, ilp), gpu_.place(x), gpu_.chance)
    return gpu_.stamps_of(int(x.args[0]), times.started, times.ended)


# ---------------------------------------------------------------- the X-model


def _equilibrium(warps: float, bytes_of_one: float, truth: Truth, alone: float) -> float:
    """Cycles of one step of a warp that waits for `bytes_of_one`: latency a + b X / (c - X), X = warps / latency."""
    limit = truth.stream["dram_read_capacity"] / FACTS.sm_count / truth.clock / bytes_of_one  # steps per cycle and SM
    a, b = alone, truth.contention * truth.dram
    p, q = a - b, a * limit + warps
    return warps * 2 * p / (q - (q * q - 4 * p * warps * limit) ** 0.5)


@answers("supply")
def _supply(gpu_: FakeGpu, x: Launched) -> float:
    truth, own = gpu_.truth, 4 * int(x.args[2])
    share = 0.9 if x.geometry.carveout == 0 else 0.12
    missed = max(0.0, 1.0 - share * truth.l1_size / (own * x.warps))
    cycles = (1 - missed) * truth.l1 + missed * _equilibrium(x.warps, 128.0, truth, truth.dram)
    return gpu_.stamps(int(x.args[0]), x.geometry, 16 * int(x.args[3]) * cycles)


@answers("demand")
def _demand(gpu_: FakeGpu, x: Launched) -> float:
    step = max(gpu_.truth.latencies["fadd"], x.warps / gpu_.truth.peaks["fadd"])
    return gpu_.stamps(int(x.args[0]), x.geometry, 256 * int(x.args[1]) * step)


# ---------------------------------------------------------------- caches, patterns, costs


@answers("sweep_l1", "sweep_l2", "sweep_write")
def _sweep(gpu_: FakeGpu, x: Launched) -> float:
    truth, size, rounds = gpu_.truth, 16.0 * int(x.args[2]), int(x.args[5])
    own, spread, blocks = int(x.args[3]), int(x.args[4]), x.blocks / FACTS.sm_count
    chip = truth.l2_far if not own and size > 0.5 * FACTS.l2_size else truth.l2_bandwidth
    if missing := _missing(size * (x.blocks if own else 1), truth):
        chip = min(chip, truth.stream["dram_read_capacity"] / missing)
    if x.kernel == "sweep_l2" and not (own or spread):
        chip = truth.l2_together
    rate = chip / FACTS.sm_count / truth.clock / (truth.l2_write_cost if x.kernel == "sweep_write" else 1.0)
    if x.kernel == "sweep_l1":
        lead = LEFT_L1 * truth.lead_reach if rounds >= LEAD_BEGINS else 0.0
        beyond = max(0.0, size * blocks - truth.l1_size)
        if size * blocks <= max(truth.l1_size, lead):
            rate = truth.l1_bandwidth * (1.0 - 0.3 * beyond / truth.l1_size)
    return gpu_.stamps(int(x.args[0]), x.geometry, size * rounds * blocks / rate)


@answers("ring")
def _ring(gpu_: FakeGpu, x: Launched) -> float:
    """The far side of L2 is reached once one side is full; what misses waits for other misses."""
    truth, lines, hops = gpu_.truth, int(x.args[2]), int(x.args[3])
    size = 128.0 * lines
    missing = _missing(size, truth)
    hit = truth.near if size <= 0.5 * FACTS.l2_size else (truth.near + truth.far) / 2
    limit = memory(truth, "dram", "stream").rate  # lines per cycle and SM
    cycles = hit
    for _ in range(50):
        busy = missing * x.warps / cycles / limit
        away = truth.dram * (1.0 + truth.contention * busy / (1.0 - busy))
        cycles = (1.0 - missing) * hit + missing * away
    return gpu_.stamps(int(x.args[0]), x.geometry, hops * (cycles + 14.0))


def _missing(size: float, truth: Truth) -> float:
    """Of the reads of a set: half of them where L2 is full, all of them from a fifth more on."""
    return min(1.0, max(0.0, 0.5 + (size / (truth.l2_reach * FACTS.l2_size) - 1.0) / 0.4))


@answers("load", "store")
def _shared(gpu_: FakeGpu, x: Launched) -> float:
    stride, width = int(x.args[1]), int(x.kernel.rpartition("_")[2])
    words = np.unique(np.arange(32) * stride)
    degree = int(np.bincount(words % 32).max()) * (width // 4 if stride else 1)
    return gpu_.stamps(int(x.args[0]), x.geometry, shared_patterns.REPEATED * int(x.args[2]) * x.warps * degree)


@answers("gather")
def _gather(gpu_: FakeGpu, x: Launched) -> float:
    words = int(x.args[3]) + np.arange(32) * int(x.args[2])
    lines = len(np.unique(words // 32))
    cycles = lines * (1.0 if x.kernel.endswith("l1") else 3.0)
    return gpu_.stamps(int(x.args[0]), x.geometry, global_patterns.REPEATED * int(x.args[4]) * x.warps * cycles)


@answers("camp_read", "camp_write")
def _camp(gpu_: FakeGpu, x: Launched) -> float:
    return 1e-5 * x.warps * (gpu_.truth.camping if int(x.args[2]) == 0 else 1.0)


@answers("stride_scan")
def _scan(gpu_: FakeGpu, x: Launched) -> float:
    slow = gpu_.truth.camping if int(x.args[1]) == gpu_.truth.camped_stride else 1.0
    return slow * 128.0 * int(x.args[3]) / gpu_.truth.stream["dram_read_capacity"]
