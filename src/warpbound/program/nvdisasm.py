"""Runs nvdisasm of the CUDA wheels, once per new cubin (0.3 s), and caches its output by content."""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from warpbound.disk_cache import cached, digest, load
from warpbound.errors import InputError, MissingTool, install
from warpbound.program import older_nvdisasm
from warpbound.program.cubin_merge import is_of, joined, listings
from warpbound.program.wheels import version_of

TIMEOUT_S = 120
_FLAGS = ("-c", "-hex", "-gi")
# branches whose targets the data-flow analysis finds
_INDIRECT = re.compile(rb"(?<![.\w])(?:BRXU?|JMXU?|SSY|SYNC|PBK|BRK|PCNT|CONT|PRET)\b")
_IN_ONE_PIECE = {"MALLOC_TOP_PAD_": "134217728"}  # its tables take 80 MB, asked for by glibc in 400 pieces


def find() -> Path | None:
    """Path of nvdisasm: from the wheel, else from PATH; None when there is none."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(root).glob("cu*/bin/nvdisasm*")):
            return path
    on_path = shutil.which("nvdisasm")
    return Path(on_path) if on_path else None


def version() -> str:
    """Version of the wheel; of a program from elsewhere its place, size and age."""
    wheel = version_of("nvidia-cuda-nvdisasm")
    if wheel is not None:
        return wheel
    tool = find()
    return f"{tool} {tool.stat().st_size} {tool.stat().st_mtime_ns}" if tool else "none"


def disassemble(image: bytes, source: str) -> str:
    """The listing of a cubin with encodings and source lines.

    Raises MissingTool where nvdisasm is not installed, InputError where it refuses the image.
    """
    return cached(_name(image), lambda: _run(_tool(image), image, source)).decode()


def disassemble_all(images: Sequence[bytes], source: str) -> list[str]:
    """The listing of each cubin, as `disassemble` gives it; those that are new are read by one call.

    One that cannot be joined with the others, or whose listing does not show its code bit by bit, is read alone.
    """
    here = (image for image in dict.fromkeys(images) if not older_nvdisasm.needed(image))
    new = [image for image in here if load(_name(image)) is None]
    together = dict(zip(new, _together(new, source), strict=True)) if len(new) > 1 else {}
    return [
        disassemble(image, source) if (result := together.get(image)) is None
        else cached(_name(image), result.encode).decode()
        for image in images
    ]  # fmt: skip


def _together(images: Sequence[bytes], source: str) -> list[str | None]:
    """A listing of each, None where it must be read alone."""
    alone: list[str | None] = [None] * len(images)
    whole = joined(images)
    if whole is None:
        return alone
    with _file(whole) as place:
        process = _started([str(_tool(whole)), *_FLAGS, "--no-dataflow", place], source)
    if process.returncode:
        return alone
    parts = listings(process.stdout.decode(errors="replace"), len(images))
    fit = (
        is_of(part, image) and not _INDIRECT.search(part.encode()) for part, image in zip(parts, images, strict=True)
    )
    return [part if fits else None for part, fits in zip(parts, fit, strict=True)]


def _name(image: bytes) -> str:
    """Cache key of a listing."""
    return digest("nvdisasm", version(), image)


def _tool(image: bytes) -> Path:
    if older_nvdisasm.needed(image):
        older = older_nvdisasm.find()
        if older is None:
            raise MissingTool("Code for sm_70 needs an nvdisasm of CUDA 12.", f"`{older_nvdisasm.COMMAND}` fetches it.")
        return older
    tool = find()
    if tool is None:
        raise MissingTool("Reading machine code needs nvdisasm.", install("cuda"))
    return tool


def _run(tool: Path, image: bytes, source: str) -> bytes:
    """The listing without data-flow analysis, in a third of the time; with it for code that needs it."""
    with _file(image) as place:
        process = _started([str(tool), *_FLAGS, "--no-dataflow", place], source)
        if process.returncode or _INDIRECT.search(process.stdout):
            process = _started([str(tool), *_FLAGS, place], source)
    if process.returncode or not process.stdout.strip():
        message = process.stderr.decode(errors="replace").replace(place, source).strip().splitlines()
        raise InputError(
            f"{source}: nvdisasm refused it: {message[-1] if message else 'no output'}.",
            "Give a cubin for sm_75 or later, as nvcc or NVRTC writes it.",
        )
    return process.stdout


@contextmanager
def _file(image: bytes) -> Iterator[str]:
    """The path of a cubin on disk, while it is needed."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        yield file.name


def _started(command: list[str], source: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, capture_output=True, timeout=TIMEOUT_S, check=False, env={**_IN_ONE_PIECE, **os.environ}
        )
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise InputError(f"{source}: nvdisasm failed ({failed}).", "Try `warpbound doctor`.") from failed
