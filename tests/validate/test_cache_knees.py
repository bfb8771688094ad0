"""Knees and plateaus of L1, L2 and DRAM against silicon: each within 10 %, or excused with a reason.

Measured: the corpora `caches`, `l2-shared` and `l2-reads`, rows of gpu-cache and gpu-l2-cache. Predicted: as last
written from the same rows; test_cache_rows answers some of these again, and `make full` finds the knees of the
model itself.
"""

from dataclasses import replace
from math import exp, log, sqrt

import pytest

from warpbound.validate.accuracy_pages import pages
from warpbound.validate.cache_knees import AWAY, CURVES, KneeComparison, curves, knee_comparisons, shape
from warpbound.validate.corpus import corpus
from warpbound.validate.misses import reasons
from warpbound.validate.row_prediction import HEADLINE, answer
from warpbound.validate.validation_data import stored

FOUND = stored()
ALL = list(knee_comparisons(FOUND.results))
EXCUSED = reasons().knees
WITHIN = 0.10


def key(x):
    return x.corpus, x.gpu, x.of


def falling(knee, upper=100.0, lower=10.0, steep=8.0, sizes=40):
    """A curve whose half is at `knee`, on sizes a tenth apart from 1."""
    grid = [1.1**i for i in range(sizes)]
    return [(kB, lower * (upper / lower) ** (1 / (1 + (kB / knee) ** steep))) for kB in grid]


# ---------------------------------------------------------------- the definition


@pytest.mark.parametrize("knee", [3.0, 7.7, 12.5, 20.0])
def test_a_knee_is_where_half_of_the_fall_is_done(knee):
    found = shape(falling(knee))
    assert found.knee == pytest.approx(knee, rel=0.01)
    assert found.plateaus == pytest.approx((100, 10), rel=0.03)


def test_a_step_between_two_rows_has_its_knee_between_them():
    found = shape([(1, 90), (2, 90), (4, 90), (8, 90), (10, 10), (20, 10), (40, 10)])
    assert found.knee == pytest.approx(sqrt(8 * 10))
    assert found.plateaus == (90, 10)


def test_rows_near_the_knee_make_no_plateau():
    """Slow rows before the fall and one that jumps move neither plateau."""
    plain = [(1, 90), (2, 90), (4, 90), (8, 90), (10, 10), (20, 10), (40, 10), (50, 10)]
    odd = [(1, 90), (2, 200), (4, 90), (8, 70), (10, 14), (20, 10), (40, 10), (50, 3)]
    assert shape(odd).plateaus == shape(plain).plateaus
    assert 8 < shape(odd).knee < 10


def test_a_curve_that_does_not_fall_is_one_plateau():
    assert shape([(1, 10), (2, 12), (3, 9)]).plateaus == (10,)
    assert shape([(1, 10), (2, 12), (3, 9)]).knee is None
    assert len(shape([(1, 10), (2, 12), (3, 7.9)]).plateaus) == 2


@pytest.mark.parametrize("factor", [0.5, 1.3, 7.0])
def test_units_do_not_matter(factor):
    before = shape(falling(9.0))
    larger = shape([(factor * kB, rate) for kB, rate in falling(9.0)])
    faster = shape([(kB, factor * rate) for kB, rate in falling(9.0)])
    assert larger.knee == pytest.approx(factor * before.knee)
    assert larger.plateaus == pytest.approx(before.plateaus)
    assert faster.knee == pytest.approx(before.knee)
    assert faster.plateaus == pytest.approx([factor * rate for rate in before.plateaus])


def test_a_prediction_without_a_fall_is_no_agreement():
    assert KneeComparison("caches", "a40", "knee: L1", "kB", 224.0, float("inf")).error > WITHIN


# ---------------------------------------------------------------- the boards


@pytest.mark.parametrize("x", ALL, ids=lambda x: " ".join(key(x)))
def test_every_knee_and_plateau_is_within_a_tenth(x):
    if key(x) in EXCUSED:
        assert abs(x.error) > 0.9 * WITHIN, "it is well within a tenth now: excuse it no longer"
    else:
        assert abs(x.error) < WITHIN


