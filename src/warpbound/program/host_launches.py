"""The launches in the host code of a file, with the sizes and arguments that the host code determines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from warpbound.machine import Gpu
from warpbound.program.headers import reachable
from warpbound.program.host_interpreter import HostCode, Observation, Site, interpreted
from warpbound.program.host_interpreter.runtime_calls import EVERY_DEVICE
from warpbound.program.host_interpreter.source_model import FunctionSource, SourceModel
from warpbound.program.host_interpreter.syntax import declarator_of, plain_type, text_of
from warpbound.program.host_interpreter.values import (
    FLOAT_BYTES,
    INTEGER_BITS,
    Cell,
    DeviceArray,
    Function,
    HostArray,
    Pointer,
    Struct,
    Unknown,
    binary,
    converted,
    is_number,
    shown,
)
from warpbound.quick_dataclasses import dataclass
from warpbound.result.host_launches import (
    HostAmount,
    HostArgument,
    HostArgumentArray,
    HostLaunch,
    HostLaunches,
    HostSize,
)
from warpbound.size_expressions import parts

_FLOATS = {"float": "f32", "double": "f64", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16",
           "nv_bfloat16": "bf16"}  # fmt: skip
_VECTOR = re.compile(r"(\w+?)([1234])")
_VECTOR_ELEMENTS = {"uchar": "unsigned char", "ushort": "unsigned short", "uint": "unsigned int", "longlong":
                    "long long", "ulonglong": "unsigned long long", "ulong": "unsigned long"}  # fmt: skip


@dataclass(frozen=True)
class Assumed:
    """What the interpretation assumes. words : arguments of the program. device : fields of cudaDeviceProp."""

    include: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    device: Mapping[str, int] = field(default_factory=dict)


def device_properties(machine: Gpu) -> dict[str, int]:
    """The fields of cudaDeviceProp that a board of the catalogue gives."""
    capability = machine.compute_capability.split(".")
    properties = {"major": int(capability[0]), "minor": int(capability[1])}
    if (count := machine.get("sm_count")) is not None:
        properties["multiProcessorCount"] = int(count)
    return properties


def host_launches(text: str, name: str, assumed: Assumed) -> HostLaunches:
    """Every launch in the host code of a file, in the order of the text; headers' launches come last.

    Raises MissingTool without tree-sitter.
    """
    headers = reachable(text, assumed.include, ()).spelled
    code = interpreted(text, headers, assumed.defines, assumed.words, {**EVERY_DEVICE, **assumed.device})
    sites = sorted(code.launches, key=lambda site: (site.file != "", site.file, site.line, site.key))
    launches = [launch for site in sites for launch in _launches(code, site, name)]
    kernels = {launch.kernel.partition("<")[0] for launch in launches}
    return HostLaunches(
        schema_version="1",
        file=name,
        launches=launches,
        not_launched=sorted(_kernels(code.model) - kernels),
        symbols=[f"{symbol} ({size} bytes)" for symbol, size in code.symbols.items()],
    )


def _kernels(model: SourceModel) -> set[str]:
    return {name for name, sources in model.functions.items() if any(source.is_kernel for source in sources)}


def _launches(code: HostCode, site: Site, name: str) -> Iterator[HostLaunch]:
    """One entry for each kernel that the place launches; of several passes the first that the program reaches."""
    by_kernel: dict[str, list[Observation]] = {}
    for observation in code.launches[site]:
        by_kernel.setdefault(_kernel_name(observation.kernel), []).append(observation)
    kernels = [kernel for kernel in by_kernel if kernel.partition("<")[0] in _kernels(code.model)]
    for kernel in kernels or list(by_kernel)[:1]:
        observations = by_kernel[kernel]
        first = next((launch for launch in observations if launch.is_reached), observations[0])
        yield _Described(code, site, first, kernel).launch(
            name, [launch for launch in observations if launch is not first]
        )


def _kernel_name(kernel: Any) -> str:
    return kernel.spelled if isinstance(kernel, Function) else kernel.text


@dataclass(frozen=True)
class _Described:
    """One launch while it is described."""

    code: HostCode
    site: Site
    observation: Observation
    kernel: str

    def launch(self, name: str, others: Sequence[Observation]) -> HostLaunch:
        source = self.code.model.kernel(self.kernel.partition("<")[0])
        grid, block = _size(self.site.grid, self.observation.grid), _size(self.site.block, self.observation.block)
        smem = self.observation.smem
        shared = HostAmount(
            self.site.smem, smem if isinstance(smem, int) else None, None if isinstance(smem, int) else shown(smem)
        )
        arguments = list(self._arguments(source))
        plain = [_comparable(launch) for launch in (self.observation, *others)]
        return HostLaunch(
            kernel=self.kernel,
            is_in_file=source is not None,
            file=self.site.file or name,
            line=self.site.line,
            function=self.site.function,
            form=self.site.form,
            grid=grid,
            block=block,
            smem=shared,
            arguments=arguments,
            is_reached=self.observation.is_reached,
            varies=any(launch != plain[0] for launch in plain),
            needed=list(_needed(grid, block, shared, arguments)),
        )

    def _arguments(self, source: FunctionSource | None) -> Iterator[HostArgument]:
        parameters = list(self._parameters(source)) if source else []
        values, words = self.observation.arguments, self.site.arguments
        first: dict[int, str] = {}
        for i in range(max(len(values), len(parameters))):
            name, kind, default = parameters[i] if i < len(parameters) else (str(i), "", None)
            value = values[i] if i < len(values) else Unknown() if default is None else self.code.host.value_of(default)
            yield from self._argument(name or str(i), kind, words[i] if i < len(words) else "", value, first)

    def _parameters(self, source: FunctionSource) -> Iterator[tuple[str, str, Any]]:
        """(name, type with template arguments in place, default value) of the kernel's parameters."""
        words = parts(self.kernel.partition("<")[2].removesuffix(">"), "<(", ">)")
        template = dict(zip((name for name, _ in source.template), map(str.strip, words), strict=False))
        for node in source.parameters.named_children:
            kind = node.child_by_field_name("type")
            if kind is None:
                continue
            declarator = node.child_by_field_name("declarator")
            own = declarator_of(declarator) if declarator is not None else None
            base = plain_type(text_of(kind))
            stars = own.stars + len(own.extents) if own else 0
            full = self.code.model.resolved(template.get(base, base) + "*" * stars)
            yield own.name if own else "", full, node.child_by_field_name("default_value")

    def _argument(
        self, name: str, kind: str, expression: str, value: Any, first: dict[int, str]
    ) -> Iterator[HostArgument]:
        if kind.endswith("*") or (not kind and isinstance(value, Pointer)):
            yield self._pointer(name, kind, expression, value, first)
            return
        fields = self.code.host.layouts.fields(kind) if kind in self.code.model.classes else ()
        for member in fields:
            inner = _member(value, member.path)
            yield from self._argument(f"{name}.{member.path}", member.type, f"{expression}.{member.path}", inner, first)
        if not fields:
            scalar = converted(value, kind)
            number = scalar if is_number(scalar) else None
            remains = None if number is not None else shown(value) if not isinstance(value, Struct) else expression
            yield HostArgument(name=name, type=kind, expression=expression, value=number, remains=remains, array=None)

    def _pointer(self, name: str, kind: str, expression: str, value: Any, first: dict[int, str]) -> HostArgument:
        pointee = kind.removesuffix("*") if kind else value.type
        if is_number(value):
            return HostArgument(name=name, type=kind, expression=expression, value=value, remains=None, array=None)
        target = value.target if isinstance(value, Pointer) else None
        if pointee in ("void", "T", "") and isinstance(value, Pointer):
            pointee = value.type or getattr(target, "type", "")
        dtype, count = element_type(pointee, self.code.host.size_of(pointee))
        size = self.code.host.size_of(pointee) or 1
        array = HostArgumentArray(dtype=dtype, elements=None, remains=None, fill=None, alias=None, offset_B=0)
        if isinstance(target, DeviceArray | HostArray):
            elements, remains = _elements(target, size, value.offset, count)
            offset = value.offset * size if isinstance(value.offset, int) and value.offset >= 0 else 0
            alias = first.get(id(target))
            first.setdefault(id(target), name)
            fill = target.fill or None if isinstance(target, DeviceArray) else None
            array = HostArgumentArray(
                dtype=dtype, elements=elements, remains=remains, fill=fill, alias=alias, offset_B=offset if alias else 0
            )
        return HostArgument(name=name, type=kind, expression=expression, value=None, remains=None, array=array)


