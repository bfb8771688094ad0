"""Counters: the profiler's table is read, what keeps it from counting is said, counts are compared."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.fake_gpu import FakeGpu, cubins
from warpbound.cli import main
from warpbound.errors import InputError, MissingTool, WarpboundError
from warpbound.machine import Gpu, gpu
from warpbound.measure import board_page, case_timing, command, counters, profile_once
from warpbound.measure.cubin_build import write
from warpbound.measure.runner import RunRequest, run
from warpbound.program.kernel_names import plain_name

HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)


def line(number: int, kernel: str, metric: str, value: str) -> str:
    where = '"4711","python3","127.0.0.1"'
    about = '"1","7","(256, 1, 1)","(65536, 1, 1)","0","9.0","Command line profiler metrics"'
    return f'"{number}",{where},"{kernel}",{about},"{metric}","","{value}"'


LONG = "\n".join([
    "==PROF== Connected to process 4711 (/usr/bin/python3.11)",
    '==PROF== Profiling "saxpy" - 0: 0%....50%....100% - 9 passes',
    HEAD,
    line(0, "saxpy(float, const float *, float *, int)", "smsp__inst_executed.sum", "8,388,608"),
    line(0, "saxpy(float, const float *, float *, int)", "dram__sectors_read.sum", "4194501.00"),
    line(0, "saxpy(float, const float *, float *, int)", "lts__t_sectors_op_write.sum", "n/a"),
    line(0, "saxpy(float, const float *, float *, int)",
         "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "41.25"),
    line(1, "void scan<256>(const float *, float *)", "smsp__inst_executed.sum", "1000000"),
    "==PROF== Disconnected from process 4711",
])  # fmt: skip
WIDE = "\n".join([
    '"ID","Kernel Name","Block Size","smsp__inst_executed.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"',
    '"","","","inst","sector"',
    '"0","gemm","(16, 16, 1)","2,000,000","64000"',
])  # fmt: skip


def test_one_metric_per_line() -> None:
    found = counters.read(LONG)
    assert found["saxpy"] == {"instructions": 8388608.0, "dram_sectors_read": 4194501.0, "stall_long_scoreboard": 41.25}
    assert found["scan"] == {"instructions": 1e6}


def test_one_kernel_per_line() -> None:
    assert counters.read(WIDE) == {"gemm": {"instructions": 2e6, "l1_sectors_load": 64000.0}}


def test_no_table_is_nothing() -> None:
    assert counters.read("==ERROR== something\n") == {}


def test_the_profiler_is_asked_to_leave_the_clocks_alone() -> None:
    words = counters.command(Path("code"), 1)
    assert words[words.index("--clock-control") + 1] == "none"
    assert words[-3:] == ["warpbound.measure.profile_once", "1", "code"]
    metrics = words[words.index("--metrics") + 1].split(",")
    assert set(counters.COUNTED) < set(metrics)
    assert all(counters.STALL.fullmatch(one) for one in metrics if one not in counters.COUNTED)


def test_what_keeps_it_from_counting_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="NVGPUCTRPERM"):
        counters.profile(None, 0, lambda _: (1, "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"))
    with pytest.raises(InputError, match="counted nothing .exit 9.: no kernels"):
        counters.profile(None, 0, lambda _: (9, "no kernels were profiled.\n"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingTool, match="ncu"):
        counters.profile(None, 0)
    assert counters.profile(None, 0, lambda _: (0, WIDE))["gemm"]["instructions"] == 2e6


def test_a_gpu_that_does_not_know_a_reason_to_stall_is_asked_without_them() -> None:
    asked: list[str] = []

    def run(words: list[str]) -> tuple[int, str]:
        asked.append(words[words.index("--metrics") + 1])
        return (1, "==ERROR== Failed to find metric x") if "stalled" in asked[-1] else (0, WIDE)

    assert counters.profile(None, 0, run)["gemm"]["instructions"] == 2e6
    assert len(asked) == 2
    assert asked[1].split(",") == list(counters.COUNTED)


def test_counts_are_compared_with_what_is_allowed() -> None:
    def ours(kernel: str, board: Gpu) -> dict[str, float]:
        if kernel == "odd":
            raise WarpboundError("no.", "none")
        return {"instructions": 1.02e6, "l1_sectors_load": 1.2e6, "l1_sectors_store": 5.0}

    counted = {"saxpy": {"instructions": 1e6, "l1_sectors_load": 1e6, "l1_sectors_store": 5.0}, "odd": {}}
    rows = counters.compare(counted, gpu("h200"), ours)
    assert [(row.count, row.agrees) for row in rows] == [("instructions", True), ("l1_sectors_load", False)]
    assert rows[1].error == pytest.approx(0.2)
    assert counters.table(rows)[-1].startswith("1 of 2")
    assert "differs" in counters.table(rows)[1]


@pytest.mark.cuda
def test_the_emulators_counts_of_a_known_kernel() -> None:
    """saxpy on n numbers: n / 8 sectors of x and of y are read, as many written; warps of 32."""
    found = counters.emulated("saxpy", gpu("h200"))
    from warpbound.measure.corpus.subjects import subjects

    launch = subjects()["saxpy"].launch
    n = launch.grid[0] * launch.block[0]
    assert found["l1_sectors_load"] == pytest.approx(n / 4, rel=0.01)
    assert found["l1_sectors_store"] == pytest.approx(n / 8, rel=0.01)
    assert found["dram_sectors_read"] == pytest.approx(n / 4, rel=0.05)
    assert 10 <= found["instructions"] / (n / 32) <= 30


def test_counters_are_kept(tmp_path: Path) -> None:
    assert counters.load(tmp_path) is None
    counters.save({"a": {"instructions": 1.0}}, tmp_path)
    assert counters.load(tmp_path) == {"a": {"instructions": 1.0}}
    (tmp_path / counters.FILE).write_text("[1]", "utf-8")
    with pytest.raises(InputError):
        counters.load(tmp_path)


@pytest.mark.cuda
def test_a_dozen_kernels_are_launched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    launched: list[str] = []
    device = FakeGpu()
    answer = device.load
    monkeypatch.setattr(device, "load", lambda cubin, kernel: launched.append(kernel) or answer(cubin, plain(kernel)))
    write(tmp_path, ("corpus",), (90,))
    assert profile_once.launch_all(device, tmp_path) >= 12
    assert {plain(kernel) for kernel in launched} >= set(counters.kernels())


def plain(kernel: str) -> str:
    return plain_name(kernel).rpartition("::")[2]


NCU = """#!/bin/sh
exec "{python}" - "$@" <<'END'
import sys
words = sys.argv[1:]
assert "--csv" in words and words[words.index("--clock-control") + 1] == "none", words
assert words[words.index("-m") :][:2] == ["-m", "warpbound.measure.profile_once"], words
sys.stdout.write({text!r})
END
"""


def install(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profiler that prints a text, first on the PATH."""
    folder.mkdir()
    script = folder / "ncu"
    script.write_text(NCU.format(python=sys.executable, text=text), "utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.cuda
def test_from_the_profiler_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way: the profiler's own table, its counts kept, compared with the emulator's, shown on the page."""
    from warpbound.measure.corpus.subjects import subjects

    launch = subjects()["saxpy"].launch
    warps = launch.grid[0] * launch.block[0] // 32
    kernel = "saxpy(float, const float *, float *, int)"
    text = "\n".join([
        "==PROF== Connected to process 4711", HEAD,
        line(0, kernel, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", f"{8 * warps:,}"),  # x and y, 128 B each
        line(0, kernel, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", f"{5 * warps:,}"),  # one too many of four
        line(0, kernel, "sm__warps_active.avg.pct_of_peak_sustained_active", "81.5"),
        line(0, kernel, "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "41.25"),
        line(0, kernel, "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "1.5"),
    ])  # fmt: skip
    install(tmp_path / "bin", text, monkeypatch)
    monkeypatch.setattr(command, "open_device", lambda number: FakeGpu())
    out, page = tmp_path / "out", tmp_path / "page.md"
    answer = CliRunner().invoke(main, ["measure", "--counters", "-o", str(out)])
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.splitlines()[0] == "1 kernels counted."
    assert answer.stdout.splitlines()[-1].startswith("1 of 2 counts agree")
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    run(FakeGpu(), cubins(), RunRequest(("launch",), "quick", out), lambda _: None)
    answer = CliRunner().invoke(main, ["measure", "--extract", "-o", str(out), "--page", str(page)])
    assert answer.exit_code == 0, answer.output
    written = page.read_text("utf-8")
    assert "## Hardware counters and the emulator" in written
    assert f"| saxpy | l1 sectors load | {8 * warps} | {8 * warps} | +0.0 % |  |" in written
    assert f"| saxpy | l1 sectors store | {5 * warps} | {4 * warps} | -20.0 % | differs |" in written
    assert "| saxpy | 81.5 | long scoreboard 41.25, wait 1.50 |" in written


def test_a_profiler_without_rights_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
    install(tmp_path / "bin", refused, monkeypatch)
    monkeypatch.setattr(command, "open_device", lambda number: FakeGpu())
    answer = CliRunner().invoke(main, ["measure", "--counters", "-o", str(tmp_path / "out")])
    assert answer.exit_code == 1
    assert "ERR_NVGPUCTRPERM" in answer.output
    assert "NVreg_RestrictProfilingToAdminUsers=0" in answer.output
    assert "Traceback" not in answer.output
    assert not (tmp_path / "out").exists()


def test_counts_without_a_comparison_are_shown_too(tmp_path: Path) -> None:
    assert board_page.counter_section({}, []) == ""
    text = board_page.counter_section({"saxpy": {"instructions": 1e6, "stall_wait": 2.0}}, [])
    assert "| saxpy |  | wait 2.00 |" in text
    assert "difference" not in text
    assert counters.table([])[-1].startswith("No count was emulated")
    rows = [counters.Compared("saxpy", "instructions", 100.0, 101.0)]
    counters.save_compared(rows, tmp_path)
    assert counters.load_compared(tmp_path) == rows
    counters.save({}, tmp_path)
    assert counters.load_compared(tmp_path) == []
