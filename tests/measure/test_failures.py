"""What may go wrong on the day: each is one sentence, and what was measured is kept and used."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.fake_gpu import FACTS, FakeGpu, Truth, cubins
from support.refusing_gpu import Refusing
from warpbound.errors import InputError, MissingTool
from warpbound.machine import gpu
from warpbound.measure import case_timing, command, cubin_build, quality_gates, runner, stream, suite
from warpbound.measure.device import Geometry
from warpbound.measure.runner import RawFile, RunRequest, load, run, save
from warpbound.time_model.parameters import fitted_parameters

Run = tuple[FakeGpu, Path, dict[str, RawFile]]
TRUTH = Truth()


@pytest.mark.parametrize("change", [{"name": "another"}, {"sm_count": 16}])
def test_another_gpus_folder_is_refused(fake_run: Run, tmp_path: Path, change: dict[str, Any]) -> None:
    raw = fake_run[2]["launch"]
    save(replace(raw, device=replace(FACTS, **change)), tmp_path / "launch.json")
    with pytest.raises(InputError, match="was measured on another GPU"):
        run(FakeGpu(), cubins(), RunRequest(("launch",), "quick", tmp_path), lambda _: None)


def test_a_clock_that_stays_low_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every single case stands still; but the first third of them ran faster."""
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    device = FakeGpu(clock_of=lambda turn: TRUTH.clock * (1.0 if turn < 16 else 0.75))
    raws = run(device, cubins(), RunRequest(("launch",), "quick", tmp_path), lambda _: None)
    (line,) = quality_gates.clocks(raws)
    assert "16 of " in line
    assert "ran at other clocks than 1350 MHz (1350 to 1800)" in line
    assert line in command.conclude(raws, tmp_path, None)
    steady = FakeGpu(wobble=0.01)
    raws = run(steady, cubins(), RunRequest(("launch",), "quick", tmp_path / "b"), lambda _: None)
    assert quality_gates.clocks(raws) == []


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    device = FakeGpu()
    with pytest.raises(InputError, match=r"cannot be written \(Not a directory\)"):
        run(device, cubins(), RunRequest(("launch",), "quick", tmp_path / "file" / "out"), lambda _: None)
    assert device.launched == 0


