"""cp.async: LDGSTS copies from global to shared memory; here at once, so that every wait is met."""

from collections.abc import Callable

import numpy as np

from warpbound.emulate.addresses import global_address, window_address
from warpbound.emulate.loads import load_global, store_window, width
from warpbound.emulate.operand_access import Site, is_predicate, predicate
from warpbound.emulate.state import State

Handler = Callable[[State], None]


def copy(here: Site) -> Handler:
    """LDGSTS: lanes whose predicate input fails copy zeros."""
    target, source = [one for one in here.instruction.operands if one.kind == "memory"]
    put_at, take_at = window_address(target, here), global_address(source, here)
    size = width(here)
    flags = [one for one in here.instruction.operands if is_predicate(one) and (one.index != 7 or one.invert)]
    given = predicate(flags[0], here) if flags else None

    def handler(x: State) -> None:
        if given is None:
            store_window(x, "shared", put_at(x), size, load_global(x, take_at(x), size))
            return
        wanted = np.broadcast_to(given(x), x.selected_lanes)
        kept = x.mask
        active = x.active()
        words = [np.zeros(x.selected_lanes, np.uint32) for _ in range(max(1, size // 4))]
        if (active & wanted).any():
            x.mask = active & wanted
            try:
                words = [np.where(wanted, word, np.uint32(0)) for word in load_global(x, take_at(x), size)]
            finally:
                x.mask = kept
        store_window(x, "shared", put_at(x), size, words)

    return handler
