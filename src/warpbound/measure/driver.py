"""A GPU through the CUDA driver API; clocks, power and modes are read, never set."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warpbound.errors import InputError, MissingTool
from warpbound.measure.device import Facts, Geometry

LONGEST_S = 60.0     # time limit of a wait: thousands of times the planned time of any case
PATIENT_S, PAUSE_S = 2e-3, 1e-4  # the host polls continuously first, then with pauses
HINTS = {  # error code of the driver -> what to do
    "CUDA_ERROR_NO_DEVICE": "Look whether nvidia-smi lists a GPU, and whether CUDA_VISIBLE_DEVICES hides it.",
    "CUDA_ERROR_INVALID_DEVICE": "Give --device the number of a GPU that CUDA_VISIBLE_DEVICES leaves.",
    "CUDA_ERROR_DEVICE_UNAVAILABLE": "Another process has the GPU for itself: wait for it, or choose another --device.",
    "CUDA_ERROR_NOT_PERMITTED": "This user may not use the GPU: look at the rights of /dev/nvidia*.",
    "CUDA_ERROR_OPERATING_SYSTEM": "The system refuses the GPU to this user or container: look at /dev/nvidia*.",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "The driver's library and its kernel module differ: load one version of both.",
    "CUDA_ERROR_SYSTEM_NOT_READY": "Where a switch joins GPUs, its fabric manager must run.",
    "CUDA_ERROR_OUT_OF_MEMORY": "Look with nvidia-smi what else holds its memory.",
}
_OTHERWISE = "Look up the error code in the documentation of the CUDA driver API."


class Driver:
    """The device with an index, in its primary context, with a stream of its own; see device.Device."""

    def __init__(self, number: int = 0) -> None:
        self._cuda = _bindings()
        try:
            self._cuda.cuInit(0)
        except RuntimeError as error:  # the bindings found no driver library
            raise MissingTool(f"there is no NVIDIA driver here ({error}).", "Run this where a GPU is.") from error
        self._call("cuInit", 0)
        if number >= self._call("cuDeviceGetCount"):
            raise InputError(f"there is no GPU {number} here.", HINTS["CUDA_ERROR_INVALID_DEVICE"])
        self._device = self._call("cuDeviceGet", number)
        context = self._call("cuDevicePrimaryCtxRetain", self._device)
        self._call("cuCtxSetCurrent", context)
        self._stream = self._call("cuStreamCreate", self._cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)
        self._modules: dict[int, Any] = {}
        self._hangs = False
        self._set: dict[tuple[int, str], int] = {}
        self._facts = self._read_facts()
        self._sensor = _sensor(self._pci())

    def facts(self) -> Facts:
        """Properties of the device."""
        return self._facts

    def load(self, cubin: bytes, kernel: str) -> Any:
        """A kernel of a cubin; each cubin is loaded once."""
        return self._call("cuModuleGetFunction", self._module(cubin, kernel), kernel.encode())

    def symbol(self, cubin: bytes, name: str) -> tuple[int, int]:
        """Address and size in bytes of a variable of the module."""
        address, size = self._call_all("cuModuleGetGlobal", self._module(cubin, name), name.encode())
        return int(address), int(size)

    def _module(self, cubin: bytes, name: str) -> Any:
        if hash(cubin) not in self._modules:
            try:
                image = np.frombuffer(cubin + b"\0", np.uint8)
                self._modules[hash(cubin)] = self._call("cuModuleLoadData", image.ctypes.data)
            except InputError as error:
                raise InputError(
                    f"the driver refuses the machine code of {name}: {error.reason}",
                    "Build the cubins again from the .cu files that --build writes, with a compiler of "
                    f"{self._facts.driver} or older.",
                ) from error
        return self._modules[hash(cubin)]

    def allocate(self, size: int) -> int:
        """Address of `size` bytes of device memory."""
        return int(self._call("cuMemAlloc", size))

    def free(self, address: int) -> None:
        """Free device memory."""
        self._wait("cuStreamQuery", self._stream)
        self._call("cuMemFree", address)

    def upload(self, address: int, contents: NDArray[Any]) -> None:
        """Copy to the device."""
        contents = np.ascontiguousarray(contents)
        self._wait("cuStreamQuery", self._stream)
        self._call("cuMemcpyHtoDAsync", address, contents.ctypes.data, contents.nbytes, self._stream)
        self._call("cuStreamSynchronize", self._stream)

    def download(self, address: int, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Copy from the device, after all earlier launches."""
        contents = np.empty(count, dtype)
        self._wait("cuStreamQuery", self._stream)
        self._call("cuMemcpyDtoHAsync", contents.ctypes.data, address, contents.nbytes, self._stream)
        self._call("cuStreamSynchronize", self._stream)
        return contents

    def fill(self, address: int, size: int, byte: int) -> None:
        """Set every byte."""
        self._call("cuMemsetD8Async", address, byte, size, self._stream)

    def launch(self, kernel: Any, geometry: Geometry, args: Sequence[np.generic]) -> None:
        """Enqueue one launch."""
        names = self._cuda.CUfunction_attribute
        if geometry.smem:  # more than 48 KiB, static shared memory included, needs an opt-in
            self._attribute(kernel, names.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, geometry.smem)
        carveout = -1 if geometry.carveout is None else geometry.carveout
        self._attribute(kernel, names.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, carveout)
        values = [np.array([arg]) for arg in args]
        pointers = np.array([value.ctypes.data for value in values], dtype=np.uint64)
        grid, block = ((*sides, 1, 1)[:3] for sides in (geometry.grid, geometry.shape or (geometry.block,)))
        self._call(
            "cuLaunchKernel", kernel, *grid, *block, geometry.smem, self._stream,
            pointers.ctypes.data if values else 0, 0,
        )  # fmt: skip

    def mark(self) -> Any:
        """Record an event in the stream."""
        event = self._call("cuEventCreate", self._cuda.CUevent_flags.CU_EVENT_DEFAULT)
        self._call("cuEventRecord", event, self._stream)
        return event

    def elapsed(self, begin: Any, end: Any) -> float:
        """Seconds between two events; waits for the later one and destroys both."""
        self._wait("cuEventQuery", end)
        milliseconds = float(self._call("cuEventElapsedTime", begin, end))
        for event in (begin, end):
            self._call("cuEventDestroy", event)
        return 1e-3 * milliseconds

    def _wait(self, query: str, what: Any) -> None:
        """Wait until an event has completed or the stream is empty; InputError after LONGEST_S.

        A kernel that hangs ends one case in this way, and every later wait fails at once.
        """
        pending, begin = self._cuda.CUresult.CUDA_ERROR_NOT_READY, time.monotonic()
        while (status := getattr(self._cuda, query)(what)[0]) == pending:
            waited = time.monotonic() - begin
            if self._hangs or waited > LONGEST_S:
                self._hangs = True
                raise InputError(f"a launch did not end within {LONGEST_S:.0f} s.", "Leave this case out.")
            time.sleep(PAUSE_S if waited > PATIENT_S else 0.0)
        if status != self._cuda.CUresult.CUDA_SUCCESS:
            raise _refused(query, status)

    def sensors(self) -> dict[str, float]:
        """Current NVML readings; empty without NVML."""
        return dict(self._sensor())

    def _attribute(self, kernel: Any, name: Any, value: int) -> None:
        """Set an attribute whose value has changed."""
        if self._set.get((int(kernel), str(name))) != value:
            self._call("cuFuncSetAttribute", kernel, name, value)
            self._set[int(kernel), str(name)] = value

    def _call(self, function: str, *args: Any) -> Any:
        """The function's first result; InputError with the error code where it fails."""
        result = self._call_all(function, *args)
        return result[0] if result else None

    def _call_all(self, function: str, *args: Any) -> Any:
        try:
            status, *result = getattr(self._cuda, function)(*args)
        except (AttributeError, RuntimeError, TypeError) as error:  # bindings of another version than the driver
            raise MissingTool(
                f"cuda-bindings and the driver do not agree about {function} ({error}).",
                "Install the bindings of the driver's own version, such as: pip install 'cuda-bindings<13'",
            ) from error
        if status != self._cuda.CUresult.CUDA_SUCCESS:
            raise _refused(function, status)
        return result

    def _number(self, name: str) -> int:
        attribute = getattr(self._cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._call("cuDeviceGetAttribute", attribute, self._device))

    def _pci(self) -> str:
        return bytes(self._call("cuDeviceGetPCIBusId", 32, self._device)).split(b"\0")[0].decode()

    def _read_facts(self) -> Facts:
        version = int(self._call("cuDriverGetVersion"))
        capability = [self._number(f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR")]
        return Facts(
            name=bytes(self._call("cuDeviceGetName", 256, self._device)).split(b"\0")[0].decode(),
            compute_capability=".".join(map(str, capability)),
            driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
            sm_count=self._number("MULTIPROCESSOR_COUNT"),
            shared_per_sm=self._number("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
            shared_per_block=self._number("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            shared_reserved=self._number("RESERVED_SHARED_MEMORY_PER_BLOCK"),
            threads_per_sm=self._number("MAX_THREADS_PER_MULTIPROCESSOR"),
            blocks_per_sm=self._number("MAX_BLOCKS_PER_MULTIPROCESSOR"),
            l2_size=self._number("L2_CACHE_SIZE"),
            memory_size=int(self._call("cuDeviceTotalMem", self._device)),
            memory_bus=self._number("GLOBAL_MEMORY_BUS_WIDTH"),
            memory_clock=1e3 * self._number("MEMORY_CLOCK_RATE"),
            clock=1e3 * self._number("CLOCK_RATE"),
        )


def _refused(function: str, status: Any) -> InputError:
    return InputError(f"the driver's {function} failed with {status.name}.", HINTS.get(status.name, _OTHERWISE))


def _bindings() -> Any:
    try:
        from cuda.bindings import driver
    except ImportError as missing:
        hint = "Install it with: pip install 'warpbound[measure]'"
        raise MissingTool("measuring needs NVIDIA's bindings of the driver.", hint) from missing
    return driver


def _sensor(pci: str) -> Any:
    """A function that reads clocks, power and temperature by NVML; without NVML it returns an empty dict."""
    try:
        pynvml: Any = import_module("pynvml")

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByPciBusId(pci.encode())
    except Exception:  # noqa: BLE001  (NVML is optional)
        return dict
    readings: dict[str, Callable[[], Any]] = {
        "sm_MHz": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
        "memory_MHz": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
        "power_W": lambda: pynvml.nvmlDeviceGetPowerUsage(handle) / 1e3,
        "temperature_C": lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        "throttle_reasons": lambda: pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle),
        "memory_used_MiB": lambda: pynvml.nvmlDeviceGetMemoryInfo(handle).used / 2**20,
        "processes": lambda: len(pynvml.nvmlDeviceGetComputeRunningProcesses(handle)),
    }

    def read() -> dict[str, float]:
        values: dict[str, float] = {}
        for name, reading in readings.items():
            with suppress(Exception):
                values[name] = float(reading())
        return values

    return read
