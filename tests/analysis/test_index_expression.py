"""Typed index expressions: equal to the coalescing rules on enumerated addresses, and the papers' algorithms."""

import json
import re
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from warpbound.analysis.index_expression import RULES, Access, answer
from warpbound.cli import main
from warpbound.errors import CommandError
from warpbound.memory.address_registers import Threads
from warpbound.memory.coalescing import transactions
from warpbound.memory.expressions import parse


def asked(text: str, block: tuple[int, int, int] = (256, 1, 1), element: int = 4, **more: Any) -> dict[str, Any]:
    return answer(Access(parse(text), element, Threads(block), **more))


def counts(entry: dict[str, Any]) -> list[float]:
    return [rule.transactions_per_request for rule in entry.rules]


# ------------------------------------------------------------------------------ against enumeration

BLOCKS = ((64, 1, 1), (16, 4, 1), (8, 4, 4), (96, 1, 1), (33, 2, 1))
LEAVES = st.one_of(
    st.sampled_from(["threadIdx.x", "threadIdx.y", "threadIdx.z", "blockDim.x", "blockDim.y", "n", "m", "warpSize"]),
    st.integers(0, 70).map(str),
)
INDICES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["/", "%"]), st.integers(1, 40)),
        st.builds("({} {} {})".format, inner, st.sampled_from(["<<", ">>"]), st.integers(0, 4)),
        st.builds("({} {} {})".format, inner, st.sampled_from(["&", "|", "^"]), st.integers(0, 63)),
        st.builds("min({}, {})".format, inner, inner),
        st.builds("(~{})".format, inner),
        st.builds("(int)({})".format, inner),
    ),
    max_leaves=6,
)


