"""Distribution of the latency of single loads while other warps load the memory."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import SHARES, Axis, Buffer, Case, Findings, Record, Step, cold, matching
from warpbound.measure.chains import HOW, LEVELS, PARAMETERS, SECTOR, SECTORS, chain_in
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import chains, kernel_file

WARPS = (1, 4, 8, 16, 24, 32, 48, 64)
QUICK_WARPS = (1, 16, 64)
BETWEEN = 7             # untimed loads after a timed one
ROUNDS = {"stream": 16, "stride2": 16, "random": 4}


def source() -> str:
    """CUDA C++, one kernel per cache operator."""
    return f"#define PARAMETERS {PARAMETERS}\n#define BETWEEN {BETWEEN}\n" + chains() + kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Level x pattern x warps per SM."""
    for level in LEVELS:
        for pattern in SECTORS:
            for warps in facts.warp_counts(effort, WARPS, QUICK_WARPS):
                yield _case(level, pattern, warps, facts)


def _case(level: str, pattern: str, warps: int, facts: Facts) -> Case:
    blocks, rounds = facts.one_wave(warps), ROUNDS[pattern]
    chain = chain_in(level, pattern, blocks.threads * blocks.grid, facts)
    args = ("out", *chain.args, np.uint32(facts.sm_count), np.int32(rounds))
    carveout, smem = (None, 4 * rounds) if level == "l1" else (100, blocks.smem)
    step = Step(f"single_{HOW[level]}", (blocks.grid,), blocks.threads, args, smem, carveout)
    words = facts.sm_count * rounds
    axes: dict[str, Axis] = {"pattern": pattern, "level": level, "warps": warps, "sms": facts.sm_count}
    case = Case(axes, step, "distribution", (*chain.buffers, Buffer("out", 4 * words)), chain.setup, output="out",
                words=words, seconds=4e-4)  # fmt: skip
    return cold(case, facts) if level == "dram" else case


def extract(records: list[Record], facts: Facts) -> Findings:
    """Percentiles by level and pattern over the load that all warps have at the mean latency."""
    figures: dict[str, object] = {}
    for level in LEVELS:
        for pattern, sectors in SECTORS.items():
            if sweep := matching(records, level=level, pattern=pattern):
                figures[f"{level} {pattern}"] = [
                    [int(r.number("warps")), round(_load(r, sectors) / 1e9, 1),
                     *(round(float(cycles), 1) for cycles in (r.value["mean"], *r.value["quantiles"]))] for r in sweep
                ]  # fmt: skip
    return Findings({}, {"shares": list(SHARES), **figures} if figures else {})


def _load(record: Record, sectors: int) -> float:
    """Bytes per second by Little's law; sectors count whole."""
    return record.number("warps") * record.number("sms") * sectors * SECTOR * record.clock_Hz / record.number("mean")
