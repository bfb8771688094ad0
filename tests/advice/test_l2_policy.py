"""Windows and streaming hints: what they write, when they are offered, that results stay, and that what-ifs agree."""

from pathlib import Path

import numpy as np
import pytest

import warpbound
from warpbound.advice.l2_policy import streamed, windows
from warpbound.advice.syntax import kernel_source
from warpbound.advice.variant import Question, Variant
from warpbound.analysis.launch_time import launch_time
from warpbound.analysis.settings import Settings
from warpbound.kernel_argument import parse_argument
from warpbound.kernel_launch import Launch, override
from warpbound.program.compile_options import Options

pytestmark = pytest.mark.cuda
RESET = """__global__ void k(int* big, const int* table, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    %s
}
"""
PLAIN = RESET % "if (i < n) big[i] += table[i % m];"
BOARD = warpbound.gpu("a100-sxm-40gb")


def launch(elements: int, entries: int, threads: int = 1024) -> Launch:
    words = (f"big=i32[{elements}]:iota", f"table=i32[{entries}]:iota", f"n={elements}", f"m={entries}")
    return warpbound.launch(grid=elements // threads, block=threads, args=[parse_argument(word) for word in words])


LARGE = launch(1 << 25, 5 << 20)  # 134 MB beside 21 MB; L2 holds 42 MB


def hints(text: str, own: Launch = LARGE) -> list[Variant]:
    source = kernel_source(text, "k")
    assert source is not None
    return list(streamed(Question(Path("k.cu"), text, "k", Options(), own), source, BOARD))


@pytest.mark.parametrize(
    ("before", "after"),
    [("big[i] += table[i % m];", "__stcs(&big[i], __ldcs(&big[i]) + (table[i % m]));"),
     ("big[i] = 2 * big[table[i]];", "__stcs(&big[i], 2 * __ldcs(&big[table[i]]));"),
     ("big[big[i] + table[0]] = 1;", "__stcs(&big[__ldcs(&big[i]) + table[0]], 1);")],
)  # fmt: skip
def test_hints_stand_at_every_access_of_the_large_array(before: str, after: str) -> None:
    (variant,) = hints(RESET % before)
    assert variant.question.text == RESET % after
    assert (variant.mechanism, variant.line) == ("L2 policy", 3)


@pytest.mark.parametrize("text", ["big[i]++; big[0] = table[i];", "int j = big[i] = table[i];",
                                  "atomicAdd(&big[i], table[i]);", "big[i] = 1;"])  # fmt: skip
def test_no_hint_where_a_store_is_no_plain_statement_or_nothing_else_is_read(text: str) -> None:
    assert hints(RESET % text) == []


def test_nothing_is_offered_where_l2_holds_all_arrays() -> None:
    small = launch(1 << 20, 1 << 20)
    assert hints(PLAIN, small) == []
    assert list(windows(Question(Path("k.cu"), PLAIN, "k", Options(), small), BOARD)) == []


def test_a_window_names_the_array_that_fits() -> None:
    (variant,) = windows(Question(Path("k.cu"), PLAIN, "k", Options(), LARGE), BOARD)
    assert (variant.apply, variant.question.launch.persist) == ("--persist table", "table")


def test_results_stay() -> None:
    (variant,) = hints(PLAIN)
    before, after = (warpbound.run(warpbound.compile(text, BOARD), launch(2048, 300))["big"]
                     for text in (PLAIN, variant.question.text))  # fmt: skip
    assert np.any(before)
    assert np.array_equal(before, after)


def test_hints_and_a_window_keep_the_table_and_the_what_if_promises_it() -> None:
    (hint,) = hints(PLAIN)
    settings = Settings(clock="boost")
    programs = [warpbound.compile(text, BOARD) for text in (PLAIN, hint.question.text)]
    usual, by_hint = (launch_time(each, BOARD, LARGE, settings).time_s for each in programs)
    by_window = launch_time(programs[0], BOARD, override(LARGE, persist="table"), settings).time_s
    assert usual is not None
    assert by_hint is not None
    assert by_hint == pytest.approx(by_window, rel=0.01)
    assert usual / by_hint > 1.3
    entry = warpbound.analyze(programs[0], BOARD, LARGE)
    (promise,) = (each for each in entry["whatifs"] if "table (21 MB) kept in L2" in each["change"])
    assert promise["speedup"] == pytest.approx(usual / by_hint, rel=0.1)
    assert promise["page"] == "docs/mechanisms.md#data-kept-in-l2"
