"""Reports are read as NVIDIA's own reader reads them; broken ones are refused in a sentence."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.profile_writer import Value, WrittenLaunch, write_blocks, write_report
from warpbound.errors import InputError
from warpbound.nsight.protocol_buffers import Malformed, fields
from warpbound.nsight.report_file import is_report, read_report

IMAGE = b"\x7fELF" + bytes(14) + (190).to_bytes(2, "little") + bytes(40)
METRICS: dict[str, Value] = {"gpu__time_duration.sum": 1500.0, "launch__grid_size": 7, "name": "words"}
INSTANCES: dict[str, dict[Value, Value]] = {"inst_executed": {4096: 12, 4112: 13}, "opcodes": {"FADD": 3.0}}
VALUES = st.one_of(
    st.integers(0, 2**63 - 1), st.floats(allow_nan=False), st.text(st.characters(codec="utf-8"), max_size=20)
)


def written(path: Path, *launches: WrittenLaunch) -> Path:
    own = launches or (WrittenLaunch("saxpy", (4, 3, 2), (64, 1, 1), METRICS, INSTANCES, "saxpy(int)"),)
    return write_report(path / "a.ncu-rep", own, IMAGE, "Tesla T4", {"device__attribute_multiprocessor_count": 40})


def test_a_report_is_read(tmp_path: Path) -> None:
    (launch,) = read_report(written(tmp_path)).launches
    assert (launch.kernel, launch.demangled) == ("saxpy", "saxpy(int)")
    assert (launch.grid, launch.block) == ((4, 3, 2), (64, 1, 1))
    assert {name: launch.metrics[name].value for name in METRICS} == METRICS
    assert launch.by_address("inst_executed") == {4096: 12.0, 4112: 13.0}
    assert launch.metrics["opcodes"].instances == {"FADD": 3.0}
    assert launch.images == (IMAGE,)
    assert (launch.board_name, launch.device) == ("Tesla T4", {"device__attribute_multiprocessor_count": 40})


def test_nvidias_reader_reads_the_same(tmp_path: Path) -> None:
    reader = pytest.importorskip("ncu_report", exc_type=ImportError)
    path = written(tmp_path)
    action = reader.load_report(str(path)).range_by_idx(0).action_by_idx(0)
    (launch,) = read_report(path).launches
    assert action.name() == launch.kernel
    assert set(action.metric_names()) == set(launch.metrics)
    for name in METRICS:
        assert action.metric_by_name(name).value() == launch.metrics[name].value
    executed = action.metric_by_name("inst_executed")
    pairs = {executed.correlation_ids().value(n): executed.value(n) for n in range(executed.num_instances())}
    assert pairs == launch.by_address("inst_executed")


@given(st.lists(st.dictionaries(st.text("abc_.", min_size=1, max_size=8), VALUES, max_size=6), min_size=1, max_size=3))
def test_every_value_comes_back(tmp_path_factory: pytest.TempPathFactory, each: list[dict[str, Value]]) -> None:
    launches = [WrittenLaunch(f"k{n}", (1, 1, 1), (n + 1, 1, 1), metrics) for n, metrics in enumerate(each)]
    path = written(tmp_path_factory.mktemp("reports"), *launches)
    read = read_report(path).launches
    assert [{name: metric.value for name, metric in one.metrics.items()} for one in read] == each
    assert [one.block[0] for one in read] == [n + 1 for n in range(len(each))]


OTHER = IMAGE + bytes(8)
BLOCKS = [
    [WrittenLaunch("first", (1, 1, 1), (32, 1, 1), {"b": 1.0, "d": 2.0}, module=7)],
    [WrittenLaunch("second", (2, 1, 1), (64, 1, 1), {"a": 3.0, "b": 4.0, "c": "five"}, module=9)],
]


def test_a_report_of_several_blocks_and_modules(tmp_path: Path) -> None:
    first, second = read_report(write_blocks(tmp_path / "a.ncu-rep", BLOCKS, {7: IMAGE, 9: OTHER}, "L4", {})).launches
    assert (first.kernel, first.number("b"), first.number("d"), first.number("a")) == ("first", 1.0, 2.0, None)
    assert (second.number("a"), second.number("b"), second.metrics["c"].value) == (3.0, 4.0, "five")
    assert (first.images, second.images) == ((IMAGE, OTHER), (OTHER, IMAGE))
    assert (second.index, second.board_name) == (1, "L4")


def test_nvidias_reader_reads_several_blocks(tmp_path: Path) -> None:
    reader = pytest.importorskip("ncu_report", exc_type=ImportError)
    path = write_blocks(tmp_path / "a.ncu-rep", BLOCKS, {7: IMAGE, 9: OTHER}, "L4", {})
    context = reader.load_report(str(path))
    ranges = [context.range_by_idx(n) for n in range(context.num_ranges())]
    actions = [one.action_by_idx(n) for one in ranges for n in range(one.num_actions())]
    for action, launch in zip(actions, read_report(path).launches, strict=True):
        assert action.name() == launch.kernel
        own = {name: action.metric_by_name(name).value() for name in action.metric_names()}
        assert own == {name: metric.value for name, metric in launch.metrics.items()}


def test_a_truncated_report_is_refused_at_every_length(tmp_path: Path) -> None:
    whole = written(tmp_path).read_bytes()
    for size in range(0, len(whole), 7):
        path = tmp_path / "cut.ncu-rep"
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="cut.ncu-rep"):
            read_report(path)


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.ncu-rep"
    path.write_text("no report")
    with pytest.raises(InputError, match="not a report of Nsight Compute"):
        read_report(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_report(tmp_path / "absent.ncu-rep")
    assert is_report("A.NCU-REP")
    assert not is_report("a.cubin")


@pytest.mark.parametrize("message", [b"\x80", b"\x0a\x05ab", b"\x0b", b"\x08" + b"\xff" * 11])
def test_a_malformed_message_is_refused(message: bytes) -> None:
    with pytest.raises(Malformed):
        list(fields(memoryview(message)))
