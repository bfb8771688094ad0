"""Latencies that go together: which number of a board each one of these tables follows, and what states it.

A board may have a number of its own for a class (machine.PARAMETERS); every latency of the class changes in proportion.
Stall counts in control words are part of the code: a longer latency is waited for, a shorter one gains nothing there.
"""

from collections.abc import Mapping
from types import MappingProxyType

from warpbound.isa.opcodes import OpcodeFacts, latency, opcode_facts

STATED_BY: Mapping[str, tuple[str, ...]] = MappingProxyType({  # number of a board -> opcode and modifiers it is of
    "alu_latency": ("FADD",),
    "uniform_latency": ("UIADD3",),
    "xu_latency": ("MUFU",),
    "fp64_latency": ("DFMA",),
    "tensor_latency": ("HMMA", "16816", "F32"),
    "shuffle_latency": ("SHFL",),
    "special_register_latency": ("S2R",),
    "reduction_latency": ("REDUX",),
    "barrier_latency": ("BAR",),
    "fence_latency": ("MEMBAR", "GPU"),
})  # fmt: skip
ROWS: Mapping[str, tuple[str, ...]] = MappingProxyType({  # -> rows of latencies.toml, the first its own
    "constant_latency": ("constant_immediate", "constant_register"),
    "matrix_load_latency": ("ldsm", "ldsm_extra_matrix"),
    "shared_atomic_latency": ("atom_shared",),
    "copy_latency": ("ldgsts",),
    "wide_load_cost": ("global_width_128", "global_width_64", "shared_width_128"),
    "uniform_address_lead": ("global_uniform_address",),
    "operand_read_latency": (
        "war_ldg_32", "war_ldg_64", "war_ldg_128", "war_stg_32", "war_stg_64", "war_stg_128",
        "war_lds_32", "war_lds_64", "war_lds_128", "war_sts_32", "war_sts_64", "war_sts_128",
        "war_ldc_immediate", "war_ldc_register", "war_ldgsts", "war_other",
    ),
    "scoreboard_latency": ("scoreboard",),
})  # fmt: skip
NUMBERS = (*STATED_BY, *ROWS)
FIRST = {  # number of a board -> the first architecture that is answered from code that has it: 6.x from that of 7.5
    "uniform_latency": 60, "reduction_latency": 60, "matrix_load_latency": 60, "copy_latency": 60, "tensor_latency": 60,
    "uniform_address_lead": 60, "operand_read_latency": 50, "scoreboard_latency": 50,  # in control words
}  # fmt: skip
_OF_CLASS = {"xu": "xu_latency", "fp64": "fp64_latency", "tensor": "tensor_latency", "constant": "constant_latency"}
_OF_PIPE = {"uniform": "uniform_latency", "tensor": "tensor_latency"}  # of fixed latency; other pipes alu_latency
_OF_FAMILY = {"match": "reduction_latency", "redux": "reduction_latency"}
_OF_ROW = {row: number for number, rows in ROWS.items() for row in rows}


def number_of(facts: OpcodeFacts) -> str:
    """The number of a board that an instruction's latency follows; empty for memory's own and for branches."""
    if facts.latency is None or facts.pipe in ("none", "unknown"):
        return ""
    if facts.latency_class == "fixed":
        return _OF_PIPE.get(facts.pipe, "alu_latency")
    if facts.latency_class == "barrier":
        return "fence_latency" if facts.family.startswith("fence") else "barrier_latency"
    if facts.latency_class == "special":
        other = "shuffle_latency" if facts.pipe == "lsu" else "special_register_latency"
        return _OF_FAMILY.get(facts.family, other)
    return _OF_CLASS.get(facts.latency_class, "")


def number_of_row(name: str) -> str:
    """The same of a row of latencies.toml; empty where none follows it."""
    return _OF_ROW.get(name, "")


def stated(number: str, arch: int) -> float:
    """What the architecture (90) has for a number of a board, cycles; 0 where no code for it has such."""
    if arch < FIRST.get(number, 0):
        return 0.0
    if number in ROWS:
        return abs(latency(ROWS[number][0], arch).value)
    opcode, *modifiers = STATED_BY[number]
    return opcode_facts(opcode, tuple(modifiers), arch).latency or 0.0
