"""Shared libraries made by the host's C compiler, kept in the disk cache."""

import ctypes
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpbound.disk_cache import cached, digest
from warpbound.errors import InputError, MissingTool

COMPILERS = ("cc", "gcc", "clang")
TIMEOUT_S = 120
_CPUINFO_B = 8192  # the description of one processor


def sources(folder: Path) -> dict[str, str]:
    """The C files of a folder and their headers, by name."""
    return {entry.name: entry.read_text("utf-8") for entry in sorted(folder.glob("*.[ch]"))}


def loaded_library(
    what: str, texts: Mapping[str, str], options: Sequence[str], libraries: Sequence[str] = ()
) -> ctypes.CDLL | None:
    """The library of the C files in `texts`, compiled for this processor and loaded; None if that is not possible."""
    try:
        return _loaded(shared_library(what, texts, [*options, "-march=native"], libraries, _processor()))
    except (InputError, MissingTool, OSError):
        return None


def shared_library(
    what: str, texts: Mapping[str, str], options: Sequence[str], libraries: Sequence[str] = (), machine: str = ""
) -> bytes:
    """The library of the C files in `texts`, by name; headers are among them.

    what : its name in an error. machine : the processor for which options compile the library. Raises
    MissingTool without a C compiler, InputError where it fails.
    """
    compiler = _compiler()
    if compiler is None:
        raise MissingTool(f"{what.capitalize()} needs a C compiler (cc).", "Install one: apt install gcc.")
    parts = [compiler, *options, *libraries, machine, *(f"{name}\n{text}" for name, text in texts.items())]
    return cached(digest("library", *parts), lambda: _compiled(what, [compiler, *options], texts, libraries))


def _compiler() -> str | None:
    """The first compiler on the path."""
    folders = [Path(folder) for folder in os.get_exec_path() if folder]
    places = (folder / name for name in COMPILERS for folder in folders)
    return next((str(place) for place in places if os.access(place, os.X_OK) and place.is_file()), None)


def _loaded(contents: bytes) -> ctypes.CDLL:
    """A library loaded from memory, or from a file that is deleted at once."""
    if not hasattr(os, "memfd_create"):
        import tempfile

        with tempfile.NamedTemporaryFile(prefix="warpbound-", suffix=".so") as library:
            library.write(contents)
            library.flush()
            return ctypes.CDLL(library.name)
    memory = os.memfd_create("warpbound")  # stays open: the loader takes equal paths for one library
    with os.fdopen(memory, "wb", closefd=False) as file:
        file.write(contents)
    return ctypes.CDLL(f"/proc/self/fd/{memory}")


def _processor() -> str:
    """The processor's features, which decide whether code made on one machine runs on another."""
    try:
        with Path("/proc/cpuinfo").open("rb") as file:
            lines = file.read(_CPUINFO_B).decode(errors="replace").splitlines()
    except OSError:
        lines = []
    return next((line for line in lines if line.startswith(("flags", "Features"))), os.uname().machine)


def _compiled(what: str, command: Sequence[str], texts: Mapping[str, str], libraries: Sequence[str]) -> bytes:
    import subprocess  # loaded only where there is something to compile
    import tempfile

    with tempfile.TemporaryDirectory(prefix="warpbound-") as place:
        for name, text in texts.items():
            (Path(place) / name).write_text(text, "utf-8")
        files = [name for name in texts if name.endswith(".c")]
        whole = [*command, "-shared", "-fPIC", *files, "-o", "library.so", *libraries]
        process = subprocess.run(whole, cwd=place, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if process.returncode:
            first = next((line for line in process.stderr.splitlines() if "error" in line), "it says nothing")
            raise InputError(f"{command[0]} does not compile {what}: {first}.", "Report it, please.")
        return (Path(place) / "library.so").read_bytes()
