"""The whole answer of one command: entries under a schema version, as JSON that anyone may rely on."""

import math
from importlib.resources import files
from typing import Any

import msgspec

from warpbound.analysis.entries import Entry
from warpbound.errors import WarpboundError

SCHEMA_VERSION = "1"


def document(command: str, results: list[Entry]) -> Entry:
    """The top level of contract section 3."""
    return {"schema_version": SCHEMA_VERSION, "command": command, "results": results}


def refusal(kernel: str | None, gpu: str, error: WarpboundError) -> Entry:
    """The entry of a question that has no answer."""
    return {"kernel": kernel, "gpu": gpu, "error": {"reason": error.reason, "hint": error.hint}}


def as_json(whole: Entry) -> str:
    """Indented JSON; numbers that JSON cannot hold become null."""
    return msgspec.json.format(msgspec.json.encode(_finite(whole)), indent=2).decode() + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def schema(name: str) -> Entry:
    """A published JSON Schema: "analyze" or "launch"."""
    text = (files("warpbound.report") / "schema" / f"{name}.json").read_text(encoding="utf-8")
    loaded: Entry = msgspec.json.decode(text)
    return loaded
