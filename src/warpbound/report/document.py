"""The whole answer of one command: entries under a schema version, as JSON that anyone may rely on."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import msgspec

from warpbound.result import schema as answers
from warpbound.result.plain import Entry
from warpbound.result.quantities import SCHEMA_VERSION

GENERATED = {"analyze": answers.analyze, "predict": answers.predict, "campprof": answers.campprof}


def document(command: str, results: Sequence[Any]) -> Entry:
    """The top level of contract section 3."""
    return {"schema_version": SCHEMA_VERSION, "command": command, "results": results}


def as_json(whole: Any) -> str:
    """Indented JSON; numbers that JSON cannot hold become null."""
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"


def schema(name: str) -> Entry:
    """A published JSON Schema: of the answers of "analyze", "predict" and "campprof", of the files "launch" and
    "workload"."""
    if name in GENERATED:
        return GENERATED[name]()
    text = (files("warpbound.report") / "schema" / f"{name}.json").read_text(encoding="utf-8")
    loaded: Entry = msgspec.json.decode(text)
    return loaded
