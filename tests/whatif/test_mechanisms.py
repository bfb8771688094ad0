"""Every what-if has a mechanism, with a section and a picture in the docs, and an interval that the pairs bear out."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpbound
from support.paths import EXAMPLES, ROOT
from warpbound.residency import Step
from warpbound.whatif import code_changes, launch_changes, parallelism
from warpbound.whatif.mechanisms import (
    FACTORS,
    MECHANISMS,
    PAGE,
    POWERS,
    RESOLVED,
    SMALL,
    mechanism_of,
    promised_between,
    resolved_between,
)

PAGE_FILE = ROOT / PAGE.partition("#")[0]
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE_FILE.read_text(), re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
def test_each_mechanism_has_a_section_with_a_picture(mechanism: object) -> None:
    section = SECTIONS[mechanism.name]
    (picture,) = re.findall(r"!\[.+\]\((.+\.svg)\)", section)
    assert (PAGE_FILE.parent / picture).is_file()


def test_the_page_has_no_section_without_a_mechanism() -> None:
    assert set(SECTIONS) == {each.name for each in MECHANISMS}


CHANGES = {
    **{change: name for names, name in (
        (("issue", "fetch", "alu", "fma", "fp64", "xu", "tensor", "uniform", "lsu"), "instructions"),
        (("l1", "l2", "dram"), "memory traffic"), (("shared",), "shared-memory traffic"),
    ) for change in (code_changes.EASINGS[each][1] for each in names)},
    **{Step(kind, 2, 1, 1, 1).sentence: "occupancy" for kind in ("threads", "registers", "shared", "carveout")},
    "no limit by registers and shared memory": "occupancy",
    code_changes.MOVED_ONCE.format(level="L2"): "memory traffic",
    code_changes.NEARER: "data kept on the SM", code_changes.TILES: "coalescing",
    parallelism.AHEAD.format(times="4 times"): "loads in flight", code_changes.COALESCED: "coalescing",
    parallelism.ILP: "loads in flight", parallelism.ITEMS.format(times="8 times", degree=8): "loads in flight",
    f"256 {launch_changes.LARGER} 16": "occupancy",
    code_changes.WIDE.format(count=4): "wide accesses",
    code_changes.KEPT.format(where=" (line 3)"): "sums in registers",
    f"{code_changes.COALESCED}; and {parallelism.ILP}": "coalescing",
    launch_changes.HALVED: "grid", launch_changes.DOUBLED: "loads in flight",
    f"132 blocks with 1/2 of the work each ({launch_changes.FILL})": "grid",
}  # fmt: skip


@pytest.mark.parametrize(("change", "name"), CHANGES.items())
def test_changes_have_their_mechanism(change: str, name: str) -> None:
    mechanism = mechanism_of(change)
    assert mechanism is not None
    assert mechanism.name == name


def quoted_changes() -> list[str]:
    """Constant sentences of alternatives in the sources of the what-ifs."""
    sources = [Path(code_changes.__file__), Path(launch_changes.__file__)]
    names = ("launch_whatifs", "sustained_clock", "cache_whatifs")
    files = [*sources, *(ROOT / f"src/warpbound/analysis/{name}.py" for name in names)]
    text = "\n".join(path.read_text() for path in files).replace("{FILL}", launch_changes.FILL)
    text = text.replace("{LARGER}", launch_changes.LARGER)
    return re.findall(r"(?:Alternative\(|WhatIf\(|change = )f?\"([^\"]{9,})\"", text)


def test_no_sentence_in_the_sources_is_without_a_mechanism() -> None:
    sentences = quoted_changes()
    assert len(sentences) > 12
    assert all(mechanism_of(each) in MECHANISMS for each in sentences)


def test_the_interval_is_that_of_the_pairs() -> None:
    """10th and 90th percentile in three tables of docs/advice.md: powers of small promises, factors of others."""
    page = (ROOT / "docs/advice.md").read_text().split("### Held back, a third set")[0]
    pairs = [(float(gain), float(had)) for gain, had in re.findall(r"\| ([\d.]+)x \| ([\d.]+)x \| \d+ % \|", page)]
    pairs = [(gain, had) for gain, had in pairs if had > 1 + RESOLVED]
    powers = sorted(math.log(had) / math.log(gain) for gain, had in pairs if gain <= SMALL)
    factors = sorted(had / gain for gain, had in pairs if gain > SMALL)
    assert len(pairs) >= 60
    for values, shipped in ((powers, POWERS), (factors, FACTORS)):
        assert (values[len(values) // 10], values[9 * len(values) // 10]) == pytest.approx(shipped, rel=0.03)


@given(st.floats(0.2, 50))
def test_an_interval_holds_its_gain_and_what_is_resolved(speedup: float) -> None:
    low, high = promised_between(speedup)
    assert low < speedup < high
    narrow = resolved_between(speedup)
    assert low <= narrow[0] < narrow[1] <= high
    assert speedup < 1 or high <= FACTORS[1] * speedup + 1e-9


@pytest.mark.cuda
def test_a_what_if_names_the_line_that_it_would_change() -> None:
    program = warpbound.compile(EXAMPLES / "transpose_naive.cu", "h200")
    entry = warpbound.analyze(program, "h200", warpbound.launch(EXAMPLES / "transpose_naive.toml"))
    first = entry["whatifs"][0]
    source = (EXAMPLES / "transpose_naive.cu").read_text().splitlines()
    assert first["page"] == "docs/mechanisms.md#coalescing"
    assert "out[" in source[first["line"] - 1]
    assert first["speedup_interval"] == promised_between(first["speedup"])
    assert all(each["page"] and each["cost"] and each["mechanism"] for each in entry["whatifs"])
