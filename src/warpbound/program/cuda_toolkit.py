"""nvcc, its folders and the host compiler it works with: the user's own, else those of NVIDIA's wheels.

    tools = toolkit()                                  # or toolkit(Path("/usr/local/cuda/bin/nvcc"))
    subprocess.run([*tools.command, "-arch=sm_75", "-cudart", "shared", "-o", "program", "program.cu"],
                   env=tools.environment)

`command` begins with nvcc and names the host compiler where nvcc would not find one by itself. nvcc adds
`tools.include` and `tools.libraries` on its own; they are listed for those who call another compiler.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from warpbound.disk_cache import cached, digest, folder, load, state_of
from warpbound.errors import InputError, MissingTool, install
from warpbound.quick_dataclasses import dataclass

TIMEOUT_S = 60
_VERSION = re.compile(r"-D__CUDACC_VER_(MAJOR|MINOR|BUILD)__=(\d+)")
_FOLDER = re.compile(r'"?-(?:I|L|isystem"?\s+"?)([^"\n]+)"')
_HOMES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
_HOSTS = ("g++", "clang++")


@dataclass(frozen=True)
class Toolkit:
    """An nvcc that was found.

    release : such as `13.5`; version : such as `13.5.37`. origin : `PATH`, the variable or the wheel that led to it.
    host : the host C++ compiler. include : folders of the CUDA headers, of CCCL last. libraries : folders of the
    runtime. link : a folder with the `libcudart.so` that the linker asks for, where the wheel lacks it.
    """

    nvcc: Path
    release: str
    version: str
    origin: str
    host: Path
    include: tuple[Path, ...]
    libraries: tuple[Path, ...]
    link: tuple[Path, ...] = ()

    @property
    def command(self) -> list[str]:
        """nvcc with the options that every call needs: its host compiler, whatever the release, and what to link."""
        links = [f"-L{place}" for place in self.link]
        return [str(self.nvcc), "-ccbin", str(self.host), "-allow-unsupported-compiler", *links]

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for the call: nvcc's own options of the user are left out."""
        hidden = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN")
        return {name: value for name, value in os.environ.items() if name not in hidden}


def toolkit(nvcc: Path | None = None) -> Toolkit:
    """The nvcc at a path; else the one on PATH, of CUDA_HOME, or of the wheel `nvidia-cuda-nvcc`, in this order.

    Raises MissingTool where there is no nvcc or no host compiler, InputError where `nvcc` is none.
    """
    if nvcc is None:
        place, origin = next(_places(), (None, ""))
        if place is None:
            raise MissingTool("There is no nvcc on PATH, under CUDA_HOME or in a wheel.", install("nvcc"))
        return _toolkit(place, origin, host_compiler())
    place = nvcc / "bin" / "nvcc" if nvcc.is_dir() else nvcc
    if not os.access(place, os.X_OK):
        raise InputError(f"{nvcc} is not an nvcc.", "Give its path, as in --compiler nvcc=/opt/cuda/bin/nvcc.")
    return _toolkit(place, "path", host_compiler())


def host_compiler() -> Path:
    """The C++ compiler of the host: $NVCC_CCBIN, else g++, else clang++. Raises MissingTool without any."""
    for name in (os.environ.get("NVCC_CCBIN", ""), *_HOSTS):
        if place := name and shutil.which(name):
            return Path(place)
    raise MissingTool("nvcc needs a C++ compiler of the host, g++ or clang++.", "Install one: apt install g++.")


def _places() -> Iterator[tuple[Path, str]]:
    if on_path := shutil.which("nvcc"):
        yield Path(on_path), "PATH"
    for variable in _HOMES:
        place = Path(os.environ.get(variable, "")) / "bin" / "nvcc"
        if os.environ.get(variable) and os.access(place, os.X_OK):
            yield place, variable
    if wheel := in_wheel():
        yield wheel, "wheel"


def in_wheel() -> Path | None:
    """nvcc of the wheel `nvidia-cuda-nvcc`; None where it is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for place in sorted(Path(root).glob("cu*/bin/nvcc"), reverse=True):
            if (place.parent.parent / "nvvm" / "bin").is_dir():
                return place
    return None


@cache
def _toolkit(place: Path, origin: str, host: Path) -> Toolkit:
    """Version and folders as nvcc itself reports them; kept on disk until one of its files changes."""
    files = (place, place.with_name("nvcc.profile"), host)
    flags = (os.environ.get(name, "") for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"))
    name = digest("nvcc -dryrun", *(f"{file} {state_of(file.stat())}" for file in files if file.exists()), *flags)
    before = load(name)
    output = _dry_run(place, host) if before is None else before.decode()
    version = dict(_VERSION.findall(output))
    if len(version) < len(("major", "minor", "build")):
        first = next(iter(output.strip().splitlines()), "it prints nothing")
        raise InputError(f"{place} is not a working nvcc: {first}.", "Name another with --compiler nvcc=PATH.")
    if before is None:
        cached(name, output.encode)
    release = f"{version['MAJOR']}.{version['MINOR']}"
    libraries = _folders("LIBRARIES", output)
    complete = any((each / "libcudart.so").exists() for each in libraries)
    include = (*_folders("INCLUDES", output), *_folders("SYSTEM_INCLUDES", output))
    return Toolkit(
        place, release, f"{release}.{version['BUILD']}", origin, host, include, libraries,
        () if complete else _link_folder(libraries),
    )  # fmt: skip


def _dry_run(place: Path, host: Path) -> str:
    command = [str(place), "-ccbin", str(host), "-allow-unsupported-compiler", "-dryrun", "-E", "-x", "cu", os.devnull]
    try:
        finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise InputError(f"{place} does not start ({failed}).", "Name another with --compiler nvcc=PATH.") from failed
    return finished.stderr


def _folders(variable: str, output: str) -> tuple[Path, ...]:
    line = re.search(rf"^#\$ {variable}=(.*)$", output, re.M)
    places = [Path(os.path.normpath(name)) for name in _FOLDER.findall(line[1])] if line else []
    return tuple(place for place in places if place.is_dir())


def _link_folder(libraries: tuple[Path, ...]) -> tuple[Path, ...]:
    """A folder with a link `libcudart.so` to the runtime; empty where there is none or no room."""
    shared = next((path for place in libraries for path in sorted(place.glob("libcudart.so.*"))), None)
    if shared is None:
        return ()
    link = folder() / "link" / digest(str(shared))[:12] / "libcudart.so"
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=link.parent) as fresh:  # in one step: other processes may do the same
            (Path(fresh) / "link").symlink_to(shared)
            os.replace(Path(fresh) / "link", link)
    except OSError:
        return ()
    return (link.parent,)
