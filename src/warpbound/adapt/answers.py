"""What each paper's model says of a launch: time, rate and bottleneck in its own terms, or why it cannot speak."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warpbound.adapt import hong_kim_2009, roofline_2009, volkov_2016
from warpbound.machine import Gpu
from warpbound.models import hong_kim_2009 as hong_kim
from warpbound.models import roofline_2009 as roofline
from warpbound.models import volkov_2016 as volkov
from warpbound.workload import Workload

NO_COUNTS = "needs the counts of the whole launch: give --arg for each parameter"


@dataclass(frozen=True)
class Launched:
    """A launch whose per-warp work is known; `dram_cycles` is the unloaded DRAM latency at the clock."""

    work: Workload
    gpu: Gpu
    clock_hz: float
    dram_cycles: float
    warps_per_sm: float
    active_sms: float
    blocks: int
    blocks_per_sm: int
    threads_per_block: int


def answers(names: tuple[str, ...], launched: Launched | None) -> dict[str, dict[str, Any]]:
    """One entry per model name; every model says the same where no launch is known."""
    silent = {"time_s": None, "rate": None, "unit": None, "bottleneck": None, "reason": NO_COUNTS}
    if launched is None:
        return {name: dict(silent) for name in names}
    return {
        name: _SPEAKERS[name](launched) if name in _SPEAKERS else silent | {"reason": "has no adapter yet"}
        for name in names
    }


def _roofline(x: Launched) -> dict[str, Any]:
    said = roofline_2009.inputs(x.work, x.gpu, x.clock_hz)
    warps = x.work.warps or 0.0
    flop = sum(x.work.flop.values()) * warps
    moved = (x.work.memory.dram_bytes_read + x.work.memory.dram_bytes_written) * warps
    if flop <= 0:
        if moved <= 0:
            return _entry(None, None, None, None, "no flop and no DRAM traffic: it has nothing to say")
        bandwidth = float(said.peak_bandwidth)
        return _entry(moved / bandwidth, bandwidth, "B/s", "memory", "no flop: the memory roof alone")
    found = roofline.predict(said)
    rate = float(found.rate)
    return _entry(flop / rate, rate, found.unit, str(found.bottleneck), None)


def _volkov(x: Launched) -> dict[str, Any]:
    found = volkov.predict(volkov_2016.inputs(x.work, x.gpu, x.warps_per_sm, x.clock_hz))
    rate = float(found.rate)
    time_s = (x.work.warps or 0.0) / (x.active_sms * rate * x.clock_hz)
    return _entry(time_s, rate, found.unit, str(found.bottleneck), None)


def _hong_kim(x: Launched) -> dict[str, Any]:
    said = hong_kim_2009.inputs(
        x.work, x.gpu, x.clock_hz, x.dram_cycles, x.blocks, x.threads_per_block, x.blocks_per_sm
    )
    found = hong_kim.predict(said)
    cycles = float(found.total)
    rate = (x.work.warps or 0.0) / (x.active_sms * cycles) if cycles else 0.0
    return _entry(cycles / x.clock_hz, rate, "warp/cycle/SM", str(found.bottleneck), hong_kim_2009.DELAY_NOTE)


def _entry(
    time_s: float | None, rate: float | None, unit: str | None, bottleneck: str | None, reason: str | None
) -> dict[str, Any]:
    return {"time_s": time_s, "rate": rate, "unit": unit, "bottleneck": bottleneck, "reason": reason}


_SPEAKERS: dict[str, Callable[[Launched], dict[str, Any]]] = {
    "roofline_2009": _roofline,
    "volkov_2016": _volkov,
    "hong_kim_2009": _hong_kim,
}
