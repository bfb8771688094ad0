"""NVIDIA's real bindings on a driver library that has no GPU: every call arrives as the header wants it.

The stub's launches take 2 us on a clock of its own, and its queue runs dry where the host is slower than that.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from warpbound.measure import cubin_build
from warpbound.measure.case import matching
from warpbound.measure.runner import load

pytestmark = pytest.mark.cuda
EMPTY_S, SM_HZ = 2e-6, 1.8e9


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library and with machine code for sm_90."""
    found, compiler = find_spec("nvidia"), shutil.which("cc")
    places = list(found.submodule_search_locations or ()) if found else []
    headers = [path for place in places if (path := Path(place) / "cu13" / "include" / "cuda.h").is_file()]
    if compiler is None or not headers or sys.platform != "linux":
        pytest.skip("no C compiler here, or no cuda.h")
    folder = tmp_path_factory.mktemp("stub")
    source = Path(__file__).with_name("stub_driver.c")
    words = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-Wno-unused", "-I", str(headers[0].parent)]
    subprocess.run([*words, "-o", str(folder / "libcuda.so.1"), str(source)], check=True)  # noqa: S603
    cubin_build.write(folder / "code", ("launch", "mixes"), (90,))
    return folder


def measure(stub: Path, out: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The command in a process that finds the stub's library."""
    command = [sys.executable, "-m", "warpbound", "measure", "--quick", "--cubins", str(stub / "code"), "-o", str(out)]
    paths = os.pathsep.join(filter(None, (str(stub), os.environ.get("LD_LIBRARY_PATH"))))
    return subprocess.run(  # noqa: S603
        [*command, *words], capture_output=True, text=True, check=False,
        env={**os.environ, "LD_LIBRARY_PATH": paths, **settings},
    )  # fmt: skip


def test_launches_take_what_the_gpu_takes_and_not_what_the_host_does(stub: Path, tmp_path: Path) -> None:
    """Queueing a launch from Python takes several times 2 us."""
    done = measure(stub, tmp_path, "--only", "launch")
    assert done.returncode == 0, done.stderr
    assert "stub:" not in done.stderr
    raw = load(tmp_path / "launch.json")
    assert (raw.device.name, raw.device.arch, raw.device.sm_count) == ("NVIDIA H200", 90, 132)
    assert raw.device.memory_clock == pytest.approx(3.2e9)
    for kernel in ("queue", "single", "small_scale"):
        for record in matching(raw.records, kernel=kernel):
            assert record.value["seconds"] == pytest.approx(EMPTY_S, rel=1e-3), record.axes
            assert record.clock_Hz == pytest.approx(SM_HZ, rel=1e-3)


def test_shared_memory_that_a_kernel_declares_counts_where_more_is_opted_in_to(stub: Path, tmp_path: Path) -> None:
    """Stamps of nothing are all zero: what matters is that no launch is refused."""
    done = measure(stub, tmp_path, "--only", "mixes")
    assert "cuLaunchKernel" not in done.stderr
    assert "stub:" not in done.stderr
    assert matching(load(tmp_path / "mixes.json").records, other="lds")


@pytest.mark.parametrize(("failing", "said"), [
    ("cuInit 100", "cuInit failed with CUDA_ERROR_NO_DEVICE"),
    ("cuInit 803", "cuInit failed with CUDA_ERROR_SYSTEM_DRIVER_MISMATCH. The driver's library and its kernel module"),
    ("cuDevicePrimaryCtxRetain 46", "CUDA_ERROR_DEVICE_UNAVAILABLE. Another process has the GPU for itself"),
    ("cuModuleLoadData 200", "the driver refuses the machine code of burn: the driver's cuModuleLoadData failed with "
     "CUDA_ERROR_INVALID_IMAGE. Build the cubins again from the .cu files that --build writes, with a compiler of"),
    ("cuMemAlloc_v2 2", "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY"),
])  # fmt: skip
def test_what_the_driver_refuses_is_one_sentence(stub: Path, tmp_path: Path, failing: str, said: str) -> None:
    done = measure(stub, tmp_path, "--only", "launch", STUB_FAILS=failing)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.parametrize(("seen", "number", "said"), [
    ("", 0, "CUDA_ERROR_NO_DEVICE. Look whether nvidia-smi lists a GPU, and whether CUDA_VISIBLE_DEVICES hides it."),
    ("1", 1, "there is no GPU 1 here. Give --device the number of a GPU that CUDA_VISIBLE_DEVICES leaves."),
])  # fmt: skip
def test_a_gpu_that_is_hidden_is_one_sentence(stub: Path, tmp_path: Path, seen: str, number: int, said: str) -> None:
    done = measure(stub, tmp_path, "--device", str(number), STUB_COUNT="2", CUDA_VISIBLE_DEVICES=seen)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.full
def test_the_second_gpu_and_a_part_of_one_are_measured(stub: Path, tmp_path: Path) -> None:
    part = {"STUB_NAME": "NVIDIA H200 MIG 1g.18gb", "STUB_SMS": "16", "STUB_MIB": "16384", "STUB_COUNT": "2"}
    done = measure(stub, tmp_path, "--only", "launch", "--device", "1", **part)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "launch.json").device.sm_count == 16
    assert "this is a part of a GPU (MIG)" in done.stdout
    whole = measure(stub, tmp_path, "--only", "launch")
    assert "was measured on another GPU (NVIDIA H200 MIG 1g.18gb, 16 SMs)" in whole.stderr


