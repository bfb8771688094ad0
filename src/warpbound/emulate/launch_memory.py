"""Memory at kernel start: arrays, device globals, constant banks."""

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate import device_heap
from warpbound.emulate.addresses import LOCAL_WINDOW, SHARED_WINDOW
from warpbound.emulate.clusters import bank_words, cluster_of
from warpbound.emulate.device_heap import DeviceHeap, uses_heap
from warpbound.emulate.device_runtime import ADDRESSES
from warpbound.emulate.global_memory import BASE, MOST_B, SLOTS_END, Fill, Image, Plan, slot_bits
from warpbound.emulate.operand_access import Constants
from warpbound.emulate.special_registers import SMS
from warpbound.emulate.tensor_maps import map_of_array
from warpbound.emulate.texture_arguments import is_object, texture_of
from warpbound.emulate.texture_objects import Texture
from warpbound.errors import InputError
from warpbound.kernel_argument import DTYPES
from warpbound.kernel_launch import Argument, Launch, bind, contents, pieces
from warpbound.parameter_packing import check_elements, pack
from warpbound.program.kernel import Parameter, Program, Symbol
from warpbound.program.kernel_names import plain_name
from warpbound.program.parameter_members import with_members
from warpbound.quick_dataclasses import dataclass
from warpbound.texture_sampling import Sampling

GRID_BARRIER, GRID_BARRIER_B = "(barrier of the grid)", 256
CONSTANTS, USER_BANK = "(constant variables)", 3
PARAMETERS = "(parameters)"
FROM_THE_BANK = 90  # before sm_90 the address of the parameters is that of the bank they are in
GLOBAL_SECTIONS = (".nv.global", ".nv.global.init")
CONSTANT = ".nv.constant"
WIDEST_B = 16  # bytes of the widest number: float4


@dataclass(frozen=True)
class Area:
    """Offsets of launch constants in bank 0, bytes.

    Source   Read off compiled probes for sm_75 to sm_120; the memory descriptor (0x118, 0x208, 0x358)
             has no effect here.
    """

    block: int
    grid: int
    stack: int
    sms: int  # the number that %nsmid gives
    local_window: int  # generic base of local memory, 64 bits
    barrier: int  # address of what a cooperative launch gives a grid-wide barrier: upper word, lower word
    constants: int  # address at which bank 3 stands in global memory, for pointers to `__constant__` variables
    parameters: int  # address at which the parameters stand in global memory, for pointers to __grid_constant__ ones


_BEFORE_90 = Area(
    block=0x0, grid=0xC, stack=0x28, sms=0x10C, local_window=0x20, barrier=0x8C, constants=0x50, parameters=0x40
)  # fmt: skip
_FROM_90 = Area(
    block=0x0, grid=0xC, stack=0x28, sms=0x10C, local_window=0x20, barrier=0x44, constants=0xD0, parameters=0x198
)  # fmt: skip
_FROM_100 = Area(
    block=0x360, grid=0x370, stack=0x37C, sms=0x2D0, local_window=0x2F8, barrier=0x254, constants=0x120,
    parameters=0x348,
)  # fmt: skip


def launch_area(arch: int) -> Area:
    """Of code for sm `arch`."""
    if arch >= 100:
        return _FROM_100
    return _FROM_90 if arch >= 90 else _BEFORE_90


