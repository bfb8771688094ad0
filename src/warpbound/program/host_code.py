"""What a whole `.cu` file holds beside kernels, found with tree-sitter and blanked, line by line in place.

A file that nvcc takes has host functions, host headers and launches in it; NVRTC takes device code only.
Blanks replace the host parts, so that every line keeps its number.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from warpbound.errors import MissingTool

_DEVICE = re.compile(rb"__(?:global|device|constant|shared|managed)__|\bconstexpr\b")
_LAUNCH = re.compile(r"([A-Za-z_][\w:]*\s*<[^;(){}]*?>)\s*<<<")
_SYSTEM_INCLUDE = re.compile(rb"<([^>]+)>")
_CONTAINERS = frozenset(
    {
        "translation_unit",
        "preproc_if",
        "preproc_ifdef",
        "preproc_else",
        "preproc_elif",
        "namespace_definition",
        "linkage_specification",
        "declaration_list",
    }
)


@dataclass(frozen=True)
class Signature:
    """A `__global__` function as written: name, (name, type) of its parameters, whether it is a template."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    template: bool


@dataclass(frozen=True)
class Source:
    """A file taken apart: the device code with its lines in place, the kernels, the instances the host launches."""

    device: str
    kernels: tuple[Signature, ...]
    launched: tuple[str, ...]


def take_apart(text: str, known_header: Callable[[str], bool]) -> Source:
    """Blank the host parts of `text`; `known_header` says of <name> whether it can be included.

    Raises MissingTool where tree-sitter is not installed.
    """
    try:
        import tree_sitter_cuda
        from tree_sitter import Language, Parser
    except ImportError as missing:
        raise MissingTool("Reading CUDA C++ needs tree-sitter-cuda.", "Install warpbound[cuda].") from missing
    raw = text.encode()
    root = Parser(Language(tree_sitter_cuda.language())).parse(raw).root_node
    device = bytearray(raw)
    for node in _host_parts(root, known_header):
        for i in range(node.start_byte, node.end_byte):
            if device[i] not in b"\r\n":
                device[i] = 0x20
    signatures = tuple(_signatures(root))
    templates = {s.name for s in signatures if s.template}
    launched = [re.sub(r"\s+", " ", name).strip() for name in _LAUNCH.findall(text)]
    wanted = [name for name in launched if name.partition("<")[0].strip().rpartition("::")[2] in templates]
    return Source(device.decode(), signatures, tuple(dict.fromkeys(wanted)))


def _host_parts(node: Any, known_header: Callable[[str], bool]) -> Iterator[Any]:
    for child in node.children:
        if child.type in _CONTAINERS:
            yield from _host_parts(child, known_header)
        elif _is_host(child, known_header):
            yield child


def _is_host(node: Any, known_header: Callable[[str], bool]) -> bool:
    text: bytes = node.text
    if node.type == "preproc_include":
        found = _SYSTEM_INCLUDE.search(text)
        return found is not None and not known_header(found[1].decode())
    if node.type in ("function_definition", "template_declaration", "declaration"):
        callable_or_std = node.type == "function_definition" or b"(" in text.partition(b"=")[0] or b"std::" in text
        return callable_or_std and not _DEVICE.search(_head(node)) and not _mentions_type_only(node)
    if node.type == "using_declaration":
        return text.split() == [b"using", b"namespace", b"std;"]
    if node.type in ("struct_specifier", "class_specifier"):
        return b"std::" in text and not _DEVICE.search(text)
    return bool(node.type == "expression_statement")


def _mentions_type_only(node: Any) -> bool:
    """Class templates and alias templates are types that kernels may use."""
    return node.type == "template_declaration" and any(
        child.type in ("struct_specifier", "class_specifier", "alias_declaration", "concept_definition")
        for child in node.children
    )


def _head(node: Any) -> bytes:
    """The text of a definition without its body."""
    body = _first(node, "compound_statement")
    text: bytes = node.text
    return text if body is None else text[: body.start_byte - node.start_byte]


def _first(node: Any, kind: str) -> Any:
    pending = [node]
    while pending:
        one = pending.pop(0)
        if one.type == kind:
            return one
        pending.extend(one.children)
    return None


def _signatures(root: Any) -> Iterator[Signature]:
    pending = [(root, False)]
    while pending:
        node, template = pending.pop(0)
        if node.type in ("function_definition", "declaration") and b"__global__" in _head(node):
            declarator = _first(node, "function_declarator")
            if declarator is not None:
                name = declarator.child_by_field_name("declarator").text.decode()
                yield Signature(name, tuple(_parameters(declarator)), template)
            continue
        inside = template or node.type == "template_declaration"
        pending.extend((child, inside) for child in node.children)


def _parameters(declarator: Any) -> Iterator[tuple[str, str]]:
    for node in declarator.child_by_field_name("parameters").children:
        if node.type in ("parameter_declaration", "optional_parameter_declaration"):
            inner = node.child_by_field_name("declarator")
            name = _first(inner, "identifier") if inner is not None else None
            whole = re.sub(r"\s+", " ", node.text.decode())
            word = name.text.decode() if name is not None else ""
            yield word, re.sub(rf"\b{re.escape(word)}\b", "", whole).strip() if word else whole
