"""A kernel's syntax tree: its loops, parameters, arrays and accesses, and edits of its text by byte ranges."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from warpbound.errors import MissingTool, install

LOOPS = ("for_statement", "while_statement", "do_statement")
_PLACES = ("subscript_expression", "parenthesized_expression", "field_expression")
_CHANGES = ("assignment_expression", "update_expression")


@dataclass(frozen=True)
class Edit:
    """Replace bytes [start, end) of the source by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class KernelSource:
    """A `__global__` function in its file. code : the file's bytes. node : the function. body : its statements."""

    code: bytes
    node: Any
    body: Any

    @property
    def parameters(self) -> list[Any]:
        """Declarations of the parameters."""
        parameter_list = self.declarator.child_by_field_name("parameters")
        return [child for child in parameter_list.children if child.type.endswith("parameter_declaration")]

    @property
    def declarator(self) -> Any:
        return first(self.node.child_by_field_name("declarator"), ("function_declarator",))

    def edited(self, edits: Iterable[Edit]) -> str:
        """The file's text with edits that do not overlap."""
        code = self.code
        for edit in sorted(edits, key=lambda edit: (-edit.start, -edit.end)):
            code = code[: edit.start] + edit.text.encode() + code[edit.end :]
        return code.decode()


def kernel_source(text: str, title: str) -> KernelSource | None:
    """The definition of kernel `title` in `text`; None where it is in another file or under a macro.

    Raises MissingTool where tree-sitter is not installed.
    """
    try:
        import tree_sitter_cuda
        from tree_sitter import Language, Parser
    except ImportError as missing:
        raise MissingTool("Rewriting CUDA C++ needs tree-sitter-cuda.", install("cuda")) from missing
    code = text.encode()
    root = Parser(Language(tree_sitter_cuda.language())).parse(code).root_node
    name = re.sub(r"<.*|\(.*", "", title).strip().rpartition("::")[2].rpartition(" ")[2]
    for node in inside(root, ("function_definition",)):
        body = node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        function = first(declarator, ("function_declarator",)) if declarator is not None else None
        if body is None or function is None or b"__global__" not in code[node.start_byte : body.start_byte]:
            continue
        if words(function.child_by_field_name("declarator")).rpartition("::")[2] == name:
            return KernelSource(code, node, body)
    return None


def words(node: Any) -> str:
    """The text of a node."""
    return str(node.text.decode(errors="replace"))


def line(node: Any) -> int:
    """The source line at which a node begins, from 1."""
    return int(node.start_point[0]) + 1


def inside(node: Any, kinds: Iterable[str]) -> Iterator[Any]:
    """Nodes of these kinds at and below a node, in the order of the text."""
    kinds_wanted, pending = frozenset(kinds), [node]
    while pending:
        here = pending.pop()
        if here.type in kinds_wanted:
            yield here
        pending.extend(reversed(here.children))


def first(node: Any, kinds: Iterable[str]) -> Any:
    """The first such node; None where there is none."""
    return next(inside(node, kinds), None) if node is not None else None


def innermost_loops(kernel: KernelSource) -> list[Any]:
    """`for` loops that hold no other loop."""
    return [loop for loop in inside(kernel.body, ("for_statement",)) if len(list(inside(loop, LOOPS))) == 1]


def changed_names(node: Any) -> set[str]:
    """Names that a piece of code declares, assigns, counts up, or whose address it takes; no arrays for elements."""
    targets = [_target(each) for each in inside(node, _CHANGES)]
    names = {words(leaf) for target in targets if target.type != "subscript_expression"
             if (leaf := first(target, ("identifier",))) is not None}  # fmt: skip
    for declaration in inside(node, ("declaration",)):
        for part in declaration.children_by_field_name("declarator"):
            if (leaf := first(part, ("identifier",))) is not None:
                names.add(words(leaf))
    for pointer in inside(node, ("pointer_expression",)):
        names |= {words(leaf) for leaf in inside(pointer, ("identifier",))}
    return names


def _target(change: Any) -> Any:
    return change.child_by_field_name("left") or change.child_by_field_name("argument")


def names_of(node: Any) -> set[str]:
    """Every identifier in a piece of code."""
    return {words(leaf) for leaf in inside(node, ("identifier",))}


def element(access: Any) -> str:
    """The array of a subscript by its name; empty where it is no plain name."""
    argument = access.child_by_field_name("argument")
    return words(argument) if argument is not None and argument.type == "identifier" else ""


def is_written(access: Any) -> bool:
    """Whether a subscript is the target of an assignment or of ++, or has its address taken."""
    parent, child = access.parent, access
    while parent is not None and parent.type in _PLACES:
        if parent.type == "subscript_expression" and parent.child_by_field_name("argument") != child:
            return False
        parent, child = parent.parent, parent
    if parent is None:
        return False
    if parent.type == "assignment_expression":
        return bool(parent.child_by_field_name("left") == child)
    return parent.type in ("update_expression", "pointer_expression")
