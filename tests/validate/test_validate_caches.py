"""The edge of L1, its plateaus on both sides and the fall between, through the whole chain and against silicon."""

import pytest

from warpbound.validate.chain import HEADLINE, answer
from warpbound.validate.corpus import corpus

CACHES = corpus("caches")


def error(gpu: str, kB: int) -> float:
    """Predicted over measured time of one row, less 1."""
    (row,) = [row for row in CACHES.rows if (row.gpu, row.words["kB"]) == (gpu, str(kB))]
    said = answer(CACHES, row)
    assert said.refused == ""
    return said.seconds[HEADLINE] / row.seconds - 1


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("gpu", "kB"), [("v100-pcie", 112), ("a100-sxm-80gb", 148), ("h100-pcie", 204), ("a40", 102), ("l40", 102)]
)
def test_l1_holds_as_much_as_measured(gpu, kB):
    """The largest data that were read at the full rate of L1 still are."""
    assert abs(error(gpu, kB)) < 0.05


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("gpu", "kB"), [("v100-pcie", 148), ("v100-pcie", 172), ("a100-sxm-80gb", 172), ("a40", 164), ("l40", 140)]
)
def test_the_rate_falls_little_by_little(gpu, kB):
    """Least-recently-used lines in step would make these three to four times slower."""
    assert abs(error(gpu, kB)) < 0.45


@pytest.mark.cuda
@pytest.mark.parametrize(("gpu", "kB"), [("v100-pcie", 328), ("a100-sxm-80gb", 328), ("a40", 492)])
def test_then_l2_delivers_all(gpu, kB):
    assert abs(error(gpu, kB)) < 0.18


def test_rows_that_gave_a_parameter_are_not_judged():
    fitted = {(row.gpu, row.words["kB"]) for row in CACHES.rows if row.kind == "calibration"}
    edges = {("v100-pcie", 204, 236), ("a100-sxm-80gb", 204, 236), ("h100-pcie", 328, 384), ("a40", 224, 262)}
    edges |= {("l40", 192, 224)}
    assert fitted == {(gpu, str(kB)) for gpu, *two in edges for kB in (64, *two)}
