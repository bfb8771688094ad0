"""Tiles in shared memory: data that all threads of a block's row or column load are loaded once per block.

Models   A loop over k by steps of one, where an array's index holds k and, of the block's axes, x or y alone, as in a
         product of matrices. A square block stages as many k as it has rows; the sums keep their order.
Omits    Blocks that are not square, stencils, and loops behind other loops. Threads that exit before the loop would
         leave holes in the tiles: the change mentions this, and equal results exclude it for this launch only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpbound.advice.syntax import (
    Edit,
    KernelSource,
    changed_names,
    element,
    first,
    innermost_loops,
    inside,
    is_written,
    line,
    names_of,
    words,
)
from warpbound.advice.variant import Question, Variant, with_text

PROMISE = "(a promise: all threads of a block reach the loop)"
SQUARES = (8, 16, 32)  # sides of blocks that stage
_LEAVING = ("break_statement", "return_statement", "goto_statement")
_HEADER = re.compile(r"(?P<type>[\w ]+?)\s+(?P<name>\w+)\s*=\s*0\s*;?")
_STEP = r"\+\+\s*{0}|{0}\s*\+\+|{0}\s*\+=\s*1"
_TYPE = re.compile(r"^(?:const\s+)?(float|double|int|unsigned|unsigned int|half|__half)\s*(?:const\s*)?\*")


@dataclass(frozen=True)
class _Count:
    """A loop `for (type name = 0; name < bound; ++name)`."""

    type: str
    name: str
    bound: str


def staged(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """Loops whose loads are staged in tiles of the block's size."""
    side, height, depth = question.launch.block
    if side not in SQUARES or height != side or depth != 1:
        return
    axes, types = block_axes(kernel), _types(kernel)
    stored = {element(each) for each in inside(kernel.body, ("subscript_expression",)) if is_written(each)}
    for loop in innermost_loops(kernel):
        count = _count(loop)
        if count is None or loop.parent != kernel.body or first(loop, _LEAVING) or "__sync" in words(loop):
            continue
        tiles = {text: axis for text, axis in _tiles(loop, count, axes, types).items() if _array(text) not in stored}
        if not {"x", "y"} <= set(tiles.values()):
            continue
        names = " and ".join(dict.fromkeys(_array(text) for text in tiles))
        tiled = _by_tiles(kernel, loop, count, (tiles, types), side)
        text = kernel.edited([Edit(loop.start_byte, loop.end_byte, tiled)])
        yield with_text(question, "staging", f"tiles of {names} in shared memory {PROMISE}", text, line(loop))


def block_axes(kernel: KernelSource) -> dict[str, set[str]]:
    """Name -> axes of the block (x, y, z) that its values depend on, through the names of its initialisers."""
    sources: dict[str, list[Any]] = {}
    for declared in inside(kernel.body, ("init_declarator",)):
        leaf = first(declared.child_by_field_name("declarator"), ("identifier",))
        sources.setdefault(words(leaf), []).append(declared.child_by_field_name("value"))
    for change in inside(kernel.body, ("assignment_expression",)):
        target = change.child_by_field_name("left")
        if target.type == "identifier":
            sources.setdefault(words(target), []).append(change.child_by_field_name("right"))
    axes: dict[str, set[str]] = {name: set() for name in sources}
    for _ in sources:
        for name, values in sources.items():
            axes[name] |= {axis for value in values for axis in _axes_of(value, axes)}
    return axes


def _axes_of(node: Any, axes: Mapping[str, set[str]]) -> set[str]:
    own = set(re.findall(r"threadIdx\s*\.\s*([xyz])", words(node)))
    return own.union(*(axes.get(name, set()) for name in names_of(node)))


