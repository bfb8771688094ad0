"""Answers for a kernel whose warps have roles: stages in flight, what binds them, waits at mbarriers."""

from functools import cache

import jsonschema
import pytest

import warpbound
from support.paths import ROOT
from warpbound.machine import override
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.report.document import document, schema
from warpbound.report.pipelines import sentence
from warpbound.result.pipeline import Pipeline
from warpbound.whatif.code_changes import EASINGS

pytestmark = pytest.mark.cuda

SOURCE = ROOT / "examples" / "hopper" / "wgmma_product.cu"
STAGE_B = 32768


@cache
def answer(stages=4, **parameters):
    """A product of 2048 x 2048 x 1024 on an H100 with other values of some parameters."""
    asked = warpbound.launch(SOURCE.with_suffix(".toml"))
    board = override(warpbound.gpu("h100-sxm"), parameters) if parameters else warpbound.gpu("h100-sxm")
    options = Options(defines=(("STAGES", str(stages)),), extra=asked.options)
    (program,) = programs(SOURCE, board, asked.kernel, options)
    args = {"a": "f16[2048,1024]:rand", "b": "f16[2048,1024]:rand", "c": "f32[2048,2048]:zeros", "n": 2048, "k": 1024}
    launch = warpbound.launch(grid=(16, 16), block=384, smem=stages * STAGE_B, args=args)
    return warpbound.analyze(program, board, launch)


def loads(entry):
    return sum(entry["latency"]["parts"][level] for level in ("l2", "dram"))


def test_the_answer_says_how_many_stages_are_in_flight_and_what_binds():
    entry = answer(l2_bandwidth=3000)
    jsonschema.validate(document("test", [entry]), schema("analyze"))
    (row,) = entry["pipelines"]
    assert (row["stages"], row["stage_bytes"], row["fills"], row["binds"]) == (4, STAGE_B, 16, "l2")
    assert row["under_way"] + row["landed"] + row["in_use"] + row["free"] == pytest.approx(4)
    assert 0 < loads(entry) < entry["latency"]["cycles"]
    text = SOURCE.read_text().splitlines()
    assert all("fetch(" in text[line - 1] for line in row["lines"])


def test_blocks_that_copy_the_same_tiles_could_share_them_in_a_cluster():
    """Neighbours along x share A, those along y share B: each is half of what a block copies."""
    changes = {w["change"]: w for w in answer(l2_bandwidth=3000)["whatifs"]}
    two, four = (changes[f"clusters of {size} blocks with multicast copies"] for size in ("2 x 1", "2 x 2"))
    assert 1.1 < two["speedup"] < four["speedup"] < changes[EASINGS["l2"][1]]["speedup"] * 1.01
    assert two["why"].startswith("50 % of what a block copies")
    assert four["mechanism"] == "multicast"


@pytest.mark.broad
def test_a_far_memory_is_waited_for_and_another_stage_is_offered():
    near, far = answer(l2_bandwidth=3000), answer(2, copy_engine_latency=1500)
    assert sum(far["latency"]["parts"].values()) == pytest.approx(far["latency"]["cycles"])
    assert loads(far) > 3 * loads(near)
    assert far["pipelines"][0]["binds"] == "latency of the copies"
    (change,) = [w for w in far["whatifs"] if "stages in place" in w["change"]]
    assert change["change"] == "3 stages in place of 2"
    assert 1.1 < change["speedup"] < 1.6


@pytest.mark.broad
def test_no_stage_is_offered_that_has_no_room():
    """8 x 32 KiB exceed what a block may have."""
    full = answer(7, copy_engine_latency=9000)
    assert full["pipelines"][0]["binds"] == "latency of the copies"
    assert not [w for w in full["whatifs"] if "stages in place" in w["change"]]


def row(**changes):
    facts = {"lines": [86, 87], "stages": 4, "stage_bytes": STAGE_B, "fills": 16, "cycles_per_fill": 700.0,
             "under_way": 2.96, "landed": 0.0, "in_use": 1.0, "free": 0.04, "waiting": 0.4, "copy_engine": 0.97,
             "tensor": 0.6, "binds": "copy engine", "enough_stages": 4}  # fmt: skip
    return Pipeline(**facts | changes)


@pytest.mark.parametrize("pipeline, words", [
    (row(), "Copies of lines 86 and 87: 3.0 of 4 stages are in flight; the copy engine binds."),
    (row(lines=[3], binds="tensor", enough_stages=2),
     "Copies of line 3: 3.0 of 4 stages are in flight; the tensor pipe binds. 2 stages would do and free 64 KiB."),
    (row(lines=[], enough_stages=None), "3.0 of 4 stages are in flight; the copy engine binds."),
])  # fmt: skip
def test_the_sentence(pipeline, words):
    assert sentence(pipeline) == words


@pytest.mark.broad
def test_a_cluster_of_two_pairs_of_blocks():
    """Half of the blocks start products, for whole pairs: no block counts as long, and each SM multiplies its half."""
    file = ROOT / "examples" / "blackwell" / "pair_product.cu"
    asked = warpbound.launch(file.with_suffix(".toml"))
    board = warpbound.gpu("b200")
    (program,) = programs(file, board, asked.kernel, Options(defines=(("STAGES", "6"),), extra=asked.options))
    args = {"a": "f16[2048,1024]:rand", "b": "f16[2048,1024]:rand", "c": "f32[2048,2048]:zeros", "n": 2048, "k": 1024}
    entry = warpbound.analyze(program, board, warpbound.launch(grid=(16, 8), block=128, smem=6 * STAGE_B, args=args))
    (row,) = entry["pipelines"]
    assert (row["stages"], row["stage_bytes"], row["fills"]) == (6, STAGE_B, 16)
    assert entry["sample"]["sampling_error"] == pytest.approx(0, abs=1e-9)
    tensor = next(x["cycles_per_warp"] for x in entry["bounds"] if x["resource"] == "tensor")
    assert tensor == pytest.approx(128 * 256 * 1024 / 4096 / 4, rel=0.05)  # four warps a block, 4096 a cycle and SM
    assert entry["latency"]["cycles"] < 2 * 4 * tensor
