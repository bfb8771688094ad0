"""sm_70: code of an older NVRTC, read by an older nvdisasm where one is here; else code of sm_75 stands in."""

import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpbound import machine
from warpbound.errors import InputError, MissingTool
from warpbound.program import nvdisasm, nvrtc_release, older_nvdisasm
from warpbound.program.arch_match import compiled_arch

Tool = Callable[[str], Path]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A machine with nothing installed."""
    for variable in (older_nvdisasm.VARIABLE, "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    older_nvdisasm.find.cache_clear()
    yield
    older_nvdisasm.find.cache_clear()


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    def of_release(release: str) -> Path:
        place = tmp_path / "nvdisasm"
        place.write_text(f"#!{sys.executable}\nprint('Cuda compilation tools, release {release}, V{release}.1')\n")
        place.chmod(0o755)
        return place

    return of_release


def cubin(arch: int, abi: int) -> bytes:
    """The ELF header of a cubin: the architecture lies in bits 0-7 of e_flags, from ABI 8 on in bits 8-15."""
    flags = arch << 8 if abi >= 8 else arch
    return b"\x7fELF\x02\x01\x01\x33" + bytes([abi]) + bytes(39) + flags.to_bytes(4, "little") + bytes(12)


@pytest.mark.parametrize(("arch", "abi", "is_needed"), [(70, 7, True), (72, 7, True), (75, 7, False), (90, 8, False)])
def test_an_older_nvdisasm_is_needed_for_volta_alone(arch, abi, is_needed):
    assert older_nvdisasm.architecture(cubin(arch, abi)) == arch
    assert older_nvdisasm.needed(cubin(arch, abi)) == is_needed


@pytest.mark.parametrize(("release", "reads"), [("12.8", True), ("13.0", True), ("13.3", False)])
def test_a_named_nvdisasm_counts_by_its_release(tool, monkeypatch, release, reads):
    place = tool(release)
    monkeypatch.setenv(older_nvdisasm.VARIABLE, str(place))
    assert older_nvdisasm.find() == (place if reads else None)


def test_the_nvdisasm_of_a_wheel_is_kept_and_found(tool, tmp_path):
    wheel = tmp_path / "triton.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(tool("12.8"), "triton/backends/nvidia/bin/nvdisasm")
    assert older_nvdisasm.find() is None
    older_nvdisasm.find.cache_clear()
    older_nvdisasm.unpack(wheel, tmp_path / "cache/warpbound/nvdisasm-12.8/nvdisasm")
    assert older_nvdisasm.find() == tmp_path / "cache/warpbound/nvdisasm-12.8/nvdisasm"


def test_a_wheel_without_it_is_named(tmp_path):
    wheel = tmp_path / "other.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("readme", "")
    with pytest.raises(InputError, match=r"other\.whl gave no nvdisasm"):
        older_nvdisasm.unpack(wheel, tmp_path / "nvdisasm")


def test_code_for_sm_70_without_it_names_the_command():
    with pytest.raises(MissingTool, match="older-nvdisasm"):
        nvdisasm.disassemble(cubin(70, 7), "k.cu")


@pytest.mark.parametrize(
    ("compiler", "gpu", "target"),
    [
        ("nvrtc-12.6", "v100-sxm2", (70, None)),
        ("nvrtc", "v100-sxm2", (75, "sm_75")),
        ("nvrtc-12.6", "p100-pcie", (75, "sm_75")),
        ("nvrtc-12.6", "h200", (90, None)),
    ],
)
def test_sm_70_is_compiled_by_an_older_compiler_alone(tool, monkeypatch, compiler, gpu, target):
    old = nvrtc_release.Release(Path("libnvrtc.so.12"), "12.6", (60, 70, 75, 90), ())
    monkeypatch.setattr(nvrtc_release, "releases", lambda: (old,))
    assert compiled_arch(machine.gpu("v100-sxm2"), "nvrtc-12.6") == (75, "sm_75")  # none reads it yet
    older_nvdisasm.find.cache_clear()
    monkeypatch.setenv(older_nvdisasm.VARIABLE, str(tool("12.8")))
    assert compiled_arch(machine.gpu(gpu), compiler) == target
