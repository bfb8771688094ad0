"""Disk cache for results of slow tools, keyed by a hash of all inputs."""

import hashlib
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

MOST_B = 4 << 30  # of all that `cached` keeps, code of compilers and disassemblers above all
_MAKING_ROOM = "0"  # names that begin so: when one in 16 files is stored, those unused for longest are deleted
_CHECK_B = 32  # every file begins with the hash of the rest, so that a damaged one is made again


def folder() -> Path:
    """The cache folder: $XDG_CACHE_HOME/warpbound or ~/.cache/warpbound, or a folder of the user in /tmp."""
    variable = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(variable) if os.path.isabs(variable) else Path.home() / ".cache") / "warpbound"
    except RuntimeError:  # a user without a home
        import tempfile

        return Path(tempfile.gettempdir()) / f"warpbound-{os.getuid()}"


def digest(*parts: bytes | str) -> str:
    """One name for all parts; it depends on their order and on where each ends."""
    total = hashlib.sha256()
    for part in parts:
        raw = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        total.update(len(raw).to_bytes(8, "little"))
        total.update(raw)
    return total.hexdigest()


def state_of(status: os.stat_result) -> tuple[int, int]:
    """Size and modification time of a file: while both are the same, its contents are taken to be the same."""
    return status.st_size, status.st_mtime_ns


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """The cached bytes of `name`; computed on a miss, and stored if the disk allows it."""
    result = load(name)
    if result is not None:
        return result
    content = make()
    store_checked(_place(name), content)
    if name.startswith(_MAKING_ROOM):
        make_room((folder() / f"{first:02x}" for first in range(256)), MOST_B)
    return content


def load(name: str) -> bytes | None:
    """The cached bytes of `name`; None if there are none or they are damaged."""
    return load_checked(_place(name))


def load_checked(path: Path) -> bytes | None:
    """What `store_checked` has written to a file, now the last used; None if there is none or it is damaged."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    if len(whole) <= _CHECK_B or hashlib.sha256(whole[_CHECK_B:]).digest() != whole[:_CHECK_B]:
        return None
    with suppress(OSError):  # of a folder that nobody may write to
        os.utime(path)
    return whole[_CHECK_B:]


def store_checked(path: Path, contents: bytes) -> None:
    """Write `contents` behind their hash, as `store` writes."""
    store(path, hashlib.sha256(contents).digest() + contents)


def make_room(places: Iterable[Path], most_B: int) -> None:
    """Delete the files of these folders that were unused for longest, until the others take `most_B` at most."""
    ages: list[tuple[int, int, str]] = []
    total = 0
    with suppress(OSError):  # another process deletes, too
        for place in filter(Path.is_dir, places):
            with os.scandir(place) as entries:
                ages += [(each.stat().st_mtime_ns, each.stat().st_size, each.path) for each in entries]
        for _, size, path in sorted(ages, reverse=True):
            total += size
            if total > most_B:
                os.unlink(path)


def _place(name: str) -> Path:
    return folder() / name[:2] / name


def store(path: Path, contents: bytes) -> None:
    """Write in one step, so that another process never reads half a file; a full or read-only disk is no error."""
    import tempfile  # which costs more than most answers write

    partial = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(contents)
        os.replace(partial, path)
    except OSError:
        if partial:
            Path(partial).unlink(missing_ok=True)
