"""L2 keeps lines by priority: against a cache that replaces by priority, access by access; shares; refusals."""

from collections import OrderedDict

import numpy as np
import pytest

import warpbound
from support.handmade_traces import IN, LANE, program, trace
from warpbound.analysis.case import checked_case
from warpbound.analysis.settings import Settings
from warpbound.errors import InputError
from warpbound.kernel_argument import parse_argument
from warpbound.memory.hierarchy import Facts
from warpbound.memory.l2_priorities import PERSISTING, STREAMED, USUAL, competing, keepable, set_aside_bytes, shares
from warpbound.memory.traffic import How, traffic

L2_LINES, TABLE, STREAM, ROUNDS = 64, 40, 400, 6
BOARD = Facts(75, 1, 1, 0, L2_LINES * 128)
FAR = IN + (1 << 24)
ARRAYS = (("table", IN, 128 * TABLE), ("stream", FAR, 128 * STREAM))


def one_line(index, at):
    return ("global", index, at + 4 * LANE, None)


def table_and_stream(block, warp):
    """Each entry of the table ROUNDS times, in between lines of the stream, each once."""
    table = iter([i % TABLE for i in range(ROUNDS * TABLE)])
    for line in range(STREAM):
        yield one_line(1, FAR + 128 * line)
        if (entry := next(table, None)) is not None:
            yield one_line(0, IN + 128 * entry)


def dram_lines(loads, persisting=None, method="estimate"):
    run = trace([0], 1, 1, lambda *each: list(table_and_stream(*each)))
    run = type(run)(**{**run.__dict__, "arrays": ARRAYS})
    found = traffic(program(*loads), run, BOARD, How("cold", method, persisting=persisting))
    return found.dram_bytes_read / 128


def by_definition(priority_of):
    """Misses of an L2 that always replaces the oldest line of the lowest priority."""
    held, misses = {level: OrderedDict() for level in (STREAMED, USUAL, PERSISTING)}, 0
    for _, index, addresses, _ in table_and_stream(0, 0):
        line, level = int(addresses[0]) // 128, priority_of[index]
        if line in held[level]:
            held[level].move_to_end(line)
            continue
        misses += 1
        if sum(map(len, held.values())) == L2_LINES:
            next(lines for lines in held.values() if lines).popitem(last=False)
        held[level][line] = None
    return misses


@pytest.mark.parametrize("method", ["estimate", "exact"])
def test_a_table_stays_in_l2_only_where_the_stream_may_not_replace_it(method):
    usual = dram_lines(("LDG.E", "LDG.E"), method=method)
    assert usual == by_definition((USUAL, USUAL)) == STREAM + ROUNDS * TABLE
    for loads, persisting, priority in (
        (("LDG.E", "LDG.E.EF"), None, (USUAL, STREAMED)), (("LDG.E", "LDG.E"), "table", (PERSISTING, USUAL)),
    ):  # fmt: skip
        assert dram_lines(loads, persisting, method) == by_definition(priority) == STREAM + TABLE


def test_nothing_changes_where_everything_fits_or_all_is_streamed():
    lines, priority = np.array([20.0, 30.0, 0.0]), np.array([USUAL, STREAMED, USUAL])
    assert (shares(lines, 100.0, priority)[:2] == (1.0, 0.8)).all()
    assert (competing(lines, priority, shares(lines, 100.0, priority)) <= 100).all()
    assert competing(lines, np.zeros(3, int), np.ones(3)) == 50
    assert dram_lines(("LDG.E.EF", "LDG.E.EF")) == dram_lines(("LDG.E", "LDG.E"))


def test_each_priority_gets_what_those_above_leave():
    lines, priority = np.array([30.0, 50.0, 500.0, 0.0]), np.array([PERSISTING, USUAL, STREAMED, USUAL])
    assert shares(lines, 100.0, priority).tolist() == [1.0, 0.7, pytest.approx(0.2), 0.7]
    assert shares(lines, 60.0, priority).tolist() == [1.0, 0.5, 1 / 16, 0.5]


def launch(**words):
    args = [parse_argument(word) for word in ("table=f32[4000000]", "n=5")]
    return warpbound.launch(grid=1, block=32, args=args, **words)


@pytest.mark.parametrize(
    ("gpu", "name", "sentence"),
    [("a100-sxm-40gb", "tabel", "no array 'tabel'"), ("a100-sxm-40gb", "n", "no array 'n'"),
     ("rtx-3090", "table", "16000000 bytes; at most 4718592"), ("t4", "table", "8.0 is the first")],
)  # fmt: skip
def test_what_cannot_persist_is_refused(gpu, name, sentence):
    board = warpbound.gpu(gpu)
    code = program("LDG.E", arch=board.arch)
    with pytest.raises(InputError, match=sentence):
        checked_case(code, board, launch(persist=name), Settings())


def test_arrays_are_kept_only_where_l2_does_not_hold_all():
    board = warpbound.gpu("a100-sxm-40gb")
    assert set_aside_bytes(board) == 31457280  # cudaDeviceProp::persistingL2CacheMaxSize of an A100
    assert keepable(board, {"a": 10 << 20, "b": 20 << 20}) == {}
    sizes = {"a": 10 << 20, "b": 20 << 20, "c": 40 << 20, "d": 1 << 20}
    assert list(keepable(board, sizes)) == ["b", "a"]
