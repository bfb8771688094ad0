"""Programs from fat binaries and from files that embed them: executables, libraries, objects, archives."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from warpbound.disk_cache import cached, digest
from warpbound.errors import InputError, MissingTool, install
from warpbound.machine import Gpu
from warpbound.program import nvjitlink
from warpbound.program.arch_match import assembles_for, runs_on
from warpbound.program.cuda import COMPILED_ARCHITECTURES
from warpbound.program.fatbin import HOLDERS, Image, containers
from warpbound.program.kernel import Program
from warpbound.program.kernel_names import plain_name
from warpbound.program.machine_code import from_cubin
from warpbound.program.ptx import from_ptx

_RELOCATABLE = 1  # e_type of an ELF file that still has to be linked
_KERNEL = (b".text.", b".entry")  # what a cubin or PTX with a kernel holds


def from_binary(raw: bytes, name: str, machine: Gpu, kernel: str | None) -> tuple[Program, ...]:
    """The kernels of a file as `machine` runs them: its own machine code, else the PTX inside, as a driver would.

    kernel : where it is given, parts of the file that do not hold a kernel of that name are left out.
    Raises InputError where there is none for this machine, MissingTool where only nvJitLink could make it.
    """
    groups = containers(raw, name)
    if not groups:
        raise _empty(raw, name)
    identifier = _identifier(kernel)
    unpacked = [(image, image.contents(name)) for images in groups for image in _chosen(images, machine)]
    parts = [(image, part) for image, part in unpacked if any(mark in part for mark in _KERNEL)]
    if not parts:
        raise _nothing(groups, name, machine)
    parts = [(image, part) for image, part in parts if identifier in part] or parts
    cubins = [part for image, part in parts if image.kind == "cubin" and not _relocatable(part)]
    loose = [part for image, part in parts if image.kind == "cubin" and _relocatable(part)]
    if loose and not cubins:
        cubins = [_linked(loose, machine, name)]
    kernels = [program for cubin in cubins for program in from_cubin(cubin, name)]
    for image, part in parts:
        if image.kind == "PTX":
            kernels += _assembled(image, part, machine, name)
    return tuple(kernels)


def _empty(raw: bytes, name: str) -> InputError:
    holder = next((what for start, what in HOLDERS.items() if raw.startswith(start)), None)
    if holder is None:
        return InputError(
            f"{name} is a fat binary that is damaged.",
            "Build it again, or take the cubin out with `cuobjdump -xelf all`.",
        )
    return InputError(
        f"{name} is {holder}, but not for an NVIDIA GPU, and holds no code for one.",
        "Give CUDA C++, a cubin, or a program that nvcc linked.",
    )


def _chosen(images: Sequence[Image], machine: Gpu) -> list[Image]:
    """The images of one container that a driver would take: the closest machine code, else the highest PTX."""
    cubins = [
        image
        for image in images
        if image.kind == "cubin"
        and image.arch >= COMPILED_ARCHITECTURES[0]
        and runs_on(image.arch, image.features, machine.arch)
    ]
    texts = [
        image for image in images if image.kind == "PTX" and assembles_for(image.arch, image.features, machine.arch)
    ]
    fitting = cubins or texts
    best = max(((code.arch, _closeness(code)) for code in fitting), default=None)
    return [code for code in fitting if (code.arch, _closeness(code)) == best]


def _closeness(image: Image) -> int:
    return ("", "f", "a").index(image.features)


def _identifier(kernel: str | None) -> bytes:
    """The part of the requested kernel's name that its mangled name must contain; empty without a request."""
    words = re.findall(r"\w+", plain_name(kernel).partition("<")[0]) if kernel else []
    return words[-1].encode() if words else b""


def _nothing(groups: Iterable[Sequence[Image]], name: str, machine: Gpu) -> InputError:
    inside = sorted({str(image) for images in groups for image in images})
    return InputError(
        f"{name} holds {_listed(inside) if inside else 'a fat binary with nothing in it'}; "
        f"{machine.name}, sm_{machine.arch}, can run no kernel of it.",
        f"Choose another --gpu, or build with -gencode arch=compute_{machine.arch},code=sm_{machine.arch}.",
    )


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _relocatable(cubin: bytes) -> bool:
    return int.from_bytes(cubin[16:18], "little") == _RELOCATABLE


def _linked(parts: Sequence[bytes], machine: Gpu, name: str) -> bytes:
    """The finished cubin of objects that were compiled to be linked later (-rdc=true)."""
    if not nvjitlink.version():
        raise MissingTool(
            f"{name} holds device code that is not linked yet (-rdc=true), and nvJitLink is not installed.",
            f"{install('ptx')}, or give the linked program.",
        )
    flags = [f"-arch=sm_{machine.arch}"]

    def make() -> bytes:
        linked = nvjitlink.link("CUBIN", parts, flags)
        if not linked.cubin:
            raise InputError(f"{name}: its device code does not link: {linked.complaint}.", "Give the linked program.")
        return linked.cubin

    return cached(digest("nvjitlink", nvjitlink.version(), *flags, *parts), make)


def _assembled(image: Image, text: bytes, machine: Gpu, name: str) -> list[Program]:
    """Kernels from PTX inside a file, with the note that they were assembled here."""
    note = f"{name} holds no machine code for sm_{machine.arch}: made from its {image} by nvJitLink"
    result = from_ptx(text.decode(errors="replace"), name, machine)
    return [replace(program, assumed=(*program.assumed, note)) for program in result]
