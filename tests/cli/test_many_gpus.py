"""Many GPUs are divided among processes: the same entries in the same order, and the same errors."""

import os
from types import SimpleNamespace

import pytest

from warpbound.analysis.settings import DEFAULT
from warpbound.cli import request as requests
from warpbound.errors import InputError
from warpbound.result.refusal import Refusal

BOARDS = [f"board-{number}" for number in range(2 * requests.STEPS_EACH + 1)]
REFUSED = {"board-2", "board-3"}  # one for each process


@pytest.fixture
def of_many(monkeypatch):
    """A request of all boards, of which no kernel has to be compiled."""
    monkeypatch.setattr(requests, "programs", lambda source, board, kernel, options: [SimpleNamespace(title="scale")])
    monkeypatch.setattr(requests, "replace", lambda record, **changes: record)
    return SimpleNamespace(
        sources=(b"",), gpus=[SimpleNamespace(key=name) for name in BOARDS], compilers=("auto",), kernel=None,
        launch=None, settings=DEFAULT, options=None,
    )  # fmt: skip


def answer(program, board, launch, settings):
    if board.key in REFUSED:
        raise InputError(f"{board.key} refuses.", "Take another.")
    return board.key, os.getpid()


def steps_of(named):
    return [step for _, step in named]


@pytest.mark.parametrize("processors", [1, 2])
def test_entries_in_the_order_of_the_boards(of_many, monkeypatch, processors):
    monkeypatch.setattr(requests, "processors", lambda: processors)
    results = requests.answer_each(of_many, answer, steps_of)
    names = [result.gpu if isinstance(result, Refusal) else result[0] for result in results]
    assert names == BOARDS
    assert {result.gpu for result in results if isinstance(result, Refusal)} == REFUSED
    assert len({result[1] for result in results if not isinstance(result, Refusal)}) == processors


def test_a_process_that_dies_is_replaced(of_many, monkeypatch):
    monkeypatch.setattr(requests, "processors", lambda: 2)
    parent = os.getpid()

    def dies(program, board, launch, settings):
        if os.getpid() != parent:
            os._exit(1)
        return board.key

    assert requests.answer_each(of_many, dies, steps_of) == BOARDS


def test_the_first_error_where_no_board_answers(of_many, monkeypatch):
    monkeypatch.setattr(requests, "processors", lambda: 2)

    def refuses(program, board, launch, settings):
        raise InputError(f"{board.key} refuses.", "Take another.")

    with pytest.raises(InputError) as problem:
        requests.answer_each(of_many, refuses, steps_of)
    assert (problem.value.reason, problem.value.hint) == ("board-0 refuses.", "Take another.")
