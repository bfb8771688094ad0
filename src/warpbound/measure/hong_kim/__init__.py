"""Hong and Kim's micro-benchmarks Mb1 to Mb7, and the memory latency and departure delays fitted to them."""

from collections.abc import Callable, Iterator

import numpy as np

from warpbound.measure.case import Array, Axis, Buffer, Case, Estimate, Findings, Record, Step, cold, column, stamped
from warpbound.measure.contention import standard_errors
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import timed_kernel
from warpbound.models import hong_kim_2009 as model
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.least_squares import least_squares

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
UNKNOWN = 1e15  # B/s, where the driver reports no memory clock: so high that it never binds
PARTS = """#define ADD(y) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
#define GET(y) asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(y) : "l"(at)); at += step;
"""
SETUP = """u64 warp = (blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32;
    const float *at = data + warp * apart + (threadIdx.x & 31) * stride;
    u64 step = gridDim.x * (u64)blockDim.x / 32 * apart;
    float x = zero + threadIdx.x;"""


def source() -> str:
    """CUDA C++, one kernel per benchmark."""
    return PARTS + "\n".join(
        timed_kernel(name, "const float *data, u32 stride, u32 apart, float zero, int rounds", SETUP,
                     _iteration(adds, loads), "__float_as_uint(x) + (at == data)")
        for name, (adds, loads) in BENCHMARKS.items()
    )  # fmt: skip


def _iteration(adds: int, loads: int) -> str:
    declared = f"float {', '.join(f'l{m}' for m in range(loads))};" if loads else ""
    sums = [f"ADD(l{i % loads})" if loads else "ADD(zero)" for i in range(adds)]
    return " ".join([declared, *(f"GET(l{m})" for m in range(loads)), *sums])


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Benchmark x pattern x blocks per SM, from device memory."""
    for name, (_, loads) in BENCHMARKS.items():
        for pattern, stride in STRIDE.items():
            for blocks in BLOCKS if effort == "full" else BLOCKS[::2]:
                warps = blocks * facts.sm_count * THREADS // 32
                rounds = max(4, min(ROUNDS, SIZE // (128 * stride * warps * max(1, loads)) - 1))
                args = ("stamps", "data", np.uint32(stride), np.uint32(32 * stride), np.float32(0), np.int32(rounds))
                step = Step(name, (blocks * facts.sm_count,), THREADS, args, facts.shared_for(blocks), 100)
                axes: dict[str, Axis] = {"kernel": name, "pattern": pattern, "blocks": blocks, "rounds": rounds}
                data = Buffer("data", max(SIZE, 128 * stride * warps * (rounds + 1) * max(1, loads)), "zeros")
                yield cold(stamped(axes, step, data, seconds=4e-4), facts)


@dataclass(frozen=True)
class Delays:
    """Fitted quantities, cycles."""

    latency: float
    uncoalesced: float
    coalesced: float


def predicted(records: list[Record], facts: Facts, x: Delays, clock_hz: float) -> Array:
    """Cycles of each launch by the paper's equations."""
    adds, loads = np.array([BENCHMARKS[str(r.axes["kernel"])] for r in records], dtype=np.float64).T
    rounds, blocks = column(records, "rounds"), column(records, "blocks")
    uncoalesced = np.array([r.axes["pattern"] == "UC" for r in records])
    prediction = model.predict(model.Inputs(
        freq=clock_hz, mem_bandwidth=2.0 * facts.memory_clock * facts.memory_bus / 8 or UNKNOWN,
        mem_latency=x.latency,
        departure_uncoal=x.uncoalesced, departure_coal=x.coalesced, threads_per_block=float(THREADS),
        blocks=blocks * facts.sm_count, active_sms=float(facts.sm_count), active_blocks=blocks,
        comp_insts=rounds * (adds + OVERHEAD + PER_LOAD * loads), uncoal_mem_insts=rounds * loads * uncoalesced,
        coal_mem_insts=rounds * loads * ~uncoalesced, synch_insts=0.0, uncoal_per_mw=32.0, load_bytes=128.0,
        issue_cycles=ISSUE,
    ))  # fmt: skip
    return np.asarray(prediction.total)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Latency and departure delays with the least relative error, and the remaining errors."""
    if not records:
        return Findings()
    clock = float(np.median([r.clock_Hz for r in records]))
    of_fit = [r for r in records if BENCHMARKS[str(r.axes["kernel"])][1]]
    durations = column(of_fit, "duration")

    def errors(logarithms: Array) -> Array:
        return np.asarray(np.log(predicted(of_fit, facts, Delays(*np.exp(logarithms).tolist()), clock) / durations))

    starts = [np.log([700.0, delay, delay / 4]) for delay in (1.0, 8.0, 40.0)]
    low, high = np.log([50.0, 0.05, 0.02]), np.log([5000.0, 500.0, 500.0])
    fits = [least_squares(errors, start, low, high) for start in starts]
    best = min(fits, key=lambda fit: float(errors(fit) @ errors(fit)))
    note, spread = "Mb2 to Mb7 with Hong and Kim's equations", standard_errors(errors, best).tolist()
    remaining = {f"{r.axes['kernel']} {r.axes['pattern']} x{r.axes['blocks']}": round(float(np.expm1(e)), 3)
                 for r, e in zip(of_fit, errors(best), strict=True)}  # fmt: skip
    parameters = {
        f"departure_delay_{kind}": Estimate(float(np.exp(best[at])), "cycle", note, spread[at])
        for at, kind in ((1, "uncoalesced"), (2, "coalesced")) if _matters(errors, best, at)
    }  # fmt: skip
    return Findings(parameters, {"Mem_LD": round(float(np.exp(best[0])), 1), "relative error": remaining})


def _matters(errors: Callable[[Array], Array], best: Array, at: int) -> bool:
    """Whether half and twice the value fit worse: where bandwidth binds first, a delay leaves no trace."""
    least = float(errors(best) @ errors(best))
    changed = [best + sign * np.log(2.0) * np.eye(len(best))[at] for sign in (-1, 1)]
    return all(float(errors(x) @ errors(x)) > least + 1e-4 * len(errors(best)) for x in changed)
