"""Adapters: the papers' numbers from the shipped workloads, and what each model says where it lacks something."""

import dataclasses
import tomllib
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.golden_cases import poisoned
from support.many_cases import assert_each, passes
from support.paths import GOLDEN
from warpbound import models
from warpbound.analysis.workload_prediction import launched, predicted
from warpbound.machine import catalogue, gpu
from warpbound.model_inputs import volkov_2016
from warpbound.model_inputs import x_model_2016 as x_model
from warpbound.model_inputs.answers import NO_COUNTS, answers, inputs_of
from warpbound.model_inputs.launch_facts import LaunchFacts, Locality
from warpbound.model_inputs.partition_benchmarks import GROUPS
from warpbound.models import MODELS, valley_2009
from warpbound.models.campprof_2011 import Equation
from warpbound.workload import Memory, Workload
from warpbound.workload.files import read, shipped

GOLDEN = tomllib.loads((GOLDEN / "workloads.toml").read_text())["case"]
CASES = [(f"{case['model']}:{case['id']}", case) for case in GOLDEN]
EMPTY = Workload("nothing", "warp", (0, 0), 0, 0, {}, {}, {}, {}, Memory(), 0, 0, {})


def written(name: str, case: str | None = None) -> Any:
    return next(one for one in read(name) if case in (None, one.case))


def example(**changes: Any) -> LaunchFacts:
    """A launch of everything on a recent board."""
    x = launched(written("volkov-synthetic", "alpha 16"), gpu("a100-sxm-80gb"))
    work = dataclasses.replace(x.work, warps=1e6)
    known = {"work": work, "blocks": 125_000, "blocks_per_sm": 3.0, "threads_per_block": 256}
    return dataclasses.replace(x, **(known | changes))


def find(root: Any, dotted: str) -> Any:
    for step in dotted.split(".") if dotted else []:
        root = root[step] if isinstance(root, dict) else getattr(root, step)
    return root


def golden(case: dict[str, Any]) -> Any:
    """The field of what the model's function says of the workload."""
    said = written(case["workload"], case.get("case"))
    x = launched(said, gpu(case.get("gpu") or said.gpu), case.get("clock"))
    if "warps" in case:
        x = dataclasses.replace(x, warps_per_sm=case["warps"])
    function = getattr(getattr(models, case["model"]), case.get("function", "predict"))
    if case.get("function") == "throughput_bound":  # a kernel whose latency is not printed
        return find(function(volkov_2016.known(x)["busy"]), case["field"])
    return find(function(inputs_of(case["model"], x)), case["field"])


def check(case: dict[str, Any]) -> None:
    np.testing.assert_allclose(golden(case), case["expected"], rtol=case["rtol"], atol=0)


def test_shipped_workloads_give_the_papers_numbers() -> None:
    assert_each(check, CASES)


def test_cases_notice_a_function_without_an_answer() -> None:
    assert_each(check_that_nan_is_noticed, CASES)


def check_that_nan_is_noticed(case: dict[str, Any]) -> None:
    module, name = getattr(models, case["model"]), case.get("function", "predict")
    original = getattr(module, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, lambda x: poisoned(original(x)))
        assert not passes(check, case), "it holds for NaN, too"


@pytest.mark.parametrize("touched", [0, 12000, 23999, 24001, 12_000_000])
def test_the_roofline_is_silent_where_most_bytes_stay_in_l2(touched: float) -> None:
    x = example()
    traffic = Memory(global_load_requests=10, l2_sectors_read=1e6, dram_bytes_read=12000, touched_bytes=touched)
    work = dataclasses.replace(x.work, flop={}, memory=traffic)
    said = answers(("roofline_2009",), dataclasses.replace(x, work=work))["roofline_2009"]
    assert (said.rate is None) == ("has no memory but DRAM" in said.reason) == (touched > 24000)


def test_golden_cases_say_what_they_are() -> None:
    ids = [case["id"] for case in GOLDEN]
    assert len(ids) == len(set(ids))
    for case in GOLDEN:
        assert case["kind"] in {"printed", "derived"}
        assert case["where"]
        assert 0 < case["rtol"] < 0.1
        assert case["workload"] in shipped()


