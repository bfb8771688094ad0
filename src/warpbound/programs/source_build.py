"""A .cu file becomes a program whose CUDA runtime can be replaced: nvcc -cudart shared."""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.program.arch_match import compiled_arch
from warpbound.program.cache import cached, digest
from warpbound.program.cuda_toolkit import Toolkit, toolkit
from warpbound.program.headers import reachable

TIMEOUT_S = 600
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
MOST_FOLDERS = 4000  # of a repository that are searched for a header
_MISSING = re.compile(r"fatal error: (\S+?): No such file|(?:cannot|could not) open source file \"([^\"]+)\"")
_MARKS = (".git", ".hg", "LICENSE", "LICENSE.txt", "CMakeLists.txt")


def is_source(name: str) -> bool:
    return Path(name).suffix in SOURCES


def built(files: Sequence[Path], board: Gpu, include: Sequence[Path] = (), options: Sequence[str] = ()) -> bytes:
    """The program of one .cu file, or of several files that belong together.

    Headers that are not found are looked up in the files' own repository. Raises InputError with what the compiler
    says, MissingTool without nvcc or a host compiler.
    """
    for file in files:
        if not file.is_file():
            raise InputError(f"There is no file {file}.", "Give a .cu file or a program.")
    tools = toolkit()
    folders = [*dict.fromkeys(file.resolve().parent for file in files), *include]
    while True:
        program, complaint = _built(tools, files, board, folders, options)
        if program is not None:
            return program
        missing = _missing(complaint)
        more = _folder_of(missing, files[0].resolve().parent, folders) if missing else None
        if more is None:
            hint = "Add what it needs with -I, or build it yourself with -cudart shared."
            raise InputError(_reason(files[0], complaint, missing), hint)
        folders.append(more)


def _built(
    tools: Toolkit, files: Sequence[Path], board: Gpu, folders: Sequence[Path], options: Sequence[str]
) -> tuple[bytes | None, str]:
    arch, _ = compiled_arch(board)
    text = "\n".join(file.read_text("utf-8", errors="replace") for file in files)
    headers = reachable(text, folders, options)
    command = [
        *tools.command, f"-arch=sm_{arch}", "-cudart", "shared", "-O2", "-lineinfo", "-w",
        *(f"-I{folder}" for folder in folders), *options, *(str(file.resolve()) for file in files),
    ]  # fmt: skip
    included = [part for place, raw in headers.files.items() for part in (str(place), raw)]
    name = digest("program", tools.version, *command, text, *included)
    complaint = ""

    def make() -> bytes:
        nonlocal complaint
        with tempfile.TemporaryDirectory(prefix="warpbound-") as place:
            out = Path(place) / "program"
            try:
                done = subprocess.run(
                    [*command, "-o", str(out)], cwd=place, env=tools.environment, capture_output=True, text=True,
                    errors="replace", timeout=TIMEOUT_S, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired as slow:
                raise InputError(f"nvcc does not finish within {TIMEOUT_S} s.", "Build the program yourself.") from slow
            if done.returncode:
                complaint = done.stderr + done.stdout
                raise _Failed
            return out.read_bytes()

    try:
        return cached(name, make), ""
    except _Failed:
        return None, complaint


class _Failed(Exception):
    """nvcc has complained."""


def _missing(complaint: str) -> str | None:
    match = _MISSING.search(complaint)
    return next(group for group in match.groups() if group) if match else None


def _folder_of(header: str, start: Path, known: Sequence[Path]) -> Path | None:
    """The folder of the file's repository from which a header is included as it is spelled; None where it has none."""
    for top in (start, *start.parents):
        if len(top.parts) <= 2 or top == Path.home():
            return None
        for place in (top, *sorted(top.glob("*/")), *sorted(top.glob("*/include/"))):
            if (place / header).is_file() and place not in known:
                return place
        if (top / ".git").exists():
            return _deep(header, top, known)
    return None


def _deep(header: str, top: Path, known: Sequence[Path]) -> Path | None:
    for count, folder in enumerate(sorted(p for p in top.rglob("*") if p.is_dir())):
        if count > MOST_FOLDERS:
            return None
        if (folder / header).is_file() and folder not in known:
            return folder
    return None


def _reason(file: Path, complaint: str, missing: str | None) -> str:
    if missing:
        return f"{file}: the header {missing} is not in its folder, its repository or the CUDA toolkit."
    lines = complaint.strip().splitlines()
    wrong = (line for line in lines if re.search(r"\berror\b|undefined reference", line))
    first = next(wrong, lines[0] if lines else "it says nothing")
    return f"nvcc does not build {file}: {first.strip()}."
