"""Programs of our own, built by nvcc, run to their own end on emulated GPUs."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.command_line import ANSWERED, FAILED, Said, as_process, assert_refused
from support.paths import ROOT
from warpbound.report.document import schema

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(shutil.which("nvcc") is None or shutil.which("cc") is None, reason="needs nvcc and cc"),
]
PROGRAMS = ROOT / "tests" / "support" / "host_programs"


def run(program: str, *arguments: str, gpu: str = "t4", options: tuple[str, ...] = ()) -> tuple[dict[str, Any], Said]:
    """The report of a program as JSON, and what it printed."""
    done = as_process("run", "--gpu", gpu, "--format", "json", *options, "--", str(PROGRAMS / program), *arguments)
    report = json.loads(done.out)
    jsonschema.validate(report, schema("run"))
    return report, done


@pytest.fixture(scope="module")
def vector_add() -> tuple[dict[str, Any], Said]:
    return run("vector_add.cu")


def test_a_program_passes_its_own_check(vector_add: tuple[dict[str, Any], Said]) -> None:
    report, done = vector_add
    assert report["exit_code"] == 0
    assert "passed in" in done.err
    assert 0 < report["execution_s"] < 60
    assert done.code == ANSWERED


def test_events_measure_the_predicted_time(vector_add: tuple[dict[str, Any], Said]) -> None:
    report, done = vector_add
    printed_ms = float(done.err.split("passed in ")[1].split(" ms")[0])
    predicted = [launch["time_s"] for launch in report["launches"]]
    assert printed_ms * 1e-3 == pytest.approx(sum(predicted), rel=1e-6)


def test_equal_launches_are_executed_once(vector_add: tuple[dict[str, Any], Said]) -> None:
    report, _ = vector_add
    assert [launch["executed"] for launch in report["launches"]] == ["all", "repeated", "repeated"]
    (kernel,) = report["kernels"]
    assert (kernel["name"], kernel["launches"], kernel["share"]) == ("add", 3, 1.0)
    assert kernel["time_s"] == pytest.approx(sum(launch["time_s"] for launch in report["launches"]))


def test_a_reduction_with_symbols_streams_and_managed_memory() -> None:
    report, done = run("reduction.cu")
    assert report["exit_code"] == 0, done.err
    assert "passed on Tesla T4 with 40 SMs, 8 blocks each" in done.err
    assert [launch["executed"] for launch in report["launches"]] == ["all", "all"]
    assert report["unsupported"] == []


def test_a_sampled_program_has_times_but_no_results() -> None:
    whole, _ = run("vector_add.cu", "200000")
    sampled, done = run("vector_add.cu", "200000", options=("--execute", "sampled"))
    assert "wrong at" in done.err
    assert sampled["execute"] == "sampled"
    assert [launch["time_s"] for launch in sampled["launches"]] == [launch["time_s"] for launch in whole["launches"]]


def test_a_race_on_shared_memory_is_named_where_it_is_looked_for() -> None:
    report, done = run("race.cu", options=("--check", "races"))
    (problem,) = report["problems"]
    assert problem.startswith("careless: a race on shared memory: line 6 `s[threadIdx.x] = p[threadIdx.x];`, STS, and ")
    assert "line 7 " in problem
    assert done.code == ANSWERED


def test_a_wild_access_is_named_and_what_is_lacking_is_listed() -> None:
    report, done = run("wild_access.cu")
    assert done.err.splitlines()[:2] == ["cudaErrorNotSupported", "cudaErrorIllegalAddress"]
    assert report["unsupported"] == ["cudaIpcGetMemHandle"]
    (problem,) = report["problems"]
    assert "fill, line 6" in problem
    assert "is 0 bytes past the end of allocation 1 of device memory (1000 bytes)" in problem
    assert report["launches"][0]["executed"] == "failed"


def test_a_wild_access_passes_where_the_user_says_so() -> None:
    report, done = run("wild_access.cu", options=("--lenient",))
    assert done.err.splitlines()[:2] == ["cudaErrorNotSupported", "cudaSuccess"]
    (problem,) = report["problems"]
    assert problem.startswith("fill: 6 accesses of single lanes outside every allocation were let through")
    (launch,) = report["launches"]
    assert launch["executed"] == "all"
    assert launch["time_s"] > 0


def test_memory_of_the_device_heap_outlives_a_launch() -> None:
    report, done = run("device_heap.cu")
    assert done.err.splitlines()[:3] == ["cudaSuccess", "sum 21, then 15 MB", "cudaErrorInvalidValue"]
    assert [launch["executed"] for launch in report["launches"]] == ["all"] * 6
    assert all(launch["time_s"] for launch in report["launches"])
    assert report["problems"] == report["unsupported"] == []


def test_textures_and_surfaces_are_read() -> None:
    report, done = run("textures.cu")
    assert done.err.splitlines()[:21] == [
        "line 0 0 11.5", "rows wrong 0", "array wrong 0", f"read back {2 * 0.5 * (2 * 40 + 3):g}",
        "cudaErrorInvalidValue", "cudaErrorNotSupported",
        *(line for kind in ("solid", "layers", "cube")
          for line in (f"{kind} wrong 0", "box 28.5 29 36.5", "cudaErrorInvalidValue")),
        "levels 0 0 1 1 4 4", "levels 0 0 0.5 1.75 4 4",
        "colours 1 0.2159 0.003035 0.2", "colours 0.5 0 0 3", "colours 3 3 0.2 3", "cudaErrorNotSupported",
    ]  # fmt: skip
    assert report["unsupported"] == ["arrays of sparse memory", "border colours of integers"]
    assert [launch["executed"] for launch in report["launches"]] == ["all"] * 10


def test_launches_are_chosen_as_ncu_does() -> None:
    options = ("--kernel-name", "^ad", "--launch-skip", "1", "--launch-count", "1")
    report, _ = run("vector_add.cu", options=options)
    assert [launch["time_s"] is not None for launch in report["launches"]] == [False, True, False]


def test_a_timeline_is_written(tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    report, _ = run("vector_add.cu", options=("--trace", str(out)))
    events = json.loads(out.read_text())["traceEvents"]
    kernels = [event for event in events if event["name"] == "add"]
    assert [event["ph"] for event in kernels] == ["X"] * 3
    assert kernels[1]["ts"] == pytest.approx(kernels[0]["ts"] + kernels[0]["dur"])
    assert kernels[0]["dur"] == pytest.approx(report["launches"][0]["time_s"] * 1e6)


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    assert_refused(as_process("run", "--", str(tmp_path / "none")), FAILED, "There is no program")
    plain = tmp_path / "plain.txt"
    plain.write_text("x")
    assert_refused(as_process("run", "--", str(plain)), FAILED, "not executable")
    broken = tmp_path / "broken.cu"
    broken.write_text("int main() { return undeclared; }")
    assert_refused(as_process("run", "--", str(broken)), FAILED, "broken.cu", "undeclared")
    part = tmp_path / "alone" / "part.cu"
    part.parent.mkdir()
    part.write_text("__global__ void k(int* x) { x[0] = 1; }\n")
    assert_refused(as_process("run", "--", str(part)), FAILED, "has no main function", "warpbound analyze")
    header = tmp_path / "kernels.cuh"
    header.write_text(part.read_text())
    assert_refused(as_process("run", "--", str(header)), FAILED, "is a header, not a program", "warpbound analyze")
    (part.parent / "answer.cpp").write_text("int answer() { return 0; }\n")
    (part.parent / "main.cpp").write_text("int answer();\nint main() { return answer(); }\n")
    assert_refused(as_process("run", "--", str(part)), FAILED, "has no main function")  # that main uses nothing of it
    part.write_text(part.read_text() + "void launch(int* x) { k<<<1, 1>>>(x); }\n")
    calling = "int answer();\nvoid launch(int*);\nint main() { if (answer()) launch(nullptr); }\n"
    (part.parent / "main.cpp").write_text(calling)
    whole = as_process("run", "--", str(part))
    assert whole.code == ANSWERED
    assert "built with what it calls in its folder: main.cpp, answer.cpp" in whole.err
    lacking = tmp_path / "lacking.cu"
    lacking.write_text("#include <opencv2/opencv.hpp>\nint main() {}\n")
    assert_refused(as_process("run", "--", str(lacking)), FAILED, "line 1, includes", "of OpenCV", "apt install")
    lacking.write_text("#include <cublas_v2.h>\nint main() {}\n")
    assert_refused(as_process("run", "--", str(lacking)), FAILED, "executes no cuBLAS", "warpbound analyze")


def test_blocks_that_wait_for_each_other_are_executed_and_timed() -> None:
    report, done = run("grid_barrier.cu")
    assert "passed: 272 of 272" in done.err
    (launch,) = report["launches"]
    assert launch["executed"] == "all"
    assert launch["time_s"] > 0
    assert launch["not_timed"] is None


def test_work_that_is_done_later_is_done_in_order() -> None:
    report, done = run("deferred_work.cu")
    assert done.err.splitlines()[:11] == [
        "host first", "[0, 0] hello 0.00 4000000000 1234567890123 a%", "[0, 1] hello 1.50 4000000000 1234567890123 b%",
        "[1, 0] hello 0.00 4000000000 1234567890123 a%", "[1, 1] hello 1.50 4000000000 1234567890123 b%",
        "recorded 31", f"replayed {31 * 16}", "node cudaSuccess", "again cudaSuccess",
        f"allocated {31 * 64} 1", "cudaErrorAssert",
    ]  # fmt: skip
    assert [launch["kernel"] for launch in report["launches"]] == ["greet", *["twice"] * 6, "check"]
    *_, failed = report["launches"]
    assert failed["time_s"] > 0
    assert "2 threads end where their assertion fails; on a GPU the whole kernel does" in failed["assumed"]
    (problem,) = report["problems"]
    assert "thread (30, 0, 0): an assertion does not hold: `threadIdx.x < n` in void check(int)" in problem


def test_a_page_shows_kernels_and_launches(tmp_path: Path) -> None:
    out = tmp_path / "run.html"
    as_process("run", "--gpu", "t4", "--format", "html", "-o", str(out), "--", str(PROGRAMS / "wild_access.cu"))
    text = out.read_text()
    assert "<td>fill</td>" in text
    assert "cudaIpcGetMemHandle" in text
    assert "past the end of allocation 1" in text


def test_nothing_stays_when_the_run_is_terminated(tmp_path: Path) -> None:
    program, started, places = tmp_path / "program", tmp_path / "started", tmp_path / "places"
    places.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {started}\nexec sleep 60\n")
    program.chmod(0o700)
    command = [sys.executable, "-m", "warpbound", "run", "--", str(program)]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(places)}) as running:
        while not started.exists():
            assert running.poll() is None
            time.sleep(0.02)
        assert list(places.iterdir())
        running.terminate()
        assert running.wait() == 143
    assert not list(places.iterdir())
