"""The papers' own numbers, as data in tests/golden/, and the functions they speak about.

A file names its module once; a case names a public function of it, the inputs, the field of the
result, the expected value, where it stands in the paper and how far to trust it.  Inputs go to the
parameters by name, or straight to the fields of the dataclass that is the only parameter.  A table
with the key `call` stands for the result of another function of the same module.  `covers` names the
entries of reference_ids.toml that a case speaks of beside that of its own id.
"""

import dataclasses
import inspect
import tomllib
import types
import typing
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from support.paths import GOLDEN

TABLES = {path.stem: tomllib.loads(path.read_text()) for path in sorted(GOLDEN.glob("*.toml"))}
BOOKS = {paper: table for paper, table in TABLES.items() if "module" in table}


def find(root: object, dotted: str) -> Any:
    """Attribute, key or index at the end of the path; a method found there is called."""
    for step in dotted.split(".") if dotted else []:
        if isinstance(root, Mapping):
            root = root[step]
        elif step.isdigit():
            root = root[int(step)]  # type: ignore[index]
        else:
            root = getattr(root, step)
            root = root() if inspect.isroutine(root) and not isinstance(root, type) else root
    return root


def locate(module: str, dotted: str) -> tuple[ModuleType, str]:
    """The module and the bare name of a function like `mixes.predict`."""
    *inner, name = dotted.split(".")
    return import_module(".".join([module, *inner])), name


def array_type(hint: Any) -> Any:
    """Type of the elements where the hint allows an array, else None."""
    if (alias := getattr(typing.get_origin(hint), "__value__", None)) is not None:  # NDArray from NumPy 2.5 on
        return array_type(alias[typing.get_args(hint)])
    if typing.get_origin(hint) is np.ndarray:
        return typing.get_args(typing.get_args(hint)[1])[0]
    members = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else ()
    return next((found for member in members if (found := array_type(member)) is not None), None)


def build(module: str, value: Any, hint: Any) -> Any:
    """A TOML value as an argument of the hinted type."""
    if isinstance(value, dict) and "call" in value:
        return find(call(module, value["call"], value["inputs"]), value.get("field", ""))
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return hint(**{name: build(module, part, hints[name]) for name, part in value.items()})
    if isinstance(value, dict):
        return {name: build(module, part, float) for name, part in value.items()}
    if not isinstance(value, list):
        return value
    inner = typing.get_args(hint)
    if dataclasses.is_dataclass(inner[0]) if inner else False:
        return tuple(build(module, part, inner[0]) for part in value)
    if (dtype := array_type(hint)) is not None:
        return np.array(value if dtype is not np.float64 else [build(module, part, float) for part in value], dtype)
    return tuple(build(module, part, inner[0] if inner else float) for part in value)


def call(module: str, dotted: str, inputs: dict[str, Any]) -> Any:
    """The function's result on the inputs of a case."""
    function = getattr(*locate(module, dotted))
    parameters = list(inspect.signature(function).parameters)
    hints = typing.get_type_hints(function)
    if len(parameters) == 1 and dataclasses.is_dataclass(hints[parameters[0]]):
        return function(build(module, inputs, hints[parameters[0]]))
    return function(**{name: build(module, part, hints[name]) for name, part in inputs.items()})


def check(module: str, case: dict[str, Any]) -> None:
    """Fail unless the field of the result is what the case expects."""
    got = find(call(module, case["function"], case["inputs"]), case.get("field", ""))
    expected = case["expected"]
    assert np.shape(got) == np.shape(expected)
    if isinstance(expected, str | bool):
        assert got == expected
        return
    np.testing.assert_allclose(got, expected, rtol=case["rtol"], atol=0, equal_nan=False)
    if "bottleneck" in case:
        assert call(module, case["function"], case["inputs"]).bottleneck == case["bottleneck"]


def poisoned(result: Any) -> Any:
    """The same structure with every number NaN and every word another."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        fields = {f.name: poisoned(getattr(result, f.name)) for f in dataclasses.fields(result)}
        return dataclasses.replace(result, **fields)
    if isinstance(result, Mapping):
        return {name: poisoned(part) for name, part in result.items()}
    if isinstance(result, list | tuple):
        return type(result)(poisoned(part) for part in result)
    if isinstance(result, str):
        return ""
    if np.asarray(result).dtype.kind == "U":
        return np.full(np.shape(result), "")
    return np.full(np.shape(result), np.nan) if np.ndim(result) else float("nan")
