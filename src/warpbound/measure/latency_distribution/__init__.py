"""How long single accesses take while others load the memory: the distribution, not the mean."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import SHARES, Axis, Buffer, Case, Findings, Record, Step, chosen
from warpbound.measure.chains import HOW, LEVELS, PARAMETERS, SECTOR, SECTORS, laid
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction
from warpbound.measure.suite_sources import chains

WARPS = (1, 4, 8, 16, 24, 32, 48, 64)
QUICK_WARPS = (1, 16, 64)
BETWEEN = 7             # untimed loads after a timed one
ROUNDS = {"stream": 16, "stride2": 16, "random": 4}
LANES = 32


def source() -> str:
    """CUDA C++, one kernel per kind of load."""
    return chains() + "".join(map(_kernel, ("ca", "cg")))


def _kernel(how: str) -> str:
    return f"""KERNEL single_{how}(u32 *out, {PARAMETERS}, u32 timed, int rounds) {{
    extern __shared__ u32 cycles[];
    const u32 *base = before(array);
    u32 x = begin(blockIdx.x * blockDim.x + threadIdx.x, order, count, gap, apart);
    touch(array, touched);
    wait_for(x);
    if (blockIdx.x < timed && threadIdx.x < {LANES}) {{
        #pragma unroll 1
        for (int i = 0; i < rounds; i++) {{
            u32 nothing;
            u64 start = cycle();
            HOP("{how}")
            wait_for(x);
            cycles[i] = since(start, nothing);
            x += nothing;
            #pragma unroll
            for (int k = 0; k < {BETWEEN}; k++) {{ HOP("{how}") }}
            wait_for(x);
        }}
        for (int i = threadIdx.x; i < rounds; i += {LANES}) out[blockIdx.x * rounds + i] = cycles[i];
    }} else {{
        #pragma unroll 1
        for (int i = 0; i < rounds; i++) {{
            #pragma unroll
            for (int k = 0; k < {BETWEEN + 1}; k++) {{ HOP("{how}") }}
        }}
        if (x == 1) out[0] = x;  // never: a thread that only ends may leave its loads out
    }}
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Level x pattern x warps per SM."""
    for level in LEVELS:
        for pattern in SECTORS:
            for warps in QUICK_WARPS if effort == "quick" else WARPS:
                if warps <= facts.warps_per_sm:
                    yield _case(level, pattern, warps, facts)


def _case(level: str, pattern: str, warps: int, facts: Facts) -> Case:
    blocks = -(-warps // 32)
    threads, grid, rounds = 32 * warps // blocks, blocks * facts.sm_count, ROUNDS[pattern]
    chain = laid(pattern, level, threads * grid, facts)
    args = ("out", *chain.args, np.uint32(facts.sm_count), np.int32(rounds))
    carveout, smem = (None, 4 * rounds) if level == "l1" else (100, facts.shared_for(blocks))
    step = Step(f"single_{HOW[level]}", (grid,), threads, args, smem, carveout)
    scratch, evict = eviction(facts)
    words = facts.sm_count * rounds
    buffers = (*chain.buffers, Buffer("out", 4 * words), *((scratch,) if level == "dram" else ()))
    axes: dict[str, Axis] = {"pattern": pattern, "level": level, "warps": warps, "sms": facts.sm_count}
    return Case(axes, step, "distribution", buffers, chain.setup, (evict,) if level == "dram" else (), output="out",
                words=words, seconds=4e-4)  # fmt: skip


def extract(records: list[Record], facts: Facts) -> Findings:
    """Percentiles by level and pattern over the load, which is what all warps ask for at the mean latency seen."""
    figures: dict[str, object] = {}
    for level in LEVELS:
        for pattern, sectors in SECTORS.items():
            mine = chosen(records, level=level, pattern=pattern)
            if mine:
                rows = [[int(r.axes["warps"]), round(_load(r, sectors) / 1e9, 1), *_cycles(r)] for r in mine]
                figures[f"{level} {pattern}"] = rows
    return Findings({}, {"shares": list(SHARES), **figures} if figures else {})


def _load(record: Record, sectors: int) -> float:
    """Bytes per second by Little's law, sectors counted whole."""
    warps = float(record.axes["warps"]) * float(record.axes["sms"])
    return warps * sectors * SECTOR * record.clock_Hz / float(record.value["mean"])


def _cycles(record: Record) -> list[float]:
    return [round(float(one), 1) for one in (record.value["mean"], *record.value["quantiles"])]
