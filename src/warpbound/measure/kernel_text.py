"""CUDA C++ of the suite: files of this package, and the loop that kernels with generated text time."""

from importlib.resources import files


def prelude() -> str:
    """Clocks, stamps and the kernels that all mechanisms share."""
    return (files("warpbound.measure") / "prelude.cuh").read_text(encoding="utf-8")


def chains() -> str:
    """Chains of 32-bit entries, for kernels that many warps run."""
    return (files("warpbound.measure") / "chains.cuh").read_text(encoding="utf-8")


def kernel_file(package: str) -> str:
    """kernel.cu of a mechanism's folder."""
    return (files(package) / "kernel.cu").read_text(encoding="utf-8")


def timed_kernel(name: str, parameters: str, setup: str, body: str, result: str) -> str:
    """A kernel that executes `body` `rounds` times between two clock reads and stamps each warp.

    parameters : behind the stamps; one of them is `rounds`. result : a 32-bit expression that depends on all that was
    computed; the second clock read waits for it.
    """
    return f"""KERNEL {name}(u64 *stamps, {parameters}) {{
    {setup}
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        {body}
    }}
    wait_for({result});
    stamp(stamps, start, cycle());
}}
"""


def unrolled(times: int, statement: str) -> str:
    """A loop that the compiler unrolls completely."""
    return f"#pragma unroll\n        for (int k = 0; k < {times}; k++) {{ {statement} }}"
