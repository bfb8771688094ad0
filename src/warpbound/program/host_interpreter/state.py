"""State of the interpreted host code: variables, their changes, the function that is executed."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from warpbound.program.host_interpreter.source_model import SourceModel
from warpbound.program.host_interpreter.struct_layout import Layouts
from warpbound.program.host_interpreter.syntax import text_of
from warpbound.program.host_interpreter.values import (
    Cell,
    HostArray,
    Pointer,
    Struct,
    Unknown,
    dim3,
)
from warpbound.quick_dataclasses import dataclass


class ProgramEnds(Exception):
    """The host code calls exit or the like."""


class OutOfBudget(Exception):
    """The host code is too long to be interpreted."""


@dataclass
class Frame:
    """A function that is executed. scopes : variables by name, innermost last. types : template type parameters."""

    function: str
    scopes: list[dict[str, Cell]] = field(default_factory=lambda: [{}])
    types: dict[str, str] = field(default_factory=dict)
    this: Struct | None = None
    result: Any = field(default_factory=Unknown)
    maybe: list[Any] = field(default_factory=list)  # results of returns under unknown conditions


class Host(ABC):
    """What expressions and statements need of the interpreter; every change of a variable is in `trail`."""

    def __init__(self, model: SourceModel) -> None:
        self.model = model
        self.frames = [Frame("")]
        self.expanding: list[str] = []
        self.depth = 0
        self.trail: list[tuple[Cell, Any]] = []
        self.statics: dict[tuple[str, str], Cell] = {}
        self.layouts = Layouts(model, self.constant)

    @abstractmethod
    def execute(self, node: Any) -> str:
        """Execute a statement; what ends it: "", "break", "continue" or "return"."""

    @abstractmethod
    def call(self, node: Any) -> Any:
        """The value of a call; launches are recorded."""

    @abstractmethod
    def value_of(self, node: Any) -> Any:
        """The value of an expression."""

    @abstractmethod
    def initial(self, node: Any, kind: str) -> Any:
        """The value of an initializer (an expression, {...} or (...)) of a variable of C type `kind`."""

    @abstractmethod
    def heap(self, node: Any) -> Any:
        """The value of a `new` expression."""

    @abstractmethod
    def template_words(self, arguments: Any) -> Iterator[str]:
        """Template arguments as text, with numbers for what is known."""

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def find(self, name: str) -> Cell | None:
        """The variable of that name as C++ finds it from here."""
        frame = self.frame
        for scope in reversed(frame.scopes):
            if name in scope:
                return scope[name]
        if frame.this is not None and name in frame.this.fields:
            return frame.this.fields[name]
        if frame.this is not None and (static := self.static_member(frame.this.type, name)):
            return static
        return self.frames[0].scopes[0].get(name)

    def declare(self, name: str, value: Any, kind: str) -> Cell:
        cell = Cell(value, kind, name)
        if isinstance(value, Struct) and value.type == "dim3":
            for axis, inner in value.fields.items():
                inner.name = f"{name}.{axis}"
        self.frame.scopes[-1][name] = cell
        return cell

    def write(self, cell: Cell, value: Any) -> None:
        self.trail.append((cell, cell.value))
        cell.value = value

    @contextmanager
    def tried(self) -> Iterator[dict[Cell, Any]]:
        """Undo at the end what the block changes; the dictionary then has the new values."""
        start, frames, after = len(self.trail), len(self.frames), dict[Cell, Any]()
        scopes = [dict(scope) for scope in self.frame.scopes]
        depth, expanding, result = self.depth, list(self.expanding), self.frame.result
        try:
            yield after
        finally:
            del self.frames[frames:]
            for cell, _ in self.trail[start:]:
                after[cell] = cell.value
            for cell, old in reversed(self.trail[start:]):
                cell.value = old
            del self.trail[start:]
            self.frame.scopes[:] = scopes
            self.depth, self.expanding, self.frame.result = depth, expanding, result

    def copied(self, value: Any) -> Any:
        """A struct as an assignment copies it; anything else itself."""
        if isinstance(value, Struct):
            cells = {name: Cell(self.copied(cell.value), cell.type, name) for name, cell in value.fields.items()}
            return Struct(value.type, cells)
        return value

    def resolved(self, kind: str) -> str:
        """A type with template parameters and typedefs replaced."""
        base = kind.rstrip("*&")
        for frame in reversed(self.frames):
            if base in frame.types:
                kind = frame.types[base] + kind[len(base) :]
                break
        return self.model.resolved(kind)

    def size_of(self, kind: str) -> int | None:
        return self.layouts.size_of(self.resolved(kind))

    def size_of_variable(self, cell: Cell | None, text: str) -> Any:
        if cell is None:
            return Unknown(text)
        if isinstance(cell.value, HostArray) and not cell.type.endswith("*"):
            element = self.size_of(cell.value.type)
            return element * cell.value.count if element and isinstance(cell.value.count, int) else Unknown(text)
        size = self.size_of(cell.type)
        return Unknown(text) if size is None else size

    def constant(self, node: Any) -> int | None:
        """The value of an integer constant expression; None where it is none."""
        value = self.value_of(node)
        return value if isinstance(value, int) else None

    def member_type(self, kind: str, name: str) -> str:
        source = self.model.classes.get(self.resolved(kind).rstrip("*&").rpartition("::")[2])
        for member in source.members if source else ():
            if member.name == name:
                return member.type
        for base in source.bases if source else ():
            if inner := self.member_type(base, name):
                return inner
        return "unsigned int" if kind == "dim3" else ""

    def blank(self, kind: str, path: str = "") -> Any:
        """A variable of that type before anything is stored in it: structs have their fields."""
        kind = self.resolved(kind)
        if kind == "dim3":
            return dim3()
        source = self.model.classes.get(kind.rpartition("::")[2])
        if source is None or kind.endswith("*"):
            return Unknown(path)
        cells: dict[str, Cell] = {}
        for base in source.bases:
            inherited = self.blank(base, path)
            cells |= inherited.fields if isinstance(inherited, Struct) else {}
        for member in source.members:
            if member.is_static:
                continue
            inner = f"{path}.{member.name}" if path else member.name
            value = self._blank_member(member, inner)
            cells[member.name] = Cell(value, member.type, member.name)
        return Struct(kind, cells)

    def _blank_member(self, member: Any, path: str) -> Any:
        if member.default is not None:
            return self.initial(member.default, member.type)
        if member.extents:
            return HostArray(member.type, self.constant(member.extents[0]) or Unknown())
        return self.blank(member.type, path) if member.type not in ("dim3",) else dim3()

    def static_member(self, owner: str, name: str) -> Cell | None:
        """A static data member with a value in its class."""
        owner = owner.rpartition("::")[2]
        if (owner, name) not in self.statics:
            source = self.model.classes.get(owner)
            member = next((m for m in source.members if m.name == name and m.is_static), None) if source else None
            if member is None or member.default is None:
                return None
            self.statics[owner, name] = Cell(self.initial(member.default, member.type), member.type, name)
        return self.statics[owner, name]

    def this_pointer(self) -> Any:
        this = self.frame.this
        return Unknown("this") if this is None else Pointer(Cell(this, this.type, "this"), 0, this.type)

    def literal(self, node: Any) -> Any:
        """`float4{1, 2}`, `(dim3){1, 2}`."""
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        return self.initial(value, text_of(kind) if kind is not None else "")
