"""Rewrites of how threads share the work: axes swapped, launch bounds, several elements per thread."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpbound.advice.syntax import Edit, KernelSource, first, inside, line, words
from warpbound.advice.variant import Question, Variant

_SWAPPED = ("threadIdx", "blockDim")
_OTHER = {"x": "y", "y": "x"}


def swapped_axes(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """x and y of threadIdx and blockDim exchanged, in the code and in the block: lanes run along the other axis."""
    x, y, z = question.launch.block
    if y == 1 or x == 1:
        return
    edits = []
    for access in inside(kernel.body, ("field_expression",)):
        name, axis = words(access.child_by_field_name("argument")), words(access.child_by_field_name("field"))
        if name in _SWAPPED and axis in _OTHER:
            field = access.child_by_field_name("field")
            edits.append(Edit(field.start_byte, field.end_byte, _OTHER[axis]))
    if not edits:
        return
    launch = replace(question.launch, block=(y, x, z))
    change = "threadIdx.x and threadIdx.y exchanged: neighbouring lanes take neighbouring elements of the other axis"
    apply = "" if x == y else f"--block {y},{x},{z}"
    after = replace(question, text=kernel.edited(edits), launch=launch)
    yield Variant("thread axes", change, "source", after, line=line(kernel.declarator), apply=apply)


def launch_bounds(question: Question, kernel: KernelSource, blocks: Sequence[int | None]) -> Iterator[Variant]:
    """`__launch_bounds__` with the launch's block size, and with a minimum of blocks per SM (None: without)."""
    x, y, z = question.launch.block
    present = first(kernel.node, ("launch_bounds",))
    declarator = kernel.node.child_by_field_name("declarator")
    for least in blocks:
        bounds = f"__launch_bounds__({x * y * z})" if least is None else f"__launch_bounds__({x * y * z}, {least})"
        if present is not None and re.sub(r"\s", "", words(present)) == re.sub(r"\s", "", bounds):
            continue
        edit = Edit(declarator.start_byte, declarator.start_byte, f"{bounds} ")
        if present is not None:
            edit = Edit(present.start_byte, present.end_byte, bounds)
        after = replace(question, text=kernel.edited([edit]))
        yield Variant("launch bounds", bounds, "source", after, line=line(declarator))
