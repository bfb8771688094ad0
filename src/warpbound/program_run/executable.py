"""CUDA libraries that an executable file needs, and the functions that it imports from each."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

from warpbound.errors import InputError, MissingTool, install
from warpbound.quick_dataclasses import dataclass

_CUDART = re.compile(r"libcudart\.so\.(\d+)")
_OTHERS = re.compile(
    r"lib(cuda|cublas|cublasLt|cufft|cufftw|curand|cusparse|cusolver|nvrtc|nvjpeg|cudnn|nccl|npp\w+|nvJitLink)\.so"
)
_FATBIN = (".nv_fatbin", "__nv_relfatbin")
_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}


@dataclass(frozen=True)
class Library:
    """A CUDA library that a program needs: its soname, version node ("" without one), functions imported from it."""

    soname: str
    version: str
    imported: tuple[str, ...]


@dataclass(frozen=True)
class Executable:
    """A program that can be started. cudart : None where it needs no libcudart; release : its major release."""

    path: Path
    cudart: Library | None
    others: tuple[Library, ...]

    @property
    def release(self) -> int:
        match = _CUDART.match(self.cudart.soname) if self.cudart else None
        return int(match[1]) if match else 0


def executable(name: str) -> Executable:
    """The program of a path or of a name on PATH.

    Raises InputError if it is no program, is for another machine, or has the CUDA runtime linked into it.
    """
    path = _path(name)
    if path.read_bytes()[:4] != b"\x7fELF":
        return Executable(path, None, ())  # a script: what it starts may be a program
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError as missing:
        raise MissingTool("Reading a program needs pyelftools.", install("cuda")) from missing
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            _check_machine(elf, path)
            dynamic: Any = elf.get_section_by_name(".dynamic")
            tags = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")] if dynamic else []
            imported = _imported(elf)
            holds_device_code = any(section.name in _FATBIN for section in elf.iter_sections())
    except (ELFError, ValueError, KeyError, AttributeError) as broken:
        raise InputError(f"{path} is not a program that can be read ({broken}).", "Build it again.") from broken
    libraries = [_library(soname, imported) for soname in tags]
    cudart = next((each for each in libraries if _CUDART.match(each.soname)), None)
    if cudart is None and holds_device_code:
        raise InputError(
            f"{path} has the CUDA runtime linked into it (nvcc's default), so its calls cannot be replaced.",
            "Build it with `nvcc -cudart shared`, or give the .cu file.",
        )
    return Executable(path, cudart, tuple(each for each in libraries if _OTHERS.match(each.soname)))


def _path(name: str) -> Path:
    place = Path(name)
    if not place.is_file():
        on_path = shutil.which(name)
        if on_path is None:
            raise InputError(f"There is no program {name}.", "Give its path.")
        place = Path(on_path)
    if not os.access(place, os.X_OK):
        raise InputError(f"{name} is not executable.", f"Make it so: chmod +x {name}.")
    return place.resolve()


def _check_machine(elf: Any, path: Path) -> None:
    machine = elf["e_machine"]
    own = os.uname().machine
    if _MACHINES.get(machine, own) != own:
        reason = f"{path} is built for {_MACHINES.get(machine, machine)}; this machine is {own}."
        raise InputError(reason, "Build it here.")


def _imported(elf: Any) -> dict[str, tuple[str, str]]:
    """Imported function -> the library and version node that it is bound to; empty strings where there are none."""
    symbols = elf.get_section_by_name(".dynsym")
    if symbols is None:
        return {}
    nodes = {}
    needs = elf.get_section_by_name(".gnu.version_r")
    for need, entries in needs.iter_versions() if needs else ():
        for entry in entries:
            nodes[entry["vna_other"]] = (need.name, entry.name)
    versions = elf.get_section_by_name(".gnu.version")
    result = {}
    for index, symbol in enumerate(symbols.iter_symbols()):
        if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name:
            number = versions.get_symbol(index)["ndx"] if versions else 0
            result[symbol.name] = nodes.get(number if isinstance(number, int) else 0, ("", ""))
    return result


_PREFIX = {
    "libcudart": "cuda", "libcuda": "cu", "libcublas": "cublas", "libcublasLt": "cublasLt", "libcufft": "cufft",
    "libcurand": "curand", "libcusparse": "cusparse", "libcusolver": "cusolver", "libnvrtc": "nvrtc",
    "libcudnn": "cudnn", "libnccl": "nccl", "libnvjpeg": "nvjpeg", "libnvJitLink": "nvJitLink",
}  # fmt: skip


def _library(soname: str, imported: dict[str, tuple[str, str]]) -> Library:
    """Functions imported from a library: those bound to it; without bindings, those with names like its functions."""
    own = {name: version for name, (library, version) in imported.items() if library == soname}
    stem = soname.partition(".")[0]
    prefix = _PREFIX.get(stem, "npp" if stem.startswith("libnpp") else "")
    loose = [name for name, (library, _) in imported.items() if not library and prefix and name.startswith(prefix)]
    if stem == "libcuda":
        loose = [name for name in loose if re.match(r"cu[A-Z]", name)]
    return Library(soname, next(iter(own.values()), ""), tuple(sorted({*own, *loose})))
