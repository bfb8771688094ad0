"""Which tests `make quick` leaves out, the usual run to the broad one, and the broad one to `make full`, by how long
they took.

Writes tests/slow.txt, tests/broad.txt and tests/full.txt.

    pytest -m 'not full' -n 2 --junitxml report.xml
    python tools/broad_tests.py report.xml

A test that took LONG_S or more is left to the broad run, but for the quickest of a file whose tests all took that long.
Of the cases of a broad test that together took LONG_TEST_S or more, the quickest quarter stays in the broad run and the
others are left to `make full`. What the code itself marks `broad` is not listed in the first file, and what it marks
`full` in neither. Of the usual tests that need no compiler, `make quick` leaves out those that took SLOW_S or
more, the rules of the house apart.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "tests" / "broad.txt"
FULL = ROOT / "tests" / "full.txt"
SLOW = ROOT / "tests" / "slow.txt"
SLOW_S = 0.1
LONG_S = 0.6
LONG_TEST_S = 1.0
NO_COMPILER = "not cuda and not browser and "
RULES = "tests/test_house.py"  # which a commit should know at once
WHOLE = ("test_output_in_the_docs_is_current", "test_what_was_recorded_still_holds")  # no case stands for another


def times(report: Path) -> dict[str, float]:
    """Seconds of each test of a JUnit report, by the test's name as pytest gives it."""
    result = {}
    for case in ElementTree.parse(report).iter("testcase"):
        *folders, name = [*case.attrib["classname"].split("."), case.attrib["name"]]
        place = next(place for place, part in enumerate(folders) if part.startswith("test_"))
        file = "/".join(folders[: place + 1]) + ".py"
        result["::".join([file, *folders[place + 1 :], name])] = float(case.attrib["time"])
    return result


def selected(marks: str) -> set[str]:
    """Tests that a run of these marks would take if none were listed."""
    for file in (SLOW, LISTED, FULL):
        file.write_text("", "utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", marks]
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


def rare_cases(took: dict[str, float]) -> list[str]:
    """The cases of broad tests to leave to `make full`, in the order of their names; took : of the broad tests."""
    cases = defaultdict(list)
    for name in took:
        cases[name.partition("[")[0]].append(name)
    result = []
    for test, names in cases.items():
        if not test.endswith(WHOLE) and sum(took[name] for name in names) >= LONG_TEST_S:
            result += sorted(names, key=lambda name: took[name])[-(-len(names) // 4) :]
    return sorted(result)


def main() -> None:
    took = times(Path(sys.argv[1]))
    taken, without_compiler = (selected(f"{marks}not broad and not full") for marks in ("", NO_COMPILER))
    listed = long_tests({name: seconds for name, seconds in took.items() if name in taken})
    LISTED.write_text("".join(f"{name}\n" for name in listed), "utf-8")
    broad = {name: seconds for name, seconds in took.items() if name in listed or name not in taken}
    rare = rare_cases(broad)
    FULL.write_text("".join(f"{name}\n" for name in rare), "utf-8")
    quick = {name for name in without_compiler - set(listed) if not name.startswith(RULES)}
    slow = sorted(name for name in quick if took.get(name, 0.0) >= SLOW_S)
    SLOW.write_text("".join(f"{name}\n" for name in slow), "utf-8")
    total, rest = sum(took[name] for name in taken & took.keys()), sum(took[name] for name in listed)
    sys.stdout.write(f"{len(listed)} of {len(taken)} tests are left to the broad run: {rest:.0f} of {total:.0f} s.\n")
    rarely = sum(took[name] for name in rare)
    sys.stdout.write(f"{len(slow)} of {len(without_compiler)} tests without a compiler are left out by `make quick`.\n")
    sys.stdout.write(f"{len(rare)} of {len(broad)} broad tests are left to `make full`: {rarely:.0f} s.\n")


if __name__ == "__main__":
    main()
