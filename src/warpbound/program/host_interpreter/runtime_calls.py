"""Effects of calls of the CUDA runtime, the C library and NVIDIA's sample helpers on the host's variables."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from warpbound.program.host_interpreter.expressions import element, place
from warpbound.program.host_interpreter.interpretation import Interpretation
from warpbound.program.host_interpreter.state import ProgramEnds
from warpbound.program.host_interpreter.syntax import text_of
from warpbound.program.host_interpreter.values import (
    Cell,
    DeviceArray,
    HostArray,
    Pointer,
    Struct,
    Unknown,
    binary,
    dim3,
    is_number,
    remaining,
    shown,
)

PITCH_B = 512  # of cudaMallocPitch: texturePitchAlignment of every board is 32, the driver's rows begin at 512 bytes

EVERY_DEVICE = {  # CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"
    "warpSize": 32, "maxThreadsPerBlock": 1024, "sharedMemPerBlock": 49152, "regsPerBlock": 65536,
    "unifiedAddressing": 1, "managedMemory": 1, "concurrentManagedAccess": 1, "canMapHostMemory": 1,
    "concurrentKernels": 1, "cooperativeLaunch": 1,
}  # fmt: skip
_EXTENTS = {"maxThreadsDim": (1024, 1024, 64), "maxGridSize": (2**31 - 1, 65535, 65535)}
_ATTRIBUTES = {"ComputeCapabilityMajor": "major", "ComputeCapabilityMinor": "minor"}

Rule = Callable[[Interpretation, Sequence[Any], Sequence[Any]], Any]


def _target(host: Interpretation, node: Any, value: Any) -> Cell | None:
    """The variable that an out argument points to."""
    if isinstance(value, Pointer):
        return element(host, value, 0)
    return place(host, node) if node.type in ("identifier", "field_expression") else None


def _line(host: Interpretation, node: Any) -> int:
    return host.line_of(node)


def _allocate(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any], size: Any) -> int:
    cell = _target(host, nodes[0], values[0])
    if cell is not None:
        kind = host.resolved(cell.type).removesuffix("*")
        host.write(cell, Pointer(DeviceArray(size, kind, line=_line(host, nodes[0])), 0, kind))
    return 0


def _malloc(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    return _allocate(host, nodes, values, values[1]) if len(values) > 1 else 0


def _malloc_pitch(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    if len(values) < 4:
        return 0
    width, height = values[2], values[3]
    pitch = -(-int(width) // PITCH_B) * PITCH_B if is_number(width) else remaining(f"pitch of {shown(width)} bytes")
    cell = _target(host, nodes[1], values[1])
    if cell is not None:
        host.write(cell, pitch)
    return _allocate(host, nodes, values, binary("*", pitch, height))


def _pinned(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    cell = _target(host, nodes[0], values[0])
    if cell is not None and len(values) > 1:
        kind = host.resolved(cell.type).removesuffix("*")
        host.write(cell, Pointer(HostArray(kind, Unknown(), bytes=values[1]), 0, kind))
    return 0


def _mapped(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    """cudaHostGetDevicePointer: memory of the host that kernels reach."""
    cell = _target(host, nodes[0], values[0])
    if cell is not None and len(values) > 1 and isinstance(values[1], Pointer):
        source = values[1].target
        size = source.bytes if isinstance(source, HostArray | DeviceArray) else Unknown()
        kind = host.resolved(cell.type).removesuffix("*")
        host.write(cell, Pointer(DeviceArray(size, kind, line=_line(host, nodes[0])), 0, kind))
    return 0


def _memset(host: Interpretation, _: Sequence[Any], values: Sequence[Any]) -> Any:
    if len(values) > 1 and isinstance(values[0], Pointer) and isinstance(values[0].target, DeviceArray):
        array = values[0].target
        array.fill = "zeros" if values[1] == 0 and array.fill in (None, "zeros") else ""
    return 0


def _memcpy(host: Interpretation, _: Sequence[Any], values: Sequence[Any]) -> Any:
    """A copy to the device: its contents are no longer zeros; a variable of the host becomes unknown."""
    if values and isinstance(values[0], Pointer):
        target = values[0].target
        if isinstance(target, DeviceArray):
            target.fill = ""
        elif isinstance(target, Cell) and not isinstance(target.value, Struct):
            host.write(target, Unknown(target.name))
    return 0


def _to_symbol(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    if len(values) > 2:
        host.symbols[text_of(nodes[0]).lstrip("&")] = shown(values[2])
    return 0


def _heap(host: Interpretation, _: Sequence[Any], values: Sequence[Any]) -> Any:
    size = values[0] if len(values) == 1 else binary("*", values[0], values[1]) if len(values) > 1 else Unknown()
    return Pointer(HostArray("", Unknown(), bytes=size))


def _device_count(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    cell = _target(host, nodes[0], values[0])
    if cell is not None:
        host.write(cell, 1)
    return 0


def _device_number(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    cell = _target(host, nodes[0], values[0])
    if cell is not None:
        host.write(cell, 0)
    return 0


def _properties(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    """cudaGetDeviceProperties: the fields that are known, those of every device or of the given one."""
    cell = _target(host, nodes[0], values[0])
    if cell is not None:
        name = text_of(nodes[0]).lstrip("&")
        fields: dict[str, Cell] = {key: Cell(value, "int", f"{name}.{key}") for key, value in host.device.items()}
        for key, sizes in _EXTENTS.items():
            fields[key] = Cell(HostArray("int", 3, {i: Cell(size, "int") for i, size in enumerate(sizes)}), "int")
        host.write(cell, Struct("cudaDeviceProp", fields))
    return 0


def _attribute(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    """cudaDeviceGetAttribute of an attribute that is a field of cudaDeviceProp."""
    cell = _target(host, nodes[0], values[0])
    if cell is not None and len(nodes) > 1:
        word = text_of(nodes[1]).removeprefix("cudaDevAttr")
        name = _ATTRIBUTES.get(word, f"{word[:1].lower()}{word[1:]}")
        host.write(cell, host.device.get(name, Unknown(name)))
    return 0


def _option(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> str | None:
    """The value of `-name=value` among the program's arguments, "" of `-name`; None where it is not there."""
    name = next((value for value in values if isinstance(value, str) and value != "program"), None)
    for word in host.words:
        key, _, value = word.lstrip("-").partition("=")
        if key == name:
            return value
    return None


