"""Words on the command line that cannot be meant: one sentence each, and the way out."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import COMMAND, FAILED, LAUNCH, SAXPY, as_process, ask, assert_refused
from warpbound.cli import COMMANDS

pytestmark = pytest.mark.cuda


MALFORMED = [
    *((*LAUNCH[:1], word, *LAUNCH[2:]) for word in ("0", "-1", "a", "1,2,3,4", "1.5", "1,,2", "99999999999", "1e3")),
    *((*LAUNCH[:3], word) for word in ("0", "x", "32,0", "1025")),
    *((*LAUNCH, "--arg", word) for word in ("", "n", "n=", "=3", "n=x", "n=f32", "n=f32[", "n=f32[0]", "n=f32[9]:huh")),
    *(("--set", word) for word in ("", "a", "a=b", "sm_count=0", "sm_count=nan", "nope=3", "=3", "a100:sm_count=5")),
    *(("--clock", word) for word in ("", "fast", "-5", "0", "nan", "inf")),
    *(("--define", word) for word in ("", "=3", "a b=3", "3=4")),
    ("--grid", "1"),
    ("--block", "32"),
    ("--smem", "5"),
    (*LAUNCH, "--smem", "-1"),
    (*LAUNCH, "--smem", "999999"),
    (*LAUNCH, "--cluster", "99"),
    ("--cache", "hot"),
    ("--models", "nope"),
    ("--format", "xml"),
    ("--nonsense",),
]


@pytest.mark.parametrize("words", MALFORMED, ids=" ".join)
def test_malformed_words(words: tuple[str, ...]) -> None:
    assert_refused(ask("analyze", SAXPY, "--gpu", "h200", *words), COMMAND)


@pytest.mark.parametrize(
    "words, fragment",
    [
        ((*LAUNCH, "--arg", "zzz=3"), "no parameter 'zzz'"),
        ((*LAUNCH, "--arg", "9=3"), "4 parameters"),
        ((*LAUNCH, "--arg", "x=@nope.npy"), "'nope.npy' does not exist"),
        (("--launch", "nope.toml"), "nope.toml"),
        (("--nvrtc", "--nonsense"), "--nonsense"),
        (("--nvrtc", "-arch=sm_80"), "the GPU is sm_90"),
        (("--nvrtc", "--ptx"), "saxpy.cu"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_that_do_not_fit_the_kernel(words: tuple[str, ...], fragment: str) -> None:
    assert_refused(ask("analyze", SAXPY, "--gpu", "h200", *words), FAILED, fragment)


def test_a_misspelled_command_is_answered_with_the_nearest_one() -> None:
    assert_refused(ask("analyse", SAXPY), COMMAND, "Did you mean 'analyze'?")
    assert_refused(ask("saxpy.cu", "--gpu", "h200"), COMMAND, "Did you mean 'analyze saxpy.cu'?")


def test_the_list_of_commands_cuts_no_sentence_off() -> None:
    """At 80 columns."""
    lines = ask("--help").out.partition("Commands:")[2].partition("Examples:")[0].strip().splitlines()
    assert len(lines) == len(COMMANDS)
    assert [line for line in lines if line.endswith("...")] == []


@pytest.mark.parametrize("words", [(), ("campprof",)])
def test_a_command_is_missing(words: tuple[str, ...]) -> None:
    said = ask(*words)
    assert (said.code, said.out) == (COMMAND, "")
    assert said.err.startswith("Usage: ")
    assert "See `warpbound" not in said.err


@pytest.mark.parametrize(
    "words",
    [
        ("analyze",),
        ("nope",),
        ("occupancy",),
        ("occupancy", "--gpu", "h200", "--block", "2000", "--registers", "32"),
        ("occupancy", "--gpu", "h200", "--block", "x", "--registers", "32"),
        ("models", "nope"),
        ("gpus", "nope"),
        ("reproduce", "hong_kim_2009:fig-21", "-o", "text.svg"),
    ],
    ids=" ".join,
)
def test_other_commands(words: tuple[str, ...]) -> None:
    assert_refused(ask(*words), COMMAND)


@pytest.mark.parametrize(
    "words, stdin, code",
    [
        (("analyze", "nope.cu", "--gpu", "h200"), b"", FAILED),
        (("analyze", "-", "--gpu", "h200"), b"", FAILED),
        (("analyze", "-", "--gpu", "h200"), b"\x7fELF" + b"\0" * 100, FAILED),
        (("analyze", "-", "--gpu", "h200"), b"__global__ void k( {", FAILED),
        (("analyze", SAXPY, "--gpu", "h201"), b"", COMMAND),
        (("analyze", SAXPY, "--gpu", "h200", "--grid", "x"), b"", COMMAND),
    ],
)
def test_as_a_process(words: tuple[str, ...], stdin: bytes, code: int) -> None:
    assert_refused(as_process(*words, stdin=stdin), code)


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from warpbound.cli import main; main()' gpus h200 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