def test_a_full_disk_is_one_sentence_and_leaves_what_was_saved(
    fake_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "launch.json"
    save(fake_run[2]["launch"], path)
    before = load(path)

    def full(self: Path, text: str, encoding: str) -> int:
        raise OSError(28, "No space left on device")

    whole = Path.write_text
    monkeypatch.setattr(Path, "write_text", full)
    for written in (path, tmp_path / command.PROFILE):
        with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
            runner.write_atomically(written, "half of")
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        save(fake_run[2]["stream"], path)
    monkeypatch.setattr(Path, "write_text", whole)
    assert load(path) == before
    assert [one.name for one in tmp_path.iterdir()] == ["launch.json"]


def test_what_finds_no_room_is_kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder takes nothing any more while a mechanism is measured; moved there, its file is gone on with."""
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    monkeypatch.setattr(runner.tempfile, "gettempdir", lambda: str(tmp_path))
    out, whole = tmp_path / "out", Path.write_text

    def full(self: Path, text: str, encoding: str) -> int:
        if self.parent == out and "records" in text:
            raise OSError(28, "No space left on device")
        return whole(self, text, encoding)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match=r"No space left on device\). The measurements are in .*launch.json"):
        run(FakeGpu(), cubins(), RunRequest(("launch",), "quick", out), lambda _: None)
    monkeypatch.setattr(Path, "write_text", whole)
    (kept,) = tmp_path.glob("warpbound-*/launch.json")
    kept.replace(out / "launch.json")
    (raw,) = run(FakeGpu(), cubins(), RunRequest(("launch",), "quick", out), lambda _: None)
    assert len(raw.records) == len(suite.plan(("launch",), FACTS, "quick")[0].cases)


def test_bindings_of_another_compiler_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*args: object) -> None:
        raise AttributeError("module has no attribute 'nvrtcInstallBundledHeaders'")

    monkeypatch.setattr(cubin_build, "compile_all", missing)
    with pytest.raises(MissingTool, match="the compiler and its bindings do not agree") as said:
        command.measure(FakeGpu(), None, RunRequest(("launch",), "quick", tmp_path), lambda _: None)
    assert "--cubins" in said.value.hint


def test_a_difference_below_zero_costs_one_parameter(fake_run: Run, tmp_path: Path) -> None:
    """A store that took nothing: the rest of the mechanism and the profile stay."""
    swapped = {"empty": "store_one", "store_one": "empty"}
    records = tuple(replace(r, axes={**r.axes, "kernel": swapped.get(str(r.axes["kernel"]), r.axes["kernel"])})
                    for r in fake_run[2]["launch"].records)  # fmt: skip
    raws = [fake_run[2]["pointer_chase"], replace(fake_run[2]["launch"], records=records)]
    lines = command.conclude(raws, tmp_path, None)
    assert any(line.startswith("store_cost came out as -") and line.endswith("is left out.") for line in lines)
    assert gpu(tmp_path / "profile.toml").parameters["block_start"].how == "measured"


def test_a_gpu_that_the_catalogue_does_not_have_gets_a_whole_profile(fake_run: Run, tmp_path: Path) -> None:
    """Device memory, too, is fitted to what was measured and to what the driver says."""
    raws = [replace(raw, device=replace(FACTS, name="NVIDIA X999")) for raw in fake_run[2].values()]
    lines = command.conclude(raws, tmp_path, None)
    assert "Against no board of the catalogue" in "\n".join(lines)
    board = gpu(tmp_path / "profile.toml")
    assert (board.name, fitted_parameters(board).assumed) == ("NVIDIA X999", ())
    for name, value in (("dram_wait_mixed", 47e-9), ("dram_write_capacity", 4.4e12)):
        assert board.value(name) == pytest.approx(value, rel=0.1)


def test_data_that_nobody_foresaw_cost_their_own_conclusions_alone(
    fake_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit that fails, a value that is no number, a table with a zero in it."""

    def failing(*given: object) -> None:
        raise ZeroDivisionError("nothing moved")

    broken = tuple(replace(r, value={**r.value, "duration": 0.0}) for r in fake_run[2]["shared_patterns"].records)
    endless = tuple(replace(r, clock_Hz=float("nan")) for r in fake_run[2]["cache_bandwidth"].records)
    monkeypatch.setattr(stream, "fit", failing)
    raws = [fake_run[2][name] for name in ("pointer_chase", "stream")]
    raws.append(replace(fake_run[2]["shared_patterns"], records=broken))
    raws.append(replace(fake_run[2]["cache_bandwidth"], records=endless))
    lines = command.conclude(raws, tmp_path, None)
    assert "stream.json could not be evaluated (ZeroDivisionError: nothing moved)." in lines
    assert "l2_bandwidth came out as nan GB/s (cache_bandwidth) and is left out." in lines
    assert gpu(tmp_path / "profile.toml").parameters["dram_latency"].how == "measured"


def test_a_file_nobody_can_read_costs_one_mechanism(fake_run: Run, tmp_path: Path) -> None:
    chase, launch = fake_run[2]["pointer_chase"], fake_run[2]["launch"]
    spoilt = RawFile(**{**vars(chase), "records": tuple(
        type(r)(**{**vars(r), "value": {"nothing": 1}}) for r in chase.records
    )})  # fmt: skip
    lines = command.conclude([spoilt, launch], tmp_path, None)
    assert any("pointer_chase.json could not be evaluated" in line for line in lines)
    assert any(line.startswith("launch_cost") for line in lines)


def test_an_interrupt_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    device = FakeGpu()
    whole = device.launch

    def pressed(kernel: str, geometry: Geometry, args: Sequence[np.generic]) -> None:
        if device.launched == 9000:
            raise KeyboardInterrupt
        whole(kernel, geometry, args)

    monkeypatch.setattr(device, "launch", pressed)
    with pytest.raises(KeyboardInterrupt):
        run(device, cubins(), RunRequest(("launch",), "quick", tmp_path), lambda _: None)
    before = load(tmp_path / "launch.json").records
    assert before
    (raw,) = run(FakeGpu(), cubins(), RunRequest(("launch",), "quick", tmp_path), lambda _: None)
    assert raw.records[: len(before)] == before
    assert len(raw.records) == len(suite.plan(("launch",), FACTS, "quick")[0].cases)


def test_nothing_at_all_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    device = Refusing()
    device.refused = tuple(f"{kind}_{n}" for kind in ("load", "store") for n in (1, 2, 4, 8, 16))
    with pytest.raises(InputError, match="nothing could be measured"):
        run(device, cubins(), RunRequest(("shared_patterns",), "quick", tmp_path), lambda _: None)


def test_what_held_the_gpu_back_is_said() -> None:
    fine = [{"throttle_reasons": 1.0, "processes": 1.0}, {}]
    assert quality_gates.alone(fine, FACTS) == []
    odd = [{"throttle_reasons": 4.0, "processes": 1.0}, {"throttle_reasons": 32.0, "processes": 3.0}]
    said = quality_gates.alone(odd, type(FACTS)(**{**vars(FACTS), "name": "NVIDIA H200 MIG 1g.18gb"}))
    assert "power limit, too hot" in said[0]
    assert "3 processes" in said[1]
    assert "MIG" in said[2]
