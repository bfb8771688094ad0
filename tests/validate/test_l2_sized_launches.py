"""Launches whose data come near the size of L2, through the whole chain: the hardest rows of that curve."""

import pytest

from warpbound.validate.corpus import corpus
from warpbound.validate.row_prediction import HEADLINE, answer

LAUNCHES = corpus("launches")
NEAR_L2 = ("1787436", "2251653", "2836433")  # elements; 28.6, 36.0 and 45.4 MB of 41.9 MB
ROWS = [row for row in LAUNCHES.rows if row.words["elements"] in NEAR_L2]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label(LAUNCHES.shared))
def test_near_the_size_of_l2_times_are_within_ten_per_cent(row):
    assert row.kind == "judged"
    assert answer(LAUNCHES, row).seconds[HEADLINE] == pytest.approx(row.seconds, rel=0.10)