def _count(loop: Any) -> _Count | None:
    """The parts of a loop that counts from 0 by ones to a bound that it does not change."""
    start, end, step = (loop.child_by_field_name(part) for part in ("initializer", "condition", "update"))
    if start is None or end is None or step is None:
        return None
    header = _HEADER.fullmatch(words(start).strip())
    if header is None or not re.fullmatch(_STEP.format(header["name"]), words(step).strip()):
        return None
    until = re.fullmatch(rf"{header['name']}\s*<\s*(\w+)", words(end).strip())
    body = loop.child_by_field_name("body")
    if until is None or changed_names(body) & {until[1], header["name"]}:
        return None
    return _Count(header["type"], header["name"], until[1])


def _types(kernel: KernelSource) -> dict[str, str]:
    """Pointer parameter -> element."""
    answer = {}
    for parameter in kernel.parameters:
        match, leaf = _TYPE.match(words(parameter)), [words(each) for each in inside(parameter, ("identifier",))]
        if match and leaf:
            answer[leaf[-1]] = match[1]
    return answer


def _tiles(loop: Any, count: _Count, axes: Mapping[str, set[str]], types: Mapping[str, str]) -> dict[str, str]:
    """Load -> the one axis of the block that its index depends on beside the loop's count."""
    accesses = [each for each in inside(loop.child_by_field_name("body"), ("subscript_expression",)) if element(each)]
    own = changed_names(loop) - {count.name}
    answer = {}
    for access in accesses:
        index = access.child_by_field_name("indices")
        on, names = _axes_of(index, axes), names_of(index)
        if element(access) in types and on in ({"x"}, {"y"}) and count.name in names and not names & own:
            answer[words(access)] = on.pop()
    return answer


def _array(load: str) -> str:
    return load.partition("[")[0].strip()


def _by_tiles(
    kernel: KernelSource, loop: Any, count: _Count, loads: tuple[Mapping[str, str], Mapping[str, str]], side: int
) -> str:
    """The loop over tiles: stage, wait, the old loop over one tile, wait."""
    tiles, types = loads
    k, of_tile = count.name, f"{count.name}_tile"
    lines = [f"for ({count.type} {of_tile} = 0; {of_tile} < {count.bound}; {of_tile} += {side}) {{"]
    for number, (load, axis) in enumerate(tiles.items()):
        lane = f"({count.type})threadIdx.{'x' if axis == 'y' else 'y'}"
        place = re.sub(rf"\b{k}\b", f"({of_tile} + {lane})", load)
        kind = types[_array(load)]
        lines.append(f"    __shared__ {kind} tile_{number}[{side}][{side}];")
        lines.append(f"    if ({of_tile} + {lane} < {count.bound})")
        lines.append(f"        tile_{number}[threadIdx.y][threadIdx.x] = {place};")
    body = _body(kernel, loop, {load: _in_tile(number, axis, f"{k} - {of_tile}") for number, (load, axis)
                                in enumerate(tiles.items())})  # fmt: skip
    lines += [
        "    __syncthreads();",
        f"    if ({of_tile} + {side} <= {count.bound}) {{",
        f"        for ({count.type} {k} = {of_tile}; {k} < {of_tile} + {side}; ++{k}) {body}",
        f"    }} else for ({count.type} {k} = {of_tile}; {k} < {count.bound}; ++{k}) {body}",
        "    __syncthreads();",
        "}",
    ]
    start = kernel.code.rfind(b"\n", 0, loop.start_byte) + 1
    before = kernel.code[start : loop.start_byte].decode()
    return f"\n{before if not before.strip() else '    '}".join(lines)


def _in_tile(number: int, axis: str, at: str) -> str:
    return f"tile_{number}[threadIdx.y][{at}]" if axis == "y" else f"tile_{number}[{at}][threadIdx.x]"


def _body(kernel: KernelSource, loop: Any, tiles: Mapping[str, str]) -> str:
    """The body on one line with its loads from tiles."""
    body = loop.child_by_field_name("body")
    accesses: Sequence[Any] = [each for each in inside(body, ("subscript_expression",)) if words(each) in tiles]
    code = kernel.code[: body.end_byte]
    for access in sorted(accesses, key=lambda each: -int(each.start_byte)):
        code = code[: access.start_byte] + tiles[words(access)].encode() + code[access.end_byte :]
    return " ".join(code[body.start_byte :].decode().split())
