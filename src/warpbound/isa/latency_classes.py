"""Which parameter of a board scales the latency of an instruction, and the latency that its architecture has.

A board may give such a parameter (`board_parameters.LATENCIES`); every latency that follows it changes in proportion.
Stall counts in control words are part of the code: a longer latency makes the warp wait, a shorter one gains nothing.
"""

from warpbound.board_parameters import LATENCIES, PARAMETERS
from warpbound.isa.opcodes import OpcodeFacts, latency, opcode_facts

_FOLLOWED = {  # kind of instructions, its name -> parameter
    (kind, word): name for name in LATENCIES for kind, words in PARAMETERS[name].follows.items() for word in words
}
_OF_ROW = {row: name for name in LATENCIES for row in PARAMETERS[name].rows}


def latency_parameter(facts: OpcodeFacts) -> str:
    """The parameter that an instruction's latency follows; empty for memory latencies and branches."""
    if facts.latency is None or facts.pipe in ("none", "unknown"):
        return ""
    if facts.latency_class == "fixed":
        return _FOLLOWED.get(("pipe", facts.pipe), "alu_latency")
    if facts.latency_class == "barrier":
        return "fence_latency" if facts.family.startswith("fence") else "barrier_latency"
    if facts.latency_class == "special":
        other = "shuffle_latency" if facts.pipe == "lsu" else "special_register_latency"
        return _FOLLOWED.get(("family", facts.family), other)
    return _FOLLOWED.get(("class", facts.latency_class), "")


def row_parameter(row: str) -> str:
    """The parameter that a row of latencies.toml follows; empty where it follows none."""
    return _OF_ROW.get(row, "")


def architecture_latency(name: str, arch: int) -> float:
    """Cycles that an architecture (90) has for a parameter of LATENCIES; 0 where no code for it has such."""
    parameter = PARAMETERS[name]
    if arch < parameter.first_arch:
        return 0.0
    if parameter.rows:
        return abs(latency(parameter.rows[0], arch).value)
    opcode, *modifiers = parameter.opcode.split(".")
    return opcode_facts(opcode, tuple(modifiers), arch).latency or 0.0
