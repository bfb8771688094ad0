"""Kernel attributes in a cubin: registers, shared memory, parameters, constants.

Source   ELF sections read with pyelftools; the `.nv.info` attribute numbers are those that
         cuobjdump -elf names (EIATTR_*), checked on cubins of CUDA 13.5, 12.9 and 11.8
         for sm_75 to sm_121 (all put the driver's reserve into .nv.shared from sm_90 on).
"""

import io
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from warpbound.errors import InputError, MissingTool, install
from warpbound.program.kernel import Symbol
from warpbound.quick_dataclasses import dataclass

RESERVED_SHARED_B = 1024  # put in front of static shared memory by the compiler from sm_90 on, for the driver

_MACHINE_AT, _EM_CUDA = 18, 190  # place and value of e_machine

_PARAM_CBANK, _FRAME_SIZE, _KPARAM_INFO, _LARGE_KPARAM_INFO = 0x0A, 0x11, 0x17, 0x45
_MAX_THREADS, _REQUIRED_THREADS, _REGCOUNT, _NUM_BARRIERS, _CLUSTER = 0x05, 0x10, 0x2F, 0x4C, 0x3D


def reserved_shared_B(arch: int) -> int:
    """First bytes of a block's shared memory, which the driver fills."""
    return RESERVED_SHARED_B if arch >= 90 else 0


@dataclass(frozen=True)
class KernelFacts:
    """What the ELF file states about one kernel; sizes in bytes."""

    name: str
    registers: int
    shared_bytes: int
    local_bytes: int
    barriers: int
    max_threads: int | None
    threads_required: bool
    parameter_base: int
    parameters: tuple[tuple[int, int], ...]  # (offset in the parameter area, size), in order
    constants: dict[int, bytes] = field(repr=False, default_factory=dict)
    cluster: tuple[int, int, int] | None = None  # blocks of a cluster, where __cluster_dims__ gives it


@dataclass(frozen=True)
class Cubin:
    """A whole cubin: architecture (90), kernels, the global data it carries."""

    arch: int
    kernels: dict[str, KernelFacts]
    symbols: tuple[Symbol, ...]
    sections: dict[str, bytes] = field(repr=False, default_factory=dict)
    fixups: tuple[tuple[str, int, str, int], ...] = ()  # section, offset, symbol whose address goes there, addend


def is_cubin(raw: bytes) -> bool:
    """Whether bytes begin like an ELF file for a GPU."""
    return raw[:4] == b"\x7fELF" and raw[_MACHINE_AT : _MACHINE_AT + 2] in (_EM_CUDA.to_bytes(2, "little"), b"")


def read_cubin(image: bytes, source: str) -> Cubin:
    """Read an ELF image; `source` names it in errors.

    Raises InputError where the image is truncated, broken or not for an NVIDIA GPU.
    """
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError as missing:
        raise MissingTool("Reading a cubin needs pyelftools.", install("cuda")) from missing
    try:
        elf = ELFFile(io.BytesIO(image))
        if elf["e_machine"] not in ("EM_CUDA", _EM_CUDA):
            raise InputError(f"{source} is an ELF file, but not for an NVIDIA GPU.", "Give a cubin.")
        sections = {s.name: s for s in elf.iter_sections()}
        cubin = _assemble(elf, sections)
    except (ELFError, struct.error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
            AssertionError, MemoryError, OSError) as broken:  # fmt: skip
        raise InputError(
            f"{source} is truncated or not a cubin ({type(broken).__name__} while reading it).", "Build it again."
        ) from broken
    if not cubin.kernels:
        raise InputError(f"{source} is a cubin without a kernel.", "Compile a file with a __global__ function.")
    return cubin


def _arch(header: dict[str, int], ident: dict[str, int]) -> int:
    """ABI 8 and later (CUDA 13) keeps the architecture in bits 8-15 of e_flags, earlier ones in bits 0-7."""
    flags = header["e_flags"]
    return flags >> 8 & 0xFF if ident["EI_ABIVERSION"] >= 8 else flags & 0xFF


def _assemble(elf: Any, sections: dict[str, Any]) -> Cubin:
    symbols = list(sections[".symtab"].iter_symbols())
    registers: dict[str, int] = {}
    frames: dict[str, int] = {}
    for tag, payload in _attributes(sections[".nv.info"].data() if ".nv.info" in sections else b""):
        if tag in (_REGCOUNT, _FRAME_SIZE) and len(payload) >= 8:
            index, amount = struct.unpack_from("<II", payload)
            (registers if tag == _REGCOUNT else frames)[symbols[index].name] = amount
    arch = _arch(elf.header, elf.header["e_ident"])
    kernels = {}
    for name in sections:
        if name.startswith(".text.") and ".nv.info." + name[6:] in sections:
            kernels[name[6:]] = _kernel(name[6:], arch, sections, registers, frames)
    return Cubin(arch, kernels, tuple(_variables(elf, symbols)), _data(sections), tuple(_fixups(elf, symbols)))


