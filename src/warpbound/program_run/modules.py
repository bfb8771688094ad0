"""Fat binaries that a program has registered: their kernels as Programs, their variables in device memory."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from warpbound.disk_cache import digest
from warpbound.emulate.device_runtime import ADDRESSES
from warpbound.emulate.launch_memory import (
    CONSTANT,
    GLOBAL_SECTIONS,
    GRID_BARRIER_B,
    USER_BANK,
    Memory,
    bank_array,
    bank_zero,
    launch_area,
    put_words,
    waits_for_grid,
)
from warpbound.emulate.operand_access import Constants
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program.embedded_code import from_binary
from warpbound.program.kernel import Program, Symbol
from warpbound.program.kernel_names import plain_name
from warpbound.program_run.device_memory import Heap, HeapImage
from warpbound.program_run.protocol import CudaError, MemoryKind, Refusal
from warpbound.quick_dataclasses import dataclass

THREADS_PER_BLOCK = 1024
REGISTERS_PER_BLOCK = 65536
_USER_CONSTANTS = f"{CONSTANT}{USER_BANK}"


@dataclass(frozen=True)
class Kernel:
    """A kernel of a program: number counts from 1, as the program knows it."""

    number: int
    module: "Module"
    program: Program

    @cached_property
    def key(self) -> str:
        """Equal for equal code."""
        return digest(self.module.digest, self.program.name)

    def attributes(self) -> tuple[int, ...]:
        """The values of cudaFuncGetAttributes, and the number and bytes of the parameters."""
        program = self.program
        per_warp = -(-max(program.registers, 1) // 8) * 8 * 32
        threads = min(program.max_threads or THREADS_PER_BLOCK, REGISTERS_PER_BLOCK // per_warp * 32)
        constant = len(program.constants.get(USER_BANK, b""))
        return (
            program.shared_bytes, constant, program.local_bytes, threads, program.registers,
            program.arch, len(program.parameters), self.parameter_bytes,
        )  # fmt: skip

    @property
    def parameter_bytes(self) -> int:
        return max((each.offset + each.size for each in self.program.parameters), default=0)


class Module:
    """A fat binary in the memory of the device.

    Raises Refusal where it has no code for the GPU.
    """

    def __init__(self, fat: bytes, name: str, board: Gpu, heap: Heap) -> None:
        self.heap = heap
        self.digest = digest(fat)
        try:
            programs = from_binary(fat, name, board, None)
        except InputError as missing:
            raise NoCode(str(missing)) from missing
        self.programs = {program.name: with_source(program) for program in programs}
        first = programs[0]
        self.symbols = {symbol.name: symbol for symbol in first.symbols}
        self.places = dict(self._placed_globals(first))  # symbol -> address
        self.constants = self._placed_constants(first)  # address of bank 3; 0 without one
        self._fix(first)
        self.barrier = 0

    def _placed_globals(self, program: Program) -> Iterator[tuple[str, int]]:
        for symbol in program.symbols:
            if symbol.section in GLOBAL_SECTIONS and symbol.size:
                name = f"variable {plain_name(symbol.name)}"
                address = self.heap.allocate(symbol.size, MemoryKind.MANAGED_MEMORY, name)
                data = program.data.get(symbol.section, b"")[symbol.offset : symbol.offset + symbol.size]
                self._write(address, data)
                yield symbol.name, address

    def _placed_constants(self, program: Program) -> int:
        bank = program.constants.get(USER_BANK) or program.data.get(_USER_CONSTANTS, b"")
        if not bank:
            return 0
        address = self.heap.allocate(len(bank), MemoryKind.DEVICE_MEMORY, "constant variables")
        self._write(address, bank)
        return address

    def _fix(self, program: Program) -> None:
        """Write the addresses that the code asks for into initialised variables and constants."""
        for fixup in program.fixups:
            address = self._address(fixup.symbol)
            if address is None:
                continue
            raw = (address + fixup.addend).to_bytes(8, "little")
            if fixup.section == _USER_CONSTANTS:
                self._write(self.constants + fixup.offset, raw)
            for symbol in program.symbols:
                inside = symbol.section == fixup.section and 0 <= fixup.offset - symbol.offset < symbol.size - 7
                if inside and symbol.name in self.places:
                    self._write(self.places[symbol.name] + fixup.offset - symbol.offset, raw)

    def _address(self, symbol: str) -> int | None:
        if symbol in self.places:
            return self.places[symbol]
        address = self.symbols.get(symbol)
        if address is not None and address.section == _USER_CONSTANTS:
            return self.constants + address.offset
        return ADDRESSES.get(symbol)

    def _write(self, address: int, data: bytes) -> None:
        offset = self.heap.offset(address)
        assert offset is not None
        self.heap.bytes[offset : offset + len(data)] = np.frombuffer(data, np.uint8)

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a variable. Raises Refusal where there is none of that name."""
        symbol: Symbol | None = self.symbols.get(name)
        address = self._address(name) if symbol else None
        if symbol is None or address is None:
            raise Refusal(CudaError.INVALID_SYMBOL)
        return address, symbol.size

    def memory(self, program: Program, launch: Launch, parameters: bytes, image: HeapImage) -> Memory:
        """The memory of a launch: constant banks as they are now, the heap as global memory."""
        banks = {number: bytearray(bank) for number, bank in program.constants.items()}
        for fixup in program.fixups:
            address = self._address(fixup.symbol)
            if address is not None and fixup.section.startswith(CONSTANT) and fixup.section != _USER_CONSTANTS:
                bank = banks.get(int(fixup.section.removeprefix(CONSTANT)), bytearray())
                bank[fixup.offset : fixup.offset + 8] = (address + fixup.addend).to_bytes(8, "little")
        area = launch_area(program.arch)
        banks[0] = bank_zero(program, launch, parameters)
        if self.constants:
            start = self.heap.offset(self.constants) or 0
            size = len(banks.get(USER_BANK, b""))
            banks[USER_BANK] = bytearray(image.bytes[start : start + size].tobytes())
            put_words(banks[0], area.constants, (self.constants & 0xFFFF_FFFF, self.constants >> 32))
        if waits_for_grid(program):
            put_words(banks[0], area.barrier, (self.barrier >> 32, self.barrier & 0xFFFF_FFFF))
        return Memory(image, Constants({number: bank_array(bank) for number, bank in banks.items()}), {})

    def make_barrier(self) -> None:
        """Memory for the barrier of a cooperative launch, zeroed."""
        if not self.barrier:
            self.barrier = self.heap.allocate(GRID_BARRIER_B, MemoryKind.DEVICE_MEMORY, "barrier of the grid")
        self._write(self.barrier, bytes(GRID_BARRIER_B))


class NoCode(Refusal):
    """A fat binary without code for the GPU; `why` states what it has."""

    def __init__(self, why: str) -> None:
        super().__init__(CudaError.NO_KERNEL_IMAGE)
        self.why = why


def with_source(program: Program) -> Program:
    """The program with the text of the file that most of its lines come from, if that file is on this machine."""
    files = [i.place.outermost.file for i in program.instructions if i.place is not None]
    if not files:
        return program
    name = max(set(files), key=files.count)
    text = _text(name)
    return replace(program, source=text, source_name=name) if text is not None else program


@cache
def _text(name: str) -> str | None:
    try:
        return Path(name).read_text("utf-8", errors="replace")
    except OSError:
        return None


