"""Records of answers from plain values: a whole entry as JSON has it, or a few fields with the rest filled in."""

from typing import Any

import msgspec

from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal

_REST: dict[str, Any] = {
    "kernel": "k", "gpu": "t4", "gpu_name": "T4", "mode": "dynamic", "cache": "warm", "scope": "whole kernel",
    "occupancy": {"blocks_per_sm": 8, "warps_per_sm": 64, "max_warps_per_sm": 64, "limiters": ["warps"],
                  "block_limits": {}, "next_step": None},
    "confidence": {"assumed": [], "unknown_opcodes": [], "proxy_isa": None},
    "program": {"name": "k", "source": "k.cu", "arch": "sm_75", "registers": 16, "shared_bytes": 0, "local_bytes": 0,
                "spill_bytes_stored": 0, "spill_bytes_loaded": 0, "barriers": 0, "max_threads_per_block": None,
                "parameters": [], "instructions": 8, "mix": {}},
}  # fmt: skip


def record(entry: dict[str, Any]) -> KernelResult | Refusal:
    """The record of an entry of `analyze`."""
    return msgspec.convert(entry, Refusal if "error" in entry else KernelResult)


def kernel_result(**fields: Any) -> KernelResult:
    """A record with these fields; of those that are records themselves, some fields are enough."""
    merged = {name: rest | fields.pop(name, {}) if isinstance(rest, dict) else rest for name, rest in _REST.items()}
    return msgspec.convert(merged | fields, KernelResult)