def test_answer_of_table_2_is_the_one_printed() -> None:
    said = predicted(written("hong-kim-table-2"), gpu("hong-kim-example"), models=("hong_kim_2009",))
    assert said.models["hong_kim_2009"].time_s * 1e9 == pytest.approx(50738, rel=1e-3)
    assert said.models["hong_kim_2009"].bottleneck == "memory"


def test_vector_add_gains_6_35_gigabytes_per_second_with_each_warp() -> None:
    x = launched(written("volkov-vector-add"), gpu("gtx680"))
    for warps in (1.0, 4.0, 20.0):
        rate = answers(("volkov_2016",), dataclasses.replace(x, warps_per_sm=warps))["volkov_2016"].rate
        assert rate * 384 * 8 * 1.124 == pytest.approx(6.35 * warps, rel=1e-3)


def test_permutation_and_abs_move_what_the_thesis_says() -> None:
    def moved(name: str, case: str) -> float:
        memory = launched(written(name, case), gpu("gtx680")).work.memory
        return memory.dram_bytes_read + memory.dram_bytes_written

    trivial = moved("volkov-permutation", "trivial")
    assert moved("volkov-permutation", "random, 32 B") / trivial == pytest.approx(3.3, abs=0.05)
    assert moved("volkov-permutation", "random, 128 B") / trivial == pytest.approx(11, abs=0.5)
    assert moved("volkov-vector-abs", "all negative") == 2 * moved("volkov-vector-abs", "all positive")


# --- what models say ---


def test_every_model_speaks_of_a_complete_launch() -> None:
    flat = Equation(1e-8, 0.0, 0.0, 1e-6)
    given = {
        "campprof_2011": dict.fromkeys(GROUPS, flat) | {"per_warp": 1e3},
        "valley_2009": {"alpha": 5.0, "beta": 50.0},
        "x_model_2016": {"alpha": 5.0, "beta": 50.0, "cache_capacity": 131072.0},
    }
    said = answers(tuple(MODELS), example(file_symbols=given))
    for name, answer in said.items():
        assert answer.time_s is not None, (name, answer)
        assert 0 < answer.time_s < 1
        assert 0 < answer.rate < float("inf")
        assert answer.unit
        assert answer.bottleneck
    assert said["x_model_2016"].reason.startswith("the file gives alpha, beta, cache_capacity")


def test_bounds_of_different_models_agree_where_they_say_the_same() -> None:
    for warps in (1.0, 8.0, 24.0, 48.0):
        said = answers(tuple(MODELS), example(warps_per_sm=warps))
        volkov = said["volkov_2016"].time_s
        assert said["transit_2015"].time_s == pytest.approx(volkov, rel=0.2)
        assert said["x_model_2016"].time_s == pytest.approx(volkov, rel=0.05)
        assert said["zhang_owens_2011"].time_s <= volkov * (1 + 1e-9)
    assert answers(("x_model_2016",), example(warps_per_sm=1.0))["x_model_2016"].time_s == pytest.approx(
        answers(("volkov_2016",), example(warps_per_sm=1.0))["volkov_2016"].time_s
    )


def with_locality(**changes: Any) -> LaunchFacts:
    """100 instructions and 10 loads of 4 sectors, half of them found in L1, an eighth fetched from DRAM; 16 warps."""
    memory = Memory(
        global_load_requests=10, l1_sectors_load=40, l2_sectors_read=20, l2_sectors_written=0, dram_bytes_read=160
    )
    x = example(warps_per_sm=16.0)
    work = dataclasses.replace(x.work, warp_instructions=100, memory=memory)
    own = {"alpha": 2.0, "beta": 1024.0, "residual": 0.01, "capacity": 16 * 1024.0}  # 1 - (1 + 1)^-1 = half hit
    return dataclasses.replace(x, work=work, locality=Locality(**(own | changes)))


