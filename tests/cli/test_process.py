"""The command line as a process: its streams, its encoding, the folder it stands in."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT
from warpbound.cli import output

SAXPY = ROOT / "examples" / "saxpy.cu"
WARPBOUND = (sys.executable, "-m", "warpbound")
ANSWERED, FAILED = 0, 1


def run(*words: str, **settings: Any) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([*WARPBOUND, *words], capture_output=True, check=False, **settings)


def in_shell(words: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(f"{shlex.join(WARPBOUND)} {words}", shell=True, capture_output=True, check=False)


def one_sentence(said: "subprocess.CompletedProcess[bytes]", fragment: str) -> bool:
    text = said.stderr.decode()
    is_ours = "internal error" in text
    return text.startswith("warpbound: ") and fragment in text and not is_ours and text.count("\n") == 1


def test_an_encoding_that_lacks_letters() -> None:
    said = run("gpus", "h200", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (said.returncode, said.stderr) == (ANSWERED, b"")
    assert said.stdout.isascii()


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell closes the streams")
def test_streams_that_are_closed() -> None:
    assert in_shell("models >&-").returncode == ANSWERED
    assert in_shell("models nope 2>&-").returncode == 2
    said = in_shell("analyze - --gpu h200 <&-")
    assert said.returncode == FAILED
    assert one_sentence(said, "Standard input is closed.")


@pytest.mark.cuda
def test_an_answer_loads_no_slow_module_that_it_does_not_need(tmp_path: Path) -> None:
    tiled = SAXPY.with_name("matmul_tiled.cu")
    words = ("analyze", str(tiled), "--launch", str(tiled.with_suffix(".toml")))
    settings = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPROFILEIMPORTTIME": "1"}
    said = run(*words, env=settings).stderr.decode()
    loaded = {line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")}
    assert {"warpbound.analysis.sampled", "numpy"} <= loaded
    assert not loaded & {"numpy.ma", "statistics", "warpbound.report.html"}


def test_the_end_of_a_process_does_not_look_for_garbage() -> None:
    code = "import atexit, gc, warpbound.cli; atexit._run_exitfuncs(); print(gc.get_freeze_count() > 1000)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split() == [b"True"]


def test_triton_finds_no_leaks_at_the_end_of_a_process() -> None:
    """Its bindings list what Python has not collected."""
    pytest.importorskip("triton")
    file = ROOT / "examples" / "triton" / "softmax"
    done = run("analyze", f"{file}.py:softmax", "--launch", f"{file}.toml", "--grid", "8")
    assert (done.returncode, b"leak" in done.stderr) == (ANSWERED, False), done.stderr


@pytest.mark.cuda
def test_a_curve_has_the_models_that_are_asked_for() -> None:
    words = ("curve", str(SAXPY), "--launch", str(SAXPY.with_suffix(".toml")), "--models", "volkov_2016,campprof_2011")
    entry = json.loads(run(*words, "--format", "json").stdout)["results"][0]
    said = entry["models"]["volkov_2016"]
    assert len(said["time_s"]) == len(said["bottleneck"]) == len(entry["warps_per_sm"])
    assert said["time_s"] == sorted(said["time_s"], reverse=True)
    assert said["time_s"][0] / said["time_s"][1] == pytest.approx(2, rel=0.01)  # latency binds both
    assert entry["models"]["campprof_2011"]["time_s"] == [None] * len(entry["warps_per_sm"])
    assert "partitions" in entry["models"]["campprof_2011"]["reason"]
    for columns in ("40", "80"):
        text = run(*words, env=os.environ | {"COLUMNS": columns}).stdout.decode()
        assert "64 warps" in text
        assert "volkov_2016" in text
        assert ("8 warps" in text.replace("48 warps", "")) == (columns == "80")
    refused = run(*words, "--format", "html")
    assert refused.returncode == 2
    assert one_sentence(refused, "--models works with --format text or json")


def test_lists_are_json_where_that_is_asked() -> None:
    listed = json.loads(run("validate", "--list", "--format", "json").stdout)
    assert {"streams", "caches"} <= {one["name"] for one in listed}


def test_a_word_that_is_no_scenario() -> None:
    assert one_sentence(run("simulate", "zzz"), "'zzz' is neither a file nor a scenario.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk(form: str) -> None:
    said = in_shell(f"models --format {form} >/dev/full")
    assert said.returncode == FAILED
    assert one_sentence(said, "the answer cannot be written (No space left on device)")


@pytest.mark.cuda
@pytest.mark.skipif(os.name != "posix", reason="elsewhere the folder cannot be removed")
def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    asked = ("analyze", str(SAXPY), "--gpu", "h200")
    said = run(*asked).stdout
    gone = tmp_path / "gone"
    gone.mkdir()
    place = shlex.quote(str(gone))
    command = f"cd {place} && rmdir {place} && {shlex.join([*WARPBOUND, *asked])}"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert done.stdout == said or one_sentence(done, "the current folder is gone.")


def heard(capsys: pytest.CaptureFixture[str], lines: int) -> str:
    """What stands on stderr once there are so many lines, however busy the machine."""
    said, end = "", time.monotonic() + 120
    while said.count("\n") < lines and time.monotonic() < end:
        time.sleep(0.01)
        said += capsys.readouterr().err
    return said


def test_a_long_step_is_named_while_it_lasts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "SILENCE", 0.05)
    monkeypatch.setattr(output, "AGAIN", 600.0)
    titled = iter(output.with_progress([("the long one", 1), ("the next", 2)]))
    assert next(titled) == 1
    assert heard(capsys, 1) == "warpbound: the long one ...\n"
    titled.close()


def test_short_work_is_done_without_a_word(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "SILENCE", 600.0)
    before = set(threading.enumerate())
    assert list(output.with_progress((f"{step}", step) for step in range(3))) == [0, 1, 2]
    for told in set(threading.enumerate()) - before:
        told.join(120)  # the thread of a step ends with it, not with the silence
        assert not told.is_alive()
    assert capsys.readouterr().err == ""


def test_a_step_that_lasts_is_named_again_with_its_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "SILENCE", 0.05)
    monkeypatch.setattr(output, "AGAIN", 1.0)
    before = set(threading.enumerate())
    titled = iter(output.with_progress([("the long one", 1)]))
    next(titled)
    said = heard(capsys, 2)
    assert next(titled, None) is None
    for told in set(threading.enumerate()) - before:
        told.join(120)
        assert not told.is_alive()  # it says nothing any more
    said += capsys.readouterr().err
    assert re.fullmatch(r"warpbound: the long one \.\.\.\n(warpbound: the long one \.\.\. [1-9]\d* s\n)+", said)


@pytest.mark.parametrize("off", ["0", "1"])
def test_a_long_simulation_says_what_would_make_it_quick(off: str) -> None:
    words = ("simulate", "family", "--gpu", "gtx680", "--alpha", "0", "--warps", "1:1")
    said = run(*words, env=os.environ | {"NUMBA_DISABLE_JIT": off})
    assert said.returncode == ANSWERED, said.stderr
    assert ("warpbound[simulate]" in said.stderr.decode()) == (off == "1")
