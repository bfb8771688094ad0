"""The runner and the command: what stops goes on, what is refused is told, clocks and noise are watched."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from support.fake_gpu import FACTS, FakeGpu, Truth, cubins
from support.refusing_gpu import Refusing
from warpbound.argument_contents import contents
from warpbound.cli import main
from warpbound.errors import CommandError, InputError
from warpbound.machine import gpu
from warpbound.measure import case_timing, command, corpus, cubin_build, runner, suite
from warpbound.measure.corpus.subjects import subjects
from warpbound.measure.device import Geometry
from warpbound.measure.runner import HOPELESS, DeviceLost, RawFile, RunRequest, load, read_folder, run, save
from warpbound.measure.sampling import EFFORTS
from warpbound.time_model.parameters import fitted_parameters

Run = tuple[FakeGpu, Path, dict[str, RawFile]]
TRUTH = Truth()


def test_files_are_few_and_small(fake_run: Run) -> None:
    _, out, raws = fake_run
    files = sorted(out.iterdir())
    assert [path.stem for path in files] == sorted(raws)
    assert sum(path.stat().st_size for path in files) < 1 << 20


def test_a_run_goes_on_where_it_stopped(fake_run: Run, tmp_path: Path) -> None:
    whole = fake_run[2]["launch"]
    save(RawFile(**{**vars(whole), "records": whole.records[:5]}), tmp_path / "launch.json")
    device = FakeGpu()
    (raw,) = run(device, cubins(), RunRequest(("launch",), "quick", tmp_path), lambda _: None)
    assert [r.axes for r in raw.records] == [r.axes for r in whole.records]
    assert raw.records[:5] == load(tmp_path / "launch.json").records[:5]
    launched = device.launched
    run(device, cubins(), RunRequest(("launch",), "quick", tmp_path), lambda _: None)
    assert device.launched - launched < 2000  # warming up alone


def test_a_clock_that_falls_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    usual = TRUTH.clock
    device = FakeGpu(clock_of=lambda turn: usual * (0.8 if 10 <= turn < 13 else 1.0))
    (raw,) = run(device, cubins(), RunRequest(("launch",), "quick", tmp_path), lambda _: None)
    assert device.watched > len(raw.records)
    assert [record.stable for record in raw.records].count(False) == 1


def test_noise_is_repeated_and_said(tmp_path: Path) -> None:
    noisy, still = FakeGpu(wobble=0.3), FakeGpu()
    (bad,) = run(noisy, cubins(), RunRequest(("launch",), "quick", tmp_path / "a"), lambda _: None)
    (good,) = run(still, cubins(), RunRequest(("launch",), "quick", tmp_path / "b"), lambda _: None)
    assert max(r.samples for r in good.records) == EFFORTS["quick"].fewest
    assert max(r.samples for r in bad.records) == EFFORTS["quick"].most
    assert not any(r.stable for r in bad.records if r.noise > 0.02)


def test_a_refused_launch_is_told_and_left_out(tmp_path: Path) -> None:
    told: list[str] = []
    (raw,) = run(Refusing(), cubins(), RunRequest(("launch",), "quick", tmp_path), told.append)
    assert sum("store_one" in line and "cuLaunchKernel" in line for line in told) == 6
    assert not [r for r in raw.records if r.axes["kernel"] == "store_one"]
    assert [r for r in raw.records if r.axes["kernel"] == "small_scale"]


def test_kernels_without_machine_code_cost_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the corpus that an older compiler cannot make, at the beginning."""
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    monkeypatch.setattr(corpus, "array", lambda fill: np.zeros(1, np.uint8))
    first = list(dict.fromkeys(case.run.kernel for case in suite.plan(("corpus",), FACTS, "quick")[0].cases))[:2]
    whole, told = cubins(), list[str]()
    gone = {kernel.partition(":")[0] for kernel in first}
    code = replace(whole, code={name: one for name, one in whole.code.items() if name not in gone})
    (raw,) = run(FakeGpu(), code, RunRequest(("corpus",), "quick", tmp_path), told.append)
    refused = [line for line in told if "there is no machine code" in line]
    assert len(refused) == 2 * HOPELESS
    assert len(raw.records) > 400


def test_many_refused_cases_end_a_mechanism(tmp_path: Path) -> None:
    device, told = Refusing(), list[str]()
    device.refused = ("small_scale",)
    (raw,) = run(device, cubins(), RunRequest(("launch",), "full", tmp_path), told.append)
    assert [r for r in raw.records if r.axes["kernel"] == "empty"]
    assert sum("kernel=small_scale" in line for line in told) == HOPELESS
    assert "launch: 8 cases in a row of small_scale did not run; it is skipped." in told
    device.refused = ("small_scale", "empty", "store_one", "when")
    told.clear()
    with pytest.raises(InputError, match="nothing could be measured"):
        run(device, cubins(), RunRequest(("launch",), "full", tmp_path / "none"), told.append)
    assert sum("cuLaunchKernel" in line for line in told) < 3 * HOPELESS + 3


def test_memory_is_given_back(fake_run: Run) -> None:
    assert fake_run[0].sizes == {}


def test_a_plan_is_split_into_calls() -> None:
    """Half of a call is planned for; a mechanism that needs more goes on in calls of its own; none is lost."""
    planned = suite.plan(tuple(suite.MECHANISMS), FACTS, "full")
    assert [names for names, _ in suite.calls(planned, 600.0)] == [tuple(suite.MECHANISMS)]
    split = suite.calls(planned, 90.0)
    assert all(seconds <= 45.0 for _, seconds in split)
    assert list(dict.fromkeys(name for names, _ in split for name in names)) == list(suite.MECHANISMS)
    assert sum(seconds for _, seconds in split) == pytest.approx(sum(part.seconds for part in planned))
    assert len(split) > len(suite.calls(planned, 200.0)) > 1


