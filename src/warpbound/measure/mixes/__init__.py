"""Volkov's mixes of instructions: alpha dependent additions for each instruction of another kind, over occupancy."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Axis, Case, Findings, Record, Step, column, matching, stamped
from warpbound.measure.contention import fewest_warps, needed_of
from warpbound.measure.device import Facts
from warpbound.measure.instruction_mix import OPERANDS, SHARED_WORDS, WORDS_IN_SHARED
from warpbound.measure.kernel_text import timed_kernel, unrolled
from warpbound.quick_dataclasses import dataclass

PARTS = (1, 2, 4, 8, 16, 32, 64)  # additions for each other instruction
OTHERS_FIRST = (2, 4)             # other instructions for each addition: alpha of a half and a quarter
WARPS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
QUICK_WARPS = (1, 4, 8, 12, 16, 24, 32, 64)
QUICK_PARTS = (1, 4, 16)
LOOP = 256  # instructions in an iteration of the loop, about
ROUNDS = 12
WAVES = 4  # multiple of the blocks that fit
SHARE = 0.9


@dataclass(frozen=True)
class Other:
    """The other instruction of a mix: its opcode, C++ that prepares it, the asm, the asm of the addition that follows,
    the result as a 32-bit word."""

    opcode: str
    setup: str
    text: str
    add: str
    result: str


_ADD = 'asm volatile("{ .reg .f32 f; mov.b32 f, %0; add.rn.f32 f, f, %1; mov.b32 %0, f; }" : "+r"(x) : "f"(none));'
# A zero of each thread: the compiler folded a zero shared by all threads into the address of the next load.
_NONE = "float none = __uint_as_float(zero & threadIdx.x);\n    "
OTHERS = {
    "mufu": Other("MUFU", _NONE + "u32 x = one + threadIdx.x;",
                  'asm volatile("{ .reg .f32 f; mov.b32 f, %0; rsqrt.approx.ftz.f32 f, f; mov.b32 %0, f; }" '
                  ': "+r"(x));', _ADD, "x"),
    "lds": Other("LDS", _NONE + WORDS_IN_SHARED + "u32 x = base + 4 * ((threadIdx.x & 31) * stride);",
                 'asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(x));', _ADD, "x"),
    "dfma": Other(
        "DFMA", _NONE + "double x = 1.0 + threadIdx.x, unit = 1.0 + zero, nil = zero;",
        'asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(unit), "d"(nil));',
        'asm volatile("{ .reg .b32 l; .reg .f32 h; mov.b64 {l, h}, %0; add.rn.f32 h, h, %1; mov.b64 %0, {l, h}; }" '
        ': "+d"(x) : "f"(none));', "(u32)__double_as_longlong(x)"),
    "hmma": Other(
        "HMMA", _NONE + "u32 a = zero & threadIdx.x, b = zero + (threadIdx.x == 99), c = a + b;\n"
        "    float x = threadIdx.x, y = none, z = none, w = none;",
        'asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" '
        ': "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a), "r"(b), "r"(c));',
        'asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(none));', "__float_as_uint(x + y + z + w)"),
}  # fmt: skip
STRIDES = {"mufu": (1,), "lds": (1, 2), "dfma": (1,), "hmma": (1,)}  # in shared memory; 2 is a two-way bank conflict


def clean(name: str, adds: int, arch: int) -> bool:
    """Whether the loop holds nothing but the two kinds. With few additions, and before sm_80 always, the compiler
    copies the accumulators of HMMA between registers."""
    return name != "hmma" or (arch >= 80 and adds >= 4)


def shares() -> tuple[tuple[int, int], ...]:
    """(additions, others) of a group."""
    return (*((1, others) for others in OTHERS_FIRST[::-1]), *((adds, 1) for adds in PARTS))


def groups(adds: int, others: int) -> int:
    """Groups in one iteration of the loop."""
    return LOOP // (adds + others)


def source() -> str:
    """CUDA C++, one kernel per kind and share."""
    return "\n".join(
        timed_kernel(f"mix_{name}_{adds}_{others}", OPERANDS, x.setup,
                     unrolled(groups(adds, others), " ".join([x.text] * others + [x.add] * adds)), x.result)
        for name, x in OTHERS.items() for adds, others in shares()
    )  # fmt: skip


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Kind x share x warps per SM."""
    for name in OTHERS:
        for adds, others in shares():
            if not clean(name, adds, facts.arch) or (effort == "quick" and not (others == 1 and adds in QUICK_PARTS)):
                continue
            for stride in STRIDES[name]:
                for warps in facts.warp_counts(effort, WARPS, QUICK_WARPS):
                    yield _case((name, adds, others), stride, warps, facts)


def _case(mix: tuple[str, int, int], stride: int, warps: int, facts: Facts) -> Case:
    name, adds, others = mix
    blocks = facts.several_waves(warps, WAVES, 4 * SHARED_WORDS if name == "lds" else 0)
    zero, unity = (0, 0x3F800000) if name == "mufu" else (0, 1)
    args = ("stamps", np.int32(ROUNDS), np.uint32(zero), np.uint32(unity), np.uint32(stride))
    step = Step(f"mix_{name}_{adds}_{others}", (blocks.grid,), blocks.threads, args, blocks.smem, 100)
    axes: dict[str, Axis] = {"other": name, "adds": adds, "others": others, "stride": stride, "warps": warps}
    return stamped(axes, step, seconds=2e-4)


def _warp_groups(record: Record) -> float:
    """Groups that a warp executes."""
    return ROUNDS * groups(int(record.axes["adds"]), int(record.axes["others"]))


def group_cycles(record: Record) -> float:
    """Cycles of a warp per group."""
    return record.number("latency") / _warp_groups(record)


def group_rate(record: Record) -> float:
    """Groups per cycle and SM while the SM is full."""
    return _warp_groups(record) * record.number("turnover")


def extract(records: list[Record], facts: Facts) -> Findings:
    """Per kind and share: cycles of a group, and the warps that give 90 % of either kind's best rate."""
    figures: dict[str, Any] = {}
    for name in OTHERS:
        for stride in STRIDES[name]:
            if sweep := matching(records, other=name, stride=stride):
                conflict = "" if stride == 1 else f", conflicts {stride}"
                figures[f"FADD and {OTHERS[name].opcode}{conflict}"] = _mix(sweep)
    return Findings({}, figures)


def _mix(sweep: list[Record]) -> dict[str, Any]:
    most_adds = max(group_rate(r) * r.number("adds") for r in sweep)
    most_others = max(group_rate(r) * r.number("others") for r in sweep)
    rows = {}
    for adds, others in shares():
        if some := matching(sweep, adds=adds, others=others):
            warps, rates = column(some, "warps"), np.array([group_rate(r) for r in some])
            rows[f"{adds}:{others}"] = {
                "latency": round(min(map(group_cycles, some)), 2),
                "needed warps 90 %": fewest_warps(needed_of(warps, rates * adds, most_adds, SHARE),
                                                  needed_of(warps, rates * others, most_others, SHARE)),
                "best groups/cycle/SM": round(float(rates.max()), 4),
            }  # fmt: skip
    return {"adds/cycle/SM (warps)": round(most_adds, 3), "others/cycle/SM (warps)": round(most_others, 3),
            "FADD : other": rows}  # fmt: skip
