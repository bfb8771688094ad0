"""Which tests the usual run leaves to the broad one, by how long they took: writes tests/broad.txt.

    pytest -m 'not full' -n 2 --junitxml report.xml
    python tools/broad_tests.py report.xml

A test that took LONG_S or more is left to the broad run, but for the quickest of a file whose tests all took that long.
Tests that the code itself marks `broad` or `full` are not listed.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "tests" / "broad.txt"
LONG_S = 0.6


def times(report: Path) -> dict[str, float]:
    """Seconds of each test of a JUnit report, by the test's name as pytest gives it."""
    result = {}
    for case in ElementTree.parse(report).iter("testcase"):
        *folders, name = [*case.attrib["classname"].split("."), case.attrib["name"]]
        place = next(place for place, part in enumerate(folders) if part.startswith("test_"))
        file = "/".join(folders[: place + 1]) + ".py"
        result["::".join([file, *folders[place + 1 :], name])] = float(case.attrib["time"])
    return result


def usual() -> set[str]:
    """Tests that the usual run would take if none were listed."""
    LISTED.write_text("", "utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0"]
    collected = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in collected.stdout.splitlines() if "::" in line}


def long_tests(took: dict[str, float]) -> list[str]:
    """The tests to leave to the broad run, in the order of their names."""
    files = defaultdict(list)
    for name in took:
        files[name.partition("::")[0]].append(name)
    result = []
    for names in files.values():
        *others, _quickest = sorted(names, key=lambda name: -took[name])
        result += [name for name in others if took[name] >= LONG_S]
    return sorted(result)


def main() -> None:
    took = times(Path(sys.argv[1]))
    taken = usual()
    listed = long_tests({name: seconds for name, seconds in took.items() if name in taken})
    LISTED.write_text("".join(f"{name}\n" for name in listed), "utf-8")
    total, rest = sum(took[name] for name in taken & took.keys()), sum(took[name] for name in listed)
    sys.stdout.write(f"{len(listed)} of {len(taken)} tests are left to the broad run: {rest:.0f} of {total:.0f} s.\n")


if __name__ == "__main__":
    main()
