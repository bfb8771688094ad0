"""nvcc is found where users have it, and its folders are those that it names itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpbound.errors import InputError, MissingTool
from warpbound.program import cuda_toolkit
from warpbound.program.cuda_toolkit import host_compiler, in_wheel, toolkit

DRY_RUN = """\
#$ TOP={root}
#$ INCLUDES="-I{root}/bin/../include"
#$ SYSTEM_INCLUDES="-isystem" "{root}/include/cccl"
#$ LIBRARIES=  "-L{root}/lib/stubs" "-L{root}/lib"
#$ gcc -E -D__CUDACC_VER_MAJOR__=12 -D__CUDACC_VER_MINOR__=6 -D__CUDACC_VER_BUILD__=20 "/dev/null"
"""


def installed(root: Path, output: str) -> Path:
    """A CUDA folder whose nvcc prints `output` whatever it is asked."""
    for folder in ("bin", "include/cccl", "lib"):
        (root / folder).mkdir(parents=True)
    (root / "lib" / "libcudart.so.12").touch()
    nvcc = root / "bin" / "nvcc"
    nvcc.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({output!r})\n")
    nvcc.chmod(0o755)
    return nvcc


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a host compiler and no CUDA."""
    host = tmp_path / "tools" / "g++"
    host.parent.mkdir()
    host.write_text("#!/bin/sh\n")
    host.chmod(0o755)
    monkeypatch.setenv("PATH", str(host.parent))
    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "NVCC_CCBIN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cuda_toolkit, "in_wheel", lambda: None)
    return tmp_path


def test_folders_and_release_are_those_that_nvcc_prints(alone: Path) -> None:
    root = alone / "cuda"
    tools = toolkit(installed(root, DRY_RUN.format(root=root)))
    assert (tools.release, tools.version) == ("12.6", "12.6.20")
    assert tools.include == (root / "include", root / "include" / "cccl")
    assert tools.libraries == (root / "lib",)
    assert tools.command[:3] == [str(root / "bin" / "nvcc"), "-ccbin", str(alone / "tools" / "g++")]


def test_the_linker_gets_the_name_that_it_asks_for(alone: Path) -> None:
    root = alone / "cuda"
    tools = toolkit(installed(root, DRY_RUN.format(root=root)))
    (link,) = tools.link
    assert (link / "libcudart.so").resolve() == root / "lib" / "libcudart.so.12"
    assert f"-L{link}" in tools.command


def test_path_comes_before_the_variable_and_the_variable_before_the_wheel(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: alone / name for name in ("path", "variable", "wheel")}
    nvccs = {name: installed(root, DRY_RUN.format(root=root)) for name, root in places.items()}
    monkeypatch.setattr(cuda_toolkit, "in_wheel", lambda: nvccs["wheel"])
    assert (toolkit().nvcc, toolkit().origin) == (nvccs["wheel"], "wheel")
    monkeypatch.setenv("CUDA_HOME", str(places["variable"]))
    assert (toolkit().nvcc, toolkit().origin) == (nvccs["variable"], "CUDA_HOME")
    monkeypatch.setenv("PATH", f"{alone / 'tools'}{os.pathsep}{places['path'] / 'bin'}")
    assert (toolkit().nvcc, toolkit().origin) == (nvccs["path"], "PATH")


def test_a_folder_stands_for_the_nvcc_in_it(alone: Path) -> None:
    root = alone / "cuda"
    nvcc = installed(root, DRY_RUN.format(root=root))
    assert toolkit(root).nvcc == nvcc


def test_nvcc_is_asked_once_until_it_changes(alone: Path) -> None:
    root = alone / "cuda"
    nvcc = installed(root, DRY_RUN.format(root=root))
    first = toolkit(root)
    cuda_toolkit._toolkit.cache_clear()  # another process
    identity = nvcc.stat()
    nvcc.write_text(nvcc.read_text().replace("=12 ", "=13 "))
    os.utime(nvcc, ns=(identity.st_atime_ns, identity.st_mtime_ns))
    assert toolkit(root) == first
    cuda_toolkit._toolkit.cache_clear()
    os.utime(nvcc)
    assert toolkit(root).release == "13.6"


def test_what_is_missing_is_named(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingTool, match=r"There is no nvcc .*warpbound\[nvcc\]"):
        toolkit()
    with pytest.raises(InputError, match=r"nowhere is not an nvcc\."):
        toolkit(alone / "nowhere")
    broken = installed(alone / "cuda", "nvcc fatal: broken")
    with pytest.raises(InputError, match=r"is not a working nvcc: nvcc fatal: broken\."):
        toolkit(broken)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingTool, match="C\\+\\+ compiler of the host"):
        host_compiler()


@pytest.mark.cuda
def test_the_wheel_builds_a_program_that_asks_for_the_shared_runtime(tmp_path: Path) -> None:
    nvcc = in_wheel()
    if nvcc is None:
        pytest.skip("the wheel nvidia-cuda-nvcc is not installed")
    try:
        tools = toolkit(nvcc)
    except MissingTool as missing:
        pytest.skip(str(missing))
    source = tmp_path / "program.cu"
    source.write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n")
    command = [*tools.command, "-arch=sm_75", "-cudart", "shared", "-o", str(tmp_path / "program"), str(source)]
    subprocess.run(command, env=tools.environment, check=True, cwd=tmp_path)
    assert b"libcudart.so.13" in (tmp_path / "program").read_bytes()
