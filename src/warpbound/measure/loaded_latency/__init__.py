"""Memory latency against throughput: every warp follows its own chains, with more and more warps at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Axis, Case, Findings, Record, Step, cold, column, curve, matching, stamped
from warpbound.measure.chains import HOW, LEVELS, PARAMETERS, SECTOR, SECTORS, chain_in, chain_of
from warpbound.measure.contention import as_figure, contention, needed_of, plateau, range_of_b
from warpbound.measure.device import Blocks, Facts
from warpbound.measure.kernel_text import chains, timed_kernel, unrolled

WARPS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
QUICK_WARPS = (1, 4, 8, 16, 24, 32, 48, 64)
ILPS = (1, 2, 4)       # chains of a thread: each load waits for the load that many before it
LOADS_PER_ROUND = 16
SHARES = (0.9, 0.95)   # of the peak rate, for which the needed warps are reported
LOADS = {"stream": 1 << 19, "stride2": 1 << 18, "random": 1 << 16}  # of an SM with many warps
MOST_LOADS = 4096      # of one warp
SWEPT_LOADS = 32       # of one warp, so that no entry of the larger arrays is read twice
SWEEP_WARPS = 8
SWEEP = (20, 31)       # arrays of 2^20 to 2^31 bytes


def source() -> str:
    """CUDA C++, one kernel per number of chains and cache operator."""
    return chains() + "\n".join(_kernel(how, ilp) for how in ("ca", "cg") for ilp in ILPS)


def _kernel(how: str, ilp: int) -> str:
    begins = ", ".join(f"x{j} = begin(me + {j} * all, order, count, gap, apart)" for j in range(ilp))
    result = " ^ ".join(f"x{j}" for j in range(ilp))
    setup = f"""const u32 *base = before(array);
    u32 me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    u32 {begins};
    touch(array, touched);
    wait_for({result});"""
    hops = unrolled(LOADS_PER_ROUND // ilp, " ".join(f'HOPPED(x{j}, "{how}")' for j in range(ilp)))
    return timed_kernel(f"loaded_{how}_{ilp}", f"{PARAMETERS}, int rounds", setup, hops, result)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Level x pattern x chains x warps per SM, several block sizes where the occupancy allows; random chains in
    arrays of growing size."""
    quick = effort == "quick"
    for level in LEVELS:
        for pattern in SECTORS:
            for ilp in ILPS[:: 2 if quick else 1]:
                for warps in facts.warp_counts(effort, WARPS, QUICK_WARPS):
                    yield _case(level, pattern, ilp, facts.one_wave(warps), facts)
                    if not quick and level != "l1" and (pattern, ilp) == ("stream", 1) and warps % 4 == 0 and warps > 4:
                        yield _case(level, pattern, ilp, facts.several_waves(warps, 1), facts)
    for power in range(*SWEEP, 2 if quick else 1):
        if 1 << power <= facts.memory_size // 8:
            yield _swept(1 << power, facts)


def _case(level: str, pattern: str, ilp: int, blocks: Blocks, facts: Facts) -> Case:
    """The whole grid is resident."""
    chain = chain_in(level, pattern, ilp * blocks.threads * blocks.grid, facts)
    warps = blocks.threads * blocks.grid // facts.sm_count // 32
    carveout, smem = (None, 0) if level == "l1" else (100, blocks.smem)
    axes: dict[str, Axis] = {"pattern": pattern, "level": level, "ilp": ilp, "warps": warps,
                             "blocks": blocks.grid // facts.sm_count,
                             "loads": LOADS_PER_ROUND * rounds(pattern, warps)}  # fmt: skip
    args = ("stamps", *chain.args, np.int32(rounds(pattern, warps)))
    step = Step(f"loaded_{HOW[level]}_{ilp}", (blocks.grid,), blocks.threads, args, smem, carveout)
    case = stamped(axes, step, *chain.buffers, setup=chain.setup, seconds=2e-3)
    return cold(case, facts) if level == "dram" else case


