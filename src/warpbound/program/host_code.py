"""Host code of a `.cu` file: found with tree-sitter and blanked out, so that line numbers stay.

A file for nvcc contains host functions, host headers and launches; NVRTC accepts device code only.
Code that is marked for the device stays, and with it all declarations that it names, directly or not; blanks
replace the rest, so that every line keeps its number.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from warpbound.errors import InputError, MissingTool, install
from warpbound.processor_limit import processor_limit
from warpbound.program.host_headers import FOR_STD
from warpbound.program.host_instances import lambdas, launches
from warpbound.program.host_interpreter.syntax import text_of
from warpbound.program.host_lambdas import is_execution_space
from warpbound.program.kernel_instances import Kernels
from warpbound.program.kernel_signatures import (
    Signature,
    first_of,
    implicit_instances,
    instances,
    parameters,
    template_example,
    template_names,
)
from warpbound.quick_dataclasses import dataclass

PARSING_S = 30.0  # processor time to parse a file with its headers
_MARK = re.compile(r"__(?:global|device|constant|shared|managed)__")
_ARGUMENTS = r"[ \t]*\((?:[^()\n]|\([^()\n]*\))*\)"
_LIMITS = r"__(?:cluster_dims|block_size|maxnreg|(?:builtin_)?align)__"
_LIMITING = re.compile(  # macros that represent limits of a launch alone
    rf"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^()\n]*\))?(?:[ \t]*(?:{_LIMITS}|__launch_bounds__){_ARGUMENTS})+[ \t]*$",
    re.M,
)
_ENTRY = re.compile(r"__global__")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LIBRARY = re.compile(r"\b(std|thrust)\s*::")
_HEADER = re.compile(r"<([^>]+)>")
_HEADER_LINE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.M)
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
_MACROS = frozenset({"preproc_def", "preproc_function_def"})
_CLASSES = ("struct_specifier", "class_specifier", "union_specifier")
_NAMED = frozenset(  # these stay if another kept piece names them
    {
        *_CLASSES,
        "declaration",
        "function_definition",
        "template_declaration",
        "template_instantiation",
        "enum_specifier",
        "type_definition",
        "alias_declaration",
        "namespace_alias_definition",
        "concept_definition",
        "using_declaration",
        "expression_statement",
    }
)
_NAMES = frozenset({"identifier", "type_identifier", "field_identifier", "namespace_identifier"})


@dataclass(frozen=True)
class Source:
    """A source file, split into device code and what the host part states about kernels.

    device : the device code with its lines in place. headers : the same of the user's headers, by name.
    kernels : its kernels as written. instances : the instances that the host launches or that are spelled out,
    and the kernels that only a launch keeps alive (static ones), as name expressions. deduced : kernel templates that
    the host launches without template arguments.
    absent : headers in angle brackets that are nowhere and were blanked. unread_line : the first line
    of host code with launches that no grammar accepts, so that some may go unseen; None where there is none.
    """

    device: str
    headers: dict[str, str]
    kernels: tuple[Signature, ...]
    instances: tuple[str, ...]
    deduced: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unread_line: int | None = None


@dataclass
class _Item:
    """A top-level piece of a file: what it declares and the words in it."""

    node: Any
    text: str
    declares: frozenset[str]
    stays: bool


def split_host_code(
    text: str, headers: Mapping[str, str], known_header: Callable[[str], bool], instance: str = ""
) -> Source:
    """Blank the host parts of `text` and of `headers`; `known_header` states whether <name> can be included.

    instance : a name expression of a kernel that is asked for; the types that it names stay.

    Raises MissingTool where tree-sitter is not installed, InputError where a file takes longer than `PARSING_S`.
    """
    with processor_limit(PARSING_S, _too_long):
        return _split(text, headers, known_header, instance)


def _too_long() -> InputError:
    return InputError(
        f"Reading the host code of this file takes more than {PARSING_S:g} s.",
        "Let nvcc read it (--compiler nvcc; pip install 'warpbound[nvcc]'), or give a file with the kernels alone.",
    )


def _split(text: str, headers: Mapping[str, str], known_header: Callable[[str], bool], instance: str) -> Source:
    limiting = [name for code in (text, *headers.values()) for name in _LIMITING.findall(code)]
    roots = {name: _parse(code, limiting) for name, code in {"": text, **headers}.items()}
    marks = _words_for(_MARK, roots.values())
    items = {name: list(_items(root, marks)) for name, root in roots.items()}
    everything = [item for some in items.values() for item in some]
    entries = _words_for(_ENTRY, roots.values())
    kernels = tuple(signature for root in roots.values() for signature in _signatures(root, entries, ()))
    explicit, implicit = instances(text, kernels, roots[""]), implicit_instances(text, kernels)
    expressions, unknown = launches(kernels, explicit, implicit, roots[""])
    types = lambdas(roots[""], (*expressions, instance))
    _keep_what_is_named(everything, {word for name in (*expressions, instance, types) for word in _WORD.findall(name)})
    words = {word for item in everything if item.stays for word in _LIBRARY.findall(item.text)}
    includes = _Includes(known_header, words)
    blanked = {
        name: _blank(code.encode(), _host_parts(roots[name], items[name], marks, includes))
        for name, code in {"": text, **headers}.items()
    }
    launching = [item.node for item in items[""] if not item.stays and "<<<" in item.text]
    return Source(
        f"{blanked.pop('')}\n{types}" if types else blanked.pop(""), blanked, kernels, expressions, unknown,
        absent=tuple(name for name in _HEADER_LINE.findall(text) if not known_header(name)),
        unread_line=min((line for node in launching if (line := _first_error(node)) is not None), default=None),
    )  # fmt: skip


def kernels_of(text: str, headers: Mapping[str, str]) -> Kernels:
    """The kernels of a file and of those of its headers that have any.

    Raises InputError where that takes longer than `PARSING_S`.
    """
    with processor_limit(PARSING_S, _too_long):
        return _kernels(text, headers)


def _kernels(text: str, headers: Mapping[str, str]) -> Kernels:
    with_kernels = {name: code for name, code in headers.items() if _ENTRY.search(code)}
    texts = {"": text, **with_kernels}
    limiting = [name for code in texts.values() for name in _LIMITING.findall(code)]
    roots = [_parse(code, limiting) for code in texts.values()]
    entries = _words_for(_ENTRY, roots)
    signatures = tuple(signature for root in roots for signature in _signatures(root, entries, ()))
    full, bare = instances(text, signatures, roots[0]), implicit_instances(text, signatures)
    return Kernels(signatures, *launches(signatures, full, bare, roots[0]))


def _first_error(node: Any) -> int | None:
    """The line, from 1, of the first piece below a node that is no C++ or lacks a token."""
    if not node.has_error or node.type == "ERROR" and is_execution_space(text_of(node)):
        return None
    if node.type == "ERROR" or node.is_missing:
        return int(node.start_point[0]) + 1
    return next((line for child in node.children if (line := _first_error(child)) is not None), None)


def _parse(text: str, limiting: Iterable[str]) -> Any:
    """The syntax tree of a file; launch bounds, which the grammar does not support, are blanked, and macros of them."""
    try:
        import tree_sitter_cuda
        from tree_sitter import Language, Parser
    except ImportError as missing:
        raise MissingTool("Reading CUDA C++ needs tree-sitter-cuda.", install("cuda")) from missing
    words = "|".join((f"{_LIMITS}{_ARGUMENTS}", *(rf"^.*define.*$|\b{name}\b(?:{_ARGUMENTS})?" for name in limiting)))
    plain = re.sub(words, _without_limit, text, flags=re.M)
    return Parser(Language(tree_sitter_cuda.language())).parse(plain.encode()).root_node


def _without_limit(names: re.Match[str]) -> str:
    return names[0] if "define" in names[0] else " " * len(names[0].encode())


@dataclass(frozen=True)
class _Includes:
    """Which `#include` lines stay: all of them, but not host headers and libraries that only host code needs."""

    is_header: Callable[[str], bool]
    libraries: set[str]  # libraries that device code names: std, thrust

    def stays(self, line: str) -> bool:
        match = _HEADER.search(line)
        if match is None:
            return True
        library = "std" if match[1] in FOR_STD else match[1].partition("/")[0]
        return self.is_header(match[1]) and (library not in ("std", "thrust") or library in self.libraries)


def _words_for(mark: re.Pattern[str], roots: Iterable[Any]) -> re.Pattern[str]:
    """`mark` and the macros that expand to it."""
    macros = {}
    for root in roots:
        for node in _inside(root, _MACROS):
            words = _WORD.findall(node.text.decode(errors="replace"))
            if len(words) > 1:
                macros[words[1]] = set(words[2:])
    marking = {name for name, words in macros.items() if any(mark.fullmatch(word) for word in words)}
    while more := {name for name, words in macros.items() if words & marking} - marking:
        marking |= more
    return re.compile("|".join([mark.pattern, *(rf"\b{name}\b" for name in sorted(marking))]))


def _inside(node: Any, kinds: frozenset[str]) -> Iterator[Any]:
    """Nodes of these kinds among the top-level pieces."""
    for child in node.children:
        if child.type in kinds:
            yield child
        elif child.type in _CONTAINERS:
            yield from _inside(child, kinds)


def _items(root: Any, marks: re.Pattern[str]) -> Iterator[_Item]:
    for node in _inside(root, _NAMED | _MACROS):
        text = node.text.decode(errors="replace")
        if node.type in _MACROS:
            words = _WORD.findall(text)
            yield _Item(node, text, frozenset(words[1:2]), stays=False)
            continue
        whole = _is_class(node) or _is_class(node.children[-1] if node.children else node)
        is_kept = not whole and marks.search(_head(node)) is not None
        yield _Item(node, _without_host_members(node, marks), _declares(node), is_kept)


def _is_class(node: Any) -> bool:
    return node.type in _CLASSES or (
        node.type == "template_declaration" and any(child.type in _CLASSES for child in node.children)
    )


def _keep_what_is_named(items: Iterable[_Item], instance_words: set[str]) -> None:
    """Keep, in turn, every item that declares a word of a kept item or of a launched instance. A host function is
    never kept."""
    waiting = [item for item in items if not item.stays and not _is_host_function(item.node)]
    words = instance_words.union(word for item in items if item.stays for word in _WORD.findall(item.text))
    while result := [item for item in waiting if item.declares & words]:
        for item in result:
            item.stays = True
            words |= set(_WORD.findall(item.text))
        waiting = [item for item in waiting if not item.stays]


def _is_host_function(node: Any) -> bool:
    """Whether it is an unmarked function (marked items are kept already); constexpr functions are device code, too."""
    inner = node.children[-1] if node.type == "template_declaration" and node.children else node
    if inner.type == "template_instantiation" or inner.type == "expression_statement":
        return True
    if inner.type == "declaration":
        declarator = inner.child_by_field_name("declarator")
        if declarator is None or declarator.type != "function_declarator":
            return False
    elif inner.type != "function_definition":
        return False
    return "constexpr" not in _head(inner).split()


def _declares(node: Any) -> frozenset[str]:
    """The names a piece gives to the rest of the file."""
    names: set[str] = set()
    if node.type == "template_declaration" and node.children:
        return _declares(node.children[-1] if node.children[-1].type != ";" else node.children[-2])
    if node.type == "using_declaration":
        names |= set(_WORD.findall(node.text.decode(errors="replace"))[-1:])
    if node.type == "namespace_alias_definition":
        names |= set(_WORD.findall(node.text.decode(errors="replace"))[1:2])
    for part in (node.child_by_field_name("name"), *node.children_by_field_name("declarator")):
        name = None if part is None else first_of(part, _NAMES)
        if name is not None:
            names.add(name.text.decode())
    inner = node.child_by_field_name("type")
    if inner is not None and inner.type in (*_CLASSES, "enum_specifier"):
        names |= _declares(inner)
    if node.type == "enum_specifier" and (body := node.child_by_field_name("body")) is not None:
        names |= {word for child in body.children for word in _WORD.findall(child.text.decode())[:1]}
    return frozenset(names)


def _head(node: Any) -> str:
    """The text of a definition without its body."""
    body = first_of(node, frozenset({"compound_statement"}))
    text: bytes = node.text
    return (text if body is None else text[: body.start_byte - node.start_byte]).decode(errors="replace")


def _host_members(node: Any, marks: re.Pattern[str]) -> Iterator[Any]:
    """The member functions of a class that only the host can call."""
    pending = [node]
    while pending:
        node = pending.pop()
        for child in node.children:
            inner = child.children[-1] if child.type == "template_declaration" and child.children else child
            if inner.type == "function_definition":
                body = first_of(inner, frozenset({"compound_statement"}))
                head = _head(child)
                if body is not None and not marks.search(head) and "constexpr" not in head.split():
                    yield child
            elif child.type in (*_CLASSES, "field_declaration_list", "field_declaration"):
                pending.append(child)


def _without_host_members(node: Any, marks: re.Pattern[str]) -> str:
    text = bytearray(node.text)
    if _holds_class(node):
        for member in _host_members(_class_of(node), marks):
            text[member.start_byte - node.start_byte : member.end_byte - node.start_byte] = b" " * len(member.text)
    return text.decode(errors="replace")


def _class_of(node: Any) -> Any:
    return first_of(node, frozenset(_CLASSES)) or node


def _holds_class(node: Any) -> bool:
    return _is_class(node) or (
        node.type in ("declaration", "type_definition") and first_of(node, frozenset(_CLASSES)) is not None
    )


def _host_parts(root: Any, items: list[_Item], marks: re.Pattern[str], includes: _Includes) -> Iterator[Any]:
    """The pieces to blank: unknown host headers, what no device code names, host members of what it names."""
    for node in _inside(root, frozenset({"preproc_include"})):
        if not includes.stays(node.text.decode(errors="replace")):
            yield node
    yield from _inside(root, frozenset({"static_assert_declaration"}))
    for item in items:
        if item.node.type in _MACROS or item.text.split() == ["using", "namespace", "std;"]:
            continue
        is_namespace = item.text.startswith("using namespace") and "std" not in item.text
        if not item.stays and not is_namespace:
            around = item.node.parent  # `extern "C"` before one function goes with it
            yield around if around is not None and around.type == "linkage_specification" else item.node
        elif item.stays and _holds_class(item.node):
            yield from _host_members(_class_of(item.node), marks)


def _blank(raw: bytes, parts: Iterable[Any]) -> str:
    device = bytearray(raw)
    for node in parts:
        for i in range(node.start_byte, node.end_byte):
            if device[i] not in b"\r\n":
                device[i] = 0x20
    return device.decode(errors="replace")


def _signatures(node: Any, entries: re.Pattern[str], around: tuple[str | None, ...]) -> Iterator[Signature]:
    """The kernels of a file with their namespaces (None for an anonymous one)."""
    for child in node.children:
        if child.type == "namespace_definition":
            name = child.child_by_field_name("name")
            yield from _signatures(child, entries, (*around, name.text.decode() if name is not None else None))
        elif child.type in _CONTAINERS:
            yield from _signatures(child, entries, around)
        elif child.type in ("function_definition", "declaration", "template_declaration"):
            head = _head(child)
            declarator = first_of(child, frozenset({"function_declarator"}))
            if declarator is None or not entries.search(head):
                continue
            name = declarator.child_by_field_name("declarator").text.decode()
            is_local = "static" in head.split() or None in around
            spaces = "::".join(word for word in around if word)
            is_template = child.type == "template_declaration"
            example, defaulted = template_example(child) if is_template else ("", False)
            is_prototype = first_of(child, frozenset({"compound_statement"})) is None
            yield Signature(
                name, spaces, tuple(parameters(declarator)), is_template, is_local, example, defaulted, is_prototype,
                template_names(child) if is_template else (),
            )  # fmt: skip
