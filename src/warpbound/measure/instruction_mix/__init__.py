"""Latency and throughput of single instructions: one kind repeated, in `ilp` independent dependency chains."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Case, Estimate, Findings, Record, Step, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.instruction_mix.register_banks import BANKS, BANKS_REPEATED, bank_kernel, conflicting
from warpbound.measure.kernel_text import timed_kernel, unrolled
from warpbound.quick_dataclasses import dataclass

ILPS = (1, 2, 4)
WARPS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64)
QUICK_WARPS = (1, 4, 8, 12, 16, 20, 24, 28, 32, 64)
STRIDES = (1, 2, 4, 8, 16, 32)  # words between lanes: as many lanes access one bank
ROUNDS = 6
SHARED_WORDS = 1024
LANES = 32
SCHEDULERS = 4   # of an SM; a bank conflict stalls only its own
ENOUGH = 0.99    # share of the peak from which it counts as reached
OPERANDS = "int rounds, u32 zero, u32 one, u32 stride"  # parameters of the kernels: constants unknown to the compiler
WORDS_IN_SHARED = f"""__shared__ u32 words[{SHARED_WORDS}];
    u32 base = (u32)__cvta_generic_to_shared(words);
    for (int i = threadIdx.x; i < {SHARED_WORDS}; i += blockDim.x) words[i] = base + 4 * i;
    __syncthreads();
    """


@dataclass(frozen=True)
class Op:
    """One instruction. Its values differ between threads, for uniform values may run on the uniform pipe.

    opcode : in machine code. type, constraint : C++ type and asm letter of the chain's value. first : C++ of the first
    value of chain {j}. text : the asm, %0 is the chain's value. inputs : further operands of the asm.
    """

    opcode: str
    type: str
    constraint: str
    first: str
    text: str
    inputs: str
    repeated: int = 512  # instructions in the loop


OPS = {
    "fadd": Op("FADD", "float", "f", "__uint_as_float(one + threadIdx.x) + {j}", "add.rn.f32 %0, %0, %1;",
               '"f"(__uint_as_float(zero))'),
    "ffma": Op("FFMA", "float", "f", "__uint_as_float(one + threadIdx.x) + {j}", "fma.rn.f32 %0, %0, %1, %2;",
               '"f"(__uint_as_float(one)), "f"(__uint_as_float(zero))'),
    "imad": Op("IMAD", "u32", "r", "one + threadIdx.x + {j}", "mad.lo.u32 %0, %0, %1, %2;", '"r"(one), "r"(zero)'),
    "lop3": Op("LOP3", "u32", "r", "one + threadIdx.x + {j}", "lop3.b32 %0, %0, %1, %2, 0x96;", '"r"(one), "r"(zero)'),
    "mufu": Op("MUFU", "float", "f", "__uint_as_float(one + threadIdx.x) + {j}",
               "rsqrt.approx.ftz.f32 %0, %0;", "", 256),
    "dfma": Op("DFMA", "double", "d", "(double)(one + threadIdx.x + {j})", "fma.rn.f64 %0, %0, %1, %2;",
               '"d"((double)one), "d"((double)zero)', 256),
    "shfl": Op("SHFL", "u32", "r", "threadIdx.x + {j}", "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;", "", 256),
    "lds": Op("LDS", "u32", "r", "base + 4 * ((threadIdx.x & 31) * stride)", "ld.volatile.shared.u32 %0, [%0];",
              "", 256),
}  # fmt: skip
HMMA_FMA = {75: 1024, 80: 2048}  # multiply-adds of one warp instruction, by the first architecture that has it


def names() -> tuple[str, ...]:
    """All measured instructions."""
    return (*OPS, "hmma")


def source() -> str:
    """CUDA C++, one kernel per instruction and chain count."""
    kernels = [_kernel(name, op, ilp) for name, op in OPS.items() for ilp in ILPS]
    return "\n".join(kernels + [_hmma(ilp) for ilp in ILPS] + [bank_kernel(name, OPERANDS) for name in BANKS])


def repeated(name: str) -> int:
    """Instructions in one iteration of the loop."""
    return OPS[name].repeated if name in OPS else BANKS_REPEATED if name in BANKS else 128


def _kernel(name: str, op: Op, ilp: int) -> str:
    chains = "".join(f"{op.type} x{j} = {op.first.format(j=j)}; " for j in range(ilp))
    once = "".join(f' asm volatile("{op.text}" : "+{op.constraint}"(x{j}) : {op.inputs});' for j in range(ilp))
    as_word = {"float": "__float_as_uint({})", "double": "(u32)__double_as_longlong({})"}.get(op.type, "{}")
    result = " ^ ".join(as_word.format(f"x{j}") for j in range(ilp))
    setup = WORDS_IN_SHARED * (name == "lds") + chains
    return timed_kernel(f"{name}_{ilp}", OPERANDS, setup, unrolled(op.repeated // ilp, once), result)


def _hmma(ilp: int) -> str:
    """D = A B + D on 16 x 8 x 16 (16 x 8 x 8 before sm_80), FP16 inputs, FP32 accumulators."""

    def products(k: int, a: str, b: str, inputs: str) -> str:
        text = f"mma.sync.aligned.m16n8k{k}.row.col.f32.f16.f16.f32 {{%0,%1,%2,%3}}, {a}, {b}, {{%0,%1,%2,%3}};"
        return "".join(
            f' asm volatile("{text}" : "+f"(x{j}), "+f"(y{j}), "+f"(z{j}), "+f"(w{j}) : {inputs});' for j in range(ilp)
        )

    setup = "u32 a0 = zero, a1 = zero + (threadIdx.x == 99), a2 = a1, a3 = a0, b0 = zero, b1 = a1;" + "".join(
        f" float x{j} = {j}.0f, y{j} = zero, z{j} = zero, w{j} = zero;" for j in range(ilp)
    )
    new = products(16, "{%4,%5,%6,%7}", "{%8,%9}", '"r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1)')
    old = products(8, "{%4,%5}", "{%6}", '"r"(a0), "r"(a1), "r"(b0)')
    once = f"\n#if __CUDA_ARCH__ >= 800\n{new}\n#else\n{old}\n#endif\n"
    result = " ^ ".join(f"__float_as_uint(x{j} + y{j} + z{j} + w{j})" for j in range(ilp))
    return timed_kernel(f"hmma_{ilp}", OPERANDS, setup, unrolled(repeated("hmma") // ilp, once), result)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Instruction x chains x warps per SM; shared memory at every degree of conflict; register banks."""
    for name in names():
        for ilp in ILPS:
            for warps in facts.warp_counts(effort, WARPS, QUICK_WARPS):
                yield _case(name, ilp, warps, 1, facts)
    for stride in STRIDES[1:]:
        for ilp, warps in ((1, 1), (1, 4), (1, 16), (1, 32), (4, 32)):
            yield _case("lds", ilp, warps, stride, facts)
    for name in BANKS:
        for warps in (4, 16, 32):
            yield _case(name, 4, warps, 1, facts)


