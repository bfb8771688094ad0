"""The key under which Triton caches what it compiles: a hash of Triton itself, half a gigabyte that each process reads.

The key is kept in our cache under the sizes and times of Triton's files, so that another process need not read them.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warpbound.disk_cache import cached, digest

_HASHED = ("runtime", "compiler", "backends", "language", "_C")  # folders of which Triton's key depends


def use_kept_key() -> None:
    """Let Triton's cache use the kept key; no effect if this release computes the key elsewhere."""
    from triton.runtime import cache

    compute = getattr(cache, "triton_key", None)
    if compute is None or not hasattr(compute, "cache_info") or compute.cache_info().currsize:
        return
    state = "\n".join(sorted(_files(Path(cache.__file__).parents[1])))
    key = cached(digest("triton key", state), lambda: str(compute()).encode()).decode()
    module: Any = cache
    module.triton_key = lambda: key


def _files(root: Path) -> Iterator[str]:
    """Path, size and time of each file."""
    folders = [root / name for name in _HASHED]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif entry.name.endswith((".py", ".so", ".pyd")):
                facts = entry.stat()
                yield f"{os.path.relpath(entry.path, root)} {facts.st_size} {facts.st_mtime_ns}"
