"""Latency against throughput: every warp follows its own chains, with more and more warps at once."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.measure.case import Axis, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.chains import HOW, LEVELS, PARAMETERS, SECTOR, SECTORS, laid, woven
from warpbound.measure.contention import as_figure, contention, needed_of, plateau, range_of_b
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction
from warpbound.measure.suite_sources import chains

WARPS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
QUICK_WARPS = (1, 4, 8, 16, 24, 32, 48, 64)
ILPS = (1, 2, 4)       # chains of a thread: each load waits for the one so many before it
LOADS_PER_ROUND = 16
SHARES = (0.9, 0.95)   # of the peak: what needs so many warps
LOADS = {"stream": 1 << 19, "stride2": 1 << 18, "random": 1 << 16}  # of an SM that many warps keep busy
MOST_LOADS = 4096      # of one warp
SWEPT_LOADS = 32       # of one warp, so that no entry of the larger arrays is read twice
SWEEP_WARPS = 8
SWEEP = (20, 31)       # arrays of 2^20 to 2^31 bytes


def source() -> str:
    """CUDA C++, one kernel per number of chains and kind of load."""
    return chains() + "\n".join(_kernel(how, ilp) for how in ("ca", "cg") for ilp in ILPS)


def _kernel(how: str, ilp: int) -> str:
    each = range(ilp)
    begins = ", ".join(f"x{j} = begin(me + {j} * all, order, count, gap, apart)" for j in each)
    hops = " ".join(f'HOPPED(x{j}, "{how}")' for j in each)
    return f"""KERNEL loaded_{how}_{ilp}(u64 *stamps, {PARAMETERS}, int rounds) {{
    const u32 *base = before(array);
    u32 me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    u32 {begins};
    touch(array, touched);
    wait_for({" ^ ".join(f"x{j}" for j in each)});
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int k = 0; k < {LOADS_PER_ROUND // ilp}; k++) {{ {hops} }}
    }}
    wait_for({" ^ ".join(f"x{j}" for j in each)});
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Level x pattern x chains x warps per SM, several block sizes where the occupancy allows; random chains in
    arrays of growing size."""
    quick = effort == "quick"
    warps_list = [w for w in (QUICK_WARPS if quick else WARPS) if w <= facts.warps_per_sm]
    for level in LEVELS:
        for pattern in SECTORS:
            for ilp in ILPS[:: 2 if quick else 1]:
                for warps in warps_list:
                    blocks = -(-warps // 32)
                    yield _case((level, pattern, ilp), 32 * warps // blocks, blocks, facts)
                    if not quick and level != "l1" and (pattern, ilp) == ("stream", 1) and warps % 4 == 0 and warps > 4:
                        yield _case((level, pattern, ilp), 128, warps // 4, facts)
    for power in range(*SWEEP, 2 if quick else 1):
        if 1 << power <= facts.memory_size // 8:
            yield _swept(1 << power, facts)


def _case(what: tuple[str, str, int], threads: int, blocks: int, facts: Facts) -> Case:
    """The whole grid is resident."""
    level, pattern, ilp = what
    chain = laid(pattern, level, ilp * threads * blocks * facts.sm_count, facts)
    each = rounds(pattern, threads * blocks // 32)
    args = ("stamps", *chain.args, np.int32(each))
    carveout, smem = (None, 0) if level == "l1" else (100, facts.shared_for(blocks))
    step = Step(f"loaded_{HOW[level]}_{ilp}", (blocks * facts.sm_count,), threads, args, smem, carveout)
    scratch, evict = eviction(facts)
    cold = level == "dram"
    axes: dict[str, Axis] = {"pattern": pattern, "level": level, "ilp": ilp, "warps": threads * blocks // 32,
                             "blocks": blocks, "loads": LOADS_PER_ROUND * each}  # fmt: skip
    buffers = (*chain.buffers, stamps_of(step.warps), *((scratch,) if cold else ()))
    return Case(axes, step, "stamps", buffers, chain.setup, (evict,) if cold else (), seconds=2e-3)


def rounds(pattern: str, warps: int) -> int:
    """Turns of the loop: so many that filling up, running empty and the scatter of single loads are below 1 %."""
    return min(LOADS[pattern] // warps, MOST_LOADS) // LOADS_PER_ROUND


def _swept(size: int, facts: Facts) -> Case:
    """Every launch makes the same loads: beyond L2 they are to come from device memory each time."""
    scratch, evict = eviction(facts)
    cold = size > facts.l2_size
    chain = woven("random", "sweep", size // 4, 32 * SWEEP_WARPS * facts.sm_count)
    args = ("stamps", *chain.args, np.int32(SWEPT_LOADS // LOADS_PER_ROUND))
    step = Step("loaded_cg_1", (facts.sm_count,), 32 * SWEEP_WARPS, args)
    axes: dict[str, Axis] = {"pattern": "random", "level": "sweep", "size": size, "warps": SWEEP_WARPS,
                             "loads": SWEPT_LOADS}  # fmt: skip
    buffers = (*chain.buffers, stamps_of(step.warps), *((scratch,) if cold else ()))
    return Case(axes, step, "stamps", buffers, chain.setup, (evict,) if cold else (), seconds=3e-4)


def loads(record: Record) -> int:
    """Of one warp."""
    return int(record.axes["loads"])


def latency(record: Record) -> float:
    """Cycles from one load to the next of its chain, the address included."""
    return float(record.value["latency"]) / loads(record) * float(record.axes.get("ilp", 1))


def rate(record: Record, facts: Facts) -> float:
    """Bytes per second of the whole chip, sectors counted whole."""
    sectors = SECTORS[str(record.axes["pattern"])]
    total = loads(record) * sectors * SECTOR * float(record.axes["warps"]) * facts.sm_count
    return total / (float(record.value["duration"]) / record.clock_Hz)


def moved_by_one(record: Record, facts: Facts) -> float:
    """GB/s of the chip if every SM made one load of a warp in each cycle."""
    return SECTORS[str(record.axes["pattern"])] * SECTOR * facts.sm_count * record.clock_Hz / 1e9


def extract(records: list[Record], facts: Facts) -> Findings:
    """Per pattern and level: the curve, its fit, the warps that give 90 and 95 % of the best with any number of
    chains; the rate of random chains by the size of the array."""
    figures: dict[str, Any] = {}
    for level in LEVELS:
        for pattern in SECTORS:
            mine = chosen(records, pattern=pattern, level=level)
            by_ilp = {ilp: some for ilp in ILPS if (some := _by_warps(chosen(mine, ilp=ilp)))}
            if len(by_ilp.get(1, ())) > 3:
                figures[f"{level} {pattern}"] = _curve(by_ilp, facts)
    if swept := chosen(records, level="sweep"):
        figures["random by array size [B, GB/s]"] = [
            [int(r.axes["size"]), round(rate(r, facts) / 1e9, 1)] for r in swept
        ]
    return Findings({}, figures)


def _by_warps(mine: list[Record]) -> list[Record]:
    return sorted(mine, key=lambda r: float(r.axes["warps"]))


def _curve(by_ilp: dict[int, list[Record]], facts: Facts) -> dict[str, Any]:
    """Of one chain, and the peak with more of them, against which needed warps and loads in flight are held."""
    single = by_ilp[1]
    warps = np.array([float(r.axes["warps"]) for r in single])
    cycles, rates = np.array([latency(r) for r in single]), np.array([rate(r, facts) for r in single]) / 1e9
    peaks = {ilp: max(rate(r, facts) for r in mine) / 1e9 for ilp, mine in by_ilp.items()}
    most = max(peaks.values())
    every, moved = _samples(by_ilp, facts)
    fit = contention(every, moved, plateau(every * moved, moved))
    chained = {str(ilp): _needed(mine, most, facts) for ilp, mine in by_ilp.items()}
    flying = fit.a * fit.c / moved_by_one(single[0], facts)
    return {"latency": round(float(cycles.min()), 2), "peak GB/s": round(float(rates.max()), 1),
            "peak GB/s by chains": {str(ilp): round(peak, 1) for ilp, peak in peaks.items()},
            "needed warps by chains": chained, "needed loads in flight": _flying(chained),
            "fit": as_figure(fit) | range_of_b(fit, flying),
            "curve [warps, cycles, GB/s]": _rows(warps, cycles, rates)}  # fmt: skip


def _samples(by_ilp: dict[int, list[Record]], facts: Facts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Latencies and rates of every case: more chains take the rate further than more warps can."""
    every = [r for mine in by_ilp.values() for r in mine]
    return np.array([latency(r) for r in every]), np.array([rate(r, facts) for r in every]) / 1e9


def _needed(mine: list[Record], most: float, facts: Facts) -> dict[str, int | None]:
    """Fewest warps that give 90 and 95 % of the most that any number of chains gives."""
    warps, rates = (np.array(list(column)) for column in zip(*(
        (float(r.axes["warps"]), rate(r, facts) / 1e9) for r in mine
    ), strict=True))  # fmt: skip
    return {f"{round(100 * share)} %": needed_of(warps, rates, most, share) for share in SHARES}


def _flying(chained: Mapping[str, Mapping[str, int | None]]) -> dict[str, int | None]:
    """Fewest loads of an SM at once that do, warps times chains of each."""
    return {
        share: min((int(ilp) * warps for ilp, row in chained.items() if (warps := row[share])), default=None)
        for share in (f"{round(100 * one)} %" for one in SHARES)
    }


def _rows(*columns: NDArray[np.float64]) -> list[list[float]]:
    return [[round(float(value), 2) for value in row] for row in zip(*columns, strict=True)]
