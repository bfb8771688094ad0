"""Shared memory under every stride and access width: cycles of the SM for one load or store of a warp."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Case, Estimate, Findings, Record, Step, by_axis, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import timed_kernel, unrolled

STRIDES = (0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 31, 32, 33)  # words between lanes
QUICK_STRIDES = (0, 1, 2, 4, 8, 16, 32, 33)
WIDTHS = {4: ("", "%0"), 8: (".v2", "{%0, %1}"), 16: (".v4", "{%0, %1, %2, %3}")}
SHARED_B = 20 << 10
WARPS = 32
BANKS = 32
CHAINS = 2  # of one warp
ROUNDS = 16
REPEATED = 64


def source() -> str:
    """CUDA C++: loads and stores of three widths."""
    return "\n".join([*map(_load, WIDTHS), *map(_store, WIDTHS)])


def _load(width: int) -> str:
    """Every word holds its own address, so that each load gives the address of the next and none is redundant."""
    form, registers = WIDTHS[width]
    words = [f"x{i}" for i in range(1, width // 4)]
    outputs = ", ".join(['"+r"(at{j})', *(f'"=r"({word})' for word in words)])
    load = f'asm volatile("ld.shared{form}.u32 {registers}, [%0];" : {outputs});'
    chains = [f"at{j}" for j in range(CHAINS)]
    setup = "".join(f" u32 {chain} = at;" for chain in chains) + "".join(f" u32 {word} = 0;" for word in words)
    body = " ".join(load.replace("{j}", str(j)) for j in range(CHAINS))
    return _kernel(f"load_{width}", setup, unrolled(REPEATED // CHAINS, body), " + ".join(chains + words))


def _store(width: int) -> str:
    form, registers = WIDTHS[width]
    words = [f"x{i}" for i in range(width // 4)]
    inputs = ", ".join(f'"r"({word})' for word in words)
    store = f'asm volatile("st.volatile.shared{form}.u32 [%{len(words)}], {registers};" :: {inputs}, "r"(at));'
    setup = "".join(f" u32 {word} = threadIdx.x + {i};" for i, word in enumerate(words))
    return _kernel(f"store_{width}", setup, unrolled(REPEATED, store), "at")


def _kernel(name: str, setup: str, body: str, result: str) -> str:
    words = f"""__shared__ __align__(16) u32 words[{SHARED_B // 4}];
    u32 base = (u32)__cvta_generic_to_shared(words);
    for (int i = threadIdx.x; i < {SHARED_B // 4}; i += blockDim.x) words[i] = base + 4 * i;
    __syncthreads();
    u32 at = base + (threadIdx.x & 31) * stride * 4;"""
    return timed_kernel(name, "u32 stride, int rounds", words + setup, body, result)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Kind x width x stride, without the strides that break the alignment of a width."""
    for kind in ("load", "store"):
        for width in WIDTHS:
            for stride in QUICK_STRIDES if effort == "quick" else STRIDES:
                if stride * 4 % width == 0 and 31 * stride * 4 + width <= SHARED_B:
                    args = ("stamps", np.uint32(stride), np.int32(ROUNDS))
                    step = Step(f"{kind}_{width}", (facts.sm_count,), 32 * WARPS, args)
                    yield stamped({"kind": kind, "width": width, "stride": stride}, step)


def cycles(record: Record) -> float:
    """Cycles of an SM for one access of a warp."""
    return record.number("duration") / (WARPS * ROUNDS * REPEATED)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles per access by stride in words; those of a wavefront from loads that all hit one bank."""
    slowest = [cycles(record) / BANKS for record in matching(records, kind="load", width=4, stride=BANKS)]
    cost = {"shared_wavefront_cost": Estimate(min(slowest), "cycle", "32 lanes on one bank")} if slowest else {}
    return Findings(cost, {
        f"{kind} of {width} B": by_axis(sweep, "stride", cycles, 3)
        for kind in ("load", "store") for width in WIDTHS if (sweep := matching(records, kind=kind, width=width))
    })  # fmt: skip
