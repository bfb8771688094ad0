"""What a backward slice assumes of a kernel, so that products of tiles need not be computed; a run may refute it.

Models   No warp diverges at a BRA.DIV (`fast_paths`). Boxes that the copy engine stores overwrite no tensor map that
         the kernel makes. No load that decides anything reads factors of products in shared memory, or sums of
         products that threads store there. A load of contents that were left out refutes the assumption.
"""

from collections.abc import Iterator, Sequence, Set

from warpbound.emulate.addresses import memory_operand, window_address
from warpbound.emulate.fast_paths import whole_warp_branches
from warpbound.emulate.loads_and_stores import checked_window, loaded, width, writer
from warpbound.emulate.operand_access import Site
from warpbound.emulate.semantics import Handler
from warpbound.emulate.state import State
from warpbound.emulate.value_dependence import taint
from warpbound.identity_cache import remember
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

MATRIX_LOAD = "LDSM"  # loads parts of tiles
_OWN = frozenset({"shared"})


class Refuted(Exception):
    """A load that decides something reads shared memory whose store was counted but not executed."""


@dataclass(frozen=True)
class Assumed:
    """whole_warp : branches that no warp takes. boxes : stores of boxes that write no tensor map. tiles : stores and
    copies to shared memory of what loads that decide something do not read."""

    whole_warp: frozenset[int] = frozenset()
    boxes: frozenset[int] = frozenset()
    tiles: frozenset[int] = frozenset()


NOTHING = Assumed()


@remember(4)
def assumed_of(program: Program) -> Assumed:
    """All that can be assumed of a kernel."""
    code = program.instructions
    boxes = {at for at, x in enumerate(code) if x.traits.by_tensor_map and "global" in x.traits.stores}
    return Assumed(
        whole_warp_branches(program), frozenset(boxes if writes_maps(code) else ()), frozenset(_tiles(program))
    )


def writes_maps(code: Sequence[Instruction]) -> bool:
    """Whether the kernel itself writes tensor maps: then it has to invalidate the copy engine's cache of them."""
    return any(instruction.opcode == "UTMACCTL" and "IV" in instruction.modifiers for instruction in code)


def is_plain_load(instruction: Instruction) -> bool:
    """Whether threads load from shared memory."""
    return instruction.traits.kind == "load" and instruction.traits.loads == _OWN


def loads_checked(program: Program, assumed: Assumed, uncomputed: Set[int]) -> frozenset[int]:
    """The loads that may refute an assumption. uncomputed : instructions that are counted, not executed."""
    if not assumed.tiles & uncomputed:
        return frozenset()
    return frozenset(at for at, x in enumerate(program.instructions) if is_plain_load(x) and at not in uncomputed)


def load_checked(here: Site) -> Handler:
    """LDS, which raises Refuted where it reads contents whose stores were left out."""
    size, narrow, store = width(here), window_address(memory_operand(here), here), writer(here, width(here))

    def handler(x: State) -> None:
        places = checked_window(x, "shared", narrow(x), size)
        if x.windows["shared"].holds_left_out(places if x.mask is None else places[x.mask], size):
            raise Refuted
        store(x, loaded(x, x.windows["shared"], places, size))

    return handler


def _tiles(program: Program) -> Iterator[int]:
    """Bulk copies to shared memory, and plain stores of what depends on products."""
    code, reads = program.instructions, program.register_sets.reads
    products = {at for at, x in enumerate(code) if x.traits.tensor or "tensor" in x.traits.loads}
    if not products or not any(map(is_plain_load, code)):
        return
    before = taint(program, products)
    for at, x in enumerate(code):
        plain = x.traits.kind == "store" and x.traits.stores == _OWN and x.opcode != "STAS"
        if plain and before[at] & reads[at] or x.traits.kind == "bulk_copy" and "shared" in x.traits.stores:
            yield at
