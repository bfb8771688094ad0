"""What `analyze` prints is what the published schema says, and the schema says what it must."""

import copy
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT
from support.published_schema import Published

ANALYZE = Published("analyze")


def example(name: str) -> str:
    return str(ROOT / "examples" / name)


@pytest.mark.cuda
@pytest.mark.parametrize("gpus", ["h200", "v100-pcie,a100-sxm-80gb,rtx-4090"])
@pytest.mark.parametrize("name", ["saxpy", "matmul_tiled", "black_scholes", "spmv_csr", "softmax"])
def test_static_answers_validate(name: str, gpus: str) -> None:
    document = ANALYZE.answered(example(f"{name}.cu"), "--gpu", gpus)
    assert [entry["gpu"] for entry in document["results"]] == gpus.split(",")
    for entry in document["results"]:
        assert entry["mode"] == "static"
        assert sum(entry["latency"]["parts"].values()) == pytest.approx(entry["latency"]["cycles"])
        assert entry["bounds"][0]["resource"] == entry["bottleneck"]
        gains = [whatif["speedup"] for whatif in entry["whatifs"]]
        assert gains == sorted(gains, reverse=True)


@pytest.mark.cuda
@pytest.mark.parametrize("name", ["saxpy", "transpose_naive", "reduction"])
def test_answers_for_a_launch_validate(name: str) -> None:
    source, launch = example(f"{name}.cu"), example(f"{name}.toml")
    document = ANALYZE.answered(source, "--launch", launch, "--gpu", "h200", "--models", "all")
    (entry,) = document["results"]
    assert entry["mode"] == "dynamic"
    low, high = entry["time_interval_s"]
    assert low <= entry["time_s"] <= high
    assert entry["sample"]["blocks"] <= entry["sample"]["of_blocks"]


@pytest.mark.cuda
def test_an_architecture_without_a_board_validates() -> None:
    (entry,) = ANALYZE.answered(example("saxpy.cu"), "--gpu", "sm_90")["results"]
    assert (entry["bottleneck"], entry["latency"], entry["clock_MHz"]) == (None, None, None)


@pytest.mark.cuda
def test_a_question_without_an_answer_leaves_an_entry(tmp_path: Path) -> None:
    broken = tmp_path / "broken.cu"
    broken.write_text("__global__ void k(float *x) { x[0] = ; }")
    document = ANALYZE.answered(str(broken), example("saxpy.cu"), "--gpu", "h200")
    refused, fine = document["results"]
    assert set(refused) == {"kernel", "gpu", "error"}
    assert fine["kernel"] == "saxpy"


# ---------------------------------------------------------------------------- the schema itself


def test_its_example_shows_an_answer_and_a_refusal() -> None:
    ANALYZE.validate(ANALYZE.example())
    assert [("error" in entry) for entry in ANALYZE.example()["results"]] == [False, True]


CONTRACT = (
    "kernel", "gpu", "mode", "time_s", "time_interval_s", "cycles", "bottleneck", "runner_up", "occupancy",
    "latency", "bounds", "warps_needed", "instructions", "memory", "flop", "models", "whatifs", "loops",
    "confidence", "sample", "cache", "clock_MHz",
)  # fmt: skip


@pytest.mark.parametrize("key", CONTRACT)
def test_every_key_of_the_contract_must_be_there(key: str) -> None:
    ANALYZE.assert_needed(key, "results", 0)


@pytest.mark.parametrize("key", ["schema_version", "command", "results"])
def test_every_key_at_the_top_must_be_there(key: str) -> None:
    ANALYZE.assert_needed(key)


@pytest.mark.parametrize(
    "path, value",
    [
        ("mode", "guess"),
        ("bottleneck", "memory"),
        ("runner_up", "warp"),
        ("cache", "hot"),
        ("time_s", -1.0),
        ("time_s", "fast"),
        ("time_s", None),  # a dynamic answer has a time
        ("time_interval_s", [1.0]),
        ("occupancy.limiters", ["threads"]),
        ("occupancy.blocks_per_sm", 1.5),
        ("bounds.0.resource", "cache"),
        ("bounds.0.utilization", 1.2),
        ("latency.cycles", None),
        ("memory.l1_hit_rate", 97.0),
        ("whatifs.0.speedup", 0.0),
        ("whatifs.0.why", ""),
        ("confidence.assumed", None),
        ("models.volkov_2016.time_s", "1 s"),
        ("sample.blocks", None),
        ("clock_MHz", 0.0),
    ],
)
def test_values_that_break_the_contract_are_refused(path: str, value: Any) -> None:
    ANALYZE.assert_refuses(path, value)


def test_a_cause_that_the_contract_does_not_name_is_refused() -> None:
    document = ANALYZE.example()
    document["results"][0]["latency"]["parts"]["tensor"] = 3.0
    ANALYZE.assert_refused(document)


def test_nulls_stand_where_the_contract_allows_them() -> None:
    document = ANALYZE.example()
    entry = document["results"][0]
    entry |= {"mode": "static", "time_s": None, "time_interval_s": None, "cycles": None, "sample": None,
              "instructions": {"warp_instructions": None, "thread_instructions": None, "by_pipe": {}},
              "memory": dict.fromkeys(entry["memory"]), "flop": dict.fromkeys(entry["flop"])}  # fmt: skip
    ANALYZE.validate(document)
    for key, value in (("time_s", 1.0), ("cycles", 1.0), ("flop", entry["flop"] | {"fp32": 1.0})):
        wrong = copy.deepcopy(document)
        wrong["results"][0][key] = value
        ANALYZE.assert_refused(wrong)  # static mode never guesses


def test_other_keys_are_welcome() -> None:
    document = ANALYZE.example()
    document["results"][0]["new"] = {"anything": 1}
    document["results"][0]["occupancy"]["new"] = 1
    ANALYZE.validate(document)


def test_a_refusal_needs_its_reason_and_hint() -> None:
    for key in ("reason", "hint"):
        ANALYZE.assert_needed(key, "results", 1, "error")