def test_the_x_model_takes_the_locality_of_the_launch() -> None:
    x = with_locality()
    found, board = inputs_of("x_model_2016", x), x.gpu
    assert (found.alpha, found.beta, found.cache_capacity, found.intensity) == (2.0, 1024.0, 16384.0, 10.0)
    # 160 B of 20 sectors of 32 B that pass L1: a quarter from DRAM
    assert found.latency == pytest.approx(0.75 * board.value("l2_latency") + 0.25 * x.dram_cycles)
    rates = board.value("l2_bandwidth"), board.value("dram_achievable_bandwidth") / 0.25
    assert found.ms_throughput == pytest.approx(min(rates) / (108 * x.clock_hz * 128))
    said = answers(("x_model_2016",), x)["x_model_2016"].reason
    assert said.endswith("L1 with alpha 2, beta 1.02e+03 B")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alpha": 1.0}, "no line comes again in a warp"),
        ({"residual": 0.06}, "off by 0.06 of a warp's hit rate"),
        ({"beta": 4096.0}, "would let L1 hit 20 %, counted are 50 %"),  # 1 - (1 + 1/4)^-1
        ({"capacity": 0.0}, "is not known"),
    ],
)
def test_the_x_model_says_why_it_leaves_the_cache_out(changes: dict[str, float], words: str) -> None:
    said = answers(("x_model_2016",), with_locality(**changes))["x_model_2016"].reason
    assert said.startswith("per SM; the cache is left out: ")
    assert words in said
    assert inputs_of("x_model_2016", with_locality(**changes)).cache_capacity == 0


def test_the_valley_takes_the_locality_of_a_thread_of_the_executed_warp() -> None:
    x = with_locality(alpha=3.0, beta=6400.0)
    symbols = inputs_of("valley_2009", x)
    assert (symbols.alpha, symbols.beta) == (3.0, 200.0)
    share = symbols.cache_capacity / (symbols.threads * 200.0)
    assert valley_2009.hit_rate(symbols) == pytest.approx(1 - (1 + share) ** -2)
    said = answers(("valley_2009",), x)["valley_2009"]
    assert said.time_s is not None
    assert "by one warp's locality" in said.reason
    assert inputs_of("valley_2009", with_locality(alpha=0.5, beta=0.0)).alpha == 1.0  # no line comes again
    assert "needs alpha and beta" in answers(("valley_2009",), example())["valley_2009"].reason


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_lacks_something_says_what(name: str) -> None:
    x = example(
        work=dataclasses.replace(EMPTY, warps=None), warps_per_sm=None, blocks=None, blocks_per_sm=None,
        threads_per_block=None, dram_cycles=None,
    )  # fmt: skip
    said = answers((name,), x)[name]
    assert said.time_s is None
    assert said.rate is None
    assert said.reason.startswith(("needs ", "no flop and no DRAM"))
    assert "inputs." not in said.reason or name == "valley_2009"


def test_nothing_known() -> None:
    assert answers(("volkov_2016",), None)["volkov_2016"].reason == NO_COUNTS


def test_symbols_of_the_file_come_first() -> None:
    x = example(file_symbols={"volkov_2016": {"latency": 1e9}})
    said = answers(("volkov_2016",), x)["volkov_2016"]
    assert (said.bottleneck, said.reason) == ("latency", "the file gives latency")
    assert said.rate == pytest.approx(x.warps_per_sm / 1e9)


def test_every_adapter_is_a_model_and_states_its_assumptions() -> None:
    for name in MODELS:
        adapter = import_module(f"warpbound.model_inputs.{name}")
        assert "Assumes" in (adapter.__doc__ or "")
        symbols = {entry.name for entry in dataclasses.fields(getattr(models, name).Inputs)}
        assert set(adapter.WANTED) <= symbols


def test_hong_kim_takes_the_constants_that_were_fitted_together() -> None:
    def inputs(board: str) -> Any:
        return inputs_of("hong_kim_2009", launched(written("hong-kim-svm", "64 threads"), gpu(board)))

    old, new = inputs("gtx280"), inputs("h200")
    assert (old.mem_latency, old.departure_uncoal, old.issue_cycles) == (450, 40, 4)
    assert gpu("gtx280").value("dram_latency") != old.mem_latency
    assert new.departure_coal == pytest.approx(128 * new.freq * gpu("h200").value("sm_count") / new.mem_bandwidth)
    assert new.issue_cycles == 0.25


def test_loads_in_flight_together_are_independent() -> None:
    def mwp(phases: tuple[int, ...]) -> float:
        x = launched(written("hong-kim-svm", "64 threads"), gpu("h200"))
        work = dataclasses.replace(x.work, phases=phases)
        return float(inputs_of("hong_kim_2009", dataclasses.replace(x, work=work)).ind_mem_req)

    assert mwp(()) == mwp((1, 1)) == 0
    assert mwp((4, 4)) == pytest.approx(0.75 * 819)


