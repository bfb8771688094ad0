"""Four neighbouring elements per thread by 128-bit accesses, in kernels that take one element of each array per thread.

Models   One index, `i = blockIdx.x * blockDim.x + threadIdx.x`; each access is `p[i]` of a 32-bit element; `if (i < n)`
         around them. A thread then takes elements 4 i to 4 i + 3; the last ones of an n that 4 does not divide go one
         by one.
Omits    Kernels with other indices, with the index in their arithmetic, or that change an element they do not own.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warpbound.advice.syntax import Edit, KernelSource, element, inside, is_written, line, names_of, words
from warpbound.advice.variant import Question, Variant

WIDTH = 4
LANES = "xyzw"
_INDEX = re.compile(
    r"(?:int|unsigned|unsigned int|size_t|auto)\s+(\w+)\s*=\s*"
    r"(?:blockIdx\.x\s*\*\s*blockDim\.x\s*\+\s*threadIdx\.x|threadIdx\.x\s*\+\s*blockIdx\.x\s*\*\s*blockDim\.x)\s*;"
)
_ELEMENT = re.compile(r"^(?:const\s+)?(float|int|unsigned|unsigned int|uint)\s*(?:const\s*)?\*")
_VECTORS = {"float": "float4", "int": "int4"}


@dataclass(frozen=True)
class _Pattern:
    """The parts of a kernel that fits: the index, its bound, the guarded `if`, its body, accesses, element types."""

    index: str
    bound: str
    guard: Any
    body: Any
    accesses: Sequence[Any]
    types: dict[str, str]


def vectorised(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """The kernel with 128-bit accesses and a quarter of the blocks; none where it does not fit the pattern."""
    shape = _pattern(kernel)
    x, y, z = question.launch.grid
    if shape is None or (y, z) != (1, 1) or x < WIDTH or question.launch.block[1:] != (1, 1):
        return
    start = shape.guard.start_byte
    text = kernel.edited([Edit(start, shape.guard.end_byte, _by_fours(kernel, shape, _indent(kernel.code, start)))])
    grid = -(-x // WIDTH), 1, 1
    after = replace(question, text=text, launch=replace(question.launch, grid=grid))
    change = "four elements per thread by 128-bit accesses (a promise: arrays aligned to 16 bytes, none overlapping)"
    yield Variant(
        "vector accesses", change, "source", after, line=line(shape.guard), apply=f"--grid {grid[0]}", per_thread=WIDTH
    )


def _pattern(kernel: KernelSource) -> _Pattern | None:
    """The parts of a kernel that takes one element per thread; None of any other."""
    text = words(kernel.body)
    index = _INDEX.search(text)
    statements = [child for child in kernel.body.children if child.is_named and child.type != "comment"]
    if index is None or len(statements) != 2 or statements[1].type != "if_statement":
        return None
    guard, name = statements[1], index[1]
    match = re.fullmatch(rf"\(\s*{name}\s*<\s*(\w+)\s*\)", words(guard.child_by_field_name("condition")))
    body = guard.child_by_field_name("consequence")
    accesses = list(inside(body, ("subscript_expression",)))
    types = _types(kernel)
    plain = all(element(each) in types and _subscript(each) == name for each in accesses)
    uses = [leaf for leaf in inside(body, ("identifier",)) if words(leaf) == name]
    pointers = [leaf for leaf in inside(body, ("identifier",)) if words(leaf) in types]
    if guard.child_by_field_name("alternative") is not None or match is None or not accesses or not plain:
        return None
    if len(uses) != len(accesses) or len(pointers) != len(accesses) or match[1] in names_of(body):
        return None
    return _Pattern(name, match[1], guard, body, accesses, types)


def _types(kernel: KernelSource) -> dict[str, str]:
    """Pointer parameter -> element, of those with 32-bit elements."""
    answer = {}
    for parameter in kernel.parameters:
        match = _ELEMENT.match(words(parameter))
        leaf = [words(each) for each in inside(parameter, ("identifier",))]
        if match and leaf:
            answer[leaf[-1]] = match[1]
    return answer


def _subscript(access: Any) -> str:
    return words(access.child_by_field_name("indices"))[1:-1].strip()


def _by_fours(kernel: KernelSource, shape: _Pattern, indent: str) -> str:
    """The guarded body for four elements, and for the remaining ones."""
    i, n, inner = shape.index, shape.bound, indent + "    "
    arrays = list(dict.fromkeys(element(each) for each in shape.accesses))
    targets = {element(each) for each in shape.accesses if is_written(each)}
    lines = [f"if ({WIDTH} * {i} + {WIDTH - 1} < {n}) {{"]
    for name in arrays:
        vector = _VECTORS.get(shape.types[name], "uint4")
        lines.append(f"{inner}{vector} {name}_4 = reinterpret_cast<const {vector}*>({name})[{i}];")
    for lane in LANES:
        lines.append(f"{inner}{{ {_body(kernel, shape, _lane(lane))} }}")
    for name in arrays:
        if name in targets:
            vector = _VECTORS.get(shape.types[name], "uint4")
            lines.append(f"{inner}reinterpret_cast<{vector}*>({name})[{i}] = {name}_4;")
    rest = _body(kernel, shape, lambda name: f"{name}[last]")
    remainder = f"{inner}for (auto last = {WIDTH} * {i}; last < {n}; ++last) {{ {rest} }}"
    lines += [f"{indent}}} else {{", remainder, f"{indent}}}"]
    return "\n".join(lines)


def _lane(lane: str) -> Callable[[str], str]:
    """The element of an array's vector."""
    return lambda name: f"{name}_4.{lane}"


def _body(kernel: KernelSource, shape: _Pattern, place: Callable[[str], str]) -> str:
    """The body on one line, each access at another place."""
    start, end = shape.body.start_byte, shape.body.end_byte
    edits = [Edit(each.start_byte, each.end_byte, place(element(each))) for each in shape.accesses]
    code = kernel.code[:end]
    for edit in sorted(edits, key=lambda edit: -edit.start):
        code = code[: edit.start] + edit.text.encode() + code[edit.end :]
    return " ".join(code[start:].decode().split())


def _indent(code: bytes, at: int) -> str:
    """The blanks before a place in its line."""
    return code[code.rfind(b"\n", 0, at) + 1 : at].decode()