def test_data_are_counted_where_they_are_made() -> None:
    """Cases in a row that share a buffer make it once."""
    (part,) = suite.plan(("stream",), FACTS, "quick")
    once = sum(suite.fill_seconds(buffer) for buffer in part.cases[0].buffers)
    assert once > 0.1
    assert part.seconds == pytest.approx(once + sum(suite.expected(case, "quick") for case in part.cases))


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
    assert fitted_parameters(measured).assumed == ("l2_write_cost",)  # which is measured by another mechanism


def test_architectures_are_checked() -> None:
    assert command.architectures("80,90") == (80, 90)
    assert command.architectures(None) == ()
    with pytest.raises(CommandError):
        command.architectures("fast")


def test_measuring_through_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "cubins"
    assert "cubins in" in command.build(folder, ("launch",), (90,))
    raws = command.measure(FakeGpu(), folder, RunRequest(("launch",), "quick", tmp_path / "out"), lambda _: None)
    assert [raw.mechanism for raw in raws] == ["launch"]
    with pytest.raises(InputError, match="sm_75"):
        cubin_build.read(folder, ("launch",), 75)


def test_variables_of_a_module_are_filled_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The convolution's filter in constant memory gets what the emulator gives it."""
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    device = FakeGpu()
    one = case_timing.Bench(device, cubins(), EFFORTS["quick"])
    case = next(c for c in corpus.cases(FACTS, "quick") if c.axes["example"] == "convolution")
    monkeypatch.setattr(case_timing.Bench, "_fill", lambda self, buffer, address: None)
    one.once("corpus", case)
    weights = device.symbols["filter"].view(np.float32)
    assert weights.tolist() == contents(subjects()["convolution"].launch.constants[0], 0).tolist()
    assert len(weights) == 17
    assert weights.std() > 0.1


# ---------------------------------------------------------------- what must not be lost


class Dying(FakeGpu):
    """Ends for good with the first launch of a kernel."""

    kernel = "store_one"
    dead = False

    def launch(self, kernel: str, geometry: Geometry, args: Sequence[np.generic]) -> None:
        self.dead = self.dead or kernel == self.kernel
        if self.dead:
            raise InputError("the driver's cuLaunchKernel failed with CUDA_ERROR_ILLEGAL_ADDRESS.", "Sorry.")
        super().launch(kernel, geometry, args)


def test_a_run_goes_on_behind_a_case_that_killed_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six cases do it: after as many runs everything else is there."""
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    order = RunRequest(("launch", "shared_patterns"), "quick", tmp_path)
    for _ in range(6):
        with pytest.raises(DeviceLost, match="store_one") as lost:
            run(Dying(), cubins(), order, lambda _: None)
        assert "Repeat the command" in lost.value.hint
    raws = run(Dying(), cubins(), order, lambda _: None)
    assert [raw.mechanism for raw in raws] == ["launch", "shared_patterns"]
    assert len(raws[0].deadly) == 6
    planned = suite.plan(("launch",), FACTS, "quick")[0]
    assert len(raws[0].records) == len(planned.cases) - 6
    assert any("store_one" in line for line in command.conclude(raws, tmp_path, None))


def test_a_mechanism_that_does_not_run_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    device, told = Refusing(), list[str]()
    device.refused = ("store_1", "store_2", "store_4", "store_8", "store_16", *(f"load_{n}" for n in (1, 2, 4, 8, 16)))
    raws = run(device, cubins(), RunRequest(("shared_patterns", "launch"), "quick", tmp_path), told.append)
    assert [raw.mechanism for raw in raws] == ["launch"]
    assert len([line for line in told if "the others are skipped" in line]) == 1
    assert len([line for line in told if "it is skipped" in line]) < runner.KERNELS


def test_an_answer_nobody_foresaw_costs_one_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    device, told = FakeGpu(), list[str]()
    whole, asked = device.elapsed, iter(range(10**9))

    def odd(begin: float, end: float) -> float:
        if next(asked) == 40:
            raise ValueError("odd")
        return whole(begin, end)

    monkeypatch.setattr(device, "elapsed", odd)
    (raw,) = run(device, cubins(), RunRequest(("launch",), "quick", tmp_path), told.append)
    assert any("ValueError: odd" in line for line in told)
    assert len(raw.records) >= len(suite.plan(("launch",), FACTS, "quick")[0].cases) - 1


def test_a_run_stops_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_timing, "WARM_UP_S", 0.0)
    looked = count(step=0.01)  # seconds by a clock that moves when it is looked at
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: next(looked)))
    told = list[str]()
    names = ("launch", "instruction_mix")
    raws = run(FakeGpu(), cubins(), RunRequest(names, "quick", tmp_path, 0.5), told.append)
    planned = sum(len(part.cases) for part in suite.plan(names, FACTS, "quick"))
    done = sum(len(raw.records) for raw in raws)
    assert 0 < done < planned
    assert f"with {planned - done} cases left" in told[-1]


def test_machine_code_of_the_same_generation_serves(tmp_path: Path) -> None:
    command.build(tmp_path, ("launch",), (80, 90))
    assert cubin_build.read(tmp_path, ("launch",), 87).code == cubin_build.read(tmp_path, ("launch",), 80).code
    for arch in (75, 100):
        with pytest.raises(InputError, match=f"sm_{arch}"):
            cubin_build.read(tmp_path, ("launch",), arch)
