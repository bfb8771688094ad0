"""Shared memory under every stride and width: cycles of the SM for one load or store of a warp."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts

STRIDES = (0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 31, 32, 33)  # words between lanes
QUICK_STRIDES = (0, 1, 2, 4, 8, 16, 32, 33)
WIDTHS = {4: ("", "%0"), 8: (".v2", "{%0, %1}"), 16: (".v4", "{%0, %1, %2, %3}")}
SHARED_B = 20 << 10
WARPS = 16
ROUNDS = 16
REPEATED = 64


def source() -> str:
    """CUDA C++: loads and stores of three widths."""
    return "\n".join(_kernel(kind, width) for kind in ("load", "store") for width in WIDTHS)


def _kernel(kind: str, width: int) -> str:
    form, registers = WIDTHS[width]
    words = width // 4
    names = ", ".join(f'"+r"(x{i})' for i in range(words))
    text = (f"ld.volatile.shared{form}.u32 {registers}, [%{words}];" if kind == "load"
            else f"st.volatile.shared{form}.u32 [%{words}], {registers};")  # fmt: skip
    return f"""KERNEL {kind}_{width}(u64 *stamps, u32 stride, int rounds) {{
    __shared__ __align__(16) u32 words[{SHARED_B // 4}];
    for (int i = threadIdx.x; i < {SHARED_B // 4}; i += blockDim.x) words[i] = i & 1;
    __syncthreads();
    u32 {", ".join(f"x{i} = {i}" for i in range(words))};
    u32 at = (u32)__cvta_generic_to_shared(words) + (threadIdx.x & 31) * stride * 4;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int k = 0; k < {REPEATED}; k++) asm volatile("{text}" : {names} : "r"(at));
    }}
    wait_for({" ^ ".join(f"x{i}" for i in range(words))});
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Kind x width x stride; strides that would break the alignment of a width are left out."""
    for kind in ("load", "store"):
        for width in WIDTHS:
            for stride in QUICK_STRIDES if effort == "quick" else STRIDES:
                if stride * 4 % width == 0 and 31 * stride * 4 + width <= SHARED_B:
                    axes: dict[str, Axis] = {"kind": kind, "width": width, "stride": stride}
                    args = ("stamps", np.uint32(stride), np.int32(ROUNDS))
                    step = Step(f"{kind}_{width}", (facts.sm_count,), 32 * WARPS, args)
                    yield Case(axes, step, "stamps", (stamps_of(step.warps),), seconds=1e-4)


def cycles(record: Record) -> float:
    """Of one SM for one access of a warp."""
    return float(record.value["duration"]) / (WARPS * ROUNDS * REPEATED)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles per access by stride in words."""
    return Findings({}, {
        f"{kind} of {width} B": {str(r.axes["stride"]): round(cycles(r), 3) for r in mine}
        for kind in ("load", "store") for width in WIDTHS if (mine := chosen(records, kind=kind, width=width))
    })  # fmt: skip
