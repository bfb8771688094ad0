"""docs/models.md: the figures in its sentences are those of golden cases, which are checked elsewhere.

The tables on the page are compared by test_situations.py and reproduce/test_synthetic_comparison.py, the one of the
evidence here.
"""

import tomllib
from collections import Counter
from fnmatch import fnmatch

import pytest

from support.paths import GOLDEN, MODELS_PAGE
from warpbound.models import MODELS
from warpbound.reproduce import recorded
from warpbound.reproduce.pages import KINDS

PAGE = " ".join(MODELS_PAGE.read_text().split())
CASES = {
    path.stem: {case["id"]: case["expected"] for case in tomllib.loads(path.read_text()).get("case", [])}
    for path in sorted(GOLDEN.glob("*.toml"))
}
SENTENCES = [  # a piece of the page, with a place for each number; where each is
    ("with the latency of arithmetic the same rule gives {:.1f}", ["volkov_2016:s4.8.better.Fermi"]),
    ("It overstates throughput by {:.2f} on the GT200 at 4 warps", ["situations:s7.1.factor"]),
    ("where the thesis prints {:.1f}", ["situations:s7.1.factor.printed"]),
    (
        "It overstates throughput by {:.2f}, {:.2f} and {:.2f} on Fermi, Kepler and Maxwell",
        ["situations:s7.4.Fermi", "situations:s7.4.Kepler", "situations:s7.4.Maxwell"],
    ),
    ("needs {:.0f} warps to saturate memory", ["situations:s7.2.100"]),
    ("at 32 additions is up to {:.2f} times too high", ["situations:s7.2.1.7"]),
    ("at 34 warps the throughput is {:.1f}", ["huang_2014:s7.7.fermi34.RR.unrounded"]),
    ("({:.0f}, {:.0f} cycles), which the notes only claim", ["interval_analysis:in.497", "interval_analysis:in.K1"]),
    (
        "settles at {:.2f} of a request per cycle and a congested machine at {:.2f}",
        ["x_model_2016:x.three.f1", "x_model_2016:x.three.f3"],
    ),
    ("throttling gains a factor of {:.1f}", ["x_model_2016:x.throttle.gain"]),
    ("are at {:.1f} and {:.1f} threads", ["valley_2009:v.peak", "valley_2009:v.valley"]),
    ("{:.1f} warps per scheduler for 90 % on its Kepler", ["volkov_2016:s6.4.n90.Kepler"]),
    (
        "{:.1f} at alpha = {:.1f} on Kepler",
        ["volkov_2016:s4.5.peak_n.Kepler", "volkov_2016:s4.5.peak_alpha.Kepler"],
    ),
]

EVIDENCE = {  # model -> what the page calls its items of `warpbound reproduce`, and their keys
    "roofline_2009": ("none", ()),
    "cuda_guide_2015": ("`volkov_2016:table-4.3`", ("volkov_2016:table-4.3",)),
    "saavedra_barrera_1990": ("`volkov_2016:section-4.9`", ("volkov_2016:section-4.9",)),
    "chen_aamodt_2009": ("`volkov_2016:section-4.13`", ("volkov_2016:section-4.13",)),
    "zhang_owens_2011": ("`volkov_2016:sections-7.3-7.4`", ("volkov_2016:sections-7.3-7.4",)),
    "hong_kim_2009": ("`hong_kim_2009`, `volkov_2016:section-7.1`", ("hong_kim_2009:*", "volkov_2016:section-7.1")),
    "sim_2012": ("`volkov_2016:sections-7.3-7.4`", ("volkov_2016:sections-7.3-7.4",)),
    "baghsorkhi_2010": ("`volkov_2016:section-7.2`", ("volkov_2016:section-7.2",)),
    "huang_2014": ("`volkov_2016:sections-7.5-7.6` and `7.7-7.8`", ("volkov_2016:sections-7.[57]-7.*",)),
    "interval_analysis": ("`interval_analysis`", ("interval_analysis:*",)),
    "transit_2015": ("`x_model_2016:figs-2-5`", ("x_model_2016:figs-2-5",)),
    "x_model_2016": ("`x_model_2016`", ("x_model_2016:*",)),
    "valley_2009": ("none", ()),
    "volkov_2016": ("`volkov_2016`, chapters 3 to 6", ("volkov_2016:*-[3-6].*",)),
    "campprof_2011": ("`campprof_2011`", ("campprof_2011:*",)),
}


def cases(model: str) -> int:
    """Golden cases of the model's own file."""
    return len(tomllib.loads((GOLDEN / f"{model}.toml").read_text())["case"])


def verdicts(model: str) -> str:
    """What the record says of its items: printed numbers by verdict."""
    keys = [key for key in recorded() if any(fnmatch(key, pattern) for pattern in EVIDENCE[model][1])]
    said = Counter(str(row[0]) for key in keys for row in recorded()[key].values())
    found = {kind: sum(said[verdict.value] for verdict in own) for kind, own in KINDS.items()}
    return ", ".join(f"{count} {kind}" for kind, count in found.items() if count) or "-"


def test_every_model_has_its_evidence_on_the_page() -> None:
    assert EVIDENCE.keys() == MODELS.keys()
    for model, (items, _) in EVIDENCE.items():
        assert f"| `{model}` | {cases(model)} | {items} | {verdicts(model)} |" in PAGE


@pytest.mark.parametrize("sentence, where", SENTENCES)
def test_sentence_has_the_numbers_of_its_cases(sentence: str, where: list[str]) -> None:
    expected = [CASES[book][name] for book, name in (place.split(":") for place in where)]
    assert sentence.format(*expected) in PAGE


def test_page_speaks_of_every_model() -> None:
    assert f"`warpbound models` lists {len(MODELS)} published models" in PAGE
    for name in MODELS:
        assert f"| `{name}` |" in PAGE, f"{name} is not on the picture"
        assert f"**`{name}`**" in PAGE, f"nothing is said of {name}"
