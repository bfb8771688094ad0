"""Prints the table kernel x architecture: passed, or what is missing.

PYTHONPATH=tests python -m support.emulator.support_table > table.md
"""

import re
import sys

import numpy as np

from support.emulator.all_cases import CASES
from support.emulator.case import Case, difference, program_of
from warpbound import emulate
from warpbound.errors import InputError

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)


def outcome(case: Case, arch: int) -> str:
    """One cell."""
    if arch < case.least_arch:
        return "-"
    try:
        arrays = emulate.run(program_of(case, arch), case.launch, step_limit=200_000)
    except InputError as problem:
        missing = re.search(r"does not execute (\S+)", str(problem))
        return missing[1] if missing else "failed"
    return "passed" if not any(difference(want, arrays[key]) for key, want in case.expected.items()) else "wrong"


def main() -> None:
    rows = [["kernel", *(f"sm_{arch}" for arch in ARCHITECTURES)], ["---"] * (1 + len(ARCHITECTURES))]
    for name, make in CASES.items():
        rows.append([name, *(outcome(make(np.random.default_rng(7)), arch) for arch in ARCHITECTURES)])
    sys.stdout.writelines("| " + " | ".join(row) + " |\n" for row in rows)


if __name__ == "__main__":
    main()