def by_thread(text: str, block: tuple[int, int, int], names: dict[str, int]) -> np.ndarray:
    """Every thread's index, one at a time, with C's meaning of / and %."""

    class Number(int):
        def __truediv__(self, other: int) -> "Number":
            return Number(abs(self) // abs(other) * (1 if (self < 0) == (other < 0) else -1))

        def __mod__(self, other: int) -> "Number":
            return Number(int(self) - int(self.__truediv__(other)) * int(other))

    for sign in ("add", "sub", "mul", "lshift", "rshift", "and", "or", "xor"):
        plain = getattr(int, f"__{sign}__")
        setattr(Number, f"__{sign}__", lambda a, b, plain=plain: Number(plain(int(a), int(b))))
    Number.__invert__ = lambda a: Number(-1 - int(a))  # type: ignore[method-assign, assignment, return-value]

    class Vector:
        def __init__(self, *axes: int) -> None:
            self.x, self.y, self.z = map(Number, axes)

    fixed = {
        "blockDim": Vector(*block), "N": Number, "warpSize": Number(32),
        "min": lambda a, b: Number(min(int(a), int(b))), **{name: Number(value) for name, value in names.items()},
    }  # fmt: skip
    numbers = re.sub(r"(?<![\w.])(\d+)", r"N(\1)", text.replace("(int)", ""))
    found = []
    for thread in range(-(-int(np.prod(block)) // 32) * 32):
        x, y, z = thread % block[0], thread // block[0] % block[1], thread // (block[0] * block[1])
        found.append(int(eval(numbers, {}, fixed | {"threadIdx": Vector(x, y, z)})))
    return np.array(found)


@given(INDICES, st.sampled_from(BLOCKS), st.sampled_from([1, 2, 4, 8, 16]))
def test_known_expressions_equal_the_rules_on_their_addresses(
    text: str, block: tuple[int, int, int], size: int
) -> None:
    names = {"n": 37, "m": 64}
    elements = by_thread(text, block, names)
    if np.abs(elements).max() * size > 1 << 30:
        return
    entry = asked(f"a[{text}]", block, size, values=names)
    lanes = (elements * size + (1 << 35)).astype(np.uint64).reshape(-1, 32)
    exists = (np.arange(lanes.size) < np.prod(block)).reshape(-1, 32)
    expected = [transactions(lanes, exists, size, arch, caching) for _, arch, caching in RULES]
    assert counts(entry) == pytest.approx([one.count.mean() for one in expected])
    assert [rule.bytes_per_request for rule in entry.rules] == pytest.approx(
        [one.bytes.mean() for one in expected]
    )


@given(st.integers(-4, 4), st.integers(0, 40), st.sampled_from([4, 8]), st.sampled_from([64, 96, 128]))
def test_blocks_of_unknown_index_are_averaged_over_all_of_them(
    factor: int, start: int, size: int, threads: int
) -> None:
    """blockIdx.x counts from 0 to 31: all alignments that a block can have."""
    entry = asked(f"a[blockIdx.x * {threads + 1} + threadIdx.x * {factor} + {start}]", (threads, 1, 1), size)
    block, thread = np.arange(32)[:, None], np.arange(threads)
    lanes = ((block * (threads + 1) + thread * factor + start) * size + (1 << 30)).astype(np.uint64).reshape(-1, 32)
    everyone = np.ones(lanes.shape, bool)
    expected = [transactions(lanes, everyone, size, arch, caching).count.mean() for _, arch, caching in RULES]
    assert counts(entry) == pytest.approx(expected)


@given(st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([2048, 4096]))
def test_rows_of_unknown_length_are_long_and_aligned(size: int, length: int) -> None:
    """What n = 2048 gives is what no value of n gives."""
    for text in ("a[threadIdx.y * n + threadIdx.x]", "a[threadIdx.x * n + threadIdx.y]", "a[threadIdx.x * (n + 1)]"):
        block = (16, 16, 1)
        assert counts(asked(text, block, size)) == counts(asked(text, block, size, values={"n": length}))


# ------------------------------------------------------------------------------ worked by hand


CASES = {  # expression: (block, element, transactions under RULES, derivative, words of the reason)
    "a[blockIdx.x*blockDim.x + threadIdx.x]": ((256, 1, 1), 4, [2, 2, 1, 4, 1, 4, 4], "1", "aligned start"),
    "a[blockIdx.x*blockDim.x + threadIdx.x*2]": ((256, 1, 1), 4, [32, 2, 2, 8, 2, 8, 8], "2", "2 elements (8 B)"),
    "a[threadIdx.x + 1]": ((32, 1, 1), 4, [32, 3, 2, 5, 2, 5, 5], "1", "multiples of only 4 B"),
    "a[threadIdx.x + 8]": ((32, 1, 1), 4, [32, 3, 2, 4, 2, 4, 4], "1", "multiples of only 32 B"),
    "a[blockIdx.x]": ((64, 1, 1), 4, [32, 2, 1, 1, 1, 1, 1], "0", "the same element"),
    "a[threadIdx.x * n + threadIdx.y]": ((16, 16, 1), 4, [32, 32, 16, 16, 16, 16, 16], "n", "n elements apart"),
    "a[255 - threadIdx.x]": ((256, 1, 1), 4, [32, 2, 1, 4, 1, 4, 4], "-1", "backwards"),
    "v[threadIdx.x]": ((32, 1, 1), 16, [4, 4, 4, 16, 4, 16, 16], "1", "aligned start"),
    "a[threadIdx.y * n + threadIdx.x]": ((16, 16, 1), 4, [2, 2, 2, 4, 2, 4, 4], "1", "covers 2 rows"),
    "s[threadIdx.x]": ((32, 1, 1), 2, [32, 2, 1, 2, 1, 2, 2], "1", "less than 4 bytes"),
}


@pytest.mark.parametrize("text", CASES)
def test_worked_by_hand(text: str) -> None:
    block, element, expected, slope, reason = CASES[text]
    entry = asked(text, block, element)
    assert counts(entry) == expected
    assert entry.derivative == slope
    assert reason in entry.reason


def test_the_papers_algorithms() -> None:
    """Algorithm 1: words of 4, 8 or 16 bytes, step 1, half-warps at multiples of 16. Algorithm 2: step and offset."""

    def paper(text: str, element: int = 4) -> tuple[bool, int, int]:
        said = asked(text, (64, 1, 1), element).hong_kim_2009
        return (
            said.algorithm_1.coalesced,
            said.algorithm_2.transactions_per_half_warp,
            said.algorithm_2.transactions_per_warp,
        )

    assert paper("a[threadIdx.x]") == (True, 1, 1)
    assert paper("a[threadIdx.x * 2]") == (False, 1, 1)  # 16 x 2 x 4 B = 128 B: one segment
    assert paper("a[threadIdx.x * 4]") == (False, 2, 4)
    assert paper("a[threadIdx.x + 1]") == (False, 2, 4)  # one more for the offset
    assert paper("a[threadIdx.x * 1000]") == (False, 16, 32)  # no more than one each
    assert paper("a[threadIdx.x]", 16) == (True, 2, 4)
    assert paper("a[threadIdx.x]", 2) == (False, 1, 1)
    assert "one known step" in asked("a[threadIdx.x ^ 3]").hong_kim_2009.reason
    assert asked("a[blockIdx.x * 24 + threadIdx.x]", (32, 1, 1)).hong_kim_2009.half_warps_aligned is False


def test_subscripts_and_shapes() -> None:
    known = asked("t[blockIdx.y][threadIdx.y][threadIdx.x]", (32, 8, 1), shape=(8, 32))
    assert counts(known) == [2, 2, 1, 4, 1, 4, 4]
    assert asked("t[threadIdx.x][threadIdx.y]", (32, 8, 1), shape=(33,)).derivative == "33"
    assert asked("t[threadIdx.x][threadIdx.y]", (32, 8, 1)).derivative == "row1"


@pytest.mark.parametrize(
    "text, shape, wavefronts, reason",
    [
        ("t[threadIdx.x][threadIdx.y]", (32,), [32, 32, 16, 32], "only 1 of 32 banks"),
        ("t[threadIdx.x][threadIdx.y]", (33,), [2, 1, 1, 1], "no two lanes"),
        ("t[threadIdx.x * 2]", (), [4, 2, 1, 2], "only 16 of 32 banks"),
        ("t[threadIdx.y]", (), [2, 1, 1, 1], "no two lanes"),
    ],
)
def test_banks_of_shared_memory(text: str, shape: tuple[int, ...], wavefronts: list[int], reason: str) -> None:
    entry = asked(text, (32, 8, 1), shape=shape, space="shared")
    assert [rule.wavefronts_per_request for rule in entry.rules] == wavefronts
    assert reason in entry.reason
    assert entry.hong_kim_2009 is None


def test_one_gpu_has_its_own_rules() -> None:
    assert [rule.compute_capability for rule in asked("a[threadIdx.x]", arch=13).rules] == ["1.2, 1.3"]
    assert len(asked("a[threadIdx.x]", arch=35).rules) == 2


@pytest.mark.parametrize(
    "text, values, sentence",
    [
        ("a[idx[threadIdx.x]]", {}, "takes an index from memory"),
        ("a[f(threadIdx.x)]", {}, "not integer arithmetic"),
        ("a[threadIdx.x if 1 else 2]", {}, "not integer arithmetic"),
        ("a[1.5]", {}, "not integer arithmetic"),
        ("a[True]", {}, "not integer arithmetic"),
        ("a[threadIdx.w]", {}, "not integer arithmetic"),
        ("a[", {}, "is not an index expression"),
        ("", {}, "is not an index expression"),
        ("a[010]", {}, "is not an index expression"),
        ("a\0[1]", {}, "is not an index expression"),
        ("(a+1)[threadIdx.x]", {}, "does not begin with the name of an array"),
        ("a[threadIdx.x / n]", {}, "depends on an unknown value"),
        ("a[threadIdx.x / n]", {"n": 0}, "divides by zero"),
        ("a[threadIdx.x << n]", {"n": 99}, "shifts by less than 0 or more than 31"),
        ("a[" + "-" * 500 + "1]", {}, "At most 400 are read"),
        ("a[" + "(" * 190 + "1" + ")" * 190 + "]", {"n": 1}, None),
        ("a[" + "~" * 390 + "n]", {"n": 1}, None),
        ("a[(n+m+k+p+q)*(n+m+k+p+q)]", {}, "too many terms"),
        ("a[" + "9" * 300 + "]", {}, "not integer arithmetic"),
        ("__import__('os').system('x')", {}, "not integer arithmetic"),
    ],
)
def test_refusals(text: str, values: dict[str, int], sentence: str | None) -> None:
    if sentence is None:
        assert asked(text, values=values).rules
        return
    with pytest.raises(CommandError) as refused:
        asked(text, values=values)
    assert sentence in str(refused.value)


@given(st.text("a[]()threadIdx.x+-*/%&|^~<> 0123456789,", max_size=30))
def test_any_text_is_answered_or_refused(text: str) -> None:
    with suppress(CommandError):
        assert asked(text).rules


# ------------------------------------------------------------------------------ the command


def ask(*words: str) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["coalescing", *words])
    return done.exit_code, done.output


def test_the_command_answers_in_text_and_json() -> None:
    code, said = ask("a[blockIdx.x*blockDim.x + threadIdx.x*2]", "--gpu", "gtx280")
    assert code == 0
    assert "1.2, 1.3" in said
    assert "not coalesced" in said
    assert "2.x" not in said
    assert max(map(len, said.splitlines())) <= 80
    code, said = ask("t[threadIdx.x][n]", "--shape", "8,33", "--where", "n=3", "--shared", "--format", "json")
    assert code == 0
    assert json.loads(said)["space"] == "shared"


@pytest.mark.parametrize(
    "words",
    [
        ("a[threadIdx.x]", "--block", "2000"), ("a[threadIdx.x]", "--block", "0"), ("a[threadIdx.x]", "--where", "n"),
        ("a[threadIdx.x]", "--shape", "x"), ("a[threadIdx.x]", "--element", "12"), ("a[threadIdx.x]", "--gpu", "no"),
        ("a[threadIdx.x / n]",), ("a[",), (),
    ],
)  # fmt: skip
def test_wrong_words_end_with_2(words: tuple[str, ...]) -> None:
    code, said = ask(*words)
    assert code == 2
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "words, said",
    [
        (["tx * 2 + ty"], "Assumed to be the same in all threads: tx and ty."),
        (["a[min(threadIdx.x, m) + warpSize * n]"], "Assumed to be the same in all threads: m and n."),
        (["a[threadIdx.x * n]", "--where", "n=4"], None),
    ],
)
def test_names_without_a_value_are_said_to_be_the_same_in_all_threads(words: list[str], said: str | None) -> None:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["coalescing", *words])
    assert done.exit_code == 0
    assert (said in done.stdout) if said else ("Assumed to be the same" not in done.stdout)
