"""The validation data as a file of the package: written by `warpbound validate --write`, read by every report."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from warpbound.analysis import accuracy
from warpbound.errors import InputError
from warpbound.validate.accuracy_pages import page
from warpbound.validate.results import Validation

PAGE = Path("docs") / "accuracy.md"
DIGITS = 5


def place() -> Path:
    """Where the data file is."""
    return Path(str(files("warpbound.analysis"))) / accuracy.FILE


def written() -> Validation:
    """The scores as they were last written."""
    try:
        return msgspec.json.decode(place().read_bytes(), type=Validation)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{place()} cannot be read ({error}).", "Run `warpbound validate --write`.") from None


def plain(found: Validation) -> dict[str, Any]:
    """As JSON has it, numbers to DIGITS digits."""
    return {key: _rounded(value) for key, value in msgspec.to_builtins(found).items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def keep(found: Validation) -> list[Path]:
    """Write the data file, and the page where this is a checkout; the paths written."""
    kept = place()
    kept.write_text(_lined(plain(found)), encoding="utf-8")
    accuracy.forget()
    there = Path(str(files("warpbound"))).parents[1] / PAGE
    if not there.parent.is_dir():
        return [kept]
    there.write_text(page(written()), encoding="utf-8")
    return [kept, there]


def _lined(whole: dict[str, Any]) -> str:
    """JSON with one line per entry of each list, so that differences can be read."""
    parts = []
    for key, entries in whole.items():
        rows = ",\n".join("  " + msgspec.json.encode(entry).decode() for entry in entries)
        parts.append(f'"{key}": [\n{rows}\n]')
    return "{" + ",\n".join(parts) + "}\n"