def element_type(kind: str, size: int | None) -> tuple[str, int]:
    """(dtype of a launch file, elements of it in one C element) for what a pointer points to; bytes for structs."""
    if kind in _FLOATS:
        return _FLOATS[kind], 1
    if kind == "bool":
        return "bool", 1
    if kind.endswith("*"):
        return "u64", 1
    if kind in INTEGER_BITS:
        bits = INTEGER_BITS[kind]
        return f"{'i' if bits < 0 else 'u'}{abs(bits)}", 1
    if kind in ("half2", "__half2"):
        return "f16", 2
    if (match := _VECTOR.fullmatch(kind)) and (element := _VECTOR_ELEMENTS.get(match[1], match[1])) in (
        INTEGER_BITS | FLOAT_BYTES
    ):
        return element_type(element, None)[0], int(match[2])
    if size and size % 4 == 0:
        return "u32", size // 4
    return "u8", size or 1


def _elements(target: DeviceArray | HostArray, size: int, offset: Any, count: int) -> tuple[int | None, str | None]:
    """(elements of the dtype from the pointer on, None), or (None, what remains of the number)."""
    whole = target.bytes
    if isinstance(target, HostArray) and isinstance(whole, Unknown) and not whole.text:
        whole = binary("*", target.count, size)
    start = offset if isinstance(offset, int) and offset >= 0 else 0
    if isinstance(whole, int):
        elements = (whole // size - start) * count
        return (elements, None) if elements > 0 else (None, shown(whole))
    return None, shown(binary("/", whole, size) if size > 1 else whole)


def _member(value: Any, path: str) -> Any:
    """A member of a struct by its path, as in `a.b[2]`."""
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        if name and isinstance(value, Struct) and name in value.fields:
            value = value.fields[name].value
        elif index and isinstance(value, HostArray):
            value = value.cells.get(int(index), Cell(Unknown())).value
        else:
            return Unknown()
    return value


def _size(expression: str, value: Any) -> HostSize:
    cells: list[Any] = [value.fields[axis].value for axis in "xyz"] if isinstance(value, Struct) else [Unknown()] * 3
    whole = all(isinstance(cell, int) and cell > 0 for cell in cells)
    return HostSize(expression, list(cells) if whole else None, [shown(cell) for cell in cells])


def _comparable(observation: Observation) -> tuple[str, ...]:
    """The sizes and numbers of a launch as text."""
    sizes = (observation.grid, observation.block)
    words = [shown(cell.value) for value in sizes if isinstance(value, Struct) for cell in value.fields.values()]
    return (*words, shown(observation.smem), *(shown(value) for value in observation.arguments if is_number(value)))


def _needed(grid: HostSize, block: HostSize, smem: HostAmount, arguments: Sequence[HostArgument]) -> Iterator[str]:
    """The values that the host code leaves open, in words."""
    for label, size in (("grid", grid), ("block", block)):
        if size.value is None:
            yield f"{label} ({', '.join(size.parts)})"
    if smem.value is None:
        yield f"smem ({smem.remains})"
    for argument in arguments:
        if argument.array is not None and argument.array.elements is None and argument.array.alias is None:
            yield f"elements of {argument.name}"
        elif argument.array is None and argument.value is None:
            yield f"{argument.name} ({argument.type or 'any type'})"