@pytest.mark.full
def test_after_an_illegal_address_there_is_a_verdict_and_the_next_run_goes_on(stub: Path, tmp_path: Path) -> None:
    """Every call fails from then on; each process gets behind one such case, until the clean one does all others."""
    said = []
    for _ in range(2):
        done = measure(stub, tmp_path, "--only", "launch", STUB_TRAPS="store_one")
        said.append(done.stderr.splitlines()[-1])
        assert done.returncode == 1
        assert "launch_cost" in done.stdout
    assert "threads=32 " in said[0]
    assert "threads=64 " in said[1]
    assert all("Nothing runs on the GPU any more in this process. Repeat the command" in one for one in said)
    done = measure(stub, tmp_path, "--only", "launch")
    assert done.returncode == 0
    raw = load(tmp_path / "launch.json")
    assert len(raw.deadly) == 2
    assert len(matching(raw.records, kernel="store_one")) == 4


@pytest.mark.full
def test_what_does_not_fit_is_left_out_and_the_rest_is_measured(stub: Path, tmp_path: Path) -> None:
    done = measure(stub, tmp_path, "--only", "launch", STUB_MIB="64")
    assert done.returncode == 0
    assert "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY" in done.stderr
    raw = load(tmp_path / "launch.json")
    assert matching(raw.records, kernel="store_one", threads=128)
    assert not matching(raw.records, kernel="small_scale")


@pytest.mark.full
def test_an_interrupt_is_one_sentence_with_a_verdict_and_the_next_run_goes_on(stub: Path, tmp_path: Path) -> None:
    command = f"""import signal, threading, time
from warpbound.cli import main
from warpbound.measure.case_timing import Bench
whole = Bench.measure
def pressed(self, mechanism, case):
    if case.axes["kernel"] == "small_scale": signal.raise_signal(signal.SIGINT)
    return whole(self, mechanism, case)
Bench.measure = pressed
main(["measure", "--quick", "--cubins", {str(stub / "code")!r}, "-o", {str(tmp_path)!r}, "--only", "launch"])"""
    paths = os.pathsep.join(filter(None, (str(stub), os.environ.get("LD_LIBRARY_PATH"))))
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False,  # noqa: S603
                          env={**os.environ, "LD_LIBRARY_PATH": paths})  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "warpbound: stopped. The same command continues from there."
    assert "launch_cost" in done.stdout
    assert (tmp_path / "verdict.txt").is_file()
    before = load(tmp_path / "launch.json").records
    assert measure(stub, tmp_path, "--only", "launch").returncode == 0
    after = load(tmp_path / "launch.json").records
    assert after[: len(before)] == before
    assert len(after) > len(before)
