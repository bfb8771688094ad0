"""A whole run on a GPU whose parameters are known: what comes out is what was put in."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fake_gpu import FACTS, FakeGpu, Truth, cubins

from warpbound.cli import main
from warpbound.errors import CommandError, InputError
from warpbound.headline.parameters import known
from warpbound.machine import gpu
from warpbound.measure import bench, building, command, mixes, suite
from warpbound.measure.case import Found
from warpbound.measure.device import Geometry
from warpbound.measure.proposal import Summary, profile, summarise, verdict
from warpbound.measure.runner import Order, Raw, load, read_folder, run, save
from warpbound.measure.sampling import EFFORTS

Run = tuple[FakeGpu, Path, dict[str, Raw]]
TRUTH = Truth()
ONE_PERCENT = {
    "l1_latency": TRUTH.l1, "l2_latency": TRUTH.near, "l2_far_latency": TRUTH.far, "dram_latency": TRUTH.dram,
    "latency_clock": TRUTH.clock / 1e6, "launch_cost": 1e6 * TRUTH.launch, "block_interval": 1e9 * TRUTH.interval,
    "shared_latency": TRUTH.latencies["lds"], "alu_latency": TRUTH.latencies["fadd"],
    "l1_bandwidth": TRUTH.l1_bandwidth, "l2_bandwidth": TRUTH.l2_bandwidth / 1e9, "l2_write_cost": TRUTH.l2_write_cost,
    "dram_read_capacity": TRUTH.stream["dram_read_capacity"] / 1e9,
    "dram_write_capacity": TRUTH.stream["dram_write_capacity"] / 1e9,
    "block_start": 1e9 * TRUTH.stream["block_start"], "store_cost": 1e9 * TRUTH.stream["store_cost"],
    "latency_spread": TRUTH.stream["latency_spread"],
    "departure_delay_uncoalesced": TRUTH.delays[1],
}  # fmt: skip
ROUGHER = {  # small parts of large times: a thousandth of noise is a few per cent of them
    "launch_gap": (1e6 * TRUTH.gap, 0.03),
    "dram_wait_read": (1e9 * TRUTH.stream["dram_wait_read"], 0.1),
    "dram_wait_mixed": (1e9 * TRUTH.stream["dram_wait_mixed"], 0.1),
    "dram_mix_cost": (TRUTH.stream["dram_mix_cost"], 0.1),
}


@pytest.fixture(scope="module")
def summary(fake_run: Run) -> Summary:
    return summarise(fake_run[2].values(), gpu("h200"))


@pytest.mark.parametrize("name", ONE_PERCENT)
def test_parameters_to_one_percent(summary: Summary, name: str) -> None:
    assert summary.found[name][0][1].value == pytest.approx(ONE_PERCENT[name], rel=0.01)


@pytest.mark.parametrize("name", ROUGHER)
def test_small_parameters(summary: Summary, name: str) -> None:
    value, within = ROUGHER[name]
    assert summary.found[name][0][1].value == pytest.approx(value, rel=within)


def test_direct_readings_stay_beside_the_fit(summary: Summary) -> None:
    by_mechanism = dict(summary.found["block_start"])
    assert list(by_mechanism) == ["stream", "launch"]
    assert by_mechanism["launch"].value == pytest.approx(1e9 * TRUTH.start, rel=0.01)
    assert dict(summary.found["store_cost"])["launch"].value == pytest.approx(1e9 * TRUTH.store, rel=0.02)
    assert dict(summary.found["latency_spread"])["pointer_chase"].value == pytest.approx(TRUTH.tail, rel=0.03)


@pytest.mark.parametrize("name", [n for n in TRUTH.latencies if not n.startswith("banks")])
def test_instructions(summary: Summary, name: str) -> None:
    table = summary.figures["instruction_mix: instructions"]
    assert isinstance(table, dict)
    assert table[name]["latency"] == pytest.approx(TRUTH.latencies[name], rel=0.01)
    assert table[name]["peak"] == pytest.approx(TRUTH.peaks[name], rel=0.01)
    grid = np.array([w for w in (1, 4, 8, 16, 24, 32, 48, 64)])
    least = 0.99 * TRUTH.latencies[name] * TRUTH.peaks[name]
    assert table[name]["needed warps"]["1"] == (grid[grid >= least].min() if least <= 64 else None)


def test_the_contention_curve_and_the_warps_it_needs(summary: Summary) -> None:
    curve = summary.figures["loaded_latency: dram stream"]
    assert isinstance(curve, dict)
    assert curve["fit"]["a"] == pytest.approx(TRUTH.dram, rel=0.01)
    assert curve["fit"]["b"] == pytest.approx(TRUTH.contention * TRUTH.dram, rel=0.03)
    assert curve["fit"]["c GB/s"] == pytest.approx(TRUTH.stream["dram_read_capacity"] / 1e9, rel=0.01)
    rates = {row[0]: row[2] for row in curve["curve [warps, cycles, GB/s]"]}
    for share in (90, 95):
        wanted = min(w for w, rate in rates.items() if rate >= share / 100 * max(rates.values()))
        assert curve[f"needed warps {share} %"] == wanted


def test_the_cusp_of_the_family(summary: Summary) -> None:
    rows = summary.figures["synthetic_family: alpha"]
    assert isinstance(rows, dict)
    assert rows["0"]["latency"] == pytest.approx(TRUTH.dram, rel=0.03)
    assert rows["32"]["latency"] - rows["0"]["latency"] == pytest.approx(32 * TRUTH.latencies["fadd"], rel=0.05)
    assert summary.figures["synthetic_family: adds/cycle/SM (warps)"] == pytest.approx(TRUTH.peaks["fadd"], rel=0.02)
    assert rows["256"]["needed warps 90 %"] is not None


def test_patterns_costs_camping_and_code_length(summary: Summary) -> None:
    figures = summary.figures
    assert figures["shared_patterns: load of 4 B"]["2"] == pytest.approx(2.0, rel=0.01)  # type: ignore[index]
    assert figures["global_patterns: l1 stride"]["32"] == pytest.approx(32.0, rel=0.01)  # type: ignore[index]
    assert figures["costs: barrier"]["16"] == pytest.approx(36.0, rel=0.01)  # type: ignore[index]
    assert figures["camping: worst stride"]["stride"] == TRUTH.camped_stride  # type: ignore[index]
    assert figures["camping: read 4 B, camped/spread"]["4"] == pytest.approx(TRUTH.camping, rel=0.01)  # type: ignore[index]
    full = figures["instruction_cache: 1 warps"]["full speed up to [B]"]  # type: ignore[index]
    assert full == TRUTH.code_cache
    trace = figures["x_model: f(k), large L1, 8192 B per warp"]
    peak = trace["peak [warps, loads/cycle/SM]"][0]  # type: ignore[index]
    assert peak <= 0.9 * TRUTH.l1_size / 8192 < peak + 6


def test_mixes_add_up_and_have_their_cusp(summary: Summary) -> None:
    found = summary.figures["mixes: FADD and LDS"]
    assert isinstance(found, dict)
    assert found["adds/cycle/SM (warps)"] == pytest.approx(TRUTH.peaks["fadd"], rel=0.01)
    assert found["others/cycle/SM (warps)"] == pytest.approx(TRUTH.peaks["lds"], rel=0.01)
    rows = found["FADD : other"]
    for adds in mixes.QUICK_PARTS:
        alone = adds * TRUTH.latencies["fadd"] + TRUTH.latencies["lds"]
        assert rows[f"{adds}:1"]["latency"] == pytest.approx(alone, rel=0.01)
        full = alone / max(adds / TRUTH.peaks["fadd"], 1 / TRUTH.peaks["lds"])
        assert rows[f"{adds}:1"]["needed warps 90 %"] == min(w for w in mixes.QUICK_WARPS if w >= 0.9 * full)
    double = summary.figures["mixes: FADD and LDS, conflicts 2"]
    assert double["others/cycle/SM (warps)"] == pytest.approx(TRUTH.peaks["lds"] / 2, rel=0.01)  # type: ignore[index]


def test_products_of_warp_groups(summary: Summary) -> None:
    assert dict(summary.found["tensor_fp16"])["wgmma"].value == pytest.approx(TRUTH.wgmma, rel=0.01)


def test_what_translation_reaches(summary: Summary) -> None:
    found = summary.figures["pointer_chase: pages of 2048 KiB"]
    assert isinstance(found, dict)
    assert found["spanned without delay [B]"] <= TRUTH.reach < found["delayed from [B]"]
    first, last = found["curve [B, cycles]"][0], found["curve [B, cycles]"][-1]
    assert last[1] - first[1] == pytest.approx(TRUTH.translation, rel=0.01)


def test_the_profile_is_a_board(summary: Summary, tmp_path: Path) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(profile(summary, gpu("h200")), "utf-8")
    board = gpu(path)
    assert board.value("dram_latency") == pytest.approx(TRUTH.dram, rel=0.01)
    assert board.parameters["dram_latency"].how == "measured"
    assert "pointer_chase.json" in board.parameters["dram_latency"].source
    before = gpu("h200").parameters["dram_latency"]
    assert before.value in [claim.value for claim in board.parameters["dram_latency"].others]
    assert board.parameters["tdp"] == gpu("h200").parameters["tdp"] if "tdp" in board.parameters else True


def test_a_profile_of_an_unknown_board_says_what_the_driver_says(summary: Summary) -> None:
    table = tomllib.loads(profile(summary, None))
    assert table["parameters"]["sm_count"]["value"] == FACTS.sm_count
    assert table["parameters"]["dram_bus"]["how"] == "vendor"


def test_the_verdict_counts(summary: Summary) -> None:
    lines = verdict(summary, gpu("h200"))
    assert lines[-1].startswith("Against NVIDIA H200: ")
    assert any(line.startswith("l1_latency") and "catalogue" in line for line in lines)
    alone = Summary(FACTS, "", {"tdp": [("x", Found(1, "W"))]})
    assert "not in the catalogue" in verdict(alone, None)[0]


# ---------------------------------------------------------------- the runner


def test_files_are_few_and_small(fake_run: Run) -> None:
    _, out, raws = fake_run
    files = sorted(out.iterdir())
    assert [path.stem for path in files] == sorted(raws)
    assert sum(path.stat().st_size for path in files) < 1 << 20


def test_a_run_goes_on_where_it_stopped(fake_run: Run, tmp_path: Path) -> None:
    whole = fake_run[2]["launch"]
    save(Raw(**{**vars(whole), "records": whole.records[:5]}), tmp_path / "launch.json")
    device = FakeGpu()
    (raw,) = run(device, cubins(), Order(("launch",), "quick", tmp_path), lambda _: None)
    assert [r.axes for r in raw.records] == [r.axes for r in whole.records]
    assert raw.records[:5] == load(tmp_path / "launch.json").records[:5]
    launched = device.launched
    run(device, cubins(), Order(("launch",), "quick", tmp_path), lambda _: None)
    assert device.launched - launched < 2000  # warming up alone


def test_another_gpus_folder_is_refused(fake_run: Run, tmp_path: Path) -> None:
    raw = fake_run[2]["launch"]
    other = type(FACTS)(**{**vars(FACTS), "name": "another"})
    save(Raw(**{**vars(raw), "device": other}), tmp_path / "launch.json")
    with pytest.raises(InputError, match="another"):
        run(FakeGpu(), cubins(), Order(("launch",), "quick", tmp_path), lambda _: None)


def test_a_clock_that_falls_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "WARM_UP_S", 0.0)
    usual = TRUTH.clock
    device = FakeGpu(clock_of=lambda turn: usual * (0.8 if 10 <= turn < 13 else 1.0))
    (raw,) = run(device, cubins(), Order(("launch",), "quick", tmp_path), lambda _: None)
    assert device.watched > len(raw.records)
    assert [record.stable for record in raw.records].count(False) == 1


def test_noise_is_repeated_and_said(tmp_path: Path) -> None:
    noisy, still = FakeGpu(wobble=0.3), FakeGpu()
    (bad,) = run(noisy, cubins(), Order(("launch",), "quick", tmp_path / "a"), lambda _: None)
    (good,) = run(still, cubins(), Order(("launch",), "quick", tmp_path / "b"), lambda _: None)
    assert max(r.samples for r in good.records) == EFFORTS["quick"].fewest
    assert max(r.samples for r in bad.records) == EFFORTS["quick"].most
    assert not any(r.stable for r in bad.records if r.noise > 0.02)


class Refusing(FakeGpu):
    """Refuses the launches of some kernels; after too many, all of them."""

    refused = ("store_one",)

    def launch(self, kernel: str, geometry: Geometry, args: Sequence[np.generic]) -> None:
        if kernel in self.refused:
            raise InputError("the driver's cuLaunchKernel failed.", "Sorry.")
        super().launch(kernel, geometry, args)


def test_a_refused_launch_is_told_and_left_out(tmp_path: Path) -> None:
    told: list[str] = []
    (raw,) = run(Refusing(), cubins(), Order(("launch",), "quick", tmp_path), told.append)
    assert sum("store_one" in line and "cuLaunchKernel" in line for line in told) == 6
    assert not [r for r in raw.records if r.axes["kernel"] == "store_one"]
    assert [r for r in raw.records if r.axes["kernel"] == "small_scale"]


def test_a_dead_device_ends_the_run_but_keeps_what_there_is(tmp_path: Path) -> None:
    device = Refusing()
    device.refused = ("small_scale",)
    with pytest.raises(InputError, match="cuLaunchKernel"):
        run(device, cubins(), Order(("launch",), "full", tmp_path), lambda _: None)
    assert load(tmp_path / "launch.json").records


def test_memory_is_given_back(fake_run: Run) -> None:
    assert fake_run[0].sizes == {}


def test_quick_is_planned_under_eight_minutes() -> None:
    planned = suite.plan(tuple(suite.MECHANISMS), FACTS, "quick")
    assert sum(part.seconds for part in planned) < 240  # half of it, for what was not foreseen
    for part in suite.plan(tuple(suite.MECHANISMS), FACTS, "full"):
        keys = [case.key for case in part.cases]
        assert len(set(keys)) == len(keys), part.mechanism
        assert part.seconds < 300


@pytest.mark.parametrize("name", suite.MECHANISMS)
def test_nothing_measured_gives_nothing(name: str) -> None:
    assert not suite.MECHANISMS[name].extract([], FACTS).parameters


@pytest.mark.parametrize("name", suite.MECHANISMS)
def test_every_mechanism_says_how_to_read_it(name: str) -> None:
    text = (Path(suite.__file__).parent / name / "README.md").read_text("utf-8")
    assert text.startswith("# ")
    assert "Reading" in text


# ---------------------------------------------------------------- the command


def test_the_command_plans_and_refuses(tmp_path: Path) -> None:
    cli = CliRunner()
    assert "pointer_chase" in cli.invoke(main, ["measure", "--plan", "--quick"]).output
    assert cli.invoke(main, ["measure"]).exit_code == 2
    assert cli.invoke(main, ["measure", "--only", "nothing", "--plan"]).exit_code == 2
    assert cli.invoke(main, ["measure", "--extract", "-o", str(tmp_path)]).exit_code == 1


def test_the_command_concludes_from_files(fake_run: Run, tmp_path: Path) -> None:
    for name in ("pointer_chase", "launch"):
        save(fake_run[2][name], tmp_path / f"{name}.json")
    answer = CliRunner().invoke(main, ["measure", "--extract", "-o", str(tmp_path)])
    assert answer.exit_code == 0
    assert "dram_latency" in answer.output
    assert gpu(tmp_path / "profile.toml").name == "NVIDIA H200"
    assert read_folder(tmp_path, ("launch",))[0].mechanism == "launch"


def test_a_board_is_recalibrated_from_files(fake_run: Run, tmp_path: Path) -> None:
    for name in ("pointer_chase", "launch", "stream"):
        save(fake_run[2][name], tmp_path / f"{name}.json")
    board = tmp_path / "board.toml"
    answer = CliRunner().invoke(main, ["validate", "--recalibrate", str(tmp_path), "--gpu", "h200", "-o", str(board)])
    assert answer.exit_code == 0, answer.output
    assert "parameters agree" in answer.stderr
    assert answer.stdout == ""
    measured = gpu(board)
    assert measured.name == "NVIDIA H200"
    for name in ("dram_latency", "launch_gap", "block_start", "latency_spread", "dram_read_capacity"):
        assert measured.parameters[name].how == "measured", name
    assert known(measured).assumed == ("l2_write_cost",)  # which is measured by another mechanism


def test_architectures_are_checked() -> None:
    assert command.architectures("80,90") == (80, 90)
    assert command.architectures(None) == ()
    with pytest.raises(CommandError):
        command.architectures("fast")


def test_measuring_through_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "cubins"
    assert "cubins in" in command.build(folder, ("launch",), (90,))
    raws = command.measure(FakeGpu(), folder, Order(("launch",), "quick", tmp_path / "out"), lambda _: None)
    assert [raw.mechanism for raw in raws] == ["launch"]
    with pytest.raises(InputError, match="sm_75"):
        building.read(folder, ("launch",), 75)
