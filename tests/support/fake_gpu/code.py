"""Instructions on the GPU that is none: those of the mixes on the simulated SM."""

import numpy as np

from support.fake_gpu.device import ANSWERS, FACTS, FakeGpu, Launched, Truth, answers
from support.fake_gpu.sm import Chain, Kind, played
from warpbound.measure import costs, hong_kim, mixes, occupancy, wgmma
from warpbound.measure.case import Record
from warpbound.measure.instruction_mix import repeated
from warpbound.measure.instruction_mix.register_banks import BANKS, conflicting

ON_ONE_UNIT = ("lds", "shfl")
NOTHING_RANDOM = 0  # the seed where instructions alone are simulated, which do the same with any


def kind(truth: Truth, name: str, conflict: int = 1) -> Kind:
    """An instruction; lanes in one bank take the unit one after the other."""
    waiting = 2.0 * (conflict - 1)
    return Kind(truth.latencies[name] + waiting, truth.peaks[name] / conflict, name in ON_ONE_UNIT)


def _instructions(gpu_: FakeGpu, x: Launched) -> float:
    name, _, ilp = x.kernel.rpartition("_")
    turns = int(x.args[1]) * repeated(name) // int(ilp)
    chain = Chain((kind(gpu_.truth, name, int(x.args[4])),), turns, int(ilp))
    times = played(chain, gpu_.place(x), NOTHING_RANDOM)
    return gpu_.stamps_of(int(x.args[0]), times.started, times.ended)


ANSWERS.update(dict.fromkeys(Truth().peaks, _instructions))


@answers(*BANKS)
def _banks(gpu_: FakeGpu, x: Launched) -> float:
    conflicts = conflicting(FACTS.arch) * gpu_.truth.bank_conflict * (x.kernel == "banks_same")
    each = 1.0 / gpu_.truth.peaks["ffma"] + conflicts / 4
    return gpu_.stamps(int(x.args[0]), x.geometry, int(x.args[1]) * repeated(x.kernel) * max(1.0, x.warps * each))


@answers("stay")
def _stay(gpu_: FakeGpu, x: Launched) -> float:
    """Blocks come in as others leave."""
    of_an_sm = x.blocks // FACTS.sm_count
    started = (np.arange(of_an_sm) // gpu_.resident(x.geometry) * (occupancy.STAY + 300.0))[:, None]
    return gpu_.stamps_of(int(x.args[0]), started, started + occupancy.STAY)


@answers("wgmma")
def _wgmma(gpu_: FakeGpu, x: Launched) -> float:
    """A group alone has half of the rate with half of the widest product."""
    width, groups = int(x.kernel.rpartition("_")[2]), x.geometry.block // 128
    each = wgmma.HEIGHT * wgmma.DEPTH * width
    per = max(gpu_.truth.wgmma_alone, groups * each / gpu_.truth.wgmma)
    return gpu_.stamps(int(x.args[0]), x.geometry, wgmma.REPEATED * int(x.args[1]) * per)


@answers("mix")
def _mix(gpu_: FakeGpu, x: Launched) -> float:
    """One chain of both kinds."""
    _, name, adds, others = x.kernel.split("_")
    parts = (kind(gpu_.truth, name, int(x.args[4])),) * int(others) + (kind(gpu_.truth, "fadd"),) * int(adds)
    chain = Chain(parts, mixes.groups(int(adds), int(others)) * int(x.args[1]))
    times = played(chain, gpu_.place(x), NOTHING_RANDOM)
    return gpu_.stamps_of(int(x.args[0]), times.started, times.ended)


@answers("cost")
def _cost(gpu_: FakeGpu, x: Launched) -> float:
    name = x.kernel.removeprefix("cost_")
    return gpu_.stamps(int(x.args[0]), x.geometry, costs.COSTS[name].repeated * int(x.args[3]) * (20.0 + x.warps))


ANSWERS.update({f"cost_{name}": _cost for name in costs.COSTS})


@answers("straight")
def _straight(gpu_: FakeGpu, x: Launched) -> float:
    length = int(x.kernel.rpartition("_")[2])
    per = max(1.0, x.warps / gpu_.truth.peaks["ffma"]) * (1.0 if 16 * length <= gpu_.truth.code_cache else 3.0)
    return gpu_.stamps(int(x.args[0]), x.geometry, length * int(x.args[1]) * per)


def _hong_kim(gpu_: FakeGpu, x: Launched) -> float:
    axes = {"kernel": x.kernel, "pattern": "C" if int(x.args[2]) == 1 else "UC", "rounds": int(x.args[5]),
            "blocks": x.blocks // FACTS.sm_count}  # fmt: skip
    record = Record(axes, {}, 1, 0.0, gpu_.truth.clock)
    cycles = hong_kim.predicted([record], FACTS, hong_kim.Delays(*gpu_.truth.delays), gpu_.truth.clock)
    return gpu_.stamps(int(x.args[0]), x.geometry, float(cycles[0]))


ANSWERS.update(dict.fromkeys(hong_kim.BENCHMARKS, _hong_kim))
