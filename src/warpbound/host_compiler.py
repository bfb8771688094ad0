"""Shared libraries made by the host's C compiler, kept in the disk cache."""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpbound.disk_cache import cached, digest
from warpbound.errors import InputError, MissingTool

COMPILERS = ("cc", "gcc", "clang")
TIMEOUT_S = 120


def shared_library(
    what: str, texts: Mapping[str, str], options: Sequence[str], libraries: Sequence[str] = (), machine: str = ""
) -> bytes:
    """The library of the C files in `texts`, by name; headers are among them.

    what : what it is, for an error. machine : of which the library is the code, where options ask for it. Raises
    MissingTool without a C compiler, InputError where it fails.
    """
    compiler = next((place for name in COMPILERS if (place := shutil.which(name))), None)
    if compiler is None:
        raise MissingTool(f"{what.capitalize()} needs a C compiler (cc).", "Install one: apt install gcc.")
    parts = [compiler, *options, *libraries, machine, *(f"{name}\n{text}" for name, text in texts.items())]
    return cached(digest("library", *parts), lambda: _compiled(what, [compiler, *options], texts, libraries))


def _compiled(what: str, command: Sequence[str], texts: Mapping[str, str], libraries: Sequence[str]) -> bytes:
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