def _has_option(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    return int(_option(host, nodes, values) is not None)


def _option_number(kind: Callable[[str], Any]) -> Rule:
    def rule(host: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
        try:
            return kind(_option(host, nodes, values) or "0")
        except ValueError:
            return 0

    return rule


def _ends(*_: Any) -> Any:
    raise ProgramEnds


def _parsed_number(name: str, kind: type) -> Rule:
    def rule(_: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
        if values and isinstance(values[0], str):
            try:
                return kind(values[0])
            except ValueError:
                return 0
        return remaining(f"{name}({text_of(nodes[0])})") if nodes else Unknown()

    return rule


def _numeric(name: str, of: Callable[..., float]) -> Rule:
    """A function of numbers."""

    def rule(_: Interpretation, __: Sequence[Any], values: Sequence[Any]) -> Any:
        if values and all(is_number(value) for value in values):
            try:
                return of(*values)
            except (ValueError, OverflowError, ZeroDivisionError, TypeError):
                return Unknown()
        return remaining(f"{name}({', '.join(shown(value) for value in values)})")

    return rule


def _nothing(value: Any) -> Rule:
    return lambda *_: value


def _extent(_: Interpretation, __: Sequence[Any], values: Sequence[Any]) -> Any:
    fields = zip(("width", "height", "depth"), values, strict=False)
    return Struct("cudaExtent", {name: Cell(value, "size_t", name) for name, value in fields})


def _same_text(_: Interpretation, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    if len(values) > 1 and isinstance(values[0], str) and isinstance(values[1], str):
        return int(values[0] != values[1])
    return Unknown(f"strcmp({', '.join(text_of(node) for node in nodes)})")


def _away_from_zero(value: float) -> float:
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)


def _real(of: Callable[[float], int]) -> Callable[[float], float]:
    """A function that C declares with a result of type double."""
    return lambda value: float(of(value))


def _power(base: float, exponent: float) -> float:
    return math.pow(base, exponent)


MATH: dict[str, Callable[..., float]] = {
    "ceil": _real(math.ceil), "ceilf": _real(math.ceil), "floor": _real(math.floor), "floorf": _real(math.floor),
    "rint": _real(round), "round": _away_from_zero, "roundf": _away_from_zero, "sqrt": math.sqrt, "sqrtf": math.sqrt,
    "pow": _power, "powf": _power, "log": math.log, "logf": math.log, "log2": math.log2, "log2f": math.log2,
    "log10": math.log10, "exp": math.exp, "sin": math.sin, "cos": math.cos, "fabs": abs, "fabsf": abs, "abs": abs,
    "min": min, "max": max, "fmin": min, "fmax": max, "MIN": min, "MAX": max,
}  # fmt: skip

_NUMBERS = {
    "atoi": int,
    "atol": int,
    "atoll": int,
    "strtol": int,
    "stoi": int,
    "stol": int,
    "atof": float,
    "stof": float,
}
_SUCCESS = (  # functions that change nothing here and return 0
    "getenv", "findCudaDevice", "gpuGetMaxGflopsDeviceId", "cudaGetLastError", "cudaDeviceSynchronize", "cudaFree",
    "getCmdLineArgumentString",
)  # fmt: skip
_WITHOUT_EFFECT = ("printf", "fprintf", "free", "assert", "memset", "memcpy")
_END = ("exit", "_exit", "abort")

RULES: dict[str, Rule] = {
    "cudaMalloc": _malloc, "cudaMallocManaged": _malloc, "cudaMallocAsync": _malloc,
    "cudaMallocFromPoolAsync": _malloc, "cudaMallocPitch": _malloc_pitch, "cudaMallocHost": _pinned,
    "cudaHostAlloc": _pinned, "cudaHostGetDevicePointer": _mapped, "cudaMemset": _memset, "cudaMemsetAsync": _memset,
    "cudaMemcpy": _memcpy, "cudaMemcpyAsync": _memcpy, "cudaMemcpyToSymbol": _to_symbol,
    "cudaMemcpyToSymbolAsync": _to_symbol, "malloc": _heap, "calloc": _heap, "cudaGetDeviceCount": _device_count,
    "cudaGetDevice": _device_number, "cudaGetDeviceProperties": _properties, "cudaDeviceGetAttribute": _attribute,
    "checkCmdLineFlag": _has_option, "getCmdLineArgumentInt": _option_number(int),
    "getCmdLineArgumentFloat": _option_number(float), "strcmp": _same_text, "make_cudaExtent": _extent,
    "dim3": lambda _, __, values: dim3(*values[:3]), "getopt": _nothing(-1), "getopt_long": _nothing(-1),
    **{name: _numeric(name, of) for name, of in MATH.items()},
    **{name: _parsed_number(name, kind) for name, kind in _NUMBERS.items()},
    **{name: _nothing(0) for name in _SUCCESS},
    **{name: _nothing(Unknown()) for name in _WITHOUT_EFFECT},
    **dict.fromkeys(_END, _ends),
}  # fmt: skip


def written_by_unknown(host: Interpretation, name: str, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
    """A function without source: variables that its arguments point to become unknown; the result is an expression."""
    for node, value in zip(nodes, values, strict=True):
        if isinstance(value, Pointer) and isinstance(value.target, Cell):
            _forget(host, value.target, text_of(node).lstrip("&"))
    if name.startswith(("cuda", "cu")) and not isinstance(values[0] if values else 0, str):
        return 0  # cudaSuccess
    return remaining(f"{name}({', '.join(text_of(node) for node in nodes)})")


def _forget(host: Interpretation, cell: Cell, path: str) -> None:
    if isinstance(cell.value, Struct):
        for key, inner in cell.value.fields.items():
            _forget(host, inner, f"{path}.{key}")
    elif not isinstance(cell.value, Pointer | HostArray):
        host.write(cell, Unknown(path))