@dataclass(frozen=True)
class Result:
    """An array to return: its place in the image, its type and shape."""

    allocation: int
    start: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Memory:
    """Everything a launch needs in memory; `results` are the arrays by the name they come back under, `addresses` those
    of the code's variables."""

    image: Image
    constants: Constants
    results: dict[str, Result]
    addresses: dict[str, int] = field(default_factory=dict)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of the arrays as they are now."""
        parameters = {}
        for name, result in self.results.items():
            count = int(np.prod(result.shape, dtype=np.int64)) * result.dtype.itemsize
            raw = self.image.contents(result.allocation)[result.start : result.start + count]
            parameters[name] = raw.view(result.dtype).reshape(result.shape).copy()
        return parameters


def prepare(program: Program, launch: Launch) -> Memory:
    """Place the arguments and symbols of a launch of `program`.

    Raises InputError where an argument does not fit its parameter.
    """
    if launch.placed is not None:
        own: Memory = launch.placed(program, launch)
        return own
    names_given = [argument.name for argument in launch.args]
    parameters = with_members(program, names_given, launch.include) or _guessed(launch.args)
    arguments = bind(launch.args, [parameter.name for parameter in parameters])
    for parameter, argument in zip(parameters, arguments, strict=True):
        check_elements(argument, parameter.type)
    names = [parameter.name or str(argument.name) for parameter, argument in zip(parameters, arguments, strict=True)]
    plan: list[Plan] = []
    places: dict[int, int] = {}
    for i, argument in enumerate(arguments):
        if argument.kind == "array":
            places[i] = len(plan)
            piece, has_contents = pieces(argument, i), is_known(argument)
            is_zeros = argument.fill == "zeros" and not argument.is_rows
            plan.append(Plan(names[i], argument.size_B, piece, has_contents=has_contents, is_zeros=is_zeros))
    tables = {i: len(plan) + order for order, i in enumerate(i for i in places if arguments[i].is_rows)}
    plan += [Plan(f"pointers of {names[i]}", 8 * arguments[i].shape[0]) for i in tables]
    globals_ = [symbol for symbol in program.symbols if symbol.section in GLOBAL_SECTIONS]
    variables = {symbol.name: len(plan) + i for i, symbol in enumerate(globals_)}
    plan += [_variable(program, symbol) for symbol in globals_]
    pointed = {len(plan) + order: each for order, each in enumerate(_pointed_at(program, end(parameters)))}
    plan += pointed.values()
    has_heap = uses_heap(program)
    plan += [Plan(device_heap.NAME, device_heap.USUAL_B)] * has_heap
    image = _image(plan)
    if has_heap:
        image.device_heap = DeviceHeap(image.address(len(plan) - 1), device_heap.USUAL_B)
    results = {
        names[i]: Result(place, 0, DTYPES[str(arguments[i].dtype)], arguments[i].shape) for i, place in places.items()
    }
    banks = _banks(program, image, variables)
    _place_symbols(program, launch, image, variables, banks, results)
    for i, table in tables.items():
        image.contents(table)[:] = _row_addresses(arguments[i], image.address(places[i]))
    area = _parameter_bytes(parameters, arguments, places | tables, image)
    banks[0] = bank_zero(program, launch, area)
    for place, each in pointed.items():
        _point(program, banks, image.address(place), each.name)
        content = {CONSTANTS: bytes(banks.get(USER_BANK, b"")), PARAMETERS: area}.get(each.name, b"")
        image.contents(place)[: len(content)] = np.frombuffer(content, np.uint8)
    addresses = {name: image.address(place) for name, place in variables.items()}
    return Memory(image, Constants({n: bank_array(bank) for n, bank in banks.items()}), results, addresses)


def _pointed_at(program: Program, parameters_B: int) -> Iterator[Plan]:
    """What the code reaches by an address in bank 0: the grid's barrier, bank 3 and the parameters."""
    places = launch_area(program.arch)
    if waits_for_grid(program):
        yield Plan(GRID_BARRIER, GRID_BARRIER_B)
    if USER_BANK in program.constants and reads_address(program, places.constants):
        yield Plan(CONSTANTS, len(program.constants[USER_BANK]))
    if parameters_B and reads_address(program, places.parameters):
        yield Plan(PARAMETERS, parameters_B)


def _point(program: Program, banks: dict[int, bytearray], address: int, name: str) -> None:
    """Put the address of one of these into bank 0."""
    places = launch_area(program.arch)
    if name == PARAMETERS and program.arch < FROM_THE_BANK:
        address -= program.parameter_base
    words = address & 0xFFFF_FFFF, address >> 32
    at = {GRID_BARRIER: places.barrier, CONSTANTS: places.constants, PARAMETERS: places.parameters}[name]
    put_words(banks[0], at, words[::-1] if name == GRID_BARRIER else words)


def _variable(program: Program, symbol: Symbol) -> Plan:
    """A `__device__` variable with its initial contents."""
    data = program.data.get(symbol.section, b"")[symbol.offset : symbol.offset + symbol.size]
    return Plan(plain_name(symbol.name), symbol.size, _bytes(data) if any(data) else None)


def waits_for_grid(program: Program) -> bool:
    """Whether the kernel uses the grid barrier of a cooperative launch."""
    return reads_address(program, launch_area(program.arch).barrier)


def reads_address(program: Program, place: int) -> bool:
    """Whether the code reads the address at this place of bank 0."""
    return not program.launch_constants.isdisjoint((place, place + 4))


