"""The JSON document of one command: results under a schema version."""

from collections.abc import Sequence
from typing import Any

import msgspec

from warpbound.report import file_schemas
from warpbound.result import schema as answers
from warpbound.result.plain import Entry
from warpbound.result.quantities import SCHEMA_VERSION

SCHEMAS = {
    "analyze": answers.analyze, "try": answers.tried, "predict": answers.predict, "campprof": answers.campprof,
    "compare": answers.compare,
    "launches": answers.launches, "run": answers.run, "launch": file_schemas.launch, "workload": file_schemas.workload,
    "snapshot": answers.snapshot, "diff": answers.diff,
}  # fmt: skip


def document(command: str, results: Sequence[Any]) -> Entry:
    """The top level of contract section 3."""
    return {"schema_version": SCHEMA_VERSION, "command": command, "results": results}


def as_json(whole: Any) -> str:
    """Indented JSON; numbers that JSON cannot hold become null."""
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"


def schema(name: str) -> Entry:
    """A published JSON Schema: one of SCHEMAS."""
    return SCHEMAS[name]()
