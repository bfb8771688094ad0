"""An answer from the disk is that of the same question: what is asked again is not computed, all else is."""

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from support.paths import EXAMPLES
from support.sass_listing import PLAIN, kernel
from warpbound.analysis import answer as computing
from warpbound.analysis import answer_cache
from warpbound.analysis.answer_cache import PLACE, answer
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.cli import main
from warpbound.cli.analysis import answers
from warpbound.disk_cache import folder
from warpbound.kernel_launch import Launch, launch
from warpbound.machine import gpu, override
from warpbound.program.kernel import Program
from warpbound.report import text

BOARD = gpu("a40")
EMPTY = kernel(PLAIN.format(5, "EXIT"))
LAUNCH = launch(grid=84, block=128)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Settings]:
    """The settings of all answers that are computed; nothing is on the disk before."""
    settings_of_each: list[Settings] = []
    compute = computing.analyze_kernel

    def counting(program: Program, board: Any, own: Launch | None, settings: Settings) -> Any:
        settings_of_each.append(settings)
        return compute(program, board, own, settings)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(computing, "analyze_kernel", counting)
    return settings_of_each


def on_disk() -> list[Path]:
    return list((folder() / PLACE).iterdir())


@pytest.mark.parametrize("own", [LAUNCH, None], ids=["launch", "code alone"])
def test_the_same_question_is_computed_once(computed: list[Settings], own: Launch | None) -> None:
    first = answer(EMPTY, BOARD, own)
    assert answer(EMPTY, "A40", own) == first == computing.analyze_kernel(EMPTY, BOARD, own, DEFAULT)
    assert len(computed) == 1 + 1


OTHERS = {
    "code": (kernel(PLAIN.format(6, "EXIT")), BOARD, LAUNCH, DEFAULT),
    "source": (replace(EMPTY, source="__global__ void k() { }"), BOARD, LAUNCH, DEFAULT),
    "board": (EMPTY, gpu("rtx-3090"), LAUNCH, DEFAULT),
    "parameter of the board": (EMPTY, override(BOARD, {"boost_clock": 1500.0}), LAUNCH, DEFAULT),
    "grid": (EMPTY, BOARD, launch(grid=85, block=128), DEFAULT),
    "no launch": (EMPTY, BOARD, None, DEFAULT),
    "caches": (EMPTY, BOARD, LAUNCH, Settings(cache="cold")),
    "clock": (EMPTY, BOARD, LAUNCH, Settings(clock=1000.0)),
    "power limit": (EMPTY, BOARD, LAUNCH, Settings(power_limit_W=200.0)),
    "models": (EMPTY, BOARD, LAUNCH, Settings(models=("hong_kim_2009",))),
    "SASS": (EMPTY, BOARD, LAUNCH, Settings(views=("sass",))),
}


@pytest.mark.parametrize("question", OTHERS.values(), ids=OTHERS)
def test_another_question_is_another_answer(computed: list[Settings], question: tuple[Any, ...]) -> None:
    answer(EMPTY, BOARD, LAUNCH)
    assert answer(*question) == computing.analyze_kernel(*question)
    assert len(computed) == 2 + 1


def test_views_that_need_nothing_more_share_an_answer(computed: list[Settings]) -> None:
    for view in set(text.VIEWS) - set(answer_cache.DECIDING_VIEWS):
        answer(EMPTY, BOARD, LAUNCH, Settings(views=(view,)))
    assert len(computed) == 1


def test_no_view_beside_the_deciding_ones_changes_an_answer() -> None:
    plain = computing.analyze_kernel(EMPTY, BOARD, LAUNCH, DEFAULT)
    for view in set(text.VIEWS) - set(answer_cache.DECIDING_VIEWS):
        assert computing.analyze_kernel(EMPTY, BOARD, LAUNCH, Settings(views=(view,))) == plain


def test_an_array_that_changes_on_disk_is_another_question(computed: list[Settings], tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.zeros(64, "f4"))
    array = launch(grid=84, block=128, args={"x": f"@{file}"}).args
    names = []
    for moment in (1, 2):
        os.utime(file, ns=(moment, moment))
        names.append(answer_cache._name(EMPTY, BOARD, replace(LAUNCH, args=array), DEFAULT))
    assert None not in names
    assert names[0] != names[1]
    assert answer_cache._name(EMPTY, BOARD, replace(LAUNCH, args=array), DEFAULT) == names[1]


