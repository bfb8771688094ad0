"""The sources of the suite: a mechanism's kernels behind the prelude."""

from importlib.resources import files


def prelude() -> str:
    """Clocks, stamps and the kernels that all mechanisms share."""
    return (files("warpbound.measure") / "prelude.cuh").read_text(encoding="utf-8")


def kernel_file(package: str) -> str:
    """kernel.cu of a mechanism's folder."""
    return (files(package) / "kernel.cu").read_text(encoding="utf-8")


def chains() -> str:
    """Chains of 32-bit entries, for kernels that many warps run."""
    return (files("warpbound.measure") / "chains.cuh").read_text(encoding="utf-8")
