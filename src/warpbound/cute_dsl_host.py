"""Executes the compiled host function of a CuTe DSL kernel and answers its calls into the driver.

Source   nvidia-cutlass-dsl 4.8.1, read off its wheel: the compiled host function calls
         `_cudaLaunchKernelEx(configuration, kernel, parameters)`; `cuda_init` loads the machine code.
Omits    Refused: host functions that call the driver for anything but launches of kernels.
"""

from collections.abc import Sequence
from ctypes import (
    CFUNCTYPE,
    Structure,
    c_int32,
    c_int64,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
    sizeof,
    string_at,
)
from typing import Any

from warpbound.errors import InputError
from warpbound.program import Program
from warpbound.quick_dataclasses import dataclass

__all__ = ["HostCode", "HostLaunch", "HostRequests"]

_CLUSTER = 4  # cudaLaunchAttributeClusterDimension


@dataclass(frozen=True)
class HostLaunch:
    """A launch as the host function asks for it; parameters : addresses of the values, alive during the call."""

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    smem: int
    cluster: tuple[int, int, int] | None
    parameters: tuple[bytes, ...]


class _Configuration(Structure):
    """`cudaLaunchConfig_t`."""

    _fields_ = (
        ("grid", c_uint32 * 3), ("block", c_uint32 * 3), ("smem", c_uint64), ("stream", c_uint64),
        ("attributes", c_uint64), ("count", c_uint32),
    )  # fmt: skip


class _Attribute(Structure):
    """`cudaLaunchAttribute`."""

    _fields_ = (("number", c_uint32), ("gap", c_uint32), ("words", c_uint32 * 16))


class HostRequests:
    """The requests of the host function. problem : the request that was refused."""

    def __init__(self) -> None:
        self.code = b""
        self.programs: dict[str, Program] = {}
        self.calls: list[HostLaunch] = []
        self.problem = ""
        self._kernels: list[str] = []

    def answers(self) -> list[tuple[str, list[Any], Any]]:
        """Name, types and answer of each function that compiled host code may call."""
        place, word = c_void_p, c_int32
        return [
            ("_cudaLibraryLoadData", [place, place, place, place, word, place, place, word], self._load),
            ("_cudaLibraryGetKernel", [place, place, place], self._kernel),
            ("_cudaLaunchKernelEx", [place, place, place], self._launch),
            ("_cudaLaunchKernel", [place, *[word] * 6, place, c_int64, place], self._other),
            ("_cuKernelGetAttribute", [place, word, place, word], _number_zero),
            ("_cudaDeviceGetAttribute", [place, word, word], _number_zero),
            ("_cudaGetDevice", [place], _number_zero),
            ("_cudaKernelSetAttributeForDevice", [place, word, word, word], _success),
            ("_cudaFuncSetAttribute", [place, word, word], _success),
            ("_cudaOccupancyMaxActiveBlocksPerMultiprocessor", [place, place, word, c_int64], self._other),
        ]

    def _load(self, library: int, code: int, *_: object) -> int:
        header, size = c_uint32.from_address(code + 4).value >> 16, c_uint64.from_address(code + 8).value
        self.code = string_at(code, header + size)
        c_uint64.from_address(library).value = 1
        return 0

    def _kernel(self, kernel: int, _: int, name: int) -> int:
        self._kernels.append(string_at(name).decode())
        c_uint64.from_address(kernel).value = len(self._kernels)
        return 0

    def _other(self, *_: object) -> int:
        self.problem = "The host function asks for the occupancy, or launches in a way that is not followed."
        return 1

    def _launch(self, configuration: int, kernel: int, parameters: int) -> int:
        own = _Configuration.from_address(configuration)
        program = self.programs[self._kernels[kernel - 1]]
        attributes = [_Attribute.from_address(own.attributes + sizeof(_Attribute) * i) for i in range(own.count)]
        cluster = next((tuple(each.words[:3]) for each in attributes if each.number == _CLUSTER), None)
        places = (c_uint64 * len(program.parameters)).from_address(parameters)
        raw = tuple(string_at(place, each.size) for place, each in zip(places, program.parameters, strict=True))
        size = cluster if cluster != (1, 1, 1) else None
        self.calls.append(HostLaunch(program, tuple(own.grid), tuple(own.block), own.smem, size, raw))
        return 0


class HostCode:
    """The compiled host code, whose calls into the driver `host` answers."""

    def __init__(self, module: Any, host: HostRequests) -> None:
        from cutlass._mlir.execution_engine import ExecutionEngine

        self._engine = ExecutionEngine(module, opt_level=0, shared_libs=[])
        self._kept = {name: CFUNCTYPE(c_int32, *types)(answer) for name, types, answer in host.answers()}
        for name, function in self._kept.items():
            self._engine.raw_register_runtime(name, cast(function, c_void_p))

    def call(self, name: str, addresses: Sequence[int]) -> None:
        """Call a function that takes an array of pointers to its arguments and its result."""
        if not (code := self._engine.raw_lookup(name)):
            raise InputError("The host function calls the driver for more than launches.", "Move that out of it.")
        CFUNCTYPE(None, c_void_p)(code)((c_void_p * len(addresses))(*addresses))


def _number_zero(number_: int, *_: object) -> int:
    c_int32.from_address(number_).value = 0
    return 0


def _success(*_: object) -> int:
    return 0
