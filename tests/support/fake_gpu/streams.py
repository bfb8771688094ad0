"""Streams over device memory, launches, and real kernels, on the GPU that is none."""

import numpy as np

from support.fake_gpu.device import ANSWERS, FACTS, FakeGpu, Launched, answers
from warpbound.measure.corpus.subjects import subjects
from warpbound.time_model.dram import capacity
from warpbound.time_model.streams import STREAMS, Setting, stream_rate


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


# ---------------------------------------------------------------- corpus


def _example(gpu_: FakeGpu, x: Launched) -> float:
    return gpu_.truth.launch + x.blocks * 1e-9


ANSWERS.update({one.kernel: _example for one in subjects().values()})