def _kernel(
    name: str, arch: int, sections: dict[str, Any], registers: dict[str, int], frames: dict[str, int]
) -> KernelFacts:
    text = sections[".text." + name]
    base, barriers, max_threads = 0x160, text["sh_flags"] >> 20 & 0x7F, None
    parameters: dict[int, tuple[int, int]] = {}
    cluster, is_required = None, False
    for tag, payload in _attributes(sections[".nv.info." + name].data()):
        if tag == _KPARAM_INFO:
            _, ordinal, offset, packed = struct.unpack_from("<IHHI", payload)
            parameters[ordinal] = (offset, packed >> 18)
        elif tag == _LARGE_KPARAM_INFO:  # in its place where parameters take more than 4 KB
            _, ordinal, offset, size = struct.unpack_from("<IHHH", payload)
            parameters[ordinal] = (offset, size)
        elif tag == _PARAM_CBANK:
            base = struct.unpack_from("<IHH", payload)[1]
        elif tag in (_MAX_THREADS, _REQUIRED_THREADS):
            x, y, z = struct.unpack_from("<III", payload)
            max_threads, is_required = x * y * z, is_required or tag == _REQUIRED_THREADS
        elif tag == _NUM_BARRIERS:
            barriers = payload[0]
        elif tag == _CLUSTER and any(payload[:12]):
            cluster = struct.unpack_from("<III", payload)
    shared = sections.get(".nv.shared." + name)
    shared_bytes = shared["sh_size"] if shared is not None else 0
    if shared is not None and arch >= 90:
        shared_bytes -= RESERVED_SHARED_B
    return KernelFacts(
        name=name,
        registers=registers.get(name, text["sh_info"] >> 24),
        shared_bytes=max(0, shared_bytes),
        local_bytes=frames.get(name, 0),
        barriers=barriers,
        max_threads=max_threads,
        threads_required=is_required,
        cluster=cluster,
        parameter_base=base,
        parameters=tuple(parameters[i] for i in sorted(parameters)),
        constants={
            bank: sections[section].data()
            for bank in range(18)
            for section in (f".nv.constant{bank}.{name}", f".nv.constant{bank}")
            if section in sections
        },
    )


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(tag, payload) pairs; unknown tags come through, so that callers may skip them."""
    at = 0
    while at + 4 <= len(data):
        form, tag, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == 4:  # a sized payload follows; in the other forms the 16-bit field is the value
            yield tag, data[at : at + size]
            at += size
        else:
            yield tag, struct.pack("<H", size)


def _variables(elf: Any, symbols: Iterable[Any]) -> Iterator[Symbol]:
    for symbol in symbols:
        if symbol["st_info"]["type"] == "STT_OBJECT" and isinstance(symbol["st_shndx"], int):
            section = elf.get_section(symbol["st_shndx"]).name
            yield Symbol(symbol.name, section, symbol["st_value"], symbol["st_size"])


def _fixups(elf: Any, symbols: list[Any]) -> Iterator[tuple[str, int, str, int]]:
    """The 64-bit addresses that the loader writes into constant banks and initialised globals.

    A .rel section keeps addends in place.
    """
    for section in elf.iter_sections():
        match = re.fullmatch(r"\.rela?(\.nv\.constant\d+|\.nv\.global\.init)", section.name)
        if not match:
            continue
        contents = elf.get_section_by_name(match[1]).data()
        for relocation in section.iter_relocations():
            at = relocation["r_offset"]
            addend = (
                relocation["r_addend"] if relocation.is_RELA() else struct.unpack_from("<Q", contents, at)[0]
            )
            yield match[1], at, symbols[relocation["r_info_sym"]].name, addend


def _data(sections: dict[str, Any]) -> dict[str, bytes]:
    """Contents of the global data sections; zeros for those without contents."""
    kept_sections = {}
    for name, section in sections.items():
        if name.startswith((".nv.global", ".nv.constant")):
            empty = section["sh_type"] == "SHT_NOBITS"
            kept_sections[name] = bytes(section["sh_size"]) if empty else section.data()
    return kept_sections
