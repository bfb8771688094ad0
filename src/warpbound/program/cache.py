"""Results of slow tools kept on disk under the hash of everything that went in."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def folder() -> Path:
    """Where results are kept: $XDG_CACHE_HOME/warpbound or ~/.cache/warpbound."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpbound"


def digest(*parts: bytes | str) -> str:
    """One name for all parts; their order and their limits count."""
    total = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        total.update(len(raw).to_bytes(8, "little"))
        total.update(raw)
    return total.hexdigest()


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """The bytes kept under `name`; made, and kept where the disk allows it, when there are none."""
    path = folder() / name[:2] / name
    try:
        return path.read_bytes()
    except OSError:
        made = make()
        keep(path, made)
        return made


def keep(path: Path, contents: bytes) -> None:
    """Write in one step, so that another process never reads half a file; a full or closed disk is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(contents)
        os.replace(partial, path)
    except OSError:
        return