def rounds(pattern: str, warps: int) -> int:
    """Iterations of the loop: enough for filling, draining and the scatter of single loads to stay below 1 %."""
    return min(LOADS[pattern] // warps, MOST_LOADS) // LOADS_PER_ROUND


def _swept(size: int, facts: Facts) -> Case:
    """Every launch makes the same loads; beyond L2 they must come from device memory each time."""
    chain = chain_of(size // 4, "sweep", "random", 32 * SWEEP_WARPS * facts.sm_count)
    args = ("stamps", *chain.args, np.int32(SWEPT_LOADS // LOADS_PER_ROUND))
    step = Step("loaded_cg_1", (facts.sm_count,), 32 * SWEEP_WARPS, args)
    axes: dict[str, Axis] = {"pattern": "random", "level": "sweep", "size": size, "warps": SWEEP_WARPS,
                             "loads": SWEPT_LOADS}  # fmt: skip
    case = stamped(axes, step, *chain.buffers, setup=chain.setup, seconds=3e-4)
    return cold(case, facts) if size > facts.l2_size else case


def latency(record: Record) -> float:
    """Cycles from one load to the next of its chain, address calculation included."""
    return float(record.value["latency"]) / record.number("loads") * float(record.axes.get("ilp", 1))


def rate(record: Record, facts: Facts) -> float:
    """GB/s of the whole chip; sectors count whole."""
    sectors = SECTORS[str(record.axes["pattern"])]
    total = record.number("loads") * sectors * SECTOR * record.number("warps") * facts.sm_count
    return total / (record.number("duration") / record.clock_Hz) / 1e9


def extract(records: list[Record], facts: Facts) -> Findings:
    """Per pattern and level: the curve, its fit, the warps that give 90 and 95 % of the best rate with any number of
    chains; the rate of random chains by the size of the array."""
    figures: dict[str, Any] = {}
    for level in LEVELS:
        for pattern in SECTORS:
            sweep = sorted(matching(records, pattern=pattern, level=level), key=lambda r: r.number("warps"))
            by_ilp = {ilp: some for ilp in ILPS if (some := matching(sweep, ilp=ilp))}
            if len(by_ilp.get(1, ())) > 3:
                figures[f"{level} {pattern}"] = _summary(by_ilp, facts)
    if swept := matching(records, level="sweep"):
        figures["random by array size [B, GB/s]"] = curve(swept, "size", (lambda r: rate(r, facts), 1))
    return Findings({}, figures)


def _summary(by_ilp: dict[int, list[Record]], facts: Facts) -> dict[str, Any]:
    """Latency and rate with one chain, the peak with several, and the warps and loads in flight that it needs."""
    single = by_ilp[1]
    rates = {ilp: np.array([rate(r, facts) for r in sweep]) for ilp, sweep in by_ilp.items()}
    cycles = [latency(r) for r in single]
    peaks = {ilp: float(some.max()) for ilp, some in rates.items()}
    # the fit takes the points of every number of chains: more chains reach higher rates than more warps
    all_rates = np.concatenate(list(rates.values()))
    all_cycles = np.array([latency(r) for sweep in by_ilp.values() for r in sweep])
    fit = contention(all_cycles, all_rates, plateau(all_cycles * all_rates, all_rates))
    warps_at_share = {ilp: {share: needed_of(column(by_ilp[ilp], "warps"), rates[ilp], max(peaks.values()), share)
                    for share in SHARES} for ilp in by_ilp}  # fmt: skip
    flying = {share: min((ilp * warps for ilp, row in warps_at_share.items() if (warps := row[share])), default=None)
              for share in SHARES}  # fmt: skip
    per_load = SECTORS[str(single[0].axes["pattern"])] * SECTOR * facts.sm_count * single[0].clock_Hz / 1e9
    return {"latency": round(min(cycles), 2), "peak GB/s": round(peaks[1], 1),
            "peak GB/s by chains": {str(ilp): round(peak, 1) for ilp, peak in peaks.items()},
            "needed warps by chains": {str(ilp): _by_share(row) for ilp, row in warps_at_share.items()},
            "needed loads in flight": _by_share(flying),
            "fit": as_figure(fit) | range_of_b(fit, fit.a * fit.c / per_load),
            "curve [warps, cycles, GB/s]": [
                [round(r.number("warps"), 2), round(latency(r), 2), round(rate(r, facts), 2)] for r in single
            ]}  # fmt: skip


def _by_share(row: dict[float, int | None]) -> dict[str, int | None]:
    return {f"{round(100 * share)} %": count for share, count in row.items()}