def test_work_on_few_blocks_leaves_sms_idle() -> None:
    few, many = example(active_sms=10.0), example()
    for name in ("volkov_2016", "sim_2012", "transit_2015"):
        slow, fast = (answers((name,), x)[name].time_s for x in (few, many))
        assert slow == pytest.approx(fast * 10.8)


AMOUNT = st.one_of(st.just(0.0), st.floats(0.01, 1e6))


@given(
    board=st.sampled_from(catalogue()),
    counts=st.tuples(*[AMOUNT] * 6),
    parts=st.fixed_dictionaries({}, optional={"dram": AMOUNT, "l2": AMOUNT, "fixed": AMOUNT, "start": AMOUNT}),
    warps=st.one_of(st.none(), st.floats(1, 64)),
    blocks=st.one_of(st.none(), st.integers(1, 10**6)),
    phases=st.lists(st.integers(1, 8), max_size=3),
)
def test_answers_are_positive_or_say_why_not(board, counts, parts, warps, blocks, phases) -> None:
    insts, loads, stores, sectors, dram, flop = counts
    memory = Memory(
        global_load_requests=loads, global_store_requests=stores, l1_sectors_load=loads * sectors,
        l1_wavefronts=loads, l2_sectors_read=loads * sectors, dram_bytes_read=dram,
    )  # fmt: skip
    work = dataclasses.replace(
        EMPTY, warp_instructions=insts + loads + stores, by_pipe={"fma": insts}, flop={"fp32": flop}, memory=memory,
        latency=sum(parts.values()), parts=parts, phases=tuple(phases), warps=None if blocks is None else 4.0 * blocks,
    )  # fmt: skip
    x = dataclasses.replace(
        example(), work=work, gpu=gpu(board), warps_per_sm=warps, blocks=blocks,
        blocks_per_sm=None if warps is None else warps / 4, active_sms=1.0,
    )  # fmt: skip
    for name, said in answers(tuple(MODELS), x).items():
        assert said.time_s is None or (np.isfinite(said.time_s) and said.time_s >= 0), name
        assert said.rate is None or np.isfinite(said.rate), name
        assert said.rate is not None or said.time_s is not None or said.reason, name


def test_the_x_model_takes_the_executed_reuse_where_its_curve_does_not_fit() -> None:
    """Warps share lines: alpha and beta of one warp let L1 hit less than was counted."""
    memory = Memory(
        global_load_requests=4.0, l1_sectors_load=16.0, l2_sectors_read=4.0, dram_bytes_read=128.0, l1_wavefronts=4.0,
    )  # fmt: skip
    work = dataclasses.replace(EMPTY, warp_instructions=40.0, warps=4096.0, latency=900.0, memory=memory)
    x = LaunchFacts(work, gpu("h200"), 1.785e9, 900.0, 32.0, 132.0, 512, 4.0, 256)
    sizes, hits = (1024.0, 4096.0, 16384.0), (0.1, 0.25, 0.5)
    poor = Locality(1.05, 4096.0, 0.2, 131072.0, sizes, hits)
    cached, misses = x_model.executed(x_model_inputs(x), dataclasses.replace(x, locality=poor)) or pytest.fail("none")
    share = np.asarray(poor.capacity / 32)  # 4096 bytes for each resident warp
    assert misses.at(share) == pytest.approx(4.0 / 16.0)  # as counted, not the 0.75 of one warp
    assert misses.at(np.asarray(1024.0)) == pytest.approx(0.9 / 3)
    assert cached.intensity == pytest.approx(10.0)
    assert cached.cache_latency == gpu("h200").value("l1_latency")
    good = dataclasses.replace(poor, alpha=2.0, beta=4096.0 / 3, residual=0.0)
    assert x_model.executed(x_model_inputs(x), dataclasses.replace(x, locality=good)) is None
    assert x_model.executed(x_model_inputs(x), x) is None


def x_model_inputs(x: LaunchFacts) -> models.x_model_2016.Inputs:
    return models.x_model_2016.Inputs(**x_model.known(x))
