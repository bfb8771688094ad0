"""Device lambdas of host code as types that a compiler of device code alone can name.

`apply<<<1, 32>>>(x, [=] __device__ (float v) { return a * v; })` instantiates a kernel with the type of a lambda in a
host function. NVRTC reads no host function, but it takes the lambda as the result of a device function whose parameters
are the variables that the lambda copies:

    __device__ auto made_lambda_3_20(float a) { return [=] (float v) { return a * v; }; }
    using lambda_3_20 = decltype(made_lambda_3_20(*(float *)0));

Omits    Captures by reference or with an initializer, which CUDA forbids or seldom sees; generic lambdas; variables
         whose type only `auto` gives.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from warpbound.program.host_interpreter.syntax import declarator_of, descendants, text_of

LAMBDA = "lambda_expression"
_NAMES = frozenset({"identifier"})
_OWN = frozenset({"declaration", "parameter_declaration"})
_NAME = re.compile(r"\blambda_(\d+)_(\d+)\b")
_SPACES = re.compile(r"\b__(?:device|host)__\b")


def is_execution_space(text: str) -> bool:
    """Whether it is the execution space between the captures and the parameters of a device lambda."""
    return not _SPACES.sub("", text).strip()


def type_name(node: Any) -> str:
    """The name of a device lambda's type: lambda_LINE_COLUMN, both from 1; empty for any other lambda."""
    head = text_of(node).partition("{")[0]
    copies = re.match(r"\[[^&]*\]", head) is not None
    line, column = node.start_point
    return f"lambda_{line + 1}_{column + 1}" if copies and "__device__" in head and "auto" not in head else ""


def definition(node: Any, types: Mapping[str, str]) -> str:
    """C++ that defines the type of a lambda; empty where the type of a variable that it copies is not known.

    types : of the variables around it.
    """
    name, body = type_name(node), re.sub(r"//[^\n]*|/\*.*?\*/", "", node.text.decode(errors="replace"), flags=re.S)
    own = {declarator_of(each).name for kind in descendants(node, _OWN) for each in kind.named_children}
    names = dict.fromkeys(text_of(each) for each in descendants(node, _NAMES))
    copied = {word: types[word] for word in names if word in types and word not in own}
    if not name or not all(copied.values()):
        return ""
    parameters = ", ".join(f"{kind} {word}" for word, kind in copied.items())
    values = ", ".join(f"*({kind} *)0" for kind in copied.values())
    body = re.sub(r"^\[[^]]*\]", "[=]", re.sub(r"\s+", " ", _SPACES.sub("", body)))
    return (
        f"__device__ auto made_{name}({parameters}) {{ return {body}; }}\n"
        f"using {name} = decltype(made_{name}({values}));\n"
    )


def named_in(words: Sequence[str], root: Any) -> list[Any]:
    """The lambdas below a node whose types some words name."""
    places = {(int(line) - 1, int(column) - 1) for word in words for line, column in _NAME.findall(word)}
    return [node for node in descendants(root, frozenset({LAMBDA})) if tuple(node.start_point) in places]
