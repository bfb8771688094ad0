"""Words of a kernel's stack frame that only spilled registers use: they are followed like registers.

Compilers spill registers to constant places of the frame, which register R1 points to. If a kernel accesses local
memory at such places alone and does nothing else with R1, no other access can reach them.

Omits    Kernels that index an array in local memory, or pass its address on: none of their words is a slot.
"""

from warpbound.identity_cache import remember
from warpbound.program.instruction import RZ, Instruction, Operand
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes, reads, writes

FRAME, WORD_B, MOST_SLOTS = "R1", 4, 4096
_ACCESSES = ("load", "store")


@remember(4)
def stack_slots(program: Program) -> dict[int, tuple[str, ...]]:
    """The words that each access to local memory reads or writes, as names of slots; nothing if there are others."""
    code = program.instructions
    local = [at for at, x in enumerate(code) if "local" in x.traits.spaces]
    pointing = [at for at, x in enumerate(code) if FRAME in writes(x)]
    first_block = program.flow.blocks[0] if program.flow.blocks else None
    if not local or not pointing or first_block is None or pointing[-1] >= min(first_block.last, local[0]):
        return {}
    using = {at for at, x in enumerate(code) if FRAME in reads(x)}
    if not using <= {*local, *pointing}:
        return {}
    slots = {at: _slots(code[at]) for at in local}
    return slots if all(slots.values()) else {}


def _slots(access: Instruction) -> tuple[str, ...]:
    """The slots of a load or store at a constant place of the frame; nothing for another instruction or place."""
    place = next((x for x in access.operands if x.kind == "memory"), None)
    if place is None or access.traits.kind not in _ACCESSES or not _is_in_frame(place):
        return ()
    if FRAME in writes(access) or any(x.kind == "register" and x.index == 1 for x in access.operands):
        return ()  # the pointer itself is loaded or stored
    first, end = int(place.value), int(place.value) + lane_bytes(access)
    if not 0 <= first < end <= WORD_B * MOST_SLOTS:
        return ()
    return tuple(f"S{word}" for word in range(first // WORD_B, -(-end // WORD_B)))


def _is_in_frame(place: Operand) -> bool:
    terms = [term for term in place.terms if term.index != RZ]
    return len(terms) == 1 and terms[0].kind == "register" and terms[0].index == 1


def spilled_registers(access: Instruction) -> tuple[str, ...]:
    """The registers that an access to slots stores or loads, in the order of its slots; nothing for zeros."""
    first = next(x for x in access.operands if x.kind == "register").index
    count = max(1, lane_bytes(access) // WORD_B)
    return () if first == RZ else tuple(f"R{number}" for number in range(first, first + count))


def covers_slots(access: Instruction) -> bool:
    """Whether a store to slots writes all of their bytes."""
    return lane_bytes(access) >= WORD_B
