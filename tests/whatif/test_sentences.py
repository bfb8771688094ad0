"""A what-if's sentence and the table of bounds beside it: one number, the one with queues."""

import re
from typing import Any

import pytest

import warpbound
from support.paths import EXAMPLES
from warpbound.whatif.code_changes import EASINGS, MOVED_ONCE, number

pytestmark = pytest.mark.cuda
RESOURCES = {change: resource for resource, (_, change) in EASINGS.items()}
RESOURCES |= {MOVED_ONCE.format(level=resource.upper()): resource for resource in ("l1", "l2", "dram")}
ALONE, TOGETHER = r"it takes (\S+) SM cycles per", r"(\w+) and (\w+) bind together, (\S+) and (\S+) SM cycles per"


def told(entry: Any) -> list[tuple[str, str]]:
    """Resource and its SM cycles, as often as a sentence names them."""
    found = []
    for whatif in entry["whatifs"]:
        if alone := re.match(ALONE, whatif["why"]):
            found.append((RESOURCES[whatif["change"]], alone[1]))
        if both := re.match(TOGETHER, whatif["why"]):
            found += [(both[1], both[3]), (both[2], both[4])]
    return found


@pytest.mark.parametrize("gpu", ["h200", "t4"])
@pytest.mark.parametrize("example", ["black_scholes", "histogram", "matmul_tiled", "saxpy", "transpose_tiled"])
@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_sentences_and_table_give_one_number(example: str, gpu: str, mode: str) -> None:
    program = warpbound.compile(EXAMPLES / f"{example}.cu", gpu)
    launch = warpbound.launch(EXAMPLES / f"{example}.toml") if mode == "dynamic" else None
    entry = warpbound.analyze(program, gpu, launch)
    table = {bound["resource"]: number(bound["cycles_per_warp"]) for bound in entry["bounds"]}
    assert entry["mode"] == mode
    assert told(entry) or mode == "static"
    for resource, cycles in told(entry):
        assert table[resource] == cycles, (resource, entry["whatifs"])


def test_what_binds_together_are_the_first_two_of_the_table() -> None:
    """DRAM and latency of saxpy on an H200: by plain bounds latency would be far behind."""
    program = warpbound.compile(EXAMPLES / "saxpy.cu", "h200")
    entry = warpbound.analyze(program, "h200", warpbound.launch(EXAMPLES / "saxpy.toml"))
    (why,) = [whatif["why"] for whatif in entry["whatifs"] if "; and " in whatif["change"]]
    first, second = (bound["resource"] for bound in entry["bounds"][:2])
    assert why.startswith(f"{first} and {second} bind together")
