"""Shared memory under every stride and width: cycles of the SM for one load or store of a warp."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts

STRIDES = (0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 31, 32, 33)  # words between lanes
QUICK_STRIDES = (0, 1, 2, 4, 8, 16, 32, 33)
WIDTHS = {4: ("", "%0"), 8: (".v2", "{%0, %1}"), 16: (".v4", "{%0, %1, %2, %3}")}
SHARED_B = 20 << 10
WARPS = 32
CHAINS = 2  # of one warp
ROUNDS = 16
REPEATED = 64


def source() -> str:
    """CUDA C++: loads and stores of three widths."""
    return "\n".join([*map(_load, WIDTHS), *map(_store, WIDTHS)])


def _load(width: int) -> str:
    """Every word holds its own address, so that a load gives the next one's: none can be left out."""
    words = width // 4
    form, registers = WIDTHS[width]
    outputs = ", ".join(['"+r"(at{j})', *(f'"=r"(x{i})' for i in range(1, words))])
    once = "".join(
        f'asm volatile("ld.shared{form}.u32 {registers}, [%0];" : {outputs.format(j=j)}); ' for j in range(CHAINS)
    )
    ahead = "".join(f"    u32 at{j} = at;\n" for j in range(CHAINS))
    ahead += "".join(f"    u32 x{i} = 0;\n" for i in range(1, words))
    seen = " + ".join([f"at{j}" for j in range(CHAINS)] + [f"x{i}" for i in range(1, words)])
    return _around(f"load_{width}", ahead, once, REPEATED // CHAINS, seen)


def _store(width: int) -> str:
    words = width // 4
    form, registers = WIDTHS[width]
    inputs = ", ".join(f'"r"(x{i})' for i in range(words))
    once = f'asm volatile("st.volatile.shared{form}.u32 [%{words}], {registers};" :: {inputs}, "r"(at));'
    ahead = "".join(f"    u32 x{i} = threadIdx.x + {i};\n" for i in range(words))
    return _around(f"store_{width}", ahead, once, REPEATED, "at")


def _around(name: str, ahead: str, once: str, times: int, seen: str) -> str:
    return f"""KERNEL {name}(u64 *stamps, u32 stride, int rounds) {{
    __shared__ __align__(16) u32 words[{SHARED_B // 4}];
    u32 base = (u32)__cvta_generic_to_shared(words);
    for (int i = threadIdx.x; i < {SHARED_B // 4}; i += blockDim.x) words[i] = base + 4 * i;
    __syncthreads();
    u32 at = base + (threadIdx.x & 31) * stride * 4;
{ahead}    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int k = 0; k < {times}; k++) {{ {once} }}
    }}
    wait_for({seen});
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
