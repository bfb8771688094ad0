"""Opcode -> what builds its handler."""

from collections.abc import Callable, Mapping

from warpbound.emulate import (
    async_copy,
    control_flow,
    convergence,
    conversions,
    device_runtime,
    float16,
    float32,
    float64,
    float_pairs,
    integer,
    integer_addition,
    loads_and_stores,
    logic_and_shifts,
    matrix_products,
    mbarrier,
    packed_integers,
    special_functions,
    warp_collectives,
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
    return mbarrier.arrive_early(here) if here.has("ARRIVE") else wide_atomics.any_atomic("shared")(here)


def trap(here: Site) -> Handler:
    """BPT: __trap, or an assertion that does not hold."""
    return stop


def stop(x: State) -> None:
    raise BadAccess(int(x.active().argmax()), "the kernel stops itself (a trap or a failed assertion)")


CONTROL: Mapping[str, control_flow.Build] = {
    "BRA": control_flow.branch, "JMP": control_flow.branch, "CALL": control_flow.call,
    "BRX": control_flow.indirect, "BRXU": control_flow.indirect, "JMX": control_flow.indirect,
    "RET": control_flow.indirect,
    "EXIT": control_flow.finish, "KILL": control_flow.finish,
    "BSSY": convergence.set_convergence, "BSYNC": convergence.await_convergence, "BREAK": convergence.leave_convergence,
    "WARPSYNC": convergence.synchronise_warp, "BMOV": convergence.move_barrier,
    "UCGABAR_WAIT": control_flow.cluster_barrier, "BAR": control_flow.block_barrier, "B2R": control_flow.barrier_result,
    "YIELD": control_flow.note_polling, "NANOSLEEP": control_flow.note_polling,
}  # fmt: skip

PLAIN: Mapping[str, Callable[[Site], Handler]] = {
    **{name: nothing for name in (
        "NOP", "MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "CCTLL", "DEPBAR", "LDGDEPBAR", "FENCE",
        "PREEXIT", "UCGABAR_ARV", "ENDCOLLECTIVE", "ACQBULK", "UTMACCTL", "CCTLT", "PMTRIG", "SETCTAID", "USETMAXREG",
    )},
    **{name: integer_addition.add for name in ("IADD3", "IADD", "VIADD", "UVIADD", "UIADD3", "UIADD")},
    **{name: integer.multiply_add for name in ("IMAD", "UIMAD")},
    **{name: integer.compare for name in ("ISETP", "UISETP")},
    **{name: integer.minimum for name in ("IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX")},
    **{name: integer.shifted_add for name in ("LEA", "ULEA")},
    "VIADDMNMX": integer.add_minimum, "VIMNMX3": integer.minimum_of_three,
    "IABS": integer.absolute, "UIABS": integer.absolute, "IDP": integer.dot_product,
    **{name: logic_and_shifts.logic for name in ("LOP3", "ULOP3")},
    **{name: logic_and_shifts.predicate_logic for name in ("PLOP3", "UPLOP3")},
    **{name: logic_and_shifts.funnel_shift for name in ("SHF", "USHF")},
    **{name: logic_and_shifts.permute for name in ("PRMT", "UPRMT")},
    **{name: logic_and_shifts.select for name in ("SEL", "USEL")},
    **{name: float32.select for name in ("FSEL", "UFSEL")},
    **{name: logic_and_shifts.move for name in ("MOV", "UMOV")},
    **{name: logic_and_shifts.population for name in ("POPC", "UPOPC")},
    **{name: logic_and_shifts.reverse for name in ("BREV", "UBREV")},
    **{name: logic_and_shifts.leading_one for name in ("FLO", "UFLO")},
    **{name: logic_and_shifts.extend_sign for name in ("SGXT", "USGXT")},
    **{name: logic_and_shifts.bit_mask for name in ("BMSK", "UBMSK")},
    "P2R": logic_and_shifts.pack_predicates, "UP2UR": logic_and_shifts.pack_predicates,
    "R2P": logic_and_shifts.unpack_predicates,
    **{name: float32.add for name in ("FADD", "UFADD")},
    **{name: float32.multiply for name in ("FMUL", "UFMUL")},
    **{name: float32.multiply_add for name in ("FFMA", "UFFMA")},
    **{name: float32.compare for name in ("FSETP", "UFSETP")},
    **{name: float32.compare_value for name in ("FSET", "UFSET")},
    **{name: float32.minimum for name in ("FMNMX", "UFMNMX")},
    "FMNMX3": float32.minimum_of_three, "FCHK": float32.check_division,
    "FADD2": float_pairs.on_pairs("add"), "FMUL2": float_pairs.on_pairs("multiply"),
    "FFMA2": float_pairs.on_pairs("fma"),
    "MUFU": special_functions.special_function,
    "DADD": float64.add, "DMUL": float64.multiply, "DFMA": float64.multiply_add, "DSETP": float64.compare,
    "DMNMX": float64.minimum,
    "HADD2": float16.add, "HMUL2": float16.multiply, "HFMA2": float16.multiply_add, "HSETP2": float16.compare,
    "HSET2": float16.compare_value, "HMNMX2": float16.minimum, "VHMNMX": float16.minimum,
    "F2I": conversions.float_to_integer, "I2F": conversions.integer_to_float, "I2FP": conversions.integer_to_float,
    "UI2F": conversions.integer_to_float, "UF2I": conversions.float_to_integer, "UI2FP": conversions.integer_to_float,
    "F2F": conversions.float_to_float, "UF2F": conversions.float_to_float,
    "FRND": conversions.round_to_whole, "UFRND": conversions.round_to_whole,
    "F2FP": conversions.pack_floats, "UF2FP": conversions.pack_floats,
    **{name: conversions.integer_to_integer for name in ("I2I", "UI2I")},
    **{name: conversions.pack_integers for name in ("I2IP", "UI2IP")},
    **{name: conversions.pack_whole for name in ("F2IP", "UF2IP")},
    "VABSDIFF": integer.absolute_difference, "VABSDIFF4": packed_integers.absolute_differences, "BPT": trap,
    "LEPC": device_runtime.load_address, "RPCMOV": device_runtime.move_return_address,
    "HMMA": matrix_products.multiply, "IMMA": matrix_products.multiply, "QMMA": matrix_products.multiply,
    "BMMA": matrix_products.multiply,
    "DMMA": matrix_products.multiply_double,
    "LDSM": matrix_products.load_matrix, "STSM": matrix_products.store_matrix, "MOVM": matrix_products.move_matrix,
    "LDGSTS": async_copy.copy,
    "LDG": loads_and_stores.load("global"), "STG": loads_and_stores.store("global"),
    "LDS": loads_and_stores.load("shared"),
    "STS": loads_and_stores.store("shared"), "LDL": loads_and_stores.load("local"),
    "STL": loads_and_stores.store("local"),
    "LD": loads_and_stores.load_generic, "ST": loads_and_stores.store_generic, "QSPC": loads_and_stores.query_space,
    **{name: loads_and_stores.load_constant for name in ("LDC", "ULDC", "LDCU")},
    **{name: wide_atomics.any_atomic("generic") for name in ("ATOM", "ATOMG", "RED", "REDG")},
    "REDS": wide_atomics.any_atomic("shared"), "ATOMS": shared_atomic,
    "ARRIVES": mbarrier.arrive_after_copies, "SYNCS": mbarrier.synchronise,
    "SHFL": warp_collectives.shuffle, "VOTE": warp_collectives.vote, "VOTEU": warp_collectives.vote,
    "MATCH": warp_collectives.match,
    "ELECT": warp_collectives.elect,
    "REDUX": warp_collectives.reduce, "CREDUX": warp_collectives.reduce,
    **{name: warp_collectives.read_special for name in ("S2R", "S2UR", "CS2R", "CS2UR")},
    "R2UR": warp_collectives.to_uniform,
}  # fmt: skip

POLLING = frozenset({"ATOM", "ATOMG", "ATOMS", "SYNCS"})  # what a loop that waits for others runs; and strong loads
