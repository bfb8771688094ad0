"""The catalogue as a whole: every promised name answers, the check passes and notices what is wrong."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.paths import ROOT
from warpbound.cli import main
from warpbound.isa.limits import limits
from warpbound.machine import PARAMETERS, Gpu, catalogue, clock, gpu, load, override
from warpbound.report import machines
from warpbound.report.board_check import FP32_LANES, findings
from warpbound.residency import occupancy

GPUS = ROOT / "src" / "warpbound" / "gpus"
PAPERS = (  # the machines that the papers measured, and the ones that they made up
    "8800gtx", "fx5600", "8800gt", "gtx280", "c2050", "gtx480", "gtx570", "gtx680", "k20c", "k40", "gtx750ti", "m2200",
    "gtx980", "gtx1080", "p100", "hong-kim-example", "huang-synthetic", "interval-cc52", "interval-cc61",
    "interval-cc75",
)  # fmt: skip
TODAY = (
    "v100-pcie", "v100-sxm2", "t4", "rtx-2080-ti", "a100-pcie-40gb", "a100-sxm-40gb", "a100-sxm-80gb", "a40",
    "rtx-3060-ti", "rtx-3080", "rtx-3090", "rtx-a4000", "rtx-a6000", "l4", "l40", "l40s", "rtx-4090", "h100-pcie",
    "h100-sxm", "h200", "gh200",
    "b200", "rtx-5090", "rtx-pro-6000", "rtx-3060-laptop", "rtx-3070", "a10g", "gtx-1660-super", "rtx-5060-ti",
)  # fmt: skip


def board_of(key: str, *changes: tuple[str, str]) -> Gpu:
    """A shipped board with some text of its file replaced, each once, below the header given first."""
    text = (GPUS / f"{key}.toml").read_text()
    for header, change in changes:
        before, after = change.split(" -> ")
        head, found, tail = text.partition(f"[parameters.{header}]")
        assert found, header
        assert before in tail, before
        text = head + found + tail.replace(before, after, 1)
    return load(text, key, f"{key}.toml")


# ---------------------------------------------------------------- names


def test_every_promised_board_is_there() -> None:
    assert catalogue() == tuple(sorted(PAPERS + TODAY))


@pytest.mark.parametrize("key", PAPERS + TODAY)
def test_every_name_answers_and_holds_a_block(key: str) -> None:
    board = gpu(key)
    assert board.board
    rules = limits(board.compute_capability)
    resident = occupancy(board, 256, 16, 0, None)
    assert resident.blocks_per_sm >= 1
    assert resident.max_warps_per_sm == rules.max_warps_per_sm
    for name in (board.name, *board.aliases):
        assert gpu(name) is board


def test_usual_names() -> None:
    for name, key in {
        "A100": "a100-sxm-40gb", "h100": "h100-sxm", "V100": "v100-sxm2", "RTX 3090": "rtx-3090", "5090": "rtx-5090",
        "Tesla K40": "k40", "GTX-480": "gtx480", "rtx2080ti": "rtx-2080-ti", "Tesla T4": "t4", "gtx 980": "gtx980",
    }.items():  # fmt: skip
        assert gpu(name).key == key


# ---------------------------------------------------------------- the check


@pytest.mark.parametrize("key", PAPERS + TODAY)
def test_values_agree_with_one_another(key: str) -> None:
    assert findings(gpu(key)) == []


WRONG = {  # id: (board, the change, the sentence)
    "bandwidth": ("l40", ("dram_data_rate", "value = 18 -> value = 20"), "bus x data rate is 960 GB/s"),
    "peak": ("l40", ("fp32_peak", "value = 90.5 -> value = 100"), "gives 90.52 TFLOP/s at best, fp32_peak is 100"),
    "lanes": ("t4", ("sm_count", "value = 40 -> value = 48"), "lanes x clock x SMs gives"),
    "no power of two": ("a40", ("tensor_int8", "value = 1024 -> value = 1000"), "tensor_int8 = 1000 is not a power"),
    "widths out of step": ("a40", ("tensor_tf32", "value = 256 -> value = 512"), "tensor_tf32 is 1 x tensor_bf16"),
    "latencies": ("a40", ("l1_latency", "value = 33.1 -> value = 300"), "l1_latency exceeds l2_latency"),
    "clocks": ("a40", ("base_clock", "value = 1305 -> value = 1800"), "base_clock exceeds boost_clock"),
    "more than the pins give": ("a40", ("dram_achievable_bandwidth", "value = 679 -> value = 700"), "exceeds dram_ban"),
    "far less than the pins": ("a40", ("dram_achievable_bandwidth", "value = 679 -> value = 300"), "less than half"),
    "L2 slower than DRAM": ("a40", ("l2_bandwidth", "value = 2428 -> value = 600"), "dram_bandwidth exceeds l2_b"),
    "L2 faster than all L1": ("a40", ("l2_bandwidth", "value = 2428 -> value = 99999"), "exceeds the L1 rate"),
    "half an SM": ("a40", ("sm_count", "value = 84 -> value = 83.5"), "sm_count is not a whole number"),
    "a unit slipped": ("a40", ("launch_cost", "value = 2.08 -> value = 2080"), "launch_cost is outside"),
    "latency of another clock": ("a40", ("latency_clock", "value = 1740 -> value = 174"), "dram_latency is 3183 ns"),
    "no relative": ("rtx-a6000", ("l1_latency", "from the A40, -> from a board of the "), "l1_latency is assumed, but"),
}  # fmt: skip


@pytest.mark.parametrize("key, change, sentence", WRONG.values(), ids=WRONG)
def test_what_does_not_agree_is_noticed(key: str, change: tuple[str, str], sentence: str) -> None:
    assert any(sentence in found for found in findings(board_of(key, change)))


def test_parameters_before_their_time_are_noticed() -> None:
    text = (GPUS / "a40.toml").read_text()
    old = load(text.replace('compute_capability = "8.6"', 'compute_capability = "1.3"'), "old", "old.toml")
    said = " ".join(findings(old))
    assert "l2_size does not exist before sm_20" in said
    assert "tensor_fp16 does not exist before sm_70" in said


def test_an_exception_needs_its_reason_in_the_note() -> None:
    assert "exception: " in gpu("gtx280").parameters["fp32_peak"].note
    unexplained = board_of("gtx280", ("fp32_peak", "exception: -> "))
    assert any("fp32_peak is 0.933" in found for found in findings(unexplained))


def test_values_from_the_command_line_need_no_relative() -> None:
    assert findings(override(gpu("a40"), {"l1_latency": 34.0})) == []


def test_every_architecture_of_a_board_has_its_lanes() -> None:
    assert {gpu(key).arch for key in catalogue()} <= set(FP32_LANES)


# The vendor's printed dense peaks, TFLOP/s at the clock in MHz; recomputed from FMA/cycle/SM.
PEAKS = [
    ("t4", "tensor_fp16", 1590, 65),
    ("t4", "tensor_int8", 1590, 130),
    ("a100-sxm-40gb", "tensor_bf16", 1410, 312),
    ("a40", "tensor_fp16", 1740, 149.7),
    ("rtx-3090", "tensor_fp16", 1695, 71.2),
    ("l4", "tensor_fp16", 2040, 121),
    ("l4", "tensor_fp8", 2040, 242.5),
    ("l40", "tensor_fp16", 2490, 181.05),
    ("l40s", "tensor_fp8", 2520, 733),
    ("h100-sxm", "tensor_fp16", 1830, 989.4),
    ("b200", "tensor_fp16", 1856, 2250),
    ("rtx-5090", "tensor_fp16_acc16", 2407, 419),
]


@pytest.mark.parametrize("key, parameter, megahertz, teraflops", PEAKS)
def test_tensor_rates_give_the_vendor_s_peaks(key: str, parameter: str, megahertz: int, teraflops: float) -> None:
    board = gpu(key)
    peak = 2 * board.value(parameter) * board.value("sm_count") * clock(board, megahertz)
    assert peak == pytest.approx(teraflops * 1e12, rel=0.006)


# ---------------------------------------------------------------- the papers' numbers


PRINTED = {  # (board, parameter): what the paper prints, base units
    ("8800gtx", "dram_latency"): 444, ("gtx280", "dram_latency"): 434, ("gtx480", "dram_latency"): 513,
    ("gtx680", "dram_latency"): 301, ("gtx980", "dram_latency"): 368, ("gtx680", "dram_achievable_bandwidth"): 154e9,
    ("fx5600", "dram_latency"): 420, ("gtx280", "departure_delay_uncoalesced"): 40, ("k40", "dram_bandwidth"): 288e9,
    ("8800gt", "fp32_peak"): 336e9, ("gtx280", "memory_partitions"): 8, ("gtx280", "partition_width"): 256,
    ("hong-kim-example", "dram_bandwidth"): 80e9, ("hong-kim-example", "boost_clock"): 1e9,
    ("huang-synthetic", "miss_registers"): 32, ("huang-synthetic", "alu_latency"): 25,
    ("interval-cc61", "l2_latency"): 200, ("interval-cc75", "l2_latency"): 230, ("interval-cc75", "sm_count"): 48,
    ("interval-cc75", "alu_latency"): 4, ("interval-cc52", "dram_bandwidth"): 88.1e9,
}  # fmt: skip


@pytest.mark.parametrize("key, parameter", PRINTED, ids=lambda word: word)
def test_papers_machines_have_the_papers_numbers(key: str, parameter: str) -> None:
    assert gpu(key).value(parameter) == pytest.approx(PRINTED[key, parameter])
    assert gpu(key).parameters[parameter].how in ("published", "measured")


def test_hong_and_kim_s_bandwidth_bound_of_their_example() -> None:
    """MWP_peak_BW of Table 2: 80 GB/s over 16 SMs that each take 128 B in 730 cycles of 1 GHz."""
    board = gpu("hong-kim-example")
    latency = board.value("dram_latency") + 31 * board.value("departure_delay_uncoalesced")
    per_warp = 128 * board.value("boost_clock") / latency
    assert board.value("dram_bandwidth") / (per_warp * board.value("sm_count")) == pytest.approx(28.57, rel=2e-3)


# ---------------------------------------------------------------- the command


def ask(*arguments: str) -> tuple[int, str]:
    answer = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(main, ["gpus", *arguments])
    return answer.exit_code, answer.output


def test_check_says_that_all_is_well() -> None:
    assert ask("--check") == (0, "49 boards checked: the values agree with one another and with the architecture.\n")
    assert json.loads(ask("--check", "h200", "--format", "json")[1]) == {"boards": 1, "findings": {}}


def test_check_of_a_wrong_file_ends_with_1(tmp_path: Path) -> None:
    text = (GPUS / "l40.toml").read_text().replace("value = 18\n", "value = 20\n")
    (tmp_path / "mine.toml").write_text(text)
    code, said = ask("--check", str(tmp_path / "mine.toml"))
    assert code == 1
    assert "mine: bus x data rate is 960 GB/s, dram_bandwidth 864." in said
    code, said = ask("--check", str(tmp_path / "mine.toml"), "--format", "json")
    assert code == 1
    assert '"mine"' in said


def test_list_fits_a_terminal_and_runs_from_old_to_new() -> None:
    lines = ask()[1].splitlines()
    assert max(map(len, lines)) <= 80
    names = [line.split()[0] for line in lines if re.match(r" [a-z0-9]\S* +\d+\.\d ", line)]
    assert sorted(names) == list(catalogue())
    assert names == [board.key for board in machines.oldest_first(gpu(key) for key in catalogue())]
    assert (names[0], names[-1]) == ("8800gtx", "rtx-pro-6000")


@pytest.mark.parametrize("key", ["gtx280", "h200", "b200"])
def test_one_board_shows_every_value_and_every_source(key: str) -> None:
    said = ask(key)[1]
    assert max(map(len, said.splitlines())) <= 80
    flat = " ".join(said.split())
    for name, quantity in gpu(key).parameters.items():
        assert f"{name} {quantity.value:g} {quantity.unit} {quantity.how} [" in flat
        assert " ".join(quantity.source.split()[:3]) in flat


def test_a_cited_number_leads_to_its_source() -> None:
    said = " ".join(ask("8800gtx")[1].split())
    cited = re.search(r"dram_latency 444 cycle measured \[(\d+)\]", said)
    assert cited
    assert f"[{cited[1]}] V. Volkov, Understanding Latency Hiding" in said


# ---------------------------------------------------------------- the page that says how to add one


def test_the_board_of_the_page_loads_by_path_and_is_sound(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "add-a-gpu.md").read_text()
    (block,) = re.findall(r"```toml\n(name = .*?)```", page, re.S)
    file = tmp_path / "l20.toml"
    file.write_text(block)
    board = gpu(file)
    assert board.board
    assert findings(board) == []
    assert f"{len(board.assumed)} of its {len(board.parameters)} values are assumed" in page
    assert occupancy(board, 256, 32, 0, None).warps_per_sm == 48
    code, said = ask("--check", str(file))
    assert (code, said) == (0, "1 board checked: the values agree with one another and with the architecture.\n")
    assert said in page


def test_the_page_names_every_required_parameter() -> None:
    page = (ROOT / "docs" / "add-a-gpu.md").read_text()
    assert [name for name, parameter in PARAMETERS.items() if parameter.required_from and f"`{name}`" not in page] == []


# ---------------------------------------------------------------- cost


def test_one_board_is_read_without_the_others() -> None:
    code = (
        "import sys; from warpbound import machine; machine.catalogue();"
        "machine.gpu('h200'); print(machine._shipped.cache_info().currsize, 'rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
