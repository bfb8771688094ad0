"""Kernel launches in host code: `<<<...>>>`, cudaLaunchKernel and its relatives, taken apart."""

from collections.abc import Callable
from typing import Any

from warpbound.program.host_interpreter.expressions import element, evaluate
from warpbound.program.host_interpreter.interpretation import Interpretation, Observation
from warpbound.program.host_interpreter.syntax import text_of
from warpbound.program.host_interpreter.values import Function, HostArray, Pointer, Struct, Unknown, dim3

Parts = tuple[dict[str, Any], Observation] | None


def _listed(node: Any) -> list[Any]:
    return [child for child in node.named_children if child.type != "comment"] if node is not None else []


def _sizes(value: Any) -> Any:
    """A grid or block as a dim3; unknown as a whole where it may be any."""
    if isinstance(value, Struct):
        return value if {"x", "y", "z"} <= value.fields.keys() else Unknown()
    if isinstance(value, HostArray):
        return dim3(*(cell.value for _, cell in sorted(value.cells.items())[:3]))
    return dim3(value)


def _named(host: Interpretation, node: Any) -> Any:
    """The kernel that an expression names, its template arguments resolved."""
    value = evaluate(host, node)
    if isinstance(value, Pointer):
        value = evaluate(host, node.named_children[-1]) if node.named_children else value
    if isinstance(value, str):
        return Unknown(value)
    return value if isinstance(value, Function) else Unknown(text_of(node))


def launched_by_syntax(host: Interpretation, node: Any) -> Parts:
    """`kernel<<<grid, block, smem, stream>>>(arguments)`."""
    syntax = next((child for child in node.children if child.type == "kernel_call_syntax"), None)
    if syntax is None:
        return None
    shape, arguments = _listed(syntax), _listed(node.child_by_field_name("arguments"))
    function = node.child_by_field_name("function")
    values = [evaluate(host, child) for child in shape[:3]]
    sizes: list[Any] = [*values, *[Unknown(), Unknown(), 0][len(values) :]]
    texts = [text_of(child) for child in shape[:3]]
    return _parts(
        host, function, (*texts, *["", "", ""][len(texts) :]), tuple(sizes),
        tuple(text_of(child) for child in arguments), [evaluate(host, child) for child in arguments],
    )  # fmt: skip


def _parts(  # noqa: PLR0913  (what a launch is made of)
    host: Any, function: Any, texts: Any, sizes: Any, words: tuple[str, ...], values: list[Any]
) -> Parts:
    grid, block, smem = texts
    fields = dict(kernel=text_of(function), grid=grid, block=block, smem=smem, arguments=words)
    observation = host.observed(_named(host, function), (_sizes(sizes[0]), _sizes(sizes[1]), sizes[2]), values)
    return fields, observation


def _by_pointers(host: Interpretation, node: Any) -> Parts:
    """cudaLaunchKernel(function, grid, block, void **arguments, smem, stream)."""
    nodes = _listed(node.child_by_field_name("arguments"))
    if len(nodes) < 4:
        return None
    sizes = [evaluate(host, child) for child in (*nodes[1:3], *nodes[4:5])]
    values, words = _pointed_to(host, evaluate(host, nodes[3]))
    texts = (text_of(nodes[1]), text_of(nodes[2]), text_of(nodes[4]) if len(nodes) > 4 else "")
    return _parts(
        host, _function(nodes[0]), texts, (sizes[0], sizes[1], sizes[2] if len(sizes) > 2 else 0), words, values
    )


def _function(node: Any) -> Any:
    while node.type in ("cast_expression", "parenthesized_expression") and node.named_children:
        node = node.named_children[-1]
    return node


def _pointed_to(host: Interpretation, array: Any) -> tuple[list[Any], tuple[str, ...]]:
    """The arguments behind an array of pointers, and their names."""
    if isinstance(array, Pointer):
        array = array.target
    values, words = [], []
    for _, cell in sorted(array.cells.items()) if isinstance(array, HostArray) else ():
        target = element(host, cell.value, 0) if isinstance(cell.value, Pointer | HostArray) else None
        values.append(target.value if target is not None else Unknown())
        words.append(target.name if target is not None else "")
    return values, tuple(words)


def _by_configuration(host: Interpretation, node: Any) -> Parts:
    """cudaLaunchKernelEx(&configuration, kernel, arguments...), cudaLaunchKernelExC(..., kernel, void **arguments)."""
    nodes = _listed(node.child_by_field_name("arguments"))
    if len(nodes) < 2:
        return None
    pointer = evaluate(host, nodes[0])
    target = element(host, pointer, 0) if isinstance(pointer, Pointer) else None
    fields = target.value.fields if target is not None and isinstance(target.value, Struct) else {}
    sizes = [fields[name].value if name in fields else blank for name, blank in (
        ("gridDim", Unknown()), ("blockDim", Unknown()), ("dynamicSmemBytes", 0))]  # fmt: skip
    if text_of(node.child_by_field_name("function")).endswith("ExC"):
        values, words = _pointed_to(host, evaluate(host, nodes[2])) if len(nodes) > 2 else ([], ())
    else:
        values, words = [evaluate(host, child) for child in nodes[2:]], tuple(text_of(child) for child in nodes[2:])
    texts = tuple(f"{text_of(nodes[0]).lstrip('&')}.{name}" for name in ("gridDim", "blockDim", "dynamicSmemBytes"))
    return _parts(host, _function(nodes[1]), texts, sizes, words, values)


LAUNCH_FORMS: dict[str, Callable[[Interpretation, Any], Parts]] = {
    "cudaLaunchKernel": _by_pointers, "cudaLaunchCooperativeKernel": _by_pointers,
    "cudaLaunchKernelEx": _by_configuration, "cudaLaunchKernelExC": _by_configuration,
}  # fmt: skip
