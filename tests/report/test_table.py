"""Several answers in one table: what tells rows apart, what all share, and which differences are marked."""

from typing import Any

import pytest
from rich.console import Console

from warpbound.report.table import side_by_side


def entry(kernel: str, file: str, gpu: str, registers: int) -> dict[str, Any]:
    return {
        "kernel": kernel, "gpu": gpu, "program": {"source": file, "registers": registers}, "time_s": 1e-6,
        "bottleneck": "dram", "occupancy": {"warps_per_sm": 8, "max_warps_per_sm": 64}, "warps_needed": None,
        "latency": None, "confidence": {"proxy_isa": None},
    }  # fmt: skip


def printed(*entries: dict[str, Any]) -> list[str]:
    console = Console(width=80, highlight=False)
    with console.capture() as capture:
        console.print(side_by_side(entries))
    return [" ".join(line.split()) for line in capture.get().splitlines() if line.strip()]


def test_two_files_of_one_kernel_are_told_apart_by_file():
    title, headings, _, first, second, *_ = printed(entry("k", "a/old.cu", "t4", 20), entry("k", "a/new.cu", "t4", 24))
    assert title == "k on t4"
    assert headings.startswith("file time")
    assert first == "old.cu 1 us dram 8/64 - - 20"
    assert second == "new.cu 1 us dram 8/64 - - 24*"


def test_files_of_one_name_keep_their_folders():
    lines = printed(entry("k", "a/k.cu", "t4", 8), entry("k", "b/k.cu", "t4", 8))
    assert any(line.startswith("b/k.cu ") for line in lines)


def test_one_kernel_on_several_gpus_is_not_marked():
    lines = printed(entry("k", "a.cu", "t4", 20), entry("k", "a.cu", "l4", 24))
    assert lines[0] == "k"
    assert "l4 1 us dram 8/64 - - 24" in lines
    assert not any("differs" in line for line in lines)


@pytest.mark.parametrize("gpu, mark", [("t4", "*"), ("l4", "")])
def test_a_difference_is_one_to_the_same_gpu(gpu, mark):
    lines = printed(entry("k", "a.cu", "t4", 20), entry("k", "b.cu", gpu, 24))
    assert any(line.startswith("b.cu") and line.endswith(f"24{mark}") for line in lines)
