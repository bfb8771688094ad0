"""TOML tables that come with warpbound: parsed once, then kept in the cache in a form that is read much faster."""

from pathlib import Path
from typing import Any

import msgspec

from warpbound.disk_cache import cached, digest

FORM = "1"  # raise when the cached form changes


def shipped_table(*place: str) -> dict[str, Any]:
    """The contents of a file, such as `isa`, `opcodes.toml`."""
    text = Path(__file__).parent.joinpath(*place).read_bytes()
    packed = cached(digest("table", FORM, text), lambda: msgspec.msgpack.encode(_parsed(text)))
    table: dict[str, Any] = msgspec.msgpack.decode(packed)
    return table


def _parsed(text: bytes) -> dict[str, Any]:
    import tomllib  # which few processes need

    return tomllib.loads(text.decode())
