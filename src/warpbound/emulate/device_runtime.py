"""Functions of the driver that compiled code calls by address: printf, a failed assertion, malloc and free.

Source   Compiled probes for sm_75 to sm_120: the address comes from bank 4, the call returns to the next instruction.
"""

from collections.abc import Callable

import numpy as np

from warpbound.emulate.device_heap import serve
from warpbound.emulate.device_printing import assertion, print_lanes
from warpbound.emulate.operand_access import Site, raw, unsupported, write_words
from warpbound.emulate.semantics import executes
from warpbound.emulate.state import BadAccess, State

Move = Callable[[State], int | None]

_FIRST = 0x7F00_0000  # behind all code
ADDRESSES = {name: _FIRST + 16 * i for i, name in enumerate(("vprintf", "__assertfail", "malloc", "free"))}
_NAMES = {address: name for name, address in ADDRESSES.items()}


def served(here: Site, otherwise: Move, end: Callable[[State], int]) -> Move:
    """A call by address: a driver function is executed here, `otherwise` calls the kernel's own function.

    end : of the threads whose assertion fails, where that is no error.
    """
    value = raw(next(operand for operand in here.instruction.operands if operand.kind in ("register", "uniform")), here)

    def move(x: State) -> int | None:
        targets, active = np.broadcast_to(value(x), x.selected_lanes), x.active()
        lane = int(active.argmax())
        name = _NAMES.get(int(targets[lane]))
        if name is None:
            return otherwise(x)
        if name == "__assertfail" and x.image.tell_failed is not None:
            x.image.tell_failed(int(np.count_nonzero(active)))
            return end(x)
        if name == "__assertfail":
            raise BadAccess(lane, assertion(x, lane))
        alike = not (targets[active] != targets[lane]).any()
        if alike and name == "vprintf":
            print_lanes(x)
        elif not alike or not serve(name, x):
            raise unsupported(here.instruction, f", which calls {name}")
        return None

    return move


@executes("LEPC")
def load_address(here: Site) -> Callable[[State], None]:
    """LEPC: the address of a label, or of the instruction itself."""
    output = here.output
    assert output is not None
    label = next((int(operand.value) for operand in here.instruction.operands if operand.kind == "label"), None)
    value = np.uint64(here.instruction.address if label is None else label)
    return lambda x: x.put_pair(output.index, np.full(x.selected_lanes, value))


@executes("RPCMOV")
def move_return_address(here: Site) -> Callable[[State], None]:
    """RPCMOV: a word of the register for return addresses, where the compiler also keeps other words for a while."""
    target, source = here.instruction.operands
    if target.text.startswith("Rpc."):
        value = raw(source, here)
        return lambda x: x.assign(x.return_words(target.text), value(x))
    if not source.text.startswith("Rpc."):
        raise unsupported(here.instruction)
    write = write_words(target)
    return lambda x: write(x, x.of_selected(x.return_words(source.text)).copy())
