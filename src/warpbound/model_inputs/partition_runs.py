"""CampProf's micro-benchmarks from a file: a table, or what `warpbound measure --only camping` wrote."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from warpbound.errors import InputError
from warpbound.model_inputs.partition_benchmarks import Benchmarks, parse

ACCESSES = 32  # accesses of a warp, each of two half-warps
OPERATIONS = ("read", "write")  # kernels of the file that are one of the twelve
PATTERNS = {0: "camped", 1: "spread"}


def read(path: str | Path) -> Benchmarks:
    """The runs in a file of either kind. InputError states what is wrong, and in a table in which line."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not text"
        way = "`warpbound campprof simulate` writes such a file."
        raise InputError(f"benchmark file '{path}' cannot be read: {why}.", way) from None
    return measured(text, str(path)) if text.lstrip().startswith("{") else parse(text, str(path))


def measured(text: str, origin: str) -> Benchmarks:
    """The table in a raw file of measurements. InputError where it is none."""
    try:
        results = json.loads(text)
        device, sms = results["device"]["name"], results["device"]["sm_count"]
        runs = [record for record in results["records"] if record["axes"]["kernel"] in OPERATIONS]
        rows = [_row(record) for record in runs]
    except (ValueError, KeyError, TypeError) as wrong:
        raise InputError(f"'{origin}' is not a file of camping measurements ({wrong}).", "Measure it again.") from None
    if not rows:
        raise InputError(f"'{origin}' has no micro-benchmarks of camping.", "`warpbound measure --only camping`.")
    operation, word, pattern, warps, time = zip(*rows, strict=True)
    active = np.array(warps, dtype=np.float64)
    return Benchmarks(
        operation=np.array(operation),
        word=np.array(word, dtype=np.float64),
        pattern=np.array(pattern),
        warps=active,
        time=np.array(time, dtype=np.float64),
        transactions=2.0 * ACCESSES * sms * active,
        comments=(f"CampProf's micro-benchmarks measured on {device}, {results.get('date', 'no date')}.",),
    )


def _row(record: dict[str, Any]) -> tuple[str, float, str, float, float]:
    axes = record["axes"]
    return axes["kernel"], axes["width"], PATTERNS[axes["spread"]], axes["warps"], record["value"]["seconds"]
