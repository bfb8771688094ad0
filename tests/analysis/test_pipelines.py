"""Answers for a kernel whose warps have roles: stages in flight, what binds them, waits at mbarriers."""

from dataclasses import replace
from functools import cache

import jsonschema
import pytest

import warpbound
from support.paths import ROOT
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.executed import served_by
from warpbound.analysis.pipelines import block_timeline
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.timing import launch_prediction
from warpbound.latency import waits
from warpbound.machine import override
from warpbound.model_inputs.resources import demand
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
    (row(lines=[], asking=1, multiplying=8),
     "3.0 of 4 stages are in flight; the copy engine binds. 1 warp asks for copies, 8 multiply."),
    (row(lines=[], asking=2, multiplying=1, both=1),
     "3.0 of 4 stages are in flight; the copy engine binds. "
     "2 warps of the block ask for copies, 1 multiplies, 1 does both."),
])  # fmt: skip
def test_the_sentence(pipeline, words):
    assert sentence(pipeline) == words


@cache
def pairs():
    """A product of 2048 x 2048 x 1024 by pairs of blocks on a B200."""
    file = ROOT / "examples" / "blackwell" / "pair_product.cu"
    asked = warpbound.launch(file.with_suffix(".toml"))
    (program,) = programs(file, warpbound.gpu("b200"), asked.kernel,
                          Options(defines=(("STAGES", "6"),), extra=asked.options))  # fmt: skip
    args = {"a": "f16[2048,1024]:rand", "b": "f16[2048,1024]:rand", "c": "f32[2048,2048]:zeros", "n": 2048, "k": 1024}
    return program, warpbound.launch(grid=(16, 8), block=128, smem=6 * STAGE_B, args=args)


@pytest.mark.broad
def test_a_cluster_of_two_pairs_of_blocks():
    """Half of the blocks start products, for whole pairs: no block counts as long, and each SM multiplies its half."""
    program, launch = pairs()
    entry = warpbound.analyze(program, warpbound.gpu("b200"), launch)
    (row,) = entry["pipelines"]
    assert (row["stages"], row["stage_bytes"], row["fills"]) == (6, STAGE_B, 16)
    assert (row["asking"], row["multiplying"], row["both"]) == (1, 1, 0)
    assert entry["sample"]["sampling_error"] == pytest.approx(0, abs=1e-9)
    tensor = next(x["cycles_per_warp"] for x in entry["bounds"] if x["resource"] == "tensor")
    assert tensor == pytest.approx(128 * 256 * 1024 / 4096 / 4, rel=0.05)  # four warps a block, 4096 a cycle and SM
    assert 4 * tensor < entry["latency"]["cycles"] < 2 * 4 * tensor


@pytest.mark.broad
def test_stores_come_behind_the_products_that_they_wait_for():
    """The wait for the sums parts the block as a barrier does: what stores of 16 bytes take of L1 comes on top."""
    program, launch = pairs()
    case = case_of(program, warpbound.gpu("b200"), launch, DEFAULT)
    work = work_of(case)
    _, loop, stores = work.whole.pieces
    assert (work.whole.barriers, work.whole.stops) == (1, 2)
    assert loop.path > 0.7 > 0.25 > stores.path
    assert loop.demand["tensor"] > 0.8  # where the time is that they run in, whichever warp starts them
    assert stores.demand["l1"] > 0.6
    lasts = launch_prediction(case, work).residence_s * case.clock_hz
    alone = {name: demand(work.whole, case.gpu, case.clock_hz)[name] for name in ("tensor", "l1")}
    assert lasts > 4 * alone["tensor"] + 4 * stores.demand["l1"] * alone["l1"]
    as_one = replace(work, whole=replace(work.whole, pieces=()))
    assert launch_prediction(case, as_one).residence_s < launch_prediction(case, work).residence_s


@pytest.mark.broad
def test_fences_without_a_lane_cost_nothing():
    """The block that starts the products skips what the other of the pair does, by predicates or a branch."""
    program, launch = pairs()
    case = case_of(program, warpbound.gpu("b200"), launch, DEFAULT)
    trace, _, traffic = work_of(case).sample_run
    timing, levels = waits(program.instructions, case.latency, served_by(traffic)), served_by(traffic)
    own, all_on = trace.mbarrier_log, replace(trace.mbarrier_log, off=(frozenset(),) * len(trace.mbarrier_log.blocks))
    assert any(timing[at].hold for off in own.off for at in off)
    skipped, paid = (block_timeline(case, each, timing, levels).cycles for each in (own, all_on))
    assert skipped < paid - 100


@pytest.mark.broad
def test_a_wait_is_booked_on_what_ends_it():
    """Of the block that copies and that multiplies by tcgen05: on products, not on memory; by wgmma on the copies."""
    program, launch = pairs()
    products = work_of(case_of(program, warpbound.gpu("b200"), launch, DEFAULT)).schedule.parts
    assert products["l2"] + products["dram"] < 0.02 * products["fixed"]
    copies = answer(l2_bandwidth=3000)["latency"]["parts"]
    assert copies["l2"] + copies["dram"] > 10 * copies["barrier"]
