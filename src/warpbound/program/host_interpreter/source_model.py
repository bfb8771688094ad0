"""What a program's files declare: functions, kernels, classes, types, global variables and macros."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from warpbound.program.host_interpreter.conditionals import PREDEFINED, Macro, Preprocessor
from warpbound.program.host_interpreter.syntax import declarator_of, descendants, parse, plain_type, text_of
from warpbound.quick_dataclasses import dataclass

_CLASSES = frozenset({"struct_specifier", "class_specifier", "union_specifier"})
_ENTRY = re.compile(r"__global__")


@dataclass(frozen=True)
class FunctionSource:
    """A function as written. owner : the class it is a member of, "" outside of one."""

    name: str
    owner: str
    node: Any  # the function_definition or declaration
    parameters: Any  # the parameter_list
    template: tuple[tuple[str, bool], ...]  # template parameters: name, whether it is a type
    is_kernel: bool

    @property
    def body(self) -> Any:
        return self.node.child_by_field_name("body")


@dataclass(frozen=True)
class Member:
    """A data member: C type without stars of the declarator, stars, extents (nodes), default value (node or None)."""

    name: str
    type: str
    extents: tuple[Any, ...]
    default: Any | None
    is_static: bool


@dataclass(frozen=True)
class ClassSource:
    """A struct, class or union."""

    name: str
    members: tuple[Member, ...]
    bases: tuple[str, ...]
    is_union: bool
    has_hidden_layout: bool  # bit fields or virtual functions


@dataclass
class SourceModel:
    """The declarations of all files of a program, by name."""

    functions: dict[str, list[FunctionSource]] = field(default_factory=dict)
    classes: dict[str, ClassSource] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # typedefs and aliases: name -> type
    globals: list[Any] = field(default_factory=list)  # declarations of variables
    enums: list[Any] = field(default_factory=list)
    macros: dict[str, Macro] = field(default_factory=dict)
    roots: dict[str, Any] = field(default_factory=dict)  # syntax tree by file; the main file is ""

    def file_of(self, node: Any) -> str:
        """The file that a node is of, as in its `#include`; "" for the main file."""
        while node.parent is not None:
            node = node.parent
        return next((name for name, root in self.roots.items() if root.id == node.id), "")

    def kernel(self, name: str) -> FunctionSource | None:
        """The kernel of that plain name, its definition where there is one."""
        kernels = [function for function in self.functions.get(name.rpartition("::")[2], []) if function.is_kernel]
        return next((function for function in kernels if function.body is not None), kernels[0] if kernels else None)

    def resolved(self, kind: str) -> str:
        """A type without typedefs, aliases and macros that represent types."""
        for _ in range(20):
            base = kind.rstrip("*&")
            macro = self.macros.get(base)
            other = self.types.get(base) or self.types.get(base.rpartition("::")[2])
            if other is None and macro is not None and macro.parameters is None:
                other = plain_type(macro.body)
            if not other:
                break
            kind = other + kind[len(base) :]
        return kind


def source_model(text: str, headers: Mapping[str, str], defines: Mapping[str, str]) -> SourceModel:
    """The declarations of a file and of the user's headers that it includes.

    headers : text by the name in the `#include`. defines : macros given to the compiler.
    """
    macros = {name: Macro(None, value) for name, value in (PREDEFINED | dict(defines)).items()}
    preprocessor = Preprocessor(headers, macros)
    preprocessor.read("", text)
    model = SourceModel(macros=preprocessor.macros)
    for name, active in preprocessor.active.items():
        model.roots[name] = parse(active)
        _collect(model, model.roots[name], "", ())
    return model


def _collect(model: SourceModel, node: Any, owner: str, template: tuple[tuple[str, bool], ...]) -> None:
    for child in node.children:
        kind = child.type
        if kind == "template_declaration":
            _collect(model, child, owner, tuple(_template_parameters(child)))
        elif kind == "function_definition":
            _add_function(model, child, owner, template)
        elif kind in _CLASSES:
            _add_class(model, child)
        elif kind == "type_definition":
            _add_typedef(model, child)
        elif kind == "alias_declaration":
            name, of = child.child_by_field_name("name"), child.child_by_field_name("type")
            model.types[text_of(name)] = plain_type(text_of(of))
        elif kind == "enum_specifier":
            model.enums.append(child)
        elif kind in ("declaration", "field_declaration"):
            _add_declaration(model, child, owner, template)
        elif kind not in ("template_parameter_list", "compound_statement"):
            _collect(model, child, owner, template)


def _template_parameters(node: Any) -> Iterator[tuple[str, bool]]:
    parameters = node.child_by_field_name("parameters")
    for child in parameters.named_children if parameters is not None else ():
        if child.type in ("type_parameter_declaration", "optional_type_parameter_declaration"):
            names = [name for name in child.named_children if name.type == "type_identifier"]
            yield (text_of(names[0]) if names else ""), True
        elif child.type in ("parameter_declaration", "optional_parameter_declaration"):
            yield declarator_of(child.child_by_field_name("declarator")).name, False


def _add_function(model: SourceModel, node: Any, owner: str, template: tuple[tuple[str, bool], ...]) -> None:
    declarator = next(descendants(node, frozenset({"function_declarator"})), None)
    if declarator is None:
        return
    head = text_of(node).partition("{")[0]
    scope, _, name = declarator_of(declarator).name.partition("<")[0].rpartition("::")
    owner = owner or scope.rpartition("::")[2]
    parameters = declarator.child_by_field_name("parameters")
    source = FunctionSource(name, owner, node, parameters, template, _ENTRY.search(head) is not None)
    model.functions.setdefault(name, []).append(source)
    model.enums.extend(descendants(node, frozenset({"enum_specifier"})))


def _add_declaration(model: SourceModel, node: Any, owner: str, template: tuple[tuple[str, bool], ...]) -> None:
    kind = node.child_by_field_name("type")
    if kind is not None and kind.type in _CLASSES and kind.child_by_field_name("body") is not None:
        _add_class(model, kind)
    if kind is not None and kind.type == "enum_specifier":
        model.enums.append(kind)
    declarator = node.child_by_field_name("declarator")
    if declarator is not None and declarator_of(declarator).parameters is not None:
        if "__global__" in text_of(node):
            _add_function(model, node, owner, template)
    elif node.type == "declaration":
        model.globals.append(node)


def _add_typedef(model: SourceModel, node: Any) -> None:
    kind = node.child_by_field_name("type")
    aliases = [declarator_of(each) for each in node.children_by_field_name("declarator")]
    if kind is None or not aliases:
        return
    base = plain_type(text_of(kind))
    if kind.type in _CLASSES and kind.child_by_field_name("body") is not None:
        name = kind.child_by_field_name("name")
        base = text_of(name) if name is not None else aliases[0].name
        _add_class(model, kind, base)
    elif kind.type == "enum_specifier":
        model.enums.append(kind)
        base = "int"
    for alias in aliases:
        if alias.name != base and alias.parameters is None and not alias.extents:
            model.types[alias.name] = base + "*" * alias.stars


def _add_class(model: SourceModel, node: Any, name: str = "") -> None:
    body, title = node.child_by_field_name("body"), node.child_by_field_name("name")
    name = name or (text_of(title).partition("<")[0] if title is not None else "")
    if body is None:
        return
    members: list[Member] = []
    for child in body.children:
        if child.type == "field_declaration":
            members.extend(_members(child))
    _collect(model, body, name, ())
    bases = [text_of(each) for clause in node.children if clause.type == "base_class_clause"
             for each in clause.named_children if each.type in ("type_identifier", "template_type")]  # fmt: skip
    hidden = any(child.type == "bitfield_clause" for child in descendants(body, frozenset({"bitfield_clause"})))
    hidden = hidden or re.search(r"\bvirtual\b", text_of(body)) is not None
    model.classes[name] = ClassSource(name, tuple(members), tuple(bases), node.type == "union_specifier", hidden)


def _members(node: Any) -> Iterator[Member]:
    kind = node.child_by_field_name("type")
    if kind is None:
        return
    base = plain_type(text_of(kind))
    if kind.type in _CLASSES | {"enum_specifier"}:
        name = kind.child_by_field_name("name")
        base = "int" if kind.type == "enum_specifier" else text_of(name) if name is not None else "?"
    words = [text_of(child) for child in node.children if child.type == "storage_class_specifier"]
    default = node.child_by_field_name("default_value")
    for each in node.children_by_field_name("declarator"):
        parts = declarator_of(each)
        if parts.parameters is None or parts.stars:
            stars = "*" * parts.stars if parts.parameters is None else "*"
            yield Member(parts.name, base + stars, parts.extents, default, "static" in words)
