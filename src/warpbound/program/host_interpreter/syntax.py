"""The syntax tree of CUDA C++: parsing, declarators, text."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from warpbound.errors import MissingTool, install
from warpbound.quick_dataclasses import dataclass

_BLANKED = re.compile(  # what the grammar does not support, or takes for a name
    r"__launch_bounds__[ \t]*\((?:[^()\n]|\([^()\n]*\))*\)|__align__[ \t]*\([^()\n]*\)"
    r"|\b(?:CUTLASS_HOST_DEVICE|__forceinline__|__noinline__|__restrict__|__restrict)\b"
)
NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier", "destructor_name"})


@cache
def _parser() -> Any:
    try:
        import tree_sitter_cuda
        from tree_sitter import Language, Parser
    except ImportError as missing:
        raise MissingTool("Reading CUDA C++ needs tree-sitter-cuda.", install("cuda")) from missing
    return Parser(Language(tree_sitter_cuda.language()))


def parse(text: str) -> Any:
    """The root of the syntax tree of a file. Raises MissingTool without tree-sitter."""
    plain = _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return _parser().parse(plain.encode()).root_node


@cache
def parsed_statements(text: str) -> tuple[Any, ...]:
    """The statements of a piece of a function body, as an expanded macro gives it; () where it is none."""
    root = parse(f"void f() {{ {text}\n; }}")
    body = root.children[0].child_by_field_name("body") if root.children else None
    if body is None or body.has_error:
        return ()
    return tuple(child for child in body.named_children if child.type != "comment" and text_of(child) != ";")


@cache
def parsed_expression(text: str) -> Any | None:
    """The expression that a text is; None where it is none."""
    root = parse(f"auto warpbound_value = ({text}\n);")
    declarator = root.children[0].child_by_field_name("declarator") if root.children else None
    value = declarator.child_by_field_name("value") if declarator is not None else None
    return None if value is None or root.has_error else value


def text_of(node: Any) -> str:
    """The text of a node, with one blank for any white space."""
    raw: bytes = node.text
    return re.sub(r"\s+", " ", raw.decode(errors="replace")).strip()


def line_of(node: Any) -> int:
    """The line where a node begins, from 1."""
    return int(node.start_point[0]) + 1


def plain_type(text: str) -> str:
    """A C type without qualifiers and blanks before stars: `const float *` is `float*`."""
    words = " ".join(re.sub(r"\b(?:const|volatile|static|constexpr|inline|extern|register|struct|class|typename|enum"
                            r"|mutable|thread_local|__shared__|__constant__|__device__|__managed__)\b", " ",
                            text).split())  # fmt: skip
    return re.sub(r"\s*([*&])", r"\1", words)


@dataclass(frozen=True)
class Declarator:
    """What a declarator gives: the name, the stars, the array extents (nodes, None for []), the parameters."""

    name: str
    stars: int
    extents: tuple[Any, ...]
    parameters: Any | None
    reference: bool


def declarator_of(node: Any) -> Declarator:
    """The parts of a declarator, from the outermost to the name."""
    stars, parameters, reference, name = 0, None, False, ""
    extents: list[Any] = []
    while node is not None:
        kind = node.type
        if kind in ("pointer_declarator", "abstract_pointer_declarator"):
            stars += 1
        elif kind in ("array_declarator", "abstract_array_declarator"):
            extents.insert(0, node.child_by_field_name("size"))
        elif kind in ("reference_declarator", "abstract_reference_declarator"):
            reference = True
        elif kind == "function_declarator":
            parameters = node.child_by_field_name("parameters")
        elif kind in NAMES or kind in ("qualified_identifier", "template_function", "operator_name"):
            name = text_of(node)
            break
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in node.named_children if "declarator" in child.type
                          or child.type in NAMES or child.type == "qualified_identifier"), None)  # fmt: skip
        node = inner
    return Declarator(name, stars, tuple(extents), parameters, reference)


def descendants(node: Any, kinds: frozenset[str]) -> Iterator[Any]:
    """Nodes of these kinds below a node, in the order of the text."""
    pending = [node]
    while pending:
        here = pending.pop()
        if here.type in kinds:
            yield here
        pending.extend(reversed(here.children))
