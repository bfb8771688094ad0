"""Hong and Kim's Mb1 to Mb7, coalesced and not, and the latency and departure delays that explain them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.headline.least_squares import least_squares
from warpbound.measure.case import Axis, Buffer, Case, Findings, Found, Record, Step, stamps_of
from warpbound.measure.device import Facts
from warpbound.measure.fit_errors import standard_errors
from warpbound.measure.pointer_chase import eviction
from warpbound.models import hong_kim_2009 as model

BENCHMARKS = {"Mb1": (20, 0), "Mb2": (8, 1), "Mb3": (20, 1), "Mb4": (12, 2), "Mb5": (20, 2), "Mb6": (20, 4),
              "Mb7": (20, 6)}  # fmt: skip  (floating-point instructions, loads) of one iteration: Table 4
ROUNDS = 32
THREADS = 256
BLOCKS = (1, 2, 4, 8)   # per SM
SIZE = 1 << 30
STRIDE = {"C": 1, "UC": 32}  # words between lanes
OVERHEAD = 3             # instructions of the loop itself
ISSUE = 0.25             # cycles: four schedulers
PER_LOAD = 3             # instructions for an address


PARTS = """#define ADD(y) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
#define GET(y) asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(y) : "l"(at)); at += step;
"""
UNKNOWN = 1e15  # B/s, where the driver names no memory clock: beyond any memory, so that it never binds


def source() -> str:
    """CUDA C++, one kernel per benchmark."""
    return PARTS + "\n".join(_kernel(name, *counts) for name, counts in BENCHMARKS.items())


def _kernel(name: str, adds: int, loads: int) -> str:
    get = " ".join(f"GET(l{m})" for m in range(loads))
    sums = " ".join(f"ADD(l{i % loads})" if loads else "ADD(zero)" for i in range(adds))
    declare = f"float {', '.join(f'l{m}' for m in range(loads))};" if loads else ""
    return f"""KERNEL {name}(u64 *stamps, const float *data, u32 stride, u32 apart, float zero, int rounds) {{
    u64 warp = (blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32;
    const float *at = data + warp * apart + (threadIdx.x & 31) * stride;
    u64 step = gridDim.x * (u64)blockDim.x / 32 * apart;
    float x = zero + threadIdx.x;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        {declare} {get}
        {sums}
    }}
    wait_for(__float_as_uint(x) + (at == data));
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Benchmark x pattern x blocks per SM, out of device memory."""
    scratch, evict = eviction(facts)
    for name, (_, loads) in BENCHMARKS.items():
        for pattern, stride in STRIDE.items():
            for blocks in BLOCKS if effort == "full" else BLOCKS[::2]:
                warps = blocks * facts.sm_count * THREADS // 32
                rounds = max(4, min(ROUNDS, SIZE // (128 * stride * warps * max(1, loads)) - 1))
                args = ("stamps", "data", np.uint32(stride), np.uint32(32 * stride), np.float32(0), np.int32(rounds))
                step = Step(name, (blocks * facts.sm_count,), THREADS, args, facts.shared_for(blocks), 100)
                axes: dict[str, Axis] = {"kernel": name, "pattern": pattern, "blocks": blocks, "rounds": rounds}
                room = max(SIZE, 128 * stride * warps * (rounds + 1) * max(1, loads))
                yield Case(axes, step, "stamps", (Buffer("data", room, "zeros"), stamps_of(step.warps), scratch), (),
                           (evict,), seconds=4e-4)  # fmt: skip


@dataclass(frozen=True)
class Delays:
    """What is fitted, cycles."""

    latency: float
    uncoalesced: float
    coalesced: float


def predicted(records: list[Record], facts: Facts, x: Delays, clock_hz: float) -> NDArray[np.float64]:
    """Cycles of each launch by the paper's equations."""
    adds, loads, rounds, blocks = (np.array(column, dtype=np.float64) for column in zip(*(
        (*BENCHMARKS[str(r.axes["kernel"])], r.axes["rounds"], r.axes["blocks"]) for r in records
    ), strict=True))  # fmt: skip
    spread = np.array([r.axes["pattern"] == "UC" for r in records])
    found = model.predict(model.Inputs(
        freq=clock_hz, mem_bandwidth=2.0 * facts.memory_clock * facts.memory_bus / 8 or UNKNOWN,
        mem_latency=x.latency,
        departure_uncoal=x.uncoalesced, departure_coal=x.coalesced, threads_per_block=float(THREADS),
        blocks=blocks * facts.sm_count, active_sms=float(facts.sm_count), active_blocks=blocks,
        comp_insts=rounds * (adds + OVERHEAD + PER_LOAD * loads), uncoal_mem_insts=rounds * loads * spread,
        coal_mem_insts=rounds * loads * ~spread, synch_insts=0.0, uncoal_per_mw=32.0, load_bytes=128.0,
        issue_cycles=ISSUE,
    ))  # fmt: skip
    return np.asarray(found.total)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Latency and departure delays with the least relative error, and what error is left."""
    if not records:
        return Findings()
    clock = float(np.median([r.clock_Hz for r in records]))
    used = [r for r in records if BENCHMARKS[str(r.axes["kernel"])][1]]
    seen = np.array([float(r.value["duration"]) for r in used])

    def at(unknowns: NDArray[np.float64]) -> Delays:
        return Delays(*np.exp(unknowns).tolist())

    def errors(unknowns: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log(predicted(used, facts, at(unknowns), clock) / seen))

    starts = [np.log([700.0, delay, delay / 4]) for delay in (1.0, 8.0, 40.0)]
    low, high = np.log([50.0, 0.05, 0.02]), np.log([5000.0, 500.0, 500.0])
    fits = [least_squares(errors, start, low, high) for start in starts]
    best = min(fits, key=lambda fit: float(errors(fit) @ errors(fit)))
    found, note = at(best), "Mb2 to Mb7 with Hong and Kim's equations"
    left = {f"{r.axes['kernel']} {r.axes['pattern']} x{r.axes['blocks']}": round(float(np.expm1(e)), 3)
            for r, e in zip(used, errors(best), strict=True)}  # fmt: skip
    names = ("", "departure_delay_uncoalesced", "departure_delay_coalesced")
    spread = standard_errors(errors, best).tolist()
    parameters = {
        name: Found(float(np.exp(best[at])), "cycle", note, spread[at])
        for at, name in enumerate(names) if name and _matters(errors, best, at)
    }  # fmt: skip
    return Findings(parameters, {"Mem_LD": round(found.latency, 1), "relative error": left})


def _matters(errors: Callable[[NDArray[np.float64]], NDArray[np.float64]], best: NDArray[np.float64], at: int) -> bool:
    """Whether half or twice the value would fit worse: where bandwidth binds first, a delay leaves no trace."""
    least = float(errors(best) @ errors(best))
    moved = [best + sign * np.log(2.0) * np.eye(len(best))[at] for sign in (-1, 1)]
    return all(float(errors(one) @ errors(one)) > least + 1e-4 * len(errors(best)) for one in moved)
