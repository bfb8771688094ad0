"""JSON Schemas of the answers, generated from their types.

msgspec generates the types, units and limits of every field. This module adds which keys are promised (all but those
marked ADDED), which values are null in static mode, and that an entry is an answer or a refusal.
"""

from importlib.resources import files
from typing import Any

import msgspec

from warpbound.result.advice import TriedKernel
from warpbound.result.campprof import CampingBand
from warpbound.result.comparison import CounterErrors, LaunchComparison, NotCompared
from warpbound.result.host_launches import HostLaunches
from warpbound.result.kernel import KernelResult
from warpbound.result.program_run import ProgramRun
from warpbound.result.quantities import SCHEMA_VERSION
from warpbound.result.refusal import Refusal
from warpbound.result.review import Diff, Snapshot
from warpbound.result.workload import WorkloadResult

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PROMISE = (
    "What `warpbound {command} --format json` prints. The keys named here keep their names, units and meanings within "
    "a schema_version; there may be others."
)
NULL: Schema = {"type": "null"}
ONLY_NULLS: Schema = {"additionalProperties": NULL}
STATIC_MODE: Schema = {  # no trip counts: nothing of the whole launch is known
    "if": {"properties": {"mode": {"const": "static"}}},
    "then": {
        "properties": {
            **dict.fromkeys(("time_s", "time_interval_s", "cycles", "sample"), NULL),
            "instructions": {
                "properties": {
                    "warp_instructions": NULL, "thread_instructions": NULL, "by_pipe": {"maxProperties": 0},
                }
            },
            "memory": ONLY_NULLS,
            "flop": ONLY_NULLS,
        }
    },
    "else": {
        "properties": {
            "time_s": {"type": "number"}, "cycles": {"type": "number"}, "time_interval_s": {"type": "array"},
            "bottleneck": {"type": "string"}, "latency": {"type": "object"}, "sample": {"type": "object"},
        }
    },
}  # fmt: skip


def analyze() -> Schema:
    """Of `analyze`, `rank` too."""
    return _document("analyze", KernelResult, "One entry per kernel and GPU", STATIC_MODE)


def predict() -> Schema:
    """Of `predict`."""
    return _document("predict", WorkloadResult, "One entry per case and GPU", {})


def campprof() -> Schema:
    """Of `campprof predict`."""
    return _single("campprof", "campprof predict", CampingBand)


def launches() -> Schema:
    """Of `launches`."""
    return _single("launches", "launches", HostLaunches)


def run() -> Schema:
    """Of `run`."""
    return _single("run", "run", ProgramRun)


def _single(name: str, command: str, answer: type) -> Schema:
    """Of a command that has one answer and no list of results."""
    definitions = _definitions(answer)
    top = definitions.pop(answer.__name__) | {"description": PROMISE.format(command=command)}
    return head(name, command) | top | {"$defs": definitions, "examples": examples(name)}


def tried() -> Schema:
    """Of `try`."""
    return _document("try", TriedKernel, "One entry per GPU", {})


def compare() -> Schema:
    """Of `compare`: entries of launches, then errors of counters."""
    definitions = _definitions(LaunchComparison, NotCompared, CounterErrors)
    rows = {"type": "array", "description": "One entry per counter", "items": _reference(CounterErrors)}
    launches = {
        "type": "array", "description": "One entry per launch", "items": _either(LaunchComparison, NotCompared),
    }  # fmt: skip
    return {
        **head("compare", "compare"),
        "description": PROMISE.format(command="compare"),
        "type": "object",
        "required": ["schema_version", "command", "launches"],
        "properties": {
            "schema_version": {"type": "string", "const": SCHEMA_VERSION},
            "command": {"type": "string"},
            "launches": launches,
            "errors": rows,
        },
        "$defs": definitions,
        "examples": examples("compare"),
    }


def _either(answer: type, refused: type) -> Schema:
    """An entry: with the key `error` it is a refusal."""
    return {"if": {"required": ["error"]}, "then": _reference(refused), "else": _reference(answer)}


def _reference(to: type) -> Schema:
    return {"$ref": f"#/$defs/{to.__name__}"}


def snapshot() -> Schema:
    """Of the file that `snapshot` writes."""
    return _whole("snapshot", Snapshot)


def diff() -> Schema:
    """Of `diff`."""
    return _whole("diff", Diff)


def _whole(command: str, answer: type) -> Schema:
    """A document that is one record."""
    definitions = _definitions(answer)
    promised = definitions.pop(answer.__name__) | {"description": PROMISE.format(command=command)}
    return head(command, command) | promised | {"$defs": definitions, "examples": examples(command)}


def _document(command: str, answer: type, results: str, rules: Schema) -> Schema:
    """The top level of contract section 3."""
    definitions = _definitions(answer, Refusal)
    definitions[answer.__name__] |= rules
    entry = _either(answer, Refusal)
    return {
        **head(command, command),
        "description": PROMISE.format(command=command),
        "type": "object",
        "required": ["schema_version", "command", "results"],
        "properties": {
            "schema_version": {"type": "string", "const": SCHEMA_VERSION},
            "command": {"type": "string"},
            "results": {"type": "array", "description": results, "items": entry},
        },
        "$defs": definitions,
        "examples": examples(command),
    }


def head(name: str, command: str) -> Schema:
    """What every published schema begins with."""
    return {"$schema": DIALECT, "$id": f"urn:warpbound:{name}", "title": f"warpbound {command}"}


def examples(name: str) -> list[Any]:
    """Documents that the schema shows."""
    examples: list[Any] = msgspec.json.decode((files("warpbound.result") / "examples" / f"{name}.json").read_bytes())
    return examples


def _definitions(*types: type) -> dict[str, Schema]:
    """Name -> schema of these records and of all that their promised fields hold."""
    _, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    promised = {name: _promised(node) for name, node in components.items()}
    reachable: dict[str, Schema] = {}
    open_names = [kind.__name__ for kind in types]
    while open_names:
        name = open_names.pop()
        if name not in reachable:
            reachable[name] = promised[name]
            open_names += _references(promised[name])
    return {name: promised[name] for name in components if name in reachable}


def _promised(node: Any) -> Any:
    """The schema without what is not promised, and without Python's defaults."""
    if isinstance(node, list):
        return [_promised(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    if "x-untyped" in node:
        return {}
    rest = {key: _promised(value) for key, value in node.items() if key not in ("properties", "default", "x-added")}
    if "properties" not in node:
        return rest
    fields = {name: field for name, field in node["properties"].items() if "x-unpublished" not in field}
    required = [name for name, field in fields.items() if "x-added" not in field]
    return rest | {"required": required, "properties": {name: _promised(field) for name, field in fields.items()}}


def _references(node: Any) -> list[str]:
    """Names of the definitions that a schema refers to."""
    if isinstance(node, list):
        return [name for inner in node for name in _references(inner)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].rpartition("/")[2]] if "$ref" in node else []
    return own + [name for inner in node.values() for name in _references(inner)]