def test_what_was_computed_of_the_code_does_not_change_its_name() -> None:
    fresh = kernel(PLAIN.format(5, "EXIT"))
    before = answer_cache._name(fresh, BOARD, LAUNCH, DEFAULT)
    assert fresh.flow.blocks
    assert fresh.register_sets
    assert fresh.bank_reads
    assert answer_cache._name(fresh, BOARD, LAUNCH, DEFAULT) == before


def test_memory_of_a_running_program_has_no_name() -> None:
    assert answer_cache._name(EMPTY, BOARD, replace(LAUNCH, placed=lambda program, own: None), DEFAULT) is None


def test_an_answer_that_time_has_cut_short_is_not_kept(computed: list[Settings]) -> None:
    late = Settings(ends_s=time.thread_time())
    for _ in range(2):
        answer(EMPTY, BOARD, None, late)
    assert len(computed) == 2
    for _ in range(2):  # that time is for the code alone: a launch whose blocks were executed does not depend on it
        assert answer(EMPTY, BOARD, LAUNCH, late).mode == "dynamic"
    assert len(computed) == 3


def test_a_launch_that_could_not_be_executed_is_tried_again(computed: list[Settings]) -> None:
    endless = kernel(f"label:\n{PLAIN.format(5, 'BRA `(label)')}\n{PLAIN.format(5, 'EXIT')}")
    for _ in range(2):
        assert answer(endless, BOARD, LAUNCH, Settings(patience_s=0.01)).not_executed
    assert len(computed) == 2


def test_a_damaged_answer_is_computed_again(computed: list[Settings]) -> None:
    first = answer(EMPTY, BOARD, LAUNCH)
    (file,) = on_disk()
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert answer(EMPTY, BOARD, LAUNCH) == first
    assert len(computed) == 2


def test_the_answers_that_rested_longest_make_room(computed: list[Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = (1000.0, 1100.0, 1200.0)
    for clock in clocks:
        answer(EMPTY, BOARD, LAUNCH, Settings(clock=clock))
    now = time.time()
    for age, clock in enumerate(clocks):  # the first was asked for last
        name = answer_cache._name(EMPTY, BOARD, LAUNCH, Settings(clock=clock))
        os.utime(folder() / PLACE / str(name), (now - age, now - age))
    monkeypatch.setattr(answer_cache, "MOST_B", sum(file.stat().st_size for file in on_disk()))
    answer(EMPTY, BOARD, LAUNCH, Settings(clock=1300.0))
    assert len(on_disk()) == 3
    answer(EMPTY, BOARD, LAUNCH, Settings(clock=clocks[0]))
    assert len(computed) == 4
    answer(EMPTY, BOARD, LAUNCH, Settings(clock=clocks[2]))
    assert len(computed) == 5


def test_a_changed_file_of_the_package_is_another_identity(tmp_path: Path) -> None:
    def files() -> list[tuple[str, tuple[int, int]]]:
        return sorted(answer_cache._files(str(tmp_path), len(str(tmp_path))))

    (tmp_path / "isa").mkdir()
    (tmp_path / "isa" / "traits.py").write_text("one", encoding="utf-8")
    (tmp_path / "__pycache__").mkdir()
    before = files()
    (tmp_path / "__pycache__" / "traits.pyc").write_text("compiled", encoding="utf-8")
    assert files() == before
    os.utime(tmp_path / "isa" / "traits.py", ns=(1, 1))
    assert files() != before


@pytest.mark.cuda
def test_the_terminal_shows_the_same(computed: list[Settings]) -> None:
    words = ["analyze", str(EXAMPLES / "saxpy.cu"), "--launch", str(EXAMPLES / "saxpy.toml")]
    texts, documents = ([CliRunner().invoke(main, [*words, "--format", form]).stdout for _ in range(2)]
                        for form in ("text", "json"))  # fmt: skip
    assert "saxpy" in texts[0]
    assert texts[0] == texts[1]
    plain = answers(words[1:])[0]
    computed.clear()
    shutil.rmtree(folder() / PLACE)
    assert answers(words[1:])[0] == plain
    assert CliRunner().invoke(main, [*words, "--format", "json"]).stdout == documents[0] == documents[1]
    assert len(computed) == 1
