"""Sizes, alignments and field offsets of C types, as the Itanium C++ ABI lays them out on 64-bit machines.

Source   Itanium C++ ABI, section 2 (data layout); CUDA C++ Programming Guide, table "Alignment Requirements" (vectors).
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from warpbound.program.host_interpreter.source_model import ClassSource, Member, SourceModel
from warpbound.program.host_interpreter.values import FLOAT_BYTES, INTEGER_BITS
from warpbound.quick_dataclasses import dataclass

_PLAIN = {kind: abs(bits) // 8 for kind, bits in INTEGER_BITS.items()} | FLOAT_BYTES | {"bool": 1, "dim3": 12}
_VECTOR = re.compile(r"(u?char|u?short|u?int|float|u?longlong|u?long|double)([1234])")
_ELEMENT = {"longlong": 8, "ulonglong": 8, "long": 8, "ulong": 8}
_HALVES = {"half2": 4, "__half2": 4, "__nv_bfloat162": 4, "nv_bfloat162": 4, "cufftComplex": 8, "cuComplex": 8,
           "cufftDoubleComplex": 16, "cuDoubleComplex": 16}  # fmt: skip
_DEEPEST = 16  # structs within structs


@dataclass(frozen=True)
class Field:
    """A member of a struct that is no struct itself. path : names with dots and [i], as in `p.in`; offset, size : B."""

    path: str
    type: str
    offset: int
    size: int


@dataclass(frozen=True)
class Layouts:
    """Layouts of a program's types. number : the value of a constant expression's node, None where it is unknown."""

    model: SourceModel
    number: Callable[[Any], int | None]

    def size_of(self, kind: str) -> int | None:
        """Bytes of a type; None where it is unknown."""
        layout = self._size_and_alignment(kind, 0)
        return None if layout is None else layout[0]

    def fields(self, kind: str) -> tuple[Field, ...]:
        """The members of a struct, those of inner structs by their path; () where the layout is not known."""
        return tuple(self._fields(self.model.resolved(kind), "", 0, 0)) if self.size_of(kind) else ()

    def _size_and_alignment(self, kind: str, depth: int) -> tuple[int, int] | None:
        kind = self.model.resolved(kind)
        if kind.endswith(("*", "&")):
            return 8, 8
        if kind in _PLAIN:
            return _PLAIN[kind], 4 if kind == "dim3" else _PLAIN[kind]
        if kind in _HALVES:
            return _HALVES[kind], _HALVES[kind]
        if match := _VECTOR.fullmatch(kind):
            return _vector(match[1], int(match[2]))
        source = self.model.classes.get(kind.rpartition("::")[2])
        if source is None or source.has_hidden_layout or depth > _DEEPEST:
            return None
        size, alignment = 0, 1
        for part in self._parts(source, depth):
            if part is None:
                return None
            _, bytes_, own = part
            size = max(size, bytes_) if source.is_union else -(-size // own) * own + bytes_
            alignment = max(alignment, own)
        return max(1, -(-size // alignment) * alignment), alignment

    def _parts(self, source: ClassSource, depth: int) -> Iterator[tuple[Member | str, int, int] | None]:
        """(member or base class, bytes, alignment) in order; None for one whose type is unknown."""
        for base in source.bases:
            layout = self._size_and_alignment(base, depth + 1)
            yield None if layout is None else (base, *layout)
        for member in source.members:
            if member.is_static:
                continue
            layout = self._size_and_alignment(member.type, depth + 1)
            extents = [self.number(node) for node in member.extents]
            if layout is None or None in extents:
                yield None
                continue
            count = 1
            for extent in extents:
                count *= extent or 0
            yield member, layout[0] * count, layout[1]

    def _fields(self, kind: str, path: str, at: int, depth: int) -> Iterator[Field]:
        source = self.model.classes.get(kind.rpartition("::")[2])
        if source is None or kind.endswith("*") or kind in _PLAIN or depth > _DEEPEST:
            yield Field(path, kind, at, self.size_of(kind) or 0)
            return
        offset = 0
        for part in self._parts(source, depth):
            if part is None:
                return
            member, size, alignment = part
            offset = 0 if source.is_union else -(-offset // alignment) * alignment
            if isinstance(member, str):
                yield from self._fields(self.model.resolved(member), path, at + offset, depth + 1)
            else:
                inner = f"{path}.{member.name}" if path else member.name
                yield from self._elements(member, inner, at + offset, depth)
            offset += size

    def _elements(self, member: Member, path: str, at: int, depth: int) -> Iterator[Field]:
        kind, size = self.model.resolved(member.type), self.size_of(member.type) or 0
        paths = [path]
        for node in member.extents:
            paths = [f"{path}[{i}]" for path in paths for i in range(self.number(node) or 0)]
        for i, each in enumerate(paths):
            yield from self._fields(kind, each, at + i * size, depth + 1)


def _vector(word: str, count: int) -> tuple[int, int]:
    """Bytes and alignment of float4 and the like: those of 2 and 4 elements align to their size, at most 16."""
    element = _ELEMENT.get(word) or _PLAIN[word]
    size = element * count
    return size, min(16, size) if count in (2, 4) else element
