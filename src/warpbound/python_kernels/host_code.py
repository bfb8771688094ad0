"""Tensor maps of cuTile: the cubin carries x86-64 code that writes them behind the parameters before each launch.

Source   Read off cubins of cuda-tile 1.7 for sm_90 to sm_120: section .nv.host is a relocatable ELF file; its function
         __CUDA_TILEIR_FUNC_ON_ARGUMENTS_CHANGE_0 gets the parameter area as its fourth argument, reads addresses,
         extents and strides there and writes maps of 128 bytes behind them. It calls nothing and has no relocations.
Models   The function itself is called, on a copy of the area in which arrays have addresses without memory behind them.
Omits    Refused: other processors than x86-64; host code with relocations in this function.
"""

import io
import mmap
import platform
from collections.abc import Sequence
from ctypes import CFUNCTYPE, addressof, c_char, c_int, c_void_p
from typing import Any

from warpbound.emulate.tensor_maps import MAP_B
from warpbound.errors import InputError
from warpbound.kernel_launch import Argument
from warpbound.python_kernels.launches import Piece

_FUNCTION, _SECTION, _CODE = "__CUDA_TILEIR_FUNC_ON_ARGUMENTS_CHANGE_0", ".nv.host", ".ltext"
_FIRST_ADDRESS, _APART = 0x6B5D_0000_0000, 1 << 36  # no memory of this process
_ADDRESS_B, _MOST_B, _ALIGNED_B = 8, 1 << 14, 16


def tensor_maps(cubin: bytes, pieces: Sequence[Piece]) -> list[Piece]:
    """The maps, each of one array, that the code of a cubin writes behind parameters with these values.

    Raises InputError where that code cannot be called here.
    """
    area = bytearray(_MOST_B)
    arrays: dict[int, str] = {}  # of an array, by the caller's value -> the first parameter that it is
    names: list[str] = []
    for piece in pieces:
        raw = piece.argument.bytes or b""
        if piece.argument.kind == "array":
            name = arrays.setdefault(id(piece.value), str(piece.argument.name))
            names = names if name in names else [*names, name]
            raw = (_FIRST_ADDRESS + names.index(name) * _APART).to_bytes(_ADDRESS_B, "little")
        area[piece.offset : piece.offset + len(raw)] = raw
    _call(_code(cubin), area)
    end = max(piece.offset + piece.size for piece in pieces)
    return list(_maps(bytes(area), -(-end // _ALIGNED_B) * _ALIGNED_B, names))


def _maps(area: bytes, begin: int, names: Sequence[str]) -> Any:
    at = begin
    while at + MAP_B <= len(area):
        order, offset = divmod(int.from_bytes(area[at : at + _ADDRESS_B], "little") - _FIRST_ADDRESS, _APART)
        if not 0 <= order < len(names):
            at += _ALIGNED_B
            continue
        name, raw = f"{names[order]} map at {at}", area[at : at + MAP_B]
        yield Piece(at, MAP_B, Argument(name, "alias", alias=names[order], offset=offset, tensor_map=raw))
        at += MAP_B


def _code(cubin: bytes) -> bytes:
    """The machine code of the function."""
    from elftools.elf.elffile import ELFFile

    section = ELFFile(io.BytesIO(cubin)).get_section_by_name(_SECTION)
    if section is None:
        raise InputError("The cubin has tensor maps but no code that makes them.", "Use cuda-tile 1.7.")
    host: Any = ELFFile(io.BytesIO(section.data()))
    (symbol,) = host.get_section_by_name(".symtab").get_symbol_by_name(_FUNCTION) or (None,)
    code, relocations = host.get_section_by_name(_CODE), host.get_section_by_name(f".rela{_CODE}")
    if symbol is None or code is None:
        raise InputError("The code that makes the tensor maps is not where cuda-tile 1.7 has it.", "Use that release.")
    begin, end = symbol["st_value"], symbol["st_value"] + symbol["st_size"]
    if relocations is not None and any(begin <= each["r_offset"] < end for each in relocations.iter_relocations()):
        raise InputError("The code that makes the tensor maps calls other code.", "Give ct.load allow_tma=False.")
    return bytes(code.data()[begin:end])


def _call(code: bytes, area: bytearray) -> None:
    if platform.machine() != "x86_64":
        reason = f"The code that makes the tensor maps is for x86-64; this is {platform.machine()}."
        raise InputError(reason, "Give ct.load and ct.store allow_tma=False.")
    with mmap.mmap(-1, max(len(code), 1), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as memory:
        memory.write(code)
        place, parameters = c_char.from_buffer(memory), c_char.from_buffer(area)
        function = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)(addressof(place))
        function(None, None, None, addressof(parameters))
        del place, function
