"""Contents of arrays are made in pages, as they are touched: the same bytes as the whole array has."""

import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from warpbound import argument_contents
from warpbound.argument_contents import RUN, contents, pieces
from warpbound.emulate.global_memory import AT_ONCE_B, LARGE_PAGE_BITS, MOST_PAGES, PAGE_BITS, Unfilled
from warpbound.emulate.untouched_memory import zeros
from warpbound.kernel_argument import Argument

FILLS = [("rand", "f32"), ("rand", "f16"), ("rand", "i8"), ("rand", "u64"), ("rand", "f64"),
         ("rand", "bool"), ("randn", "f64"), ("randn", "f16"),
         ("iota", "i64"), ("ones", "u16")]  # fmt: skip


@pytest.mark.parametrize(("fill", "dtype"), FILLS)
def test_pages_in_any_order_hold_what_the_whole_array_does(fill: str, dtype: str) -> None:
    argument = Argument("x", "array", dtype=dtype, shape=(700_001,), fill=fill, seed=3)
    whole = np.ascontiguousarray(contents(argument, 1)).view(np.uint8)
    unfilled, target = Unfilled(pieces(argument, 1), len(whole)), np.zeros(len(whole), np.uint8)
    random = np.random.default_rng(5)
    touched = random.integers(0, len(whole), 40)
    unfilled.make(int(touched.min()), int(touched.max()), target, touched)
    page = np.arange(len(whole)) >> PAGE_BITS
    made = np.isin(page, touched >> PAGE_BITS)
    assert np.array_equal(target[made], whole[made])
    assert not target[~made].any()
    unfilled.make(9000, 200_000, target)
    assert np.array_equal(target[9000:200_001], whole[9000:200_001])
    assert not unfilled.done()
    unfilled.make(0, len(whole) - 1, target)
    assert np.array_equal(target, whole)
    assert unfilled.done()


def test_normal_numbers_before_a_piece_are_drawn_once_for_all_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(argument_contents, "RUNS_TOGETHER", 3)
    makes, cached = list[str](), argument_contents.cached
    monkeypatch.setattr(
        argument_contents, "cached", lambda name, make: cached(name, lambda: (makes.append(name), make())[1])
    )
    argument = Argument("x", "array", dtype="f32", shape=(20 * RUN,), fill="randn", seed=11)
    whole = np.ascontiguousarray(contents(argument, 2)).view(np.uint8)
    for parts in (6, 0):  # of 3 runs each up to the 17th, then none
        argument_contents._runs.cache_clear()
        piece = pieces(argument, 2)
        assert piece is not None
        for run in (17, 5, 0, 11):
            begin, end = 4 * run * RUN, 4 * (run + 1) * RUN
            assert np.array_equal(piece(begin, end), whole[begin:end])
        assert len(makes) == parts
        makes.clear()
    argument_contents._runs.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems give memory in their own way")
def test_a_touched_byte_takes_one_page_of_the_system() -> None:
    """NumPy asks for pages of 2 MB: 128 touched bytes of them took 256 MB, and half a second to clear."""
    memory, before = zeros(1 << 28), _resident_KiB()
    memory[:: 1 << 21] = 1
    assert memory[:: 1 << 21].sum() == 128
    assert _resident_KiB() - before < 8 << 10


def _resident_KiB() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 10


def test_neighbouring_pages_are_made_together_and_no_more_than_1_mib() -> None:
    asked = list[tuple[int, int]]()

    def fill(start: int, end: int) -> np.ndarray:
        asked.append((start, end))
        return np.ones(end - start, np.uint8)

    size = 3 * AT_ONCE_B + 100
    unfilled, target = Unfilled(fill, size), np.zeros(size, np.uint8)
    places = np.array([0, 5000, 9000, 40_000])
    unfilled.make(0, 40_000, target, places)
    assert asked == [(0, 3 << PAGE_BITS), (9 << PAGE_BITS, 10 << PAGE_BITS)]
    unfilled.make(0, size - 1, target)
    assert target.all()
    assert max(end - start for start, end in asked) == AT_ONCE_B
    assert Unfilled(fill, MOST_PAGES << PAGE_BITS + 1).page_bits == LARGE_PAGE_BITS
