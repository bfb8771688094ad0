"""JSON Schemas of workload files and launch files, generated from the tables that their readers use.

This module adds what the readers check across keys: keys that exclude each other, values that depend on a type.
"""

from typing import Any

import msgspec
import numpy as np

from warpbound.kernel_argument import DTYPES, FLOATS
from warpbound.kernel_launch import LaunchFile
from warpbound.result.schema import Schema, examples, head
from warpbound.workload.files import tables

WORKLOAD = (
    "A hand-written workload, written as TOML. Beyond this schema the reader asks that names of cases are unique, that "
    "models and their symbols exist, and that counts per launch come with the size of the launch."
)
LAUNCH = (
    "One kernel launch, written as TOML. Command-line options override it. Beyond this schema the reader asks that "
    "names are unique, that an alias names an array and that files exist."
)
ROWS: Schema = {  # an array of pointers
    "if": {"required": ["rows"], "properties": {"rows": {"const": True}}},
    "then": {"properties": {"shape": {"minItems": 2}}},
}
NPY = "[^/]\\.npy$"
NUMBER_OF_64_BITS: Schema = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "integer", "minimum": -(2**63), "maximum": 2**64 - 1},
        {"type": "number", "not": {"type": "integer"}},
    ]
}


def workload() -> Schema:
    """Of a workload file."""
    components = _tables(tables.File)
    components["Shape"] |= {
        "allOf": [{"not": {"required": keys}} for keys in (["blocks", "threads"], ["blocks_per_sm", "warps_per_sm"])]
    }
    components["Access"] |= {
        "allOf": [
            {
                **_kind_in("shared_load", "shared_store"),
                "then": _none_of(*tables.GLOBAL_ONLY),
                "else": _none_of(*tables.SHARED_ONLY),
            },
            {**_kind_in("store"), "then": _none_of("l1_hit")},
        ]
    }
    components["Latency"] |= {"oneOf": [{"required": ["parts"]}, {"required": ["phases"]}]}
    components["Phase"] |= {
        "oneOf": [{"required": ["from"], **_none_of("cycles", "cause")}, {"required": ["cycles"], **_none_of("from")}],
        "dependentSchemas": {
            "loads": {"required": ["from"], "properties": {"from": {"enum": list(tables.GLOBAL_LEVELS)}}}
        },
    }
    file = components.pop("File") | {"description": WORKLOAD, "$defs": components}
    return head("workload-file", "workload file") | file | {"examples": examples("workload")}


def _kind_in(*kinds: str) -> Schema:
    return {"if": {"required": ["kind"], "properties": {"kind": {"enum": list(kinds)}}}}


def _none_of(*keys: str) -> Schema:
    return {"properties": dict.fromkeys(keys, False)}


def launch() -> Schema:
    """Of a launch file."""
    components = _tables(LaunchFile)
    keys = components.pop("Keys")["properties"]
    forms = {"scalar": _scalar(keys), "array": _array(keys), "array_file": _array_file(keys), "struct": _struct(keys)}
    alias = _form(keys, ["alias"], "The memory of another argument", "alias", "offset", "texture")
    contents = [{"$ref": f"#/$defs/{name}"} for name in forms]
    file = components.pop("LaunchFile")
    file["properties"]["args"]["items"] = {"oneOf": [*contents, {"$ref": "#/$defs/alias"}]}
    file["properties"]["constants"]["items"] = {"required": ["name"], "oneOf": contents}
    file |= {"description": LAUNCH, "$defs": components | forms | {"alias": alias}}
    return head("launch-file", "launch file") | file | {"examples": examples("launch")}


def _form(keys: Schema, required: list[str], description: str, *alternatives: str, **limits: Any) -> Schema:
    """One of the ways to give an argument: its keys, with what limits them further."""
    properties = {key: keys[key] | limits.get(key, {}) for key in ("name", *alternatives)}
    return {
        "type": "object", "description": description, "required": required, "properties": properties,
        "additionalProperties": False,
    }  # fmt: skip


def _scalar(keys: Schema) -> Schema:
    """A value, of the declared type or of a type that the file gives."""
    keys = keys | {"value": {}}
    integers = [name for name in DTYPES if name != "bool" and name not in FLOATS]
    ranges = {name: np.iinfo(DTYPES[name]) for name in integers}
    values: list[tuple[str, Schema, Schema]] = [
        ("A bool", {"const": "bool"}, {"type": "boolean"}),
        ("A float", {"enum": list(FLOATS)}, {"type": "number"} | NUMBER_OF_64_BITS),
        *(
            ("An integer", {"const": name}, {"type": "integer", "minimum": int(of.min), "maximum": int(of.max)})
            for name, of in ranges.items()
        ),
    ]
    declared = _form(
        keys, ["value"], "A scalar of the type that the kernel declares", "value", value=NUMBER_OF_64_BITS
    )  # fmt: skip
    typed = [
        _form(keys, ["dtype", "value"], words, "dtype", "value", dtype=dtype, value=value)
        for words, dtype, value in values
    ]
    return {"oneOf": [declared, *typed]}


def _array(keys: Schema) -> Schema:
    def where(fill: str, dtype: Schema) -> Schema:
        condition = {"required": ["fill"], "properties": {"fill": {"const": fill}}}
        return {"if": condition, "then": {"properties": {"dtype": dtype}}}

    words = "dtype", "shape", "fill", "seed", "below", "rows", "texture", "box", "swizzle"
    form = _form(keys, ["dtype", "shape"], "An array in global memory", *words)
    random_integers = {"fill": {"const": "rand"}, "dtype": {"not": {"enum": [*FLOATS, "bool"]}}}
    rules = [where("randn", {"enum": list(FLOATS)}), where("iota", {"not": {"const": "bool"}}), ROWS]
    rules.append({"if": {"required": ["below"]}, "then": {"properties": random_integers}})
    return form | {"dependentRequired": {"seed": ["fill"], "below": ["fill"], "swizzle": ["box"]}, "allOf": rules}


def _array_file(keys: Schema) -> Schema:
    words = "An array in global memory with the contents of a .npy file"
    form = _form(keys, ["file"], words, "dtype", "shape", "file", "rows", "texture", "box", "swizzle",
                 file={"pattern": NPY})  # fmt: skip
    return form | {"allOf": [ROWS]}


def _struct(keys: Schema) -> Schema:
    digits = {"pattern": "^([0-9a-fA-F]{2} ?)+$"}
    return {
        "oneOf": [
            _form(keys, ["bytes"], "A struct by value", "bytes", bytes=digits),
            _form(keys, ["file"], "A struct by value, the bytes of a file", "file", file={"not": {"pattern": NPY}}),
        ]
    }


def _tables(file: type) -> dict[str, Schema]:
    """Name -> schema of the tables of a file; TOML has no null."""
    _, components = msgspec.json.schema_components([file], ref_template="#/$defs/{name}")
    return {name: _without_null(node) for name, node in components.items()}


def _without_null(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_null(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    node = {key: _without_null(value) for key, value in node.items() if (key, value) != ("default", None)}
    if "anyOf" in node:
        kinds = [kind for kind in node["anyOf"] if kind != {"type": "null"}]
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        node = rest | ({"anyOf": kinds} if len(kinds) > 1 else kinds[0])
        node |= {"description": rest["description"]} if "description" in rest else {}
    return node
