"""The disassembler of the CUDA wheels, called once per new cubin (0.3 s) and remembered by content."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from warpbound.errors import InputError, MissingTool
from warpbound.program.cache import cached, digest

TIMEOUT_S = 120
_FLAGS = ("-c", "-hex", "-gi")
# what the analysis of data flow finds the targets of
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
    try:
        return importlib.metadata.version("nvidia-cuda-nvdisasm")
    except importlib.metadata.PackageNotFoundError:
        tool = find()
        return f"{tool} {tool.stat().st_size} {tool.stat().st_mtime_ns}" if tool else "none"


def disassemble(image: bytes, source: str) -> str:
    """The listing of a cubin with encodings and source lines.

    Raises MissingTool where nvdisasm is not installed, InputError where it refuses the image.
    """
    tool = find()
    if tool is None:
        raise MissingTool("Reading machine code needs nvdisasm.", "Install warpbound[cuda].")
    name = digest("nvdisasm", version(), image)
    return cached(name, lambda: _run(tool, image, source)).decode()


def _run(tool: Path, image: bytes, source: str) -> bytes:
    """The listing without the analysis of data flow, a third of the time; with it where it has something to say."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        quick = _started([str(tool), *_FLAGS, "--no-dataflow", file.name], source)
        done = quick
        if quick.returncode or _INDIRECT.search(quick.stdout):
            done = _started([str(tool), *_FLAGS, file.name], source)
    if done.returncode or not done.stdout.strip():
        message = done.stderr.decode(errors="replace").replace(file.name, source).strip().splitlines()
        raise InputError(
            f"{source}: nvdisasm refused it: {message[-1] if message else 'no output'}.",
            "Give a cubin for sm_75 or later, as nvcc or NVRTC writes it.",
        )
    return done.stdout


def _started(command: list[str], source: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, capture_output=True, timeout=TIMEOUT_S, check=False, env={**_IN_ONE_PIECE, **os.environ}
        )
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise InputError(f"{source}: nvdisasm failed ({failed}).", "Try `warpbound doctor`.") from failed
