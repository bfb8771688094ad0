"""The template instances that launches in host code represent.

Constants and types of the function around the launch take the place of their names; template arguments that the launch
leaves out are deduced from the types of its arguments, as far as declarations in that function tell them. A device
lambda has a type of its own (`host_lambdas`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warpbound.program.host_interpreter.syntax import declarator_of, descendants, plain_type, text_of
from warpbound.program.host_lambdas import LAMBDA, definition, named_in, type_name
from warpbound.program.kernel_signatures import Signature, qualified
from warpbound.quick_dataclasses import dataclass

_CALLS = frozenset({"call_expression"})
_DECLARATIONS = frozenset(
    {"declaration", "parameter_declaration", "optional_parameter_declaration", "alias_declaration", "type_definition"}
)
_FUNCTIONS = ("function_definition", "lambda_expression")
_CLASSES = frozenset({"struct_specifier", "class_specifier"})
_RESTRICT = re.compile(r"\b__restrict(?:__)?\b")
_DEPTH = 6  # of constants in terms of constants
_MOST_TYPE = 80  # characters of a deduced type


@dataclass(frozen=True)
class _Scope:
    """Names declared in a function before a launch: values of constants, meanings of types, types of variables."""

    constants: Mapping[str, str]
    types: Mapping[str, str]


def spelled_out(root: Any, kernels: Sequence[Signature]) -> dict[str, tuple[str, ...]]:
    """Name expression or bare name as launched, without blanks -> the instances that it represents.

    Only what differs from the text; a bare name whose template arguments cannot be deduced is not there.
    """
    templates = {kernel.name: kernel for kernel in kernels if kernel.template}
    result: dict[str, dict[str, None]] = {}
    for call in descendants(root, _CALLS) if templates else ():
        function = call.child_by_field_name("function")
        if function is None or not any(child.type == "kernel_call_syntax" for child in call.children):
            continue
        text = text_of(function)
        kernel = templates.get(text.partition("<")[0].rpartition("::")[2].strip())
        if kernel is None:
            continue
        scope = _scope(call)
        instance = _in_place(text, scope) if "<" in text else _deduced(kernel, call, scope)
        if instance and instance != text:
            result.setdefault(re.sub(r"\s", "", text), {})[instance] = None
    return {text: tuple(instances) for text, instances in result.items()}


def launches(
    kernels: Sequence[Signature], names: Sequence[str], bare: Sequence[str], root: Any
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(instances that are launched, templates whose arguments stay unknown).

    names : name expressions as the text has them. bare : templates that it launches without template arguments. root :
    of its syntax tree.
    """
    types = spelled_out(root, kernels)
    spelled: list[str] = []
    for name in names:
        tail = name.partition("<")[0].rpartition("::")[2] + "<" + name.partition("<")[2] if "<" in name else name
        instances = types.get(re.sub(r"\s", "", name)) or types.get(re.sub(r"\s", "", tail)) or (name,)
        spelled += [qualified(each, kernels) for each in instances]
    unresolved: list[str] = []
    for template in bare:
        instances = types.get(template) or types.get(template.rpartition("::")[2]) or ()
        spelled += [qualified(each, kernels) for each in instances]
        unresolved += [] if instances else [template]
    return tuple(dict.fromkeys(spelled)), tuple(unresolved)


def lambdas(root: Any, instances: Sequence[str]) -> str:
    """C++ that defines the types of the lambdas that launched instances name."""
    return "".join(definition(node, _scope(node).types) for node in named_in(instances, root))


def _in_place(text: str, scope: _Scope) -> str:
    """The template arguments of a name expression with constants and types of the function in place."""
    head, angle, rest = text.partition("<")
    for _ in range(_DEPTH):
        words = re.sub(r"(?<!::)\b[A-Za-z_]\w*\b", lambda match: scope.constants.get(match[0], match[0]), rest)
        if words == rest:
            break
        rest = words
    return head + angle + rest


