"""The validation data as a file of the package: written by `warpbound validate --write`, read by every report."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from warpbound.analysis import accuracy
from warpbound.errors import InputError
from warpbound.validate.accuracy_pages import pages
from warpbound.validate.results import Validation

DIGITS = 5


def data_file() -> Path:
    """Where the data file is."""
    return Path(str(files("warpbound.analysis"))) / accuracy.FILE


def stored() -> Validation:
    """The scores as they were last written."""
    try:
        return msgspec.json.decode(data_file().read_bytes(), type=Validation)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{data_file()} cannot be read ({error}).", "Run `warpbound validate --write`.") from None


def as_builtins(validation: Validation) -> dict[str, Any]:
    """As JSON has it, numbers to DIGITS digits."""
    return {key: _rounded(value) for key, value in msgspec.to_builtins(validation).items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def store(validation: Validation) -> list[Path]:
    """Write the data file, and in a checkout the pages of docs/; the paths of all files written."""
    data = data_file()
    data.write_text(_lined(as_builtins(validation)), encoding="utf-8")
    accuracy.forget()
    docs = Path(str(files("warpbound"))).parents[1] / "docs"
    texts = pages(stored()) if docs.is_dir() else {}
    for path, text in texts.items():
        (docs / path).parent.mkdir(exist_ok=True)
        (docs / path).write_text(text, encoding="utf-8")
    return [data, *(docs / path for path in texts)]


def _lined(whole: dict[str, Any]) -> str:
    """JSON with one line per entry of each list, so that differences can be read."""
    parts = []
    for key, entries in whole.items():
        rows = ",\n".join("  " + msgspec.json.encode(entry).decode() for entry in entries)
        parts.append(f'"{key}": [\n{rows}\n]')
    return "{" + ",\n".join(parts) + "}\n"
