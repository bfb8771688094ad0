"""Every opcode that the emulator executes: importing this module registers all semantics functions."""

from warpbound.emulate import (  # noqa: F401  (each enters its functions)
    async_copy,
    block_pairs,
    bulk_copies,
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
    mixed_precision,
    packed_integers,
    scaled_products,
    scaled_warp_products,
    special_functions,
    tensor_boxes,
    tensor_memory,
    tensor_memory_copies,
    tensor_memory_products,
    texture_fetches,
    warp_collectives,
    warpgroup_products,
    wide_atomics,
)
from warpbound.emulate.operand_access import TRUE, Site, write_predicate
from warpbound.emulate.semantics import CONTROL, PLAIN, WITHOUT_EFFECT, Handler, executes
from warpbound.emulate.state import BadAccess, State

__all__ = ["CONTROL", "PLAIN"]


@executes(WITHOUT_EFFECT)
def nothing(here: Site) -> Handler:
    """Fences, hints and scheduling aids: memory is coherent and in order here."""
    return lambda x: None


@executes("USETMAXREG")
def resize_register_file(here: Site) -> Handler:
    """USETMAXREG: a warp gives registers back, or requests more until its predicate is true: at once."""
    first = here.instruction.operands[0]
    granted = write_predicate(first if first.kind == "uniform_predicate" else None)
    return lambda x: granted(x, TRUE)


@executes("BPT")
def trap(here: Site) -> Handler:
    """BPT: __trap, or an assertion that does not hold."""
    return stop


def stop(x: State) -> None:
    raise BadAccess(int(x.active().argmax()), "the kernel stops itself (a trap or a failed assertion)")