def is_known(argument: Argument) -> bool:
    """Whether the launch gives an array's contents."""
    return not (argument.fill is None and argument.file is None and argument.bytes is None)


def _bytes(data: bytes) -> Fill:
    content = np.frombuffer(data, np.uint8)
    return lambda start, end: content[start:end]


def _image(plan: list[Plan]) -> Image:
    """The arrays of a launch in memory, or InputError where they do not fit."""
    size = sum(symbol.size for symbol in plan)
    if size > MOST_B or len(plan) << slot_bits(2 * size) > SLOTS_END - BASE:
        raise InputError(f"the launch has {len(plan)} arrays of {size} bytes.", "Give fewer or smaller arrays.")
    try:
        return Image(plan)
    except (MemoryError, ValueError) as problem:
        reason = f"the {size} bytes of the launch's arrays cannot be allocated ({problem})."
        raise InputError(reason, "Give smaller shapes.") from problem


def _guessed(arguments: tuple[Argument, ...]) -> tuple[Parameter, ...]:
    """Parameters of a listing, which does not declare them: sizes of the arguments, naturally aligned."""
    parameters, at = [], 0
    for argument in arguments:
        if argument.kind in ("array", "alias"):
            size = 8
        elif argument.kind == "bytes":
            size = argument.size_B
        else:
            size = DTYPES[argument.dtype].itemsize if argument.dtype else 4
        at = -(-at // min(size, 8)) * min(size, 8)
        parameters.append(Parameter("", "", at, size))
        at += size
    return tuple(parameters)


def bank_array(bank: bytes | bytearray) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    """A constant bank as words."""
    padded = bytes(bank) + bytes(-len(bank) % 4 + 4)
    return np.frombuffer(padded, np.uint32)


def _banks(program: Program, image: Image, variables: dict[str, int]) -> dict[int, bytearray]:
    """The constant banks of the code; in them and in the device globals, the addresses of device globals filled in."""
    banks = {number: bytearray(bank) for number, bank in program.constants.items()}
    for fixup in program.fixups:
        if fixup.symbol in variables:
            place = image.address(variables[fixup.symbol]) + fixup.addend
        elif fixup.symbol in ADDRESSES:
            place = ADDRESSES[fixup.symbol]
        else:
            continue
        address = place.to_bytes(8, "little")
        if fixup.section.startswith(CONSTANT):
            bank = banks.get(int(fixup.section.removeprefix(CONSTANT)), bytearray())
            bank[fixup.offset : fixup.offset + 8] = address
            continue
        for symbol in program.symbols:
            if symbol.section == fixup.section and 0 <= fixup.offset - symbol.offset < symbol.size - 7:
                at = fixup.offset - symbol.offset
                image.contents(variables[symbol.name])[at : at + 8] = np.frombuffer(address, np.uint8)
    return banks


def _place_symbols(  # noqa: PLR0913  (one step of prepare)
    program: Program,
    launch: Launch,
    image: Image,
    variables: dict[str, int],
    banks: dict[int, bytearray],
    results: dict[str, Result],
) -> None:
    for index, argument in enumerate(launch.constants):
        symbol = symbol_named(program, str(argument.name))
        filling = contents(argument, index)
        raw = b"" if argument.kind == "array" else _constant_bytes(argument, symbol)
        if filling is not None:
            raw = filling.tobytes()
        if len(raw) > symbol.size:
            raise InputError(
                f"constant '{argument.name}' has {len(raw)} bytes; the symbol has {symbol.size}.", "Give it its size."
            )
        if symbol.name in variables:
            place = variables[symbol.name]
            image.contents(place)[: len(raw)] = np.frombuffer(raw, np.uint8)
            if argument.dtype:
                shape = argument.shape if argument.kind == "array" else ()
                results[str(argument.name)] = Result(place, 0, DTYPES[argument.dtype], shape)
        else:
            bank = banks[int(symbol.section.removeprefix(CONSTANT).split(".")[0])]
            bank[symbol.offset : symbol.offset + len(raw)] = raw


def _constant_bytes(argument: Argument, symbol: Symbol) -> bytes:
    if symbol.size > WIDEST_B and argument.bytes is None and argument.value:
        raise InputError(
            f"constant '{argument.name}' has {symbol.size} bytes: one number does not fill it.",
            f"Give its contents: --const {argument.name}=@FILE.npy, or TYPE[COUNT]:FILL as f32[64]:rand.",
        )
    return pack(argument, symbol.size)


def symbol_named(program: Program, name: str) -> Symbol:
    """The variable of a name as written. Raises InputError where the code has none."""
    for symbol in program.symbols:
        if name == symbol.name or (symbol.name.startswith("_Z") and _mangled(name) in symbol.name):
            return symbol
    names = ", ".join(plain_name(symbol.name) for symbol in program.symbols[:8])
    raise InputError(f"the code has no symbol '{name}'.", f"It has: {names or 'none'}.")


def _mangled(name: str) -> str:
    """`ns::table` as part of a mangled name: 2ns5table."""
    return "".join(f"{len(word)}{word}" for word in name.split("::"))


def _row_addresses(argument: Argument, first: int) -> NDArray[np.uint8]:
    """The bytes of an array of pointers to the rows of an array, which begins at address `first`."""
    rows = argument.shape[0]
    return (np.uint64(first) + np.arange(rows, dtype=np.uint64) * np.uint64(argument.size_B // rows)).view(np.uint8)


def end(parameters: tuple[Parameter, ...]) -> int:
    """Bytes of the parameter area."""
    return max((parameter.offset + parameter.size for parameter in parameters), default=0)


def _parameter_bytes(
    parameters: tuple[Parameter, ...],
    arguments: tuple[Argument, ...],
    places: dict[int, int],
    image: Image,
) -> bytes:
    """The parameter area as the kernel reads it."""
    by_name = {argument.name: i for i, argument in enumerate(arguments)}
    area = bytearray(end(parameters))
    objects: dict[int, Texture] = {}
    image.textures = objects
    for i, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        if argument.kind in ("array", "alias"):
            alias = argument.alias
            other = i if alias is None else by_name[alias] if alias in by_name else int(str(alias))
            address = image.address(places[other]) + argument.offset
            if is_object(parameter.type):
                objects[len(objects) + 1] = texture_of(arguments[other], address, argument.texture or Sampling())
                address = len(objects)
            elif argument.texture is not None:
                declared = f"its parameter is declared `{parameter.type}`."
                raise InputError(
                    f"argument '{argument.name}' has a table texture; {declared}",
                    "Remove the table, or declare a cudaTextureObject_t.",
                )
            raw = address.to_bytes(8, "little")
        else:
            raw = pack(argument, parameter.size, parameter.type)
        tensor_map = map_of_array(argument) if argument.box else argument.tensor_map
        if tensor_map is not None:
            raw += tensor_map[len(raw) :]  # a map begins with the address
        if len(raw) != parameter.size:
            raise InputError(
                f"argument '{argument.name}' is an array; its parameter of {parameter.size} bytes holds no pointer.",
                "Give a scalar, or bytes for a struct.",
            )
        area[parameter.offset : parameter.offset + parameter.size] = raw
    return bytes(area)


def bank_zero(program: Program, launch: Launch, area: bytes) -> bytearray:
    """Constant bank 0: launch dimensions, stack pointer, windows, parameters."""
    place = launch_area(program.arch)
    bank = bytearray(max(len(program.constants.get(0, b"")), program.parameter_base + len(area), 0x400))
    put_words(bank, place.block, launch.block)
    put_words(bank, place.grid, launch.grid)
    put_words(bank, place.stack, (stack_bytes(program),))
    put_words(bank, place.sms, (SMS,))
    put_words(bank, place.local_window, (0, LOCAL_WINDOW))
    for offset, words in bank_words(program.arch, launch, cluster_of(program, launch)).items():
        bank[offset : offset + len(words)] = words
    if program.arch < 90:  # later machines have it in SR_SWINHI
        put_words(bank, 0x18, (0, SHARED_WINDOW))
    bank[program.parameter_base : program.parameter_base + len(area)] = area
    return bank


def put_words(bank: bytearray, at: int, words: tuple[int, ...]) -> None:
    """Write 32-bit words to a constant bank from byte `at` on."""
    for i, word in enumerate(words):
        bank[at + 4 * i : at + 4 * i + 4] = word.to_bytes(4, "little")


CALL_STACK_B = 4096  # beyond the frame that the code states, for recursion; the driver's default is 1 KB


def stack_bytes(program: Program) -> int:
    """Local memory per thread."""
    own = program.local_bytes
    return -(-own // 16) * 16 + (CALL_STACK_B if program.has_calls or not own else 0)
