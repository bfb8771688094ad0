"""Volkov's mixes: alpha dependent additions for each instruction of another kind, over occupancy."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpbound.measure.block_waves import crowd
from warpbound.measure.case import Axis, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.contention import needed_of
from warpbound.measure.device import Facts
from warpbound.measure.instruction_mix import SHARED_WORDS, WORDS_IN_SHARED
from warpbound.measure.instruction_mix.loop import around

PARTS = (1, 2, 4, 8, 16, 32, 64)  # additions for each other instruction
OTHERS_FIRST = (2, 4)             # other instructions for each addition: alpha of a half and a quarter
WARPS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
QUICK_WARPS = (1, 4, 8, 12, 16, 24, 32, 64)
QUICK_PARTS = (1, 4, 16)
LOOP = 256  # instructions in a turn of the loop, about
ROUNDS = 12
WAVES = 4  # times the blocks that fit
SHARE = 0.9


@dataclass(frozen=True)
class Other:
    """The instruction that is mixed in: its opcode, C++ that prepares, the asm, the addition that follows on it."""

    opcode: str
    ahead: str
    text: str
    add: str
    seen: str


_ADD = 'asm volatile("{ .reg .f32 f; mov.b32 f, %0; add.rn.f32 f, f, %1; mov.b32 %0, f; }" : "+r"(x) : "f"(none));'
_LDS = WORDS_IN_SHARED + "    u32 x = base + 4 * ((threadIdx.x & 31) * stride);\n"
# A thread's own zero: one that all threads share was seen folded into the address of the load behind the addition.
_NONE = "    float none = __uint_as_float(zero & threadIdx.x);\n"
OTHERS = {
    "mufu": Other("MUFU", _NONE + "    u32 x = one + threadIdx.x;\n",
                  'asm volatile("{ .reg .f32 f; mov.b32 f, %0; rsqrt.approx.ftz.f32 f, f; mov.b32 %0, f; }" '
                  ': "+r"(x));', _ADD, "x"),
    "lds": Other("LDS", _NONE + _LDS, 'asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(x));', _ADD, "x"),
    "dfma": Other(
        "DFMA", _NONE + "    double x = 1.0 + threadIdx.x, unit = 1.0 + zero, nil = zero;\n",
        'asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(unit), "d"(nil));',
        'asm volatile("{ .reg .b32 l; .reg .f32 h; mov.b64 {l, h}, %0; add.rn.f32 h, h, %1; mov.b64 %0, {l, h}; }" '
        ': "+d"(x) : "f"(none));', "(u32)__double_as_longlong(x)"),
    "hmma": Other(
        "HMMA", _NONE + "    u32 a = zero & threadIdx.x, b = zero + (threadIdx.x == 99), c = a + b;\n"
        "    float x = threadIdx.x, y = none, z = none, w = none;\n",
        'asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" '
        ': "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a), "r"(b), "r"(c));',
        'asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(none));', "__float_as_uint(x + y + z + w)"),
}  # fmt: skip
STRIDES = {"mufu": (1,), "lds": (1, 2), "dfma": (1,), "hmma": (1,)}  # of shared memory: 2 is a two-way conflict


def clean(name: str, adds: int, arch: int) -> bool:
    """Whether the loop holds nothing but the two kinds: the compiler moves HMMA's sums to and fro between it and few
    additions, and before sm_80 always."""
    return name != "hmma" or (arch >= 80 and adds >= 4)


def shares() -> tuple[tuple[int, int], ...]:
    """(additions, others) of a group."""
    return (*((1, others) for others in OTHERS_FIRST[::-1]), *((adds, 1) for adds in PARTS))


def groups(adds: int, others: int) -> int:
    """In one turn of the loop."""
    return LOOP // (adds + others)


def source() -> str:
    """CUDA C++, one kernel per kind and share."""
    return "\n".join(_kernel(name, adds, others) for name in OTHERS for adds, others in shares())


def _kernel(name: str, adds: int, others: int) -> str:
    other = OTHERS[name]
    once = " ".join([other.text] * others + [other.add] * adds)
    return around(f"mix_{name}_{adds}_{others}", other.ahead, f" {once}", groups(adds, others), other.seen)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Kind x share x warps per SM."""
    quick = effort == "quick"
    for name in OTHERS:
        for adds, others in shares():
            if not clean(name, adds, facts.arch) or (quick and not (others == 1 and adds in QUICK_PARTS)):
                continue
            for stride in STRIDES[name]:
                for warps in QUICK_WARPS if quick else WARPS:
                    if warps <= facts.warps_per_sm:
                        yield _case((name, adds, others), stride, warps, facts)


def _case(mix: tuple[str, int, int], stride: int, warps: int, facts: Facts) -> Case:
    name, adds, others = mix
    held = crowd(warps, WAVES, facts, 4 * SHARED_WORDS if name == "lds" else 0)
    zero, one = (0, 0x3F800000) if name == "mufu" else (0, 1)
    args = ("stamps", np.int32(ROUNDS), np.uint32(zero), np.uint32(one), np.uint32(stride))
    step = Step(f"mix_{name}_{adds}_{others}", (held.grid,), held.threads, args, held.smem, 100)
    axes: dict[str, Axis] = {"other": name, "adds": adds, "others": others, "stride": stride, "warps": warps}
    return Case(axes, step, "stamps", (stamps_of(step.warps),), seconds=2e-4)


def _groups_run(record: Record) -> float:
    """By one warp."""
    return ROUNDS * groups(int(record.axes["adds"]), int(record.axes["others"]))


def group_cycles(record: Record) -> float:
    """Cycles that one warp took for a group."""
    return float(record.value["latency"]) / _groups_run(record)


def group_rate(record: Record) -> float:
    """Groups per cycle and SM, while it was full."""
    return _groups_run(record) * float(record.value["turnover"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """Per kind and share: cycles of a group, and the warps that give 90 % of either kind's best rate."""
    figures: dict[str, Any] = {}
    for name in OTHERS:
        for stride in STRIDES[name]:
            if mine := chosen(records, other=name, stride=stride):
                conflict = "" if stride == 1 else f", conflicts {stride}"
                figures[f"FADD and {OTHERS[name].opcode}{conflict}"] = _family(mine)
    return Findings({}, figures)


def _family(mine: list[Record]) -> dict[str, Any]:
    most_adds = max(group_rate(r) * float(r.axes["adds"]) for r in mine)
    most_others = max(group_rate(r) * float(r.axes["others"]) for r in mine)
    rows = {}
    for adds, others in shares():
        if some := chosen(mine, adds=adds, others=others):
            warps = np.array([float(r.axes["warps"]) for r in some])
            rates = np.array([group_rate(r) for r in some])
            peaks = ((adds, most_adds), (others, most_others))
            reached = (needed_of(warps, rates * count, most, SHARE) for count, most in peaks)
            first = [n for n in reached if n is not None]
            rows[f"{adds}:{others}"] = {
                "latency": round(min(map(group_cycles, some)), 2), "needed warps 90 %": min(first) if first else None,
                "best groups/cycle/SM": round(float(rates.max()), 4),
            }  # fmt: skip
    return {"adds/cycle/SM (warps)": round(most_adds, 3), "others/cycle/SM (warps)": round(most_others, 3),
            "FADD : other": rows}  # fmt: skip
