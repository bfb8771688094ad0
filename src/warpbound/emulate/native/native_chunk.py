"""A chunk of blocks that the interpreter executes, as far as it can; NumPy's handlers do the rest.

The results are those of the handlers alone: the interpreter stops before an instruction that it does not know, lanes
that diverge or must wait, an invalid access, and a jump back after which other lanes may have to run first.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.emulator import Chunk, Kernel
from warpbound.emulate.lane_groups import TURNS
from warpbound.emulate.lane_queries import every
from warpbound.emulate.memory_windows import Window
from warpbound.emulate.native.code import Code
from warpbound.emulate.native.movement import OF_THREAD
from warpbound.emulate.native.native_state import CChunk, NativeState
from warpbound.emulate.native.step import BANKS
from warpbound.emulate.special_registers import SMS, SpecialRegisters
from warpbound.emulate.state import LANES


class ThreadRows:
    """Special registers that are the same in all blocks of a launch: rows over the lanes of a block."""

    def __init__(self, kernel: Kernel, code: Code) -> None:
        values = SpecialRegisters(kernel, np.zeros(1, np.int64))
        lanes = kernel.lanes_per_block
        self._rows = {n: np.ascontiguousarray(np.broadcast_to(values[OF_THREAD[n]], lanes)) for n in code.special}
        self._places = (ctypes.c_void_p * len(OF_THREAD))()
        for number, row in self._rows.items():
            self._places[number] = row.ctypes.data
        self.pointers = ctypes.addressof(self._places)


class NativeChunk(Chunk):
    """Some blocks of a launch, executed by the interpreter. code : the kernel's steps. rows : of the launch."""

    state = NativeState
    x: NativeState

    def __init__(
        self, kernel: Kernel, blocks: Sequence[int] | NDArray[np.int64], first_warp: int, code: Code, rows: ThreadRows
    ) -> None:
        super().__init__(kernel, blocks, first_warp)
        self.code, self.rows = code, rows
        self._turn = -1
        self._ready = np.zeros(len(code.steps) + 1, np.uint8)
        self._marked_ready: list[int] = []

    @cached_property
    def _work_arrays(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
        count = self.x.warp_count
        return np.empty(count, np.int64), np.empty(count, np.uint32), np.empty(count * LANES, np.int64)

    @cached_property
    def _c(self) -> CChunk:
        """The chunk as the interpreter sees it."""
        c, image, kernel = CChunk(), self.x.image, self.kernel
        self.x.fill(c)
        if "set_convergence" in self.code.operations:
            self.x.fill_convergence(c)
        c.code, c.length = self.code.steps, len(self.code.steps)
        c.warps, c.masks, c.places = (array.ctypes.data for array in self._work_arrays)
        c.ready = self._ready.ctypes.data
        c.most_turns = TURNS
        shared, local = self.x.windows["shared"], self.x.windows["local"]
        first = np.arange(self.x.warp_count, dtype=np.int64) * LANES
        self._bases = shared.owner[first] * shared.size, first * local.size
        c.shared_base, c.local_base = (bases.ctypes.data for bases in self._bases)
        if type(shared) is Window and shared.cluster == 1 and "shared" in self.code.spaces:
            c.shared, c.shared_size = shared.bytes.ctypes.data, shared.size
        if "local" in self.code.spaces:
            c.local, c.local_size = local.bytes.ctypes.data, local.size
        layout = image.layout()
        self._layout = layout
        c.image, c.base, c.slot_bits = image.bytes.ctypes.data, layout.base, layout.slot_bits
        c.allocations, c.starts = len(layout.starts), layout.starts.ctypes.data
        for place, ends in enumerate(layout.ends):
            c.ends[place] = ends.ctypes.data
        self._touched = np.zeros((2, len(layout.starts) + 1), np.uint8)
        c.was_read, c.was_stored = (row.ctypes.data for row in self._touched)
        for number, words in kernel.memory.constants.banks.items():
            if number < BANKS and len(words):
                c.banks[number], c.bank_words[number] = words.ctypes.data, len(words)
        c.special = self.rows.pointers
        c.blocks, c.block_warps = self.blocks.ctypes.data, kernel.lanes_per_block // LANES
        c.grid[:], c.cluster, c.sms = kernel.launch.grid, kernel.cluster_size, SMS
        return c

    def _ahead(self, at: int, limit: int) -> int:
        c, x = self._c, self.x
        if self._turn != x.turn:
            self._choose()
        c.steps, c.budget, c.turns, c.clock = 0, limit - self.steps, self.turns, x.clock
        c.polled, c.wrote, c.changed = self.flow.polled, 0, 0
        after: int = self.code.run(c, at)
        if c.steps:
            x.forget()
            self.steps += c.steps
            x.clock += c.steps
            self.turns = c.turns
            if c.polled:
                self.flow.polled = self.polled = True
            self.wrote = self.wrote or bool(c.wrote)
            x.changed = x.changed or bool(c.changed)
        return after

    def _choose(self) -> None:
        """Tell the interpreter which lanes run, and where others wait."""
        c, x, groups = self._c, self.x, self.flow.groups
        self._turn = x.turn
        for place in self._marked_ready:
            self._ready[place] = 0
        self._marked_ready = list(groups.ready)
        for place in self._marked_ready:
            self._ready[place] = 1
        c.others = bool(groups.ready) or groups.waiting()
        c.count = x.selected_lanes // LANES
        self._lanes = x.warps, x.mask
        c.selected = None if x.warps is None else x.warps.ctypes.data
        c.lanes = None if x.mask is None else x.mask.ctypes.data
        c.whole = x.index is None and (x.mask is None or every(x.mask == groups.alive))
        c.chosen = 0

    def proceed(self, limit: int, step: Callable[[int], int | None] | None = None) -> bool:
        """As `Chunk.proceed`; then the image knows which allocations have been read and written."""
        try:
            return super().proceed(limit, step)
        finally:
            if "_c" in self.__dict__:
                self.x.image.note_touched(*(np.flatnonzero(row) for row in self._touched))
