"""Opcode -> what builds its handler."""

from collections.abc import Callable, Mapping

from warpbound.emulate import (
    addition,
    arrival,
    async_copy,
    bits,
    control,
    convergence,
    convert,
    float32,
    float64,
    float_pairs,
    functions,
    half,
    integer,
    loads,
    packed,
    services,
    tensor,
    warp_wide,
    wide_atomics,
)
from warpbound.emulate.operand_access import Site
from warpbound.emulate.state import BadAccess, State

Handler = Callable[[State], None]


def nothing(here: Site) -> Handler:
    """Fences, hints and scheduling aids: memory is coherent and in order here."""
    return lambda x: None


def shared_atomic(here: Site) -> Handler:
    """ATOMS: an arrival at a barrier, or an atomic."""
    return arrival.arrive_early(here) if here.has("ARRIVE") else wide_atomics.any_atomic("shared")(here)


def trap(here: Site) -> Handler:
    """BPT: __trap, or an assertion that does not hold."""
    return stop


def stop(x: State) -> None:
    raise BadAccess(int(x.active().argmax()), "the kernel stops itself (a trap or a failed assertion)")


CONTROL: Mapping[str, control.Build] = {
    "BRA": control.branch, "JMP": control.branch, "CALL": control.call,
    "BRX": control.indirect, "BRXU": control.indirect, "JMX": control.indirect, "RET": control.indirect,
    "EXIT": control.finish, "KILL": control.finish,
    "BSSY": convergence.set_convergence, "BSYNC": convergence.await_convergence, "BREAK": convergence.leave_convergence,
    "WARPSYNC": convergence.synchronise_warp, "BMOV": convergence.move_barrier,
    "UCGABAR_WAIT": control.cluster_barrier, "BAR": control.block_barrier, "B2R": control.barrier_result,
    "YIELD": control.note_polling, "NANOSLEEP": control.note_polling,
}  # fmt: skip