def _deduced(kernel: Signature, call: Any, scope: _Scope) -> str | None:
    """The instance with its template arguments deduced from the arguments; None where one of them is not known."""
    arguments = call.child_by_field_name("arguments")
    values = [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []
    types: dict[str, str] = {}
    for (_, kind), argument in zip(kernel.parameters, values, strict=False):
        own = _type_of(argument, scope)
        match = _pattern(kind, kernel.template_names).fullmatch(own) if own else None
        for name, text in (match.groupdict() if match else {}).items():
            types.setdefault(name, text)
    words = [types.get(name, "") for name in kernel.template_names]
    if not words or not all(words) or any(len(word) > _MOST_TYPE for word in words):
        return None
    return _in_place(f"{kernel.name}<{', '.join(words)}>", scope)


def _pattern(kind: str, names: Sequence[str]) -> re.Pattern[str]:
    """A parameter's type with its template parameters as groups."""
    text = re.escape(plain_type(_RESTRICT.sub(" ", kind)).rstrip("&"))
    for name in names:
        text = re.sub(rf"\b{name}\b", f"(?P<{name}>[^*&]+.*)", text, count=1)
        text = re.sub(rf"(?<!<)\b{name}\b", f"(?P={name})", text)
    return re.compile(text)


def _type_of(node: Any, scope: _Scope) -> str:
    """The type of an argument as far as its form tells; empty where it does not."""
    text = text_of(node)
    if node.type == "identifier":
        return scope.types.get(text, "")
    if node.type == LAMBDA:
        return type_name(node) if definition(node, scope.types) else ""
    if node.type == "number_literal":
        return _of_literal(text)
    if node.type == "cast_expression":
        kind = node.child_by_field_name("type")
        return plain_type(text_of(kind)) if kind is not None else ""
    if node.type == "subscript_expression":
        inner = node.child_by_field_name("argument")
        whole = _type_of(inner, scope) if inner is not None else ""
        return whole[:-1] if whole.endswith("*") else ""
    if node.type == "binary_expression":
        first, second = (node.child_by_field_name(side) for side in ("left", "right"))
        kinds = [_type_of(side, scope) for side in (first, second) if side is not None]
        return next((kind for kind in ("double", "float") if kind in kinds), kinds[0] if kinds else "")
    return _made(node)


def _made(node: Any) -> str:
    """The type of an object that is made on the spot, a functor for instance: `Scale{2}`, `Scale(2)`."""
    field = {"compound_literal_expression": "type", "call_expression": "function"}.get(node.type)
    kind = node.child_by_field_name(field) if field else None
    if kind is None:
        return ""
    text = text_of(kind)
    if field == "type":
        return text
    root = node
    while root.parent is not None:
        root = root.parent
    names = (each.child_by_field_name("name") for each in descendants(root, _CLASSES))
    name = text.partition("<")[0].rpartition("::")[2].strip()
    return text if name in {text_of(each) for each in names if each is not None} else ""


def _of_literal(text: str) -> str:
    word = text.lower().replace("'", "")
    if word.startswith("0x") or not re.search(r"[.e]", word):
        return "unsigned int" if "u" in word else "int"
    return "float" if word.endswith("f") else "double"


def _scope(call: Any) -> _Scope:
    """The names that the functions around a launch declare before it; inner ones count."""
    constants: dict[str, str] = {}
    types: dict[str, str] = {}
    for function in _around(call):
        for node in descendants(function, _DECLARATIONS):
            if node.start_byte < call.start_byte:
                constants.update(_constants(node))
                types.update(_types(node))
                types.update(_lambda_types(node, types))
    return _Scope(constants, types)


def _around(node: Any) -> list[Any]:
    """The functions around a node, the outermost first."""
    functions: list[Any] = []
    while node is not None:
        if node.type in _FUNCTIONS:
            functions.insert(0, node)
        node = node.parent
    return functions


def _constants(node: Any) -> Iterator[tuple[str, str]]:
    """The constants and the types that a declaration names."""
    if node.type == "alias_declaration":
        name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is not None and kind is not None:
            yield text_of(name), text_of(kind)
    elif node.type == "type_definition":
        name, kind = node.child_by_field_name("declarator"), node.child_by_field_name("type")
        if name is not None and kind is not None and name.type == "type_identifier":
            yield text_of(name), text_of(kind)
    elif node.type == "declaration" and re.match(r"(?:static\s+)?const(?:expr)?\b", text_of(node)):
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            parts = declarator_of(declarator)
            if value is not None and not parts.stars and not parts.extents and value.type != "initializer_list":
                text = text_of(value)
                yield parts.name, text if re.fullmatch(r"\w+", text) else f"({text})"


def _lambda_types(node: Any, types: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The types of the variables that a declaration with `auto` declares: those of lambdas, and unknown ones."""
    kind = node.child_by_field_name("type")
    if node.type == "declaration" and kind is not None and text_of(kind) == "auto":
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            is_lambda = value is not None and value.type == LAMBDA and definition(value, types)
            yield declarator_of(declarator).name, type_name(value) if is_lambda else ""


def _types(node: Any) -> Iterator[tuple[str, str]]:
    """The types of the variables that a declaration declares."""
    kind = node.child_by_field_name("type")
    if kind is None or "parameter" not in node.type and node.type != "declaration" or text_of(kind) == "auto":
        return
    for declarator in node.children_by_field_name("declarator"):
        parts = declarator_of(declarator)
        if parts.name and parts.parameters is None:
            yield parts.name, plain_type(text_of(kind)) + "*" * (parts.stars + len(parts.extents))
