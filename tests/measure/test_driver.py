"""The driver's side without a driver: the calls exist, take what they are given, and are asked in the right order."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warpbound.errors import InputError, MissingTool
from warpbound.measure import driver
from warpbound.measure.device import Geometry

TEXT = Path(driver.__file__).read_text("utf-8")
CALLS = sorted(set(re.findall(r'_(?:ask|ask_all|wait)\(\s*"(cu\w+)"', TEXT)))
CAPABILITY = {"COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"}
ATTRIBUTES = sorted(set(re.findall(r'_number\("(\w+)"\)', TEXT)) | CAPABILITY)
ENUMS = ["CUevent_flags.CU_EVENT_DEFAULT", "CUstream_flags.CU_STREAM_NON_BLOCKING", "CUresult.CUDA_SUCCESS",
         "CUresult.CUDA_ERROR_NOT_READY",
         "CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
         "CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT"]  # fmt: skip


@pytest.mark.cuda
@pytest.mark.parametrize("call", CALLS)
def test_the_bindings_have_the_call(call: str) -> None:
    cuda = pytest.importorskip("cuda.bindings.driver")
    assert callable(getattr(cuda, call))


@pytest.mark.cuda
@pytest.mark.parametrize("name", ENUMS)
def test_the_bindings_have_the_constant(name: str) -> None:
    cuda = pytest.importorskip("cuda.bindings.driver")
    kind, _, value = name.partition(".")
    assert name in TEXT or value in TEXT
    assert isinstance(int(getattr(getattr(cuda, kind), value)), int)


@pytest.mark.cuda
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_the_bindings_have_the_attribute(name: str) -> None:
    cuda = pytest.importorskip("cuda.bindings.driver")
    assert hasattr(cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")


class Recorder:
    """Bindings that write down what they are asked and answer with small numbers."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.fails = ""
        pending = SimpleNamespace(name="CUDA_ERROR_NOT_READY")
        self.CUresult = SimpleNamespace(CUDA_SUCCESS=SimpleNamespace(name="ok"), CUDA_ERROR_NOT_READY=pending)
        self.hangs = False
        for kind in ("CUevent_flags", "CUstream_flags", "CUfunction_attribute", "CUdevice_attribute"):
            setattr(self, kind, _Names())

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*args: Any) -> tuple[Any, ...]:
            self.asked.append((name, args))
            if name.endswith("Query") and self.hangs:
                return (self.CUresult.CUDA_ERROR_NOT_READY,)
            if name == self.fails:
                return (SimpleNamespace(name="CUDA_ERROR_INVALID_IMAGE"), None)
            text = b"a name\0\0" if name in ("cuDeviceGetName", "cuDeviceGetPCIBusId") else 13000
            return (self.CUresult.CUDA_SUCCESS, text)

        return call


class _Names:
    def __getattr__(self, name: str) -> str:
        return name


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(driver, "_bindings", lambda: recorder)
    return recorder


def test_facts_are_what_the_driver_says(recorder: Recorder) -> None:
    facts = driver.Driver().facts()
    assert (facts.name, facts.driver, facts.sm_count) == ("a name", "CUDA 13.0", 13000)


def test_a_launch_hands_over_the_bytes_of_its_arguments(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    whole = recorder.__class__.__getattr__

    def watch(self: Recorder, name: str) -> Any:
        call = whole(self, name)
        if name != "cuLaunchKernel":
            return call

        def launch(*args: Any) -> Any:
            import ctypes

            pointers = (ctypes.c_uint64 * 3).from_address(args[9])
            sizes = (8, 4, 4)
            seen.extend(ctypes.string_at(at, size) for at, size in zip(pointers, sizes, strict=True))
            return call(*args)

        return launch

    monkeypatch.setattr(Recorder, "__getattr__", watch)
    gpu = driver.Driver()
    gpu.launch(7, Geometry((3, 2), 64, 100_000, 100, (16, 4)), [np.uint64(1 << 40), np.int32(-2), np.float32(1.5)])
    name, args = recorder.asked[-1]
    assert (name, args[:8]) == ("cuLaunchKernel", (7, 3, 2, 1, 16, 4, 1, 100_000))
    assert seen == [np.uint64(1 << 40).tobytes(), np.int32(-2).tobytes(), np.float32(1.5).tobytes()]
    limits = [asked[1][1:] for asked in recorder.asked if asked[0] == "cuFuncSetAttribute"]
    assert limits == [("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 100_000),
                      ("CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT", 100)]  # fmt: skip


def test_refused_code_says_the_way_out(recorder: Recorder) -> None:
    gpu = driver.Driver()
    recorder.fails = "cuModuleLoadData"
    with pytest.raises(InputError, match="Build the cubins again"):
        gpu.load(b"cubin", "kernel")


def test_nothing_that_sets_clocks_power_or_modes_is_called() -> None:
    assert not re.search(r"Set(Gpu|Memory|Applications|Power|Compute|Mig|Persistence)|cuDeviceSet|cuCtxSetLimit", TEXT)


def test_no_driver_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Without:
        def cuInit(self, flags: int) -> None:  # noqa: N802
            raise RuntimeError("no library")

    monkeypatch.setattr(driver, "_bindings", Without)
    with pytest.raises(MissingTool, match="no NVIDIA driver"):
        driver.Driver()


def test_a_kernel_that_hangs_ends_one_case(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "LONGEST_S", 0.02)
    gpu = driver.Driver()
    recorder.hangs = True
    with pytest.raises(InputError, match="did not end"):
        gpu.elapsed(gpu.mark(), gpu.mark())
    monkeypatch.setattr(driver, "LONGEST_S", 3600.0)  # what waits later does not wait again
    with pytest.raises(InputError, match="did not end"):
        gpu.download(4096, 4, np.uint32)
    with pytest.raises(InputError, match="did not end"):
        gpu.free(4096)


def test_a_failure_after_the_launch_is_said(recorder: Recorder) -> None:
    gpu = driver.Driver()
    recorder.fails = "cuEventQuery"
    with pytest.raises(InputError, match="cuEventQuery failed with CUDA_ERROR_INVALID_IMAGE"):
        gpu.elapsed(gpu.mark(), gpu.mark())


@pytest.mark.parametrize("wrong", [RuntimeError('Function "cuMemAlloc" not found'), TypeError("takes 3 arguments")])
def test_bindings_of_another_version_are_one_sentence(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, wrong: Exception
) -> None:
    gpu = driver.Driver()

    def missing(*args: Any) -> None:
        raise wrong

    monkeypatch.setattr(recorder, "cuMemAlloc", missing, raising=False)
    with pytest.raises(MissingTool, match="cuda-bindings and the driver do not agree about cuMemAlloc") as said:
        gpu.allocate(16)
    assert "cuda-bindings<13" in said.value.hint
