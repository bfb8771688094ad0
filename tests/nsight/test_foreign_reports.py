"""Reports as other versions of Nsight Compute, other boards and other settings write them: an answer or a sentence."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from support.command_line import ANSWERED, FAILED, ask
from support.profile_writer import Value, WrittenLaunch, write_blocks
from support.profiled_examples import DEVICE, image, predicted
from warpbound.errors import InputError
from warpbound.nsight.answers import comparisons
from warpbound.nsight.launch_case import LaunchCase, launch_case
from warpbound.nsight.report_file import read_report
from warpbound.nsight.selection import Selection
from warpbound.result.comparison import LaunchComparison, NotCompared

pytestmark = pytest.mark.cuda
BOARD = "NVIDIA GeForce RTX 4090"
TIME: dict[str, Value] = {"gpu__time_duration.sum": 5000.0}


def saxpy(metrics: Mapping[str, Value], grid: tuple[int, int, int] = (4096, 1, 1)) -> WrittenLaunch:
    return WrittenLaunch(predicted()[2], grid, (256, 1, 1) if any(grid) else (0, 0, 0), metrics)


def written(
    folder: Path, *launches: WrittenLaunch, board: str = BOARD, device: Mapping[str, Value] = DEVICE,
    others: tuple[tuple[str, Mapping[str, Value]], ...] = (),
) -> Path:  # fmt: skip
    return write_blocks(folder / "a.ncu-rep", [launches], {7: image()}, board, device, others)


def case_of(path: Path, number: int = 0) -> LaunchCase:
    return launch_case(read_report(path).launches[number])


def compared(path: Path) -> list[LaunchComparison | NotCompared]:
    return comparisons([path], Selection(), lambda steps: (step for _, step in steps))


def test_a_report_of_nothing_but_the_time(tmp_path: Path) -> None:
    """No launch section: no dynamic shared memory, no carve-out, no clocks, no counters, no samples."""
    path = written(tmp_path, saxpy(TIME), device={})
    (entry,) = compared(path)
    assert isinstance(entry, LaunchComparison)
    assert [row.name for row in entry.counters] == ["gpu__time_duration.sum"]
    assert (entry.instructions, entry.lines) == ([], [])
    told = " ".join(entry.notes)
    assert "base clock" in told
    assert "does not state the dynamic shared memory" in told


def test_a_report_without_any_counter(tmp_path: Path) -> None:
    answer = ask("compare", str(written(tmp_path, saxpy({}))))
    assert answer.code == ANSWERED, answer.err
    assert "saxpy" in ask("analyze", str(tmp_path / "a.ncu-rep")).out


def test_ranges_graphs_and_failed_launches_are_told_from_kernels(tmp_path: Path) -> None:
    path = written(tmp_path, saxpy(TIME), saxpy({}, grid=(0, 0, 0)))
    kernel, other = compared(path)
    assert isinstance(kernel, LaunchComparison)
    assert isinstance(other, NotCompared)
    assert "launch 1" in other.error.reason
    assert "has no grid or block" in other.error.reason
    alone = ask("analyze", str(path), "--launch-index", "1")
    assert (alone.code, "a range or a graph" in alone.err) == (FAILED, True)


def test_the_device_of_each_launch(tmp_path: Path) -> None:
    """Two boards in one session: a launch says which it ran on, or has the attributes itself."""
    t4: dict[str, Value] = {"device__attribute_multiprocessor_count": 40}
    named: dict[str, Value] = {"device__attribute_display_name": "NVIDIA L40", **TIME}
    second: dict[str, Value] = {"launch__device_id": 1, **TIME}
    path = written(tmp_path, saxpy(TIME), saxpy(second), saxpy(named), others=(("Tesla T4", t4),))
    launches = read_report(path).launches
    assert [launch.board_name for launch in launches] == [BOARD, "Tesla T4", "NVIDIA L40"]
    assert launches[1].device == t4


def test_a_context_with_a_part_of_the_sms(tmp_path: Path) -> None:
    path = written(tmp_path, saxpy({"launch__sm_count": 16, **TIME}), saxpy(TIME))
    assert [case_of(path, number).gpu.value("sm_count") for number in (0, 1)] == [16, 128]


def test_clusters(tmp_path: Path) -> None:
    """Boards without clusters refuse them; what the report says of none is none."""
    ones: dict[str, Value] = {f"launch__cluster_dim_{axis}": 1 for axis in "xyz"}
    assert case_of(written(tmp_path, saxpy(ones))).launch.cluster is None
    four = case_of(written(tmp_path, saxpy({**ones, "launch__cluster_dim_x": 4})))
    assert four.launch.cluster == (4, 1, 1)


def test_code_that_is_not_in_the_report(tmp_path: Path) -> None:
    stranger = replace(saxpy(TIME), kernel="_Z5otherv", demangled="other()")
    with pytest.raises(InputError, match="holds no machine code of _Z5otherv"):
        case_of(written(tmp_path, stranger))
    (entry,) = compared(written(tmp_path, replace(saxpy(TIME), module=8)))  # its module is known by its symbol
    assert isinstance(entry, LaunchComparison)


def test_code_that_the_board_cannot_run(tmp_path: Path) -> None:
    answer = ask("compare", str(written(tmp_path, saxpy(TIME))), "--gpu", "h200")
    assert (answer.code, "sm_89" in answer.err) == (FAILED, True), answer.err


def test_a_board_that_the_catalogue_lacks(tmp_path: Path) -> None:
    path = str(written(tmp_path, saxpy(TIME), board="NVIDIA Nothing 1"))
    answer = ask("compare", path)
    assert (answer.code, "warpbound calibrate" in answer.err) == (FAILED, True)
    assert ask("calibrate", path, "--like", "l40", "-o", str(tmp_path / "own.toml")).code == ANSWERED
    assert ask("compare", path, "--gpu", str(tmp_path / "own.toml")).code == ANSWERED


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "n/a"])
def test_counters_without_a_number(tmp_path: Path, value: Value) -> None:
    names = ("gpu__time_duration.sum", "dram__bytes_read.sum", "lts__cycles_elapsed.avg.per_second", "launch__sm_count",
             "launch__shared_mem_config_size", "launch__cluster_dim_x")  # fmt: skip
    (entry,) = compared(written(tmp_path, saxpy(dict.fromkeys(names, value))))
    assert isinstance(entry, LaunchComparison)
    assert entry.counters == []
