"""Kernel signatures in CUDA source: names, parameters, template instances."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from warpbound.quick_dataclasses import dataclass

_LAUNCH = re.compile(r"([A-Za-z_][\w:]*\s*<[^;(){}]*?>)\s*<<<")
_INTEGRAL = re.compile(r"\b(?:int|unsigned|size_t|long|short|u?int\d+_t|uint|char)\b")
_BARE_LAUNCH = re.compile(r"([A-Za-z_][\w:]*)\s*<<<")


@dataclass(frozen=True)
class Signature:
    """A `__global__` function as written.

    spaces : the named namespaces around it. parameters : (name, type) in order.
    template : whether it is one. local : whether no other file can launch it (static, unnamed namespace).
    is_prototype : whether it has no body.
    example : template arguments that fit its parameters by kind, `float, 256`. defaulted : whether every template
    parameter has a default. template_names : its template parameters without a default.
    """

    name: str
    spaces: str
    parameters: tuple[tuple[str, str], ...]
    template: bool
    local: bool
    example: str = ""
    defaulted: bool = False
    is_prototype: bool = False
    template_names: tuple[str, ...] = ()

    @property
    def qualified(self) -> str:
        return f"{self.spaces}::{self.name}" if self.spaces else self.name


def template_example(node: Any) -> tuple[str, bool]:
    """(arguments that fit a template's parameters by kind, whether all parameters have defaults)."""
    items = first_of(node, frozenset({"template_parameter_list"}))
    parameters = [child for child in items.children if child.is_named] if items is not None else []
    words = [word for child in parameters if (word := _example_of(child))]
    defaulted = bool(parameters) and all(
        child.type.startswith("optional") or child.type.startswith("variadic") for child in parameters
    )
    return ", ".join(words), defaulted


def template_names(node: Any) -> tuple[str, ...]:
    """The names of a template's parameters that have no default; none where it takes any number of arguments."""
    items = first_of(node, frozenset({"template_parameter_list"}))
    parameters = [child for child in items.named_children if child.type != "comment"] if items is not None else []
    if any("variadic" in child.type for child in parameters):
        return ()
    words = [re.findall(r"\w+", child.text.decode()) for child in parameters if "optional" not in child.type]
    return tuple(each[-1] for each in words if each)


def _example_of(parameter: Any) -> str:
    text = parameter.text.decode(errors="replace")
    if "variadic" in parameter.type:
        return ""
    if "type_parameter" in parameter.type:
        default = parameter.child_by_field_name("default_type")
        return default.text.decode(errors="replace") if default is not None else "float"
    default = parameter.child_by_field_name("default_value")
    if default is not None:
        return str(default.text.decode(errors="replace"))
    return "true" if re.search(r"\bbool\b", text) else "256" if _INTEGRAL.search(text) else "float"


def instances(text: str, kernels: Sequence[Signature], root: Any) -> tuple[str, ...]:
    """Name expressions of the template instances that `text` launches or spells out, and of its local kernels."""
    templates = {kernel.name for kernel in kernels if kernel.template}
    instances = [*_LAUNCH.findall(text), *_explicit(root)]
    names = [re.sub(r"\s+", " ", name).strip() for name in instances]
    templates_named = [name for name in names if name.partition("<")[0].strip().rpartition("::")[2] in templates]
    lonely = [kernel.qualified for kernel in kernels if kernel.local and not kernel.template]
    return tuple(dict.fromkeys([*(qualified(name, kernels) for name in templates_named), *lonely]))


def implicit_instances(text: str, kernels: Sequence[Signature]) -> tuple[str, ...]:
    """The kernel templates that `text` launches without their template arguments, which it leaves to be deduced."""
    bare = {name.rpartition("::")[2] for name in _BARE_LAUNCH.findall(text)}
    return tuple(dict.fromkeys(kernel.qualified for kernel in kernels if kernel.template and kernel.name in bare))


def qualified(instance: str, kernels: Sequence[Signature]) -> str:
    """`ns::scale<float>` for `scale<float>` if the only kernel of that name is in ns."""
    name, angle, rest = instance.partition("<")
    names = {kernel.qualified for kernel in kernels if kernel.name == name.strip()}
    return f"{names.pop()}{angle}{rest}" if len(names) == 1 else instance


def _explicit(root: Any) -> Iterator[str]:
    """`scale<float>` of every `template __global__ void scale<float>(...)`."""
    pending = [root]
    while pending:
        node = pending.pop(0)
        if node.type == "template_instantiation":
            result = first_of(node, frozenset({"template_function"}))
            if result is not None:
                yield result.text.decode()
        elif node.type in ("translation_unit", "namespace_definition", "declaration_list"):
            pending.extend(node.children)


def first_of(node: Any, kinds: frozenset[str]) -> Any:
    """The first node of one of these kinds, breadth first; None where there is none."""
    pending = [node]
    while pending:
        node = pending.pop(0)
        if node.type in kinds:
            return node
        pending.extend(node.children)
    return None


def parameters(declarator: Any) -> Iterator[tuple[str, str]]:
    """(name, type) of the parameters of a function; the name is empty where none is given."""
    for node in declarator.child_by_field_name("parameters").children:
        if node.type in ("parameter_declaration", "optional_parameter_declaration"):
            inner = node.child_by_field_name("declarator")
            name = first_of(inner, frozenset({"identifier"})) if inner is not None else None
            word = name.text.decode() if name is not None else ""
            whole = re.sub(r"\s+", " ", node.text.decode())
            if node.type == "optional_parameter_declaration":
                whole = whole.partition("=")[0].strip()
            yield word, re.sub(rf"\b{re.escape(word)}\b", "", whole).strip() if word else whole
