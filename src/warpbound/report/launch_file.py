"""Launch files written from the launches of host code: known values, and examples for the rest."""

import json
from collections.abc import Iterator

from warpbound.program.host_interpreter.example_values import example
from warpbound.program.host_interpreter.values import INTEGER_BITS
from warpbound.result.host_launches import HostArgument, HostLaunch, HostSize

EXAMPLE_BLOCK = 256  # threads of a block that the host code leaves open
EXAMPLE_ELEMENTS = 1 << 20  # elements of an array whose size the host code leaves open
MOST_ELEMENTS = 1 << 26  # most elements of an example array: what a machine without a GPU can hold
_LIMITS = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64)}
_MOST_THREADS = 1024
TO_FILL_IN = "TO FILL IN"


def launch_file(launch: HostLaunch, gpu: str | None, *, marks: str = "# ") -> str:
    """The text of a launch file.

    marks : the prefix of a line whose value is an example: "# " leaves it to be filled in, "" takes the example.
    """
    lines = [f"# {launch.kernel}, launched in {launch.file}, line {launch.line}"]
    if launch.varies:
        lines.append("# Other passes launch it with other values; these are the first.")
    lines += [f"kernel = {json.dumps(launch.kernel, ensure_ascii=False)}"]
    lines += [f"gpu = {json.dumps(gpu)}"] if gpu else []
    lines += [_size("grid", launch.grid, marks), _size("block", launch.block, marks)]
    if launch.smem.value is None:
        lines.append(f"{marks}smem = 0  # {TO_FILL_IN}: bytes; host code: {launch.smem.remains}")
    elif launch.smem.value:
        lines.append(f"smem = {launch.smem.value}{_remark(launch.smem.expression, str(launch.smem.value))}")
    for argument in launch.arguments:
        lines += ["", "[[args]]", f"name = {json.dumps(argument.name)}", *_argument(argument, marks)]
    return "\n".join(lines) + "\n"


def _remark(expression: str, text: str) -> str:
    return f"  # {expression}" if expression and expression != text else ""


def _size(key: str, size: HostSize, marks: str) -> str:
    if size.value is not None:
        return f"{key} = {size.value}{_remark(size.expression, str(size.value[0]))}"
    expression = ", ".join(size.parts)
    return f"{marks}{key} = {example_size(key, size)}  # {TO_FILL_IN}; host code: {expression}"


def example_size(key: str, size: HostSize) -> list[int]:
    """Three numbers for a grid or block that the host code does not fix, within what every GPU allows."""
    numbers = [int(part) if part.isdigit() else 0 for part in size.parts]
    sizes = []
    for part, number, limit in zip(size.parts, numbers, _LIMITS[key], strict=True):
        unknown = EXAMPLE_BLOCK if key == "block" else 1024
        sizes.append(min(limit, number or example(part, unknown)))
    if key == "block" and sizes[0] * sizes[1] * sizes[2] > _MOST_THREADS:
        return [16, 16, 1] if sizes[1] > 1 else [EXAMPLE_BLOCK, 1, 1]
    return sizes


def _argument(argument: HostArgument, marks: str) -> Iterator[str]:
    array = argument.array
    if array is not None and array.alias is not None:
        yield f"alias = {json.dumps(array.alias)}{_remark(argument.expression, '')}"
        if array.offset_B:
            yield f"offset = {array.offset_B}"
        return
    if array is not None:
        yield f'dtype = "{array.dtype}"  # {argument.type}'
        if array.elements is not None:
            yield f"shape = [{array.elements}]{_remark(argument.expression, '')}"
        else:
            count = min(example(array.remains), MOST_ELEMENTS) if array.remains else EXAMPLE_ELEMENTS
            remains = array.remains or argument.expression
            yield f"{marks}shape = [{count}]  # {TO_FILL_IN}: elements; host code: {remains}"
        yield from _fill(array.dtype, array.fill)
        return
    if argument.value is not None:
        value = json.dumps(argument.value)
        yield f"value = {value}{_remark(argument.expression, value)}"
        return
    number = _example_number(argument)
    yield f"{marks}value = {number}  # {TO_FILL_IN}: {argument.type}; host code: {argument.remains}"


def _fill(dtype: str, fill: str | None) -> Iterator[str]:
    """The contents: zeros where the host sets them, random floats and bytes; larger integers, which may be indices,
    are left open."""
    if fill:
        yield f'fill = "{fill}"'
    elif dtype in ("f16", "bf16", "f32", "f64", "i8", "u8", "bool"):
        yield 'fill = "rand"'
    else:
        yield '# fill = "rand"  # or iota, zeros; without a fill the contents are unknown and read as 0'


def _example_number(argument: HostArgument) -> str:
    if argument.type in ("float", "double", "half", "__half", "__nv_bfloat16"):
        return "1.0"
    if argument.type == "bool":
        return "true"
    bits = INTEGER_BITS.get(argument.type, 64)
    return str(min(example(argument.remains or ""), (1 << (bits if bits > 0 else -bits - 1)) - 1))
