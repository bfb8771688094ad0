"""docs/models.md: the figures in its sentences are those of golden cases, which are checked elsewhere.

The tables on the page are compared by test_models_invariants_situations.py and test_comparison.py.
"""

import tomllib
from pathlib import Path

import pytest

from warpbound.models import MODELS

HERE = Path(__file__).parent
PAGE = " ".join((HERE.parent / "docs" / "models.md").read_text().split())
CASES = {
    path.stem: {case["id"]: case["expected"] for case in tomllib.loads(path.read_text()).get("case", [])}
    for path in sorted((HERE / "golden").glob("*.toml"))
}
SENTENCES = [  # a piece of the page, with a place for each number; where each is
    ("corrected by the latency of arithmetic the same rule gives {:.1f}", ["volkov_2016:s4.8.better.Fermi"]),
    ("Overstates by {:.2f} on the GT200 at 4 warps", ["situations:s7.1.factor"]),
    ("where the thesis prints {:.1f}", ["situations:s7.1.factor.printed"]),
    (
        "Overstates by {:.2f}, {:.2f} and {:.2f} on Fermi, Kepler and Maxwell",
        ["situations:s7.4.Fermi", "situations:s7.4.Kepler", "situations:s7.4.Maxwell"],
    ),
    ("needs {:.0f} warps to saturate memory", ["situations:s7.2.100"]),
    ("at 32 additions {:.2f} times too high", ["situations:s7.2.1.7"]),
    ("at 34 warps the throughput is {:.1f}", ["huang_2014:s7.7.fermi34.RR.unrounded"]),
    ("({:.0f}, {:.0f} cycles), which the notes only claim", ["interval_analysis:in.497", "interval_analysis:in.K1"]),
    (
        "settles at {:.2f} of a request per cycle and a congested machine at {:.2f}",
        ["x_model_2016:x.three.f1", "x_model_2016:x.three.f3"],
    ),
    ("throttling gains a factor of {:.1f}", ["x_model_2016:x.throttle.gain"]),
    ("stand at {:.1f} and {:.1f} threads", ["valley_2009:v.peak", "valley_2009:v.valley"]),
    ("{:.1f} warps per scheduler for 90 % on its Kepler", ["volkov_2016:s6.4.n90.Kepler"]),
    (
        "{:.1f} at alpha = {:.1f} on Kepler",
        ["volkov_2016:s4.5.peak_n.Kepler", "volkov_2016:s4.5.peak_alpha.Kepler"],
    ),
]


@pytest.mark.parametrize("sentence, where", SENTENCES)
def test_sentence_has_the_numbers_of_its_cases(sentence: str, where: list[str]) -> None:
    expected = [CASES[book][name] for book, name in (place.split(":") for place in where)]
    assert sentence.format(*expected) in PAGE


def test_page_speaks_of_every_model() -> None:
    assert "`warpbound models` lists fifteen published models" in PAGE
    assert len(MODELS) == 15
    for name in MODELS:
        assert f"| `{name}` |" in PAGE, f"{name} is not on the picture"
        assert f"**`{name}`**" in PAGE, f"nothing is said of {name}"
