"""States of the page, and the answer that the page holds."""

from typing import Any

from warpbound.page.state import State
from warpbound.page.subject import Subject
from warpbound.result.plain import plain

MATMUL = "example:matmul_tiled"


def state(source: str = "example:saxpy", view: str = "verdict", gpu: str = "h200", **values: float) -> State:
    """Keys of values with __ in place of dots."""
    named = {key.replace("__", "."): value for key, value in values.items()}
    return State(source=source, view=view, gpu=gpu, values=tuple(sorted(named.items())))


def entry(found: Subject) -> dict[str, Any]:
    """The answer as JSON has it."""
    assert found.entry is not None
    return plain(found.entry)
