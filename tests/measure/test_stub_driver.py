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

from warpbound.measure import building
from warpbound.measure.case import chosen
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
    building.write(folder / "code", ("launch", "mixes"), (90,))
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
        for record in chosen(raw.records, kernel=kernel):
            assert record.value["seconds"] == pytest.approx(EMPTY_S, rel=1e-3), record.axes
            assert record.clock_Hz == pytest.approx(SM_HZ, rel=1e-3)


def test_shared_memory_that_a_kernel_declares_counts_where_more_is_opted_in_to(stub: Path, tmp_path: Path) -> None:
    """Stamps of nothing are all zero: what matters is that no launch is refused."""
    done = measure(stub, tmp_path, "--only", "mixes")
    assert "cuLaunchKernel" not in done.stderr
    assert "stub:" not in done.stderr
    assert chosen(load(tmp_path / "mixes.json").records, other="lds")


@pytest.mark.parametrize(("failing", "said"), [
    ("cuInit 100", "cuInit failed with CUDA_ERROR_NO_DEVICE"),
    ("cuInit 803", "cuInit failed with CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
    ("cuDevicePrimaryCtxRetain 46", "cuDevicePrimaryCtxRetain failed with CUDA_ERROR_DEVICE_UNAVAILABLE"),
    ("cuModuleLoadData 200", "the driver refuses the machine code"),
    ("cuMemAlloc_v2 2", "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY"),
])  # fmt: skip
def test_what_the_driver_refuses_is_one_sentence(stub: Path, tmp_path: Path, failing: str, said: str) -> None:
    done = measure(stub, tmp_path, "--only", "launch", STUB_FAILS=failing)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