PLAIN: Mapping[str, Callable[[Site], Handler]] = {
    **{name: nothing for name in (
        "NOP", "MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "CCTLL", "DEPBAR", "LDGDEPBAR", "FENCE",
        "PREEXIT", "UCGABAR_ARV", "ENDCOLLECTIVE", "ACQBULK", "UTMACCTL", "CCTLT", "PMTRIG", "SETCTAID", "USETMAXREG",
    )},
    **{name: addition.add for name in ("IADD3", "IADD", "VIADD", "UVIADD", "UIADD3", "UIADD")},
    **{name: integer.multiply_add for name in ("IMAD", "UIMAD")},
    **{name: integer.compare for name in ("ISETP", "UISETP")},
    **{name: integer.minimum for name in ("IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX")},
    **{name: integer.shifted_add for name in ("LEA", "ULEA")},
    "VIADDMNMX": integer.add_minimum, "VIMNMX3": integer.minimum_of_three,
    "IABS": integer.absolute, "UIABS": integer.absolute, "IDP": integer.dot_product,
    **{name: bits.logic for name in ("LOP3", "ULOP3")},
    **{name: bits.predicate_logic for name in ("PLOP3", "UPLOP3")},
    **{name: bits.funnel_shift for name in ("SHF", "USHF")},
    **{name: bits.permute for name in ("PRMT", "UPRMT")},
    **{name: bits.select for name in ("SEL", "USEL")},
    **{name: float32.select for name in ("FSEL", "UFSEL")},
    **{name: bits.move for name in ("MOV", "UMOV")},
    **{name: bits.population for name in ("POPC", "UPOPC")},
    **{name: bits.reverse for name in ("BREV", "UBREV")},
    **{name: bits.leading_one for name in ("FLO", "UFLO")},
    **{name: bits.extend_sign for name in ("SGXT", "USGXT")},
    **{name: bits.bit_mask for name in ("BMSK", "UBMSK")},
    "P2R": bits.pack_predicates, "UP2UR": bits.pack_predicates, "R2P": bits.unpack_predicates,
    **{name: float32.add for name in ("FADD", "UFADD")},
    **{name: float32.multiply for name in ("FMUL", "UFMUL")},
    **{name: float32.multiply_add for name in ("FFMA", "UFFMA")},
    **{name: float32.compare for name in ("FSETP", "UFSETP")},
    **{name: float32.compare_value for name in ("FSET", "UFSET")},
    **{name: float32.minimum for name in ("FMNMX", "UFMNMX")},
    "FMNMX3": float32.minimum_of_three, "FCHK": float32.check_division,
    "FADD2": float_pairs.on_pairs("add"), "FMUL2": float_pairs.on_pairs("multiply"),
    "FFMA2": float_pairs.on_pairs("fma"),
    "MUFU": functions.special_function,
    "DADD": float64.add, "DMUL": float64.multiply, "DFMA": float64.multiply_add, "DSETP": float64.compare,
    "DMNMX": float64.minimum,
    "HADD2": half.add, "HMUL2": half.multiply, "HFMA2": half.multiply_add, "HSETP2": half.compare,
    "HSET2": half.compare_value, "HMNMX2": half.minimum, "VHMNMX": half.minimum,
    "F2I": convert.float_to_integer, "I2F": convert.integer_to_float, "I2FP": convert.integer_to_float,
    "UI2F": convert.integer_to_float, "UF2I": convert.float_to_integer, "UI2FP": convert.integer_to_float,
    "F2F": convert.float_to_float, "UF2F": convert.float_to_float,
    "FRND": convert.round_to_whole, "UFRND": convert.round_to_whole,
    "F2FP": convert.pack_floats, "UF2FP": convert.pack_floats,
    **{name: convert.integer_to_integer for name in ("I2I", "UI2I")},
    **{name: convert.pack_integers for name in ("I2IP", "UI2IP")},
    **{name: convert.pack_whole for name in ("F2IP", "UF2IP")},
    "VABSDIFF": integer.absolute_difference, "VABSDIFF4": packed.absolute_differences, "BPT": trap,
    "LEPC": services.load_address, "RPCMOV": services.move_return_address,
    "HMMA": tensor.multiply, "IMMA": tensor.multiply, "QMMA": tensor.multiply, "BMMA": tensor.multiply,
    "DMMA": tensor.multiply_double,
    "LDSM": tensor.load_matrix, "STSM": tensor.store_matrix, "MOVM": tensor.move_matrix,
    "LDGSTS": async_copy.copy,
    "LDG": loads.load("global"), "STG": loads.store("global"), "LDS": loads.load("shared"),
    "STS": loads.store("shared"), "LDL": loads.load("local"), "STL": loads.store("local"),
    "LD": loads.load_generic, "ST": loads.store_generic, "QSPC": loads.query_space,
    **{name: loads.load_constant for name in ("LDC", "ULDC", "LDCU")},
    **{name: wide_atomics.any_atomic("generic") for name in ("ATOM", "ATOMG", "RED", "REDG")},
    "REDS": wide_atomics.any_atomic("shared"), "ATOMS": shared_atomic,
    "ARRIVES": arrival.arrive_after_copies, "SYNCS": arrival.synchronise,
    "SHFL": warp_wide.shuffle, "VOTE": warp_wide.vote, "VOTEU": warp_wide.vote, "MATCH": warp_wide.match,
    "ELECT": warp_wide.elect,
    "REDUX": warp_wide.reduce, "CREDUX": warp_wide.reduce,
    **{name: warp_wide.read_special for name in ("S2R", "S2UR", "CS2R", "CS2UR")},
    "R2UR": warp_wide.to_uniform,
}  # fmt: skip

POLLING = frozenset({"ATOM", "ATOMG", "ATOMS", "SYNCS"})  # what a loop that waits for others runs; and strong loads
