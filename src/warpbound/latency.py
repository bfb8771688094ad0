"""How long each instruction of a program keeps its scoreboards up on one GPU, and what such a wait is called.

Source   latencies by architecture from isa/latencies.toml, those of the memory system from the Gpu.
Models   unloaded latencies: a load served by L1, L2 or DRAM, or by shares of them.
Omits    waiting behind other requests; misses of the constant and instruction caches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from warpbound.isa.opcodes import OpcodeFacts, latency, opcode_facts
from warpbound.machine import Gpu
from warpbound.program.instruction import RZ, Instruction
from warpbound.schedule import Wait

Shares = Mapping[str, float]  # l1, l2, dram -> share of a load's sectors served there; shares add up to 1
LEVELS = ("l1", "l2", "dram")
DRAM: Shares = {"dram": 1.0}

_STORES = frozenset({"ST", "STG", "STL", "STS", "STSM", "RED", "REDG", "REDS", "UTMASTG"})
_LDC = frozenset({"LDC", "LDCU", "ULDC"})


@dataclass(frozen=True)
class MemoryLatency:
    """Unloaded latencies in cycles at the chosen clock, on an architecture (90 for sm_90)."""

    arch: int
    l1: float
    l2: float
    dram: float
    shared: float

    def of(self, shares: Shares) -> float:
        """Mean over the levels that serve a load."""
        return sum(self.at(level) * share for level, share in shares.items())

    def at(self, level: str) -> float:
        """Latency of one level: l1, l2 or dram."""
        return {"l1": self.l1, "l2": self.l2, "dram": self.dram}[level]


def memory_latency(gpu: Gpu, clock_hz: float) -> MemoryLatency:
    """L1, L2 and shared memory keep their cycles; DRAM's share beyond L2 keeps its time."""
    l2 = gpu.value("l2_latency")
    beyond_s = (gpu.value("dram_latency") - l2) / gpu.value("latency_clock")
    return MemoryLatency(gpu.arch, gpu.value("l1_latency"), l2, l2 + beyond_s * clock_hz, gpu.value("shared_latency"))


def waits(
    instructions: Sequence[Instruction], memory: MemoryLatency, served: Callable[[int], Shares] = lambda _: DRAM
) -> tuple[Wait, ...]:
    """One Wait per instruction; `served(index)` says which levels serve the load at that index."""
    arch = memory.arch
    return tuple(
        _wait(one, opcode_facts(one.opcode, one.modifiers, arch), arch, memory, served(index))
        for index, one in enumerate(instructions)
    )


def _wait(one: Instruction, facts: OpcodeFacts, arch: int, memory: MemoryLatency, shares: Shares) -> Wait:
    kind = facts.latency_class
    read = _until_read(one, arch)
    if kind == "global" and one.opcode not in _STORES:
        extra = _wider(one, arch, "global") + _uniform_address(one, arch)
        total = memory.of(shares) + extra
        causes = tuple((level, memory.at(level) * share / memory.of(shares)) for level, share in shares.items())
        return Wait(total, read, causes, "lsu", loads=True)
    if kind == "local":
        return Wait(memory.l1 + _wider(one, arch, "global"), read, (("l1", 1.0),), "lsu", loads=one.opcode == "LDL")
    if kind == "shared":
        return Wait(_shared(one, arch, memory), read, (("shared", 1.0),), "lsu")
    if kind == "constant":
        register = any(x.index != RZ for y in one.operands for x in y.terms) and one.opcode in _LDC
        name = "constant_register" if register else "constant_immediate"
        return Wait(latency(name, arch).value, read, (("constant", 1.0),), "constant")
    if kind == "barrier":
        hold = facts.latency or 0.0 if one.opcode == "BAR" else 0.0
        return Wait(facts.latency or 0.0, read, (("barrier", 1.0),), "adu", hold=hold)
    queue = "" if kind in ("fixed", "branch") else facts.pipe
    return Wait(facts.latency or 0.0, read, (("fixed", 1.0),), queue)


def _wider(one: Instruction, arch: int, space: str) -> float:
    """Cycles that a 64- or 128-bit access takes longer than a 32-bit one."""
    for bits in ("128", "64"):
        if bits in one.modifiers:
            return latency(f"{space}_width_{bits}", arch).value
    return latency(f"{space}_width_32", arch).value


def _uniform_address(one: Instruction, arch: int) -> float:
    address = next((x for x in one.operands if x.kind == "memory"), None)
    only_uniform = address is not None and address.terms and all(x.kind == "uniform" for x in address.terms)
    return latency("global_uniform_address", arch).value if only_uniform else 0.0


def _shared(one: Instruction, arch: int, memory: MemoryLatency) -> float:
    if one.opcode == "LDSM":
        matrices = next((int(m) for m in one.modifiers if m in ("2", "4")), 1)
        extra = latency("ldsm_extra_matrix", arch).value * (matrices - 1)
        return latency("ldsm", arch).value + extra
    if one.opcode.startswith("ATOM"):
        return latency("atom_shared", arch).value
    return memory.shared + _wider(one, arch, "shared")


def _until_read(one: Instruction, arch: int) -> float:
    """Cycles until the source registers have been read and may be overwritten."""
    if one.control is None or one.control.read is None:
        return 0.0
    bits = next((b for b in ("128", "64") if b in one.modifiers), "32")
    prefix = {"LDG": "ldg", "STG": "stg", "LDS": "lds", "STS": "sts"}.get(one.opcode)
    if prefix:
        return latency(f"war_{prefix}_{bits}", arch).value
    return latency("war_ldgsts" if one.opcode == "LDGSTS" else "war_other", arch).value
