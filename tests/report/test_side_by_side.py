"""Several answers in one table: what tells rows apart, what all share, and which differences are marked."""


import pytest
from rich.console import Console

from support.results import kernel_result
from warpbound.report.formatting import kernel_labels
from warpbound.report.side_by_side import side_by_side
from warpbound.result.kernel import CompilerName, KernelResult
from warpbound.result.refusal import Error, Refusal


def entry(kernel: str, file: str, gpu: str, registers: int, time_s: float = 1e-6) -> KernelResult:
    return kernel_result(
        kernel=kernel, gpu=gpu, program={"source": file, "registers": registers}, time_s=time_s, bottleneck="dram",
        occupancy={"warps_per_sm": 8},
    )  # fmt: skip


def printed(*entries: KernelResult | Refusal) -> list[str]:
    console = Console(width=80, highlight=False)
    with console.capture() as capture:
        console.print(side_by_side(entries))
    return [" ".join(line.split()) for line in capture.get().splitlines() if line.strip()]


def test_two_files_of_one_kernel_are_told_apart_by_file():
    title, headings, _, first, second, *_ = printed(entry("k", "a/old.cu", "t4", 20), entry("k", "a/new.cu", "t4", 24))
    assert title == "k on t4"
    assert headings.startswith("file time")
    assert first == "old.cu 1 us dram 8/64 - - 20 -"
    assert second == "new.cu 1 us dram 8/64 - - 24* 1.00x"


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
    assert any(line.startswith("b.cu") and line.removesuffix(" 1.00x").endswith(f"24{mark}") for line in lines)


def test_a_kernel_under_a_new_name_is_compared_with_the_old_one():
    old, new = entry("old", "a.cu", "t4", 20, 3e-6), entry("new", "b.cu", "t4", 20)
    lines = printed(old, new)
    assert lines[0] == "t4"
    assert "old 3 us dram 8/64 - - 20 -" in lines
    assert "new 1 us* dram 8/64 - - 20 3.00x" in lines


def test_kernels_of_one_file_are_not_compared():
    lines = printed(entry("one", "a.cu", "t4", 20), entry("two", "a.cu", "t4", 24))
    assert "two 1 us dram 8/64 - - 24" in lines


def test_a_gpu_that_cannot_answer_is_named_once():
    error = Refusal(kernel=None, gpu="k40", error=Error("No compiler.", "Give a listing."))
    assert printed(entry("one", "a.cu", "t4", 20), error, error)[-1] == "k40: No compiler. Give a listing."


def test_compilers_are_compared_by_registers_spills_and_instructions():
    old, new = (
        kernel_result(
            kernel="k", gpu="t4", time_s=time, bottleneck="dram", occupancy={"warps_per_sm": 8},
            program={"source": "a.cu", "registers": 32, "spill_bytes_stored": spilled, "spill_bytes_loaded": 8,
                     "instructions": 90},
            compiler=CompilerName("nvrtc", release),
        )
        for release, spilled, time in (("12.6", 4, 3e-6), ("13.5", 0, 1e-6))
    )  # fmt: skip
    title, headings, _, first, second, *notes = printed(old, new)
    assert title == "k on t4"
    assert headings == "by time binds warps regs spills instructions speedup"
    assert first == "nvrtc 12.6 3 us dram 8/64 32 4 + 8 90 -"
    assert second == "nvrtc 13.5 1 us* dram 8/64 32 0 + 8* 90 3.00x"
    assert "latency" not in " ".join(notes)


def test_long_names_of_templates_are_short_and_still_differ():
    name = "cub::detail::reduce::DeviceReduceKernel<cub::detail::policy_hub<{}, unsigned int>::Policy1000, {}*>"
    names = [name.format(kind, kind) for kind in ("float", "int", "float")]
    assert kernel_labels([*names, "k<float>"]) == [
        "DeviceReduceKernel<...>", "DeviceReduceKernel<...> (2)", "DeviceReduceKernel<...>", "k<float>",
    ]  # fmt: skip
    rows = printed(*(entry(each, "a.cu", "t4", 8) for each in names))
    assert any(row.startswith("DeviceReduceKernel<...> (2) ") for row in rows)
