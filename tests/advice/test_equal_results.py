"""Results compared: which blocks, and what counts as equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.advice.equal_results import bytes_written, comparable, compared, covering
from warpbound.kernel_launch import launch


def threads(blocks: list[int], size: int, count: int) -> set[int]:
    return {block * size + lane for block in blocks for lane in range(size) if block * size + lane < count}


@given(st.integers(1, 40), st.sampled_from([32, 64, 96, 128, 256]), st.sampled_from([32, 48, 64, 128, 256]), st.data())
def test_blocks_of_both_sizes_cover_the_same_threads(count: int, old: int, new: int, data: st.DataObject) -> None:
    block = data.draw(st.integers(0, count - 1))
    before = launch(grid=count, block=old)
    after = launch(grid=-(-count * old // new), block=new)
    olds, news = covering([block], before, after)
    assert block in olds
    assert threads(olds, old, count * old) == threads(news, new, count * old)


def test_rows_of_a_grid_stay_apart() -> None:
    olds, news = covering([5], launch(grid=(4, 2), block=(32, 8)), launch(grid=(2, 2), block=(64, 8)))
    assert (olds, news) == ([4, 5], [2])


def test_equal_bits_are_equal_even_where_they_are_no_numbers() -> None:
    array = np.array([np.nan, 1.0], np.float32)
    assert compared({"x": array}, {"x": array.copy()}).outcome == "equal"


def test_rounding_is_relative_to_the_largest_result() -> None:
    one, other = np.array([4.0, 1.0], np.float32), np.array([4.0, 1.5], np.float32)
    verdict = compared({"x": one}, {"x": other})
    assert (verdict.outcome, verdict.error) == ("rounding", 0.125)


@pytest.mark.parametrize(
    ("one", "other"),
    [(np.array([1, 2]), np.array([1, 3])), (np.array([1.0, np.inf]), np.array([1.0, 2.0])),
     (np.array([np.inf]), np.array([-np.inf]))],
)  # fmt: skip
def test_integers_and_infinities_must_be_the_same(one: np.ndarray, other: np.ndarray) -> None:
    assert compared({"x": one}, {"x": other}).outcome == "different"


def test_floats_without_contents_get_numbers_and_integers_stay() -> None:
    filled = comparable(launch(grid=1, block=32, args={"x": "f32[8]", "i": "i32[8]", "z": "f32[8]:zeros"})).args
    assert [argument.fill for argument in filled] == ["rand", None, "zeros"]


def test_bytes_that_changed_are_counted() -> None:
    before, after = np.zeros(4, np.float32), np.array([0, 1, -0.0, 0], np.float32)
    assert bytes_written({"x": before}, {"x": after}) == 8