def test_no_board_and_no_level_is_left_out():
    """Every board of the three corpora has each plateau, and a knee wherever it was seen to fall."""
    for name, levels in CURVES.items():
        for gpu in {row.gpu for row in corpus(name).rows}:
            mine = [x.of for x in ALL if (x.corpus, x.gpu) == (name, gpu)]
            flat = [f"plateau: {levels[0]}"]
            assert mine in ([*flat, f"plateau: {levels[1]}", f"knee: {levels[0]}"], flat)
    shared = [x for x in ALL if x.corpus == "l2-shared"]
    one_side = {x.gpu for x in shared} - {x.gpu for x in shared if x.of.startswith("knee")}
    assert one_side == {"v100-pcie", "a40"}
    assert len(EXCUSED) == 1
    assert set(EXCUSED) <= set(map(key, ALL))


def test_the_a40_and_the_l40_have_one_l1_and_fall_a_fifth_apart():
    """What excuses the A40: one L1 and one prediction, two measurements that no prediction fits within a tenth."""
    a40, l40 = (next(x for x in ALL if key(x) == ("caches", gpu, "knee: L1")) for gpu in ("a40", "l40"))
    assert a40.measurement / l40.measurement > (1 + WITHIN) / (1 - WITHIN)
    assert a40.prediction == pytest.approx(l40.prediction, rel=0.01)


def test_the_page_shows_them():
    text = pages(FOUND)["accuracy/cache-knees.md"]
    for x in ALL:
        assert f"| {x.corpus} | {x.gpu} | {x.of} | {x.measurement:.0f} {x.unit} | {x.prediction:.0f} {x.unit} |" in text
    assert all(why in text for why in EXCUSED.values())
    assert f"{AWAY} times" in text


# ---------------------------------------------------------------- the model itself, between the rows


def predicted_rate(found, row, kB):
    """GB/s of a size that need not be a row."""
    bits = int(row.words.get("bits", 64))
    each = 512 if "pieces" in row.words else 8  # whole pieces; whole words of all threads
    size = each * round(kB / each)
    words = {**row.words, "kB": str(size), "elements": str(size * 8192 // bits), "pieces": str(size // 512)}
    scale = 1.0 if "pieces" in row.words else size / float(row.words["kB"])
    return scale * float(row.words["GB/s"]) * row.seconds / answer(found, replace(row, words=words)).seconds[HEADLINE]


FURTHER = {  # within how much instead; a lead of the V100 ends as a step at 220 kB, the mean of 204 and 236, while half
    # of the measured fall lies before 204 kB, where leads fail part of the time
    ("caches", "v100-pcie", "knee: L1"): 0.15,
    **dict.fromkeys(EXCUSED, 0.17),
}


@pytest.mark.full
@pytest.mark.cuda
@pytest.mark.parametrize("x", [x for x in ALL if x.unit == "kB"], ids=lambda x: f"{x.corpus} {x.gpu}")
def test_the_knee_of_the_model_between_the_rows_is_within_a_tenth(x):
    """By bisection to 1 %, so that the distance of the rows hides nothing."""
    found = corpus(x.corpus)
    _, ours = curves(found, [r for r in FOUND.results if r.corpus == x.corpus], x.gpu)
    half = sqrt(shape(ours).plateaus[0] * shape(ours).plateaus[1])
    row = next(row for row in found.rows if row.gpu == x.gpu)
    last = max(i for i, (_, rate) in enumerate(ours[:-1]) if rate >= half)
    low, high = ours[last][0], ours[last + 1][0]
    while high > 1.01 * low:
        middle = exp((log(low) + log(high)) / 2)
        low, high = (middle, high) if predicted_rate(found, row, middle) >= half else (low, middle)
    assert low / x.measurement - 1 == pytest.approx(0.0, abs=FURTHER.get(key(x), WITHIN))
