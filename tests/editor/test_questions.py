"""What a source asks about itself."""

import pytest

from warpbound.editor.questions import Question, questions
from warpbound.errors import CommandError


def asked(text, tmp_path, *, launch_file=False, gpu=None):
    beside = tmp_path / "kernel.toml"
    if launch_file:
        beside.write_text("")
    return [(question.line, " ".join(question.words)) for question in questions(text, beside, gpu)]


def test_lines_that_follow_each_other_are_one_question(tmp_path):
    text = "// warpbound: --gpu h200 --grid 4\n  //warpbound: --block 256\n\n"
    text += "// warpbound: --gpu l4 --grid 1 --block 32\n"
    assert asked(text, tmp_path) == [(2, "--gpu h200 --grid 4 --block 256"), (4, "--gpu l4 --grid 1 --block 32")]


def test_other_comments_ask_nothing(tmp_path):
    assert asked("// warpbound is a tool\nint x; // warpbound: --gpu h200\n", tmp_path) == []


def test_a_launch_file_beside_serves_questions_without_a_launch(tmp_path):
    beside = tmp_path / "kernel.toml"
    text = "// warpbound: --gpu l4\n\n// warpbound: --gpu l4 --grid 1 --block 32\n"
    assert asked(text, tmp_path, launch_file=True) == [
        (1, f"--gpu l4 --launch {beside}"), (3, "--gpu l4 --grid 1 --block 32"),
    ]  # fmt: skip
    assert asked("", tmp_path, launch_file=True, gpu="l4") == [(0, f"--launch {beside}")]


def test_the_board_of_the_server_is_used_where_none_is_named(tmp_path):
    assert asked("", tmp_path, gpu="l4") == [(0, "--gpu l4")]
    assert asked("// warpbound: --clock base", tmp_path, gpu="l4") == [(1, "--clock base --gpu l4")]
    assert asked("// warpbound: --gpu=h200", tmp_path, gpu="l4") == [(1, "--gpu=h200")]
    assert questions("", tmp_path / "none.toml", None) == []


def test_quoted_words_stay_together(tmp_path):
    beside = tmp_path / "none.toml"
    (question,) = questions("// warpbound: --gpu l4 --kernel 'scale<float, 4>'", beside, None)
    assert question == Question(1, ("--gpu", "l4", "--kernel", "scale<float, 4>"))
    with pytest.raises(CommandError, match="line 1"):
        questions("// warpbound: --kernel 'scale", beside, None)
