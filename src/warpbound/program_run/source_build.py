"""A .cu file becomes a program whose CUDA runtime can be replaced: nvcc -cudart shared."""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpbound.disk_cache import cached, digest
from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.program.arch_match import compiled_arch
from warpbound.program.cuda_toolkit import Toolkit, toolkit
from warpbound.program.header_packages import GPU_LIBRARIES, package_of, sentence
from warpbound.program.headers import reachable
from warpbound.program.nvcc import REMOVED_NAMES

TIMEOUT_S = 600
ALLOWED = ("--extended-lambda", "--expt-relaxed-constexpr")  # what a project's build commonly allows
HEADERS = (".cuh", ".h", ".hpp", ".hh")
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
MOST_FOLDERS = 4000  # folders of a repository that are searched for a header
_MISSING = re.compile(r"fatal error: (\S+?): No such file|(?:cannot|could not) open source file \"([^\"]+)\"")
_INCLUDER = re.compile(r"^(.+?)[:(](\d+)[:)].*(?:fatal error|open source file)", re.M)
_UNDEFINED = re.compile(r"undefined reference to `([\w:~]+)")
_NO_MAIN = re.compile(r"undefined reference to `main'")
_DEFINED = re.compile(r"\b(\w+)\s*\([^;{}()]*\)\s*\{")  # a function; if and for, too
_WORD = re.compile(r"\w+")
_STATEMENTS = frozenset({"if", "for", "while", "switch", "main"})


def is_source(name: str) -> bool:
    """Whether a file is built, by its ending; a header is refused then."""
    return Path(name).suffix in (*SOURCES, *HEADERS)


def built(
    files: Sequence[Path], board: Gpu, include: Sequence[Path] = (), options: Sequence[str] = ()
) -> tuple[bytes, tuple[Path, ...]]:
    """The program of one .cu file, or of several files that belong together; the files beside them that it took.

    A header that is not found is looked up in the files' own repository. A function that is not defined is looked up in
    the other sources of the folder; of these, one with a main function must use what the files define. Raises
    InputError with the compiler's message, MissingTool without nvcc or a host compiler.
    """
    for file in files:
        if not file.is_file():
            raise InputError(f"There is no file {file}.", "Give a .cu file or a program.")
        if file.suffix in HEADERS:
            reason = f"{file} is a header, not a program."
            raise InputError(reason, f"Give the .cu file that includes it. {_for_kernels_alone(file)}")
    tools = toolkit()
    folders = [*dict.fromkeys(file.resolve().parent for file in files), *include]
    beside: list[Path] = []
    while True:
        program, complaint = _built(tools, [*files, *beside], board, folders, options)
        if program is not None:
            return program, tuple(beside)
        defining = _defining(complaint, [*files, *beside])
        if defining:
            beside += defining
            continue
        missing = _missing(complaint)
        more = _folder_of(missing, files[0].resolve().parent, folders) if missing else None
        if more is None:
            raise InputError(*_refusal(files[0], complaint, missing))
        folders.append(more)


def _built(
    tools: Toolkit, files: Sequence[Path], board: Gpu, folders: Sequence[Path], options: Sequence[str]
) -> tuple[bytes | None, str]:
    arch, _ = compiled_arch(board)
    text = "\n".join(file.read_text("utf-8", errors="replace") for file in files)
    headers = reachable(text, folders, options)
    gone = [flag for flag in REMOVED_NAMES if flag[2:].partition("=")[0] in text]
    command = [
        *tools.command, f"-arch=sm_{arch}", "-cudart", "shared", "-O2", "-lineinfo", "-w", *ALLOWED, *gone,
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
                process = subprocess.run(
                    [*command, "-o", str(out)], cwd=place, env=tools.environment, capture_output=True, text=True,
                    errors="replace", timeout=TIMEOUT_S, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired as slow:
                raise InputError(f"nvcc does not finish within {TIMEOUT_S} s.", "Build the program yourself.") from slow
            if process.returncode:
                complaint = process.stderr + process.stdout
                raise _Failed
            return out.read_bytes()

    try:
        return cached(name, make), ""
    except _Failed:
        return None, complaint


class _Failed(Exception):
    """nvcc has complained."""


def _defining(complaint: str, files: Sequence[Path]) -> list[Path]:
    """Sources in the folder of the first of `files` that define functions which the linker misses.

    None for a function that several of them define. A source with main must use a function of `files`.
    """
    names = {name.rpartition("::")[2] for name in _UNDEFINED.findall(complaint)}
    others = [path for path in sorted(files[0].parent.iterdir()) if path.suffix in SOURCES and path not in files]
    texts = {path: path.read_text("utf-8", errors="replace") for path in others} if names else {}
    own = {name for path in files for name in _DEFINED.findall(path.read_text("utf-8", errors="replace"))} - _STATEMENTS
    sources: set[Path] = set()
    for name in names:
        pattern = re.compile(rf"\b{re.escape(name)}\s*\([^;{{}}]*\)\s*(?:const\s*)?\{{")
        with_it = [path for path, text in texts.items() if pattern.search(text)]
        if name == "main":
            with_it = [path for path in with_it if own & set(_WORD.findall(texts[path]))]
        sources |= set(with_it) if len(with_it) == 1 else set()
    return sorted(sources)


def _missing(complaint: str) -> str | None:
    match = _MISSING.search(complaint)
    return next(group for group in match.groups() if group) if match else None


def _folder_of(header: str, start: Path, folders: Sequence[Path]) -> Path | None:
    """The folder of the file's repository from which a header is included as it is spelled; None where it has none."""
    for top in (start, *start.parents):
        if len(top.parts) <= 2 or top == Path.home():
            return None
        for place in (top, *sorted(top.glob("*/")), *sorted(top.glob("*/include/"))):
            if (place / header).is_file() and place not in folders:
                return place
        if (top / ".git").exists():
            return _deep(header, top, folders)
    return None


def _deep(header: str, top: Path, folders: Sequence[Path]) -> Path | None:
    for count, folder in enumerate(sorted(p for p in top.rglob("*") if p.is_dir())):
        if count > MOST_FOLDERS:
            return None
        if (folder / header).is_file() and folder not in folders:
            return folder
    return None


def _refusal(file: Path, complaint: str, missing: str | None) -> tuple[str, str]:
    """Why there is no program, and the remedy."""
    if missing:
        includer, package = _INCLUDER.search(complaint), package_of(missing)
        reason, hint = sentence(missing, f"{includer[1]}, line {includer[2]}," if includer else str(file))
        if package and package[0] in GPU_LIBRARIES:
            hint = f"`warpbound run` executes no {package[0]}."
        hint = hint.replace(", or the build's folder with -p FOLDER", "")  # which `run` does not have
        return reason, f"{hint} {_for_kernels_alone(file)}"
    if _NO_MAIN.search(complaint):
        return (
            f"{file} has no main function, and not exactly one source beside it has a main that uses it.",
            f"Build the whole with nvcc -cudart shared and run that. {_for_kernels_alone(file)}",
        )
    way = "Add what it needs with -I FOLDER or --nvcc OPTION, or build it yourself with -cudart shared."
    return _reason(file, complaint), f"{way} {_for_kernels_alone(file)}"


def _for_kernels_alone(file: Path) -> str:
    return f"For its kernels alone: warpbound analyze {file}."


def _reason(file: Path, complaint: str) -> str:
    lines = complaint.strip().splitlines()
    wrong = (line for line in lines if re.search(r"\berror\b|undefined reference", line))
    first = next(wrong, lines[0] if lines else "it says nothing")
    return f"nvcc does not build {file}: {first.strip()}."