def _case(name: str, ilp: int, warps: int, stride: int, facts: Facts) -> Case:
    blocks = facts.one_wave(warps, declared=8192)
    zero, unity = (0, 1) if name in ("imad", "lop3", "dfma", "hmma", "shfl", "lds") else (0, 0x3F800000)
    args = ("stamps", np.int32(ROUNDS), np.uint32(zero), np.uint32(unity), np.uint32(stride))
    step = Step(name if name in BANKS else f"{name}_{ilp}", (blocks.grid,), blocks.threads, args, blocks.smem, 100)
    return stamped({"kernel": name, "ilp": ilp, "warps": warps, "stride": stride}, step)


def per_instruction(record: Record) -> float:
    """Cycles of a warp per instruction."""
    return record.number("latency") / (ROUNDS * repeated(str(record.axes["kernel"])))


def per_cycle(record: Record) -> float:
    """Instructions per cycle and SM."""
    return ROUNDS * repeated(str(record.axes["kernel"])) * record.number("warps") / record.number("duration")


def extract(records: list[Record], facts: Facts) -> Findings:
    """Latency, peak and the warps that reach it for each instruction; cost of conflicts."""
    table = {name: _row(sweep) for name in names() if (sweep := matching(records, kernel=name, stride=1))}
    parameters: dict[str, Estimate] = {}
    if "lds" in table:
        parameters["shared_latency"] = Estimate(table["lds"]["latency"], "cycle", "dependent 32-bit loads, no conflict")
    if "fadd" in table:
        parameters["alu_latency"] = Estimate(table["fadd"]["latency"], "cycle", "dependent FADD")
    if "dfma" in table:
        lanes = float(round(LANES * table["dfma"]["peak"]))
        parameters["fp64_lanes"] = Estimate(lanes, "1", "DFMA per cycle and SM, whole lanes")
    if "hmma" in table and facts.arch < 90:
        fma = HMMA_FMA[75 if facts.arch < 80 else 80] * table["hmma"]["peak"]
        parameters["tensor_fp16"] = Estimate(fma, "FMA/cycle/SM", "mma.sync, zeros")
    banks = _banks(records, facts.arch)
    return Findings(parameters, {"instructions": table, "conflicts": _conflicts(records), "banks": banks})


def _banks(records: list[Record], arch: int) -> dict[str, float]:
    """Best FFMA per cycle and SM with and without conflicts; the scheduler cycles that one conflict costs."""
    rates = {name: max(map(per_cycle, sweep)) for name in BANKS if (sweep := matching(records, kernel=name))}
    figures = {f"{name} [FFMA/cycle/SM]": round(rate, 3) for name, rate in rates.items()}
    if len(rates) == len(BANKS):
        more = 1.0 / rates["banks_same"] - 1.0 / rates["banks_mixed"]
        figures["one conflict [cycle]"] = round(SCHEDULERS * more / conflicting(arch), 3)
    return figures


def _row(sweep: list[Record]) -> dict[str, Any]:
    """One instruction: cycles, instructions per cycle and SM, warps per SM that reach 99 % of it by chain count."""
    peak = max(map(per_cycle, sweep))
    warps_at_share = {
        str(ilp): min((int(r.axes["warps"]) for r in matching(sweep, ilp=ilp) if per_cycle(r) >= ENOUGH * peak),
                      default=None) for ilp in ILPS
    }  # fmt: skip
    return {"latency": min(map(per_instruction, matching(sweep, ilp=1))), "peak": peak, "needed warps": warps_at_share}


def _conflicts(records: list[Record]) -> dict[str, Any]:
    """By lanes per bank: cycles of one load alone; cycles of the SM per load when saturated."""
    alone = {int(r.axes["stride"]): per_instruction(r) for r in matching(records, kernel="lds", ilp=1, warps=1)}
    full = {int(r.axes["stride"]): 1.0 / per_cycle(r) for r in matching(records, kernel="lds", ilp=4, warps=32)}
    return {str(s): [round(alone[s], 2), round(full[s], 3)] for s in sorted(alone) if s in full}
