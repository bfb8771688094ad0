"""An nvdisasm of CUDA 13.0 or earlier, which reads sm_70 and sm_72: that of the CUDA 13.3 wheels refuses them.

NVIDIA has no wheel of an older nvdisasm. The wheel triton 3.3.1 carries the one of CUDA 12.8 (V12.8.55 by its own
--version).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from warpbound.disk_cache import folder, store
from warpbound.errors import InputError

OLDEST, LATER = 70, 75  # what it is for: Volta, whose encoding the analysis reads
VARIABLE = "WARPBOUND_NVDISASM"
COMMAND = "warpbound doctor --older-nvdisasm"
_WHEEL, _MEMBER = "triton==3.3.1", "triton/backends/nvidia/bin/nvdisasm"
_DOWNLOAD = ("--no-deps", "--only-binary=:all:", "--python-version=3.11", "--platform=manylinux_2_27_x86_64")
_RELEASE = re.compile(r"release (\d+)\.(\d+)")
_LAST = (13, 0)  # by the words of later ones: "deprecated. Please use CUDA toolkit 13.0 or earlier"
_DOWNLOAD_S, _ASK_S = 1800, 20


def architecture(image: bytes) -> int:
    """The architecture of a cubin by the flags of its ELF header (see `cubin`); 0 where it is none."""
    if image[:4] != b"\x7fELF" or len(image) < 52:
        return 0
    flags = int.from_bytes(image[48:52], "little")
    return flags >> 8 & 0xFF if image[8] >= 8 else flags & 0xFF


def needed(image: bytes) -> bool:
    """Whether only an older nvdisasm reads this cubin."""
    return OLDEST <= architecture(image) < LATER


@cache
def find() -> Path | None:
    """$WARPBOUND_NVDISASM, the one that `fetch` has unpacked, that of a toolkit; None where none is old enough."""
    return next((place for place in _places() if _release(place) <= _LAST), None)


def _places() -> Iterator[Path]:
    if own_path := os.environ.get(VARIABLE):
        yield Path(own_path)
    yield _kept()
    for home in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(home):
            yield Path(os.environ[home]) / "bin" / "nvdisasm"
    if on_path := shutil.which("nvdisasm"):
        yield Path(on_path)


def _kept() -> Path:
    return folder() / "nvdisasm-12.8" / "nvdisasm"


def _release(tool: Path) -> tuple[int, int]:
    """The release that it reports; a release that is too new if it reports none."""
    try:
        process = subprocess.run([str(tool), "--version"], capture_output=True, text=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 99, 0
    match = _RELEASE.search(process.stdout)
    return (int(match[1]), int(match[2])) if match else (99, 0)


def fetch() -> Path:
    """Download the wheel triton 3.3.1 (150 MB), keep its nvdisasm in the cache folder, and nothing else.

    Raises InputError where there is no network or no room, and on another system than Linux on x86-64.
    """
    if (place := find()) is not None:
        return place
    if not sys.platform.startswith("linux"):
        raise InputError("The older nvdisasm is a program for Linux.", f"Name another with ${VARIABLE}.")
    with tempfile.TemporaryDirectory(prefix="warpbound-") as passing:
        command = [sys.executable, "-m", "pip", "download", "-q", *_DOWNLOAD, "-d", passing, _WHEEL]
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=_DOWNLOAD_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as failed:
            raise InputError(f"pip could not download {_WHEEL} ({failed}).", "Try again.") from failed
        wheels = sorted(Path(passing).glob("triton-*.whl"))
        if process.returncode or not wheels:
            complaint = [line for line in process.stderr.splitlines() if line.startswith("ERROR")]
            why = complaint[-1] if complaint else "no wheel came"
            raise InputError(f"pip could not download {_WHEEL} ({why}).", f"Name an nvdisasm with ${VARIABLE}.")
        unpack(wheels[0], _kept())
    find.cache_clear()
    if find() is None:
        raise InputError(f"{_kept()} does not run.", f"Name an nvdisasm of CUDA 12 with ${VARIABLE}.")
    return _kept()


def unpack(wheel: Path, place: Path) -> None:
    """Keep the nvdisasm of a Triton wheel at `place`. Raises InputError where the wheel has none or nothing is kept."""
    import zipfile  # which no answer needs

    try:
        with zipfile.ZipFile(wheel) as archive:
            store(place, archive.read(_MEMBER))
        place.chmod(0o755)
    except (OSError, KeyError, zipfile.BadZipFile) as problem:
        reason = f"{wheel.name} gave no nvdisasm to {place} ({problem})."
        raise InputError(reason, "Free some space there.") from problem
