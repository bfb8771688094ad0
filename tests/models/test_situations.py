"""Numbers of the papers that take more than one function: model against model, curves, launches side by side.

A case of golden/situations.toml names a function of this file, its inputs, and under `uses` the public
function of the package whose answer it must notice: replaced by one that returns NaN, the case fails.
"""

import importlib
import tomllib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.golden_cases import poisoned
from support.interval_code import device, fma, load, store
from support.many_cases import assert_each, passes
from support.paths import GOLDEN, ROOT
from warpbound import residency
from warpbound.analysis.workload_prediction import launched
from warpbound.isa.limits import limits
from warpbound.machine import clock
from warpbound.machine import gpu as board_of
from warpbound.memory import banks, coalescing, dram_partitions
from warpbound.model_inputs import answers
from warpbound.models import (
    baghsorkhi_2010,
    chen_aamodt_2009,
    cuda_guide_2015,
    hong_kim_2009,
    huang_2014,
    saavedra_barrera_1990,
    sim_2012,
    transit_2015,
    volkov_2016,
    x_model_2016,
    zhang_owens_2011,
)
from warpbound.models.interval_analysis import scoreboard
from warpbound.models.interval_analysis.mxv import Kernel
from warpbound.models.volkov_2016.contention import Memory
from warpbound.models.volkov_2016.mixes import Mix
from warpbound.workload.files import lanes as tables
from warpbound.workload.files import read

BOOK = tomllib.loads((GOLDEN / "situations.toml").read_text())
ENDLESS = 1e12  # turns of a loop that the thesis lets run forever
LANES = 32.0

Curve = NDArray[np.float64]


# ---------------------------------------------------------------- the thesis' kernels in every model


def mix(gpu: str, warps: Any, alpha: Any) -> Mix:
    return Mix(warps, alpha, **BOOK["mix"][gpu])


def memory(gpu: str) -> Memory:
    terms = BOOK["contention"][gpu]
    board = BOOK["board"][gpu]
    ceiling = [volkov_2016.little.inst_per_cycle(c, bytes_per_inst=128.0, **board) for c in terms["ceiling"]]
    return Memory(terms["unloaded"], tuple(terms["growth"]), tuple(ceiling))


def basic(gpu: str, warps: Curve, alpha: Any) -> Curve:
    """Accesses per cycle per SM."""
    return volkov_2016.mixes.predict(mix(gpu, warps, alpha)).rate


def latency_alone(gpu: str, warps: Curve, alpha: Any) -> Curve:
    return volkov_2016.mixes.predict(mix(gpu, warps, alpha)).limits["latency"]


def refined(gpu: str, warps: Curve, alpha: Any) -> Curve:
    return volkov_2016.contention.predict(mix(gpu, warps, alpha), memory(gpu)).rate


def baghsorkhi(gpu: str, warps: Curve, alpha: Any) -> Curve:
    x = mix(gpu, warps, alpha)
    transfer = BOOK["mem_time"][gpu]
    inputs = baghsorkhi_2010.Inputs(
        warps, np.multiply(alpha, ENDLESS), ENDLESS, 1 / x.alu_throughput, x.alu_latency, transfer, x.op_latency
    )
    return np.asarray(ENDLESS / baghsorkhi_2010.predict(inputs).total)


def hong_kim(gpu: str, warps: Curve, alpha: Any) -> Curve:
    board = BOOK["board"][gpu]
    inputs = hong_kim_2009.Inputs(
        freq=board["clock_Hz"], mem_bandwidth=BOOK["pins"][gpu], mem_latency=BOOK["mix"][gpu]["op_latency"],
        departure_uncoal=0.0, departure_coal=0.0, threads_per_block=LANES, blocks=warps * board["sm_count"],
        active_sms=board["sm_count"], active_blocks=warps, comp_insts=alpha * ENDLESS, uncoal_mem_insts=0.0,
        coal_mem_insts=ENDLESS, synch_insts=0.0, uncoal_per_mw=1.0, load_bytes=128.0,
        issue_cycles=1 / BOOK["mix"][gpu]["alu_throughput"],
    )  # fmt: skip
    return np.asarray(ENDLESS * warps / hong_kim_2009.predict(inputs).total)


def sim(gpu: str, warps: Curve, alpha: Any) -> Curve:
    x = mix(gpu, warps, alpha)
    inputs = sim_2012.Inputs(
        warps, np.add(alpha, 1.0), 1.0, x.alu_latency, 1 / x.alu_throughput, x.op_latency, BOOK["mwp_peak_bw"][gpu]
    )
    return np.asarray(warps / sim_2012.predict(inputs).total)


def zhang_owens(gpu: str, warps: Curve, alpha: Any) -> Curve:
    x = mix(gpu, warps, alpha)
    adds = zhang_owens_2011.modelled(warps, x.alu_latency, x.alu_throughput)
    accesses = zhang_owens_2011.modelled(warps, x.op_latency, x.op_throughput)
    return zhang_owens_2011.predict(zhang_owens_2011.Inputs(alpha, 1.0, adds, accesses)).rate


def huang(gpu: str, warps: Curve, alpha: Any, predict: str = "predict", requests: float = 0.0) -> Curve:
    x, board = mix(gpu, warps, alpha), BOOK["board"][gpu]
    intervals = (
        huang_2014.Interval(1.0, x.op_latency, requests=requests),
        huang_2014.Interval(1.0, x.alu_latency, executions=alpha),
    )
    service = huang_2014.service_time(board["clock_Hz"], BOOK["pins"][gpu], 128.0)
    found = getattr(huang_2014, predict)(huang_2014.Inputs(warps, intervals, board["sm_count"], service))
    return np.asarray(1 / (found.total * (1.0 + alpha)))


def huang_greedy(gpu: str, warps: Curve, alpha: Any) -> Curve:
    return huang(gpu, warps, alpha, "predict_greedy")


def huang_contended(gpu: str, warps: Curve, alpha: Any) -> Curve:
    return huang(gpu, warps, alpha, requests=1.0)


def saavedra_barrera(gpu: str, warps: Curve, alpha: Any) -> Curve:
    x = mix(gpu, warps, alpha)
    busy = saavedra_barrera_1990.Inputs(warps, (1.0 + alpha) / x.alu_throughput, x.op_latency, 0.0)
    return saavedra_barrera_1990.predict(busy).rate * x.alu_throughput / (1.0 + alpha)


def cuda_guide(gpu: str, warps: Curve, alpha: Any) -> Curve:
    x = mix(gpu, warps, alpha)
    found = cuda_guide_2015.predict(cuda_guide_2015.Inputs(warps, alpha, x.op_latency, 1 / x.alu_throughput))
    return found.rate / alpha


def chen_aamodt(gpu: str, warps: Curve, alpha: Any) -> Curve:
    alone = latency_alone(gpu, np.ones(1), alpha) * (1.0 + alpha)
    return chen_aamodt_2009.predict(chen_aamodt_2009.Inputs(warps, alone)).rate / (1.0 + alpha)


def transit(gpu: str, warps: Curve, alpha: Any) -> Curve:
    """Computation of one instruction per cycle and warp: arithmetic has no latency."""
    x = mix(gpu, warps, alpha)
    return transit_2015.predict(
        transit_2015.Inputs(warps, alpha, x.alu_throughput, x.op_latency, x.op_throughput)
    ).rate


def x_model(gpu: str, warps: Curve, alpha: Any) -> Curve:
    """The same with a warp's E = 1 / latency of arithmetic."""
    x = mix(gpu, warps, alpha)
    return x_model_2016.predict(
        x_model_2016.Inputs(warps, 1 / x.alu_latency, alpha, x.alu_throughput, x.op_latency, x.op_throughput)
    ).rate


MODELS: dict[str, Callable[..., Curve]] = {
    f.__name__: f
    for f in (
        basic, latency_alone, refined, baghsorkhi, hong_kim, sim, zhang_owens, huang, huang_greedy, huang_contended,
        saavedra_barrera, cuda_guide, chen_aamodt, transit, x_model,
    )
}  # fmt: skip


# ---------------------------------------------------------------- situations


def adds(model: str, gpu: str, alpha: float, warps: list[float]) -> Curve:
    """Adds per cycle per SM, lane by lane."""
    return LANES * alpha * MODELS[model](gpu, np.array(warps), alpha)


def worst_ratio(over: str, under: str, gpu: str, alpha: float, warps: list[int]) -> Curve:
    """Largest ratio of two models' throughputs over these occupancies: first, last, step."""
    n = np.arange(float(warps[0]), warps[1] + 1.0, warps[2])
    ratio = MODELS[over](gpu, n, alpha) / MODELS[under](gpu, n, alpha)
    return np.asarray(ratio.max())


def share_of_peak_over(share: float, model: str, gpu: str, alpha: float, warps: float) -> Curve:
    """A measured share of the peak over a model's throughput."""
    peak = volkov_2016.mixes.peak(mix(gpu, warps, alpha)).rate
    return np.asarray(share * peak / MODELS[model](gpu, np.asarray(warps), alpha))


def warps_until_nothing_exposed(gpu: str) -> Curve:
    """Warps at which Baghsorkhi's exposed latency has come down to the transfer, accesses alone."""
    x = mix(gpu, np.array([1.0, 2.0]), 0.0)
    inputs = baghsorkhi_2010.Inputs(
        x.warps, 0.0, ENDLESS, 1 / x.alu_throughput, x.alu_latency, BOOK["mem_time"][gpu], x.op_latency
    )
    exposed, transfer = baghsorkhi_2010.exposed_latency(inputs), baghsorkhi_2010.transfer(inputs)
    return np.asarray(1.0 + (exposed[0] - transfer[0]) / (exposed[0] - exposed[1]))


def needed(model: str, gpu: str, warps: int, steps: int) -> Curve:
    """Warps per SM that reach 90 % of the tightest limit, alpha = 2^(k/2); 0 where none of them do."""
    n, alpha = np.arange(1.0, warps + 1), 2.0 ** (np.arange(steps) / 2)[:, None]
    peak = volkov_2016.mixes.peak(mix(gpu, 0.0, alpha)).rate
    enough = MODELS[model](gpu, n, alpha) >= 0.9 * peak * (1 - 1e-12)
    return np.where(enough.any(axis=1), 1.0 + enough.argmax(axis=1), 0.0)


def alphas_over_the_cusp(alphas: dict[str, float]) -> Curve:
    """Arithmetic intensities over the one at which memory and arithmetic limit alike."""
    return np.array(
        [a / float(volkov_2016.mixes.cusp_intensity_as_published(mix(gpu, 0.0, a))) for gpu, a in alphas.items()]
    )


def reachable_warps(gpu: str, warps_per_block: int) -> Curve:
    """Every occupancy that some launch reaches, warps per SM: block sizes against numbers of blocks."""
    threads = 32 * np.arange(1, warps_per_block + 1)
    shared = np.arange(0, 16385, 512)
    found = residency.occupancy(gpu, threads[:, None], 8, shared).warps_per_sm
    return np.unique(found[found > 0]).astype(float)


def transpose_partitions(blocks: list[int], row: int, column: int, side: str) -> NDArray[np.int64]:
    """First segments of blocks' tiles by partition; block k stands at tile (row k, column k), tiles of 16 x 16."""
    k = np.arange(*blocks)
    r, c = row * k, column * k % 128
    if side == "written":
        r, c = c, r
    address = (r % 128 * 16 * 2048 + c * 16) * 4
    lanes = np.zeros((len(k), 32), bool)
    lanes[:, 0] = True
    return dram_partitions.spread(np.repeat(address[:, None], 32, axis=1).astype(np.uint64), lanes, 8).segments


def mxv_on_scoreboard(order: str, kernel: dict[str, float]) -> Curve:
    """Cycles of a matrix-vector kernel, instruction by instruction."""
    x = Kernel(**kernel)
    code = []
    for c in range(int(x.columns)):
        code.append(load(c, "2" if order == "by column" and c % 8 else "M"))
        code += [fma(r, c) for r in range(int(x.rows))] if order == "by column" else []
    code += [fma(0, c) for c in range(int(x.columns))] if order == "one row" else []
    code += [store(r) for r in range(int(x.rows))] if order == "by column" else [store(0)]
    return np.asarray(scoreboard.latency(tuple(code), device(x)))


def departure_over_bandwidth(board: dict[str, float], transactions: list[int]) -> Curve:
    """Largest ratio of Hong and Kim's two limits on MWP, uncoalesced accesses; below 1 the bus is never full."""
    found = hong_kim_2009.mwp_limits(
        hong_kim_2009.Inputs(
            threads_per_block=LANES, blocks=board["active_sms"], active_blocks=1.0, comp_insts=1.0,
            uncoal_mem_insts=1.0, coal_mem_insts=0.0, synch_insts=0.0, load_bytes=128.0,
            uncoal_per_mw=np.arange(transactions[0], transactions[1] + 1.0), **board,
        )
    ).limits  # fmt: skip
    return np.asarray((found["departure"] / found["bandwidth"]).max())


def algorithm_2_differs(sizes: list[int], increments: int, starts: int) -> Curve:
    """Share of linear accesses for which Hong and Kim's Algorithm 2 is not what the coalescing rule gives."""
    thread, half = np.arange(32, dtype=np.uint64), np.arange(32)[None, :] < 16
    differ = []
    for size in sizes:
        for step in range(1, increments + 1):
            at = (np.arange(starts, dtype=np.uint64)[:, None] + thread * np.uint64(step)) * np.uint64(size)
            exact = coalescing.transactions(at, np.repeat(half, starts, axis=0), size, 13).count
            said = [hong_kim_2009.coalescing.transactions(size, step, [start]) for start in range(starts)]
            differ.append(exact != np.array(said))
    return np.asarray(np.mean(differ))


def scheduler_peak(pipe: str, gpu: str, conflict: int) -> Curve:
    """Lanes per cycle per scheduler, 4-byte words of shared memory so many banks apart that `conflict` collide."""
    board = board_of(gpu)
    slot = tables.issue_rate(board) / limits(board.compute_capability).sub_cores
    stride = np.arange(32, dtype=np.uint64)[None, :] * np.uint64(4 * conflict)
    found = banks.wavefronts(stride, np.ones((1, 32), bool), 4, board.arch)
    return np.asarray(LANES * min(1 / tables.pipe_cycles(board, pipe), slot) * found.ideal[0] / found.actual[0])


def add_latency(gpu: str) -> Curve:
    """Cycles of an FP32 addition."""
    return np.asarray(tables.alu_latency(board_of(gpu)))


def cores(gpu: str, flop_per_core: float, MHz: float | None = None) -> Curve:
    """FP32 lanes of the chip; with flop per cycle of each, Gflop/s at the board's clock or another."""
    board = board_of(gpu)
    lanes = tables.fp32_lanes(board) * board.value("sm_count")
    return np.asarray(lanes * flop_per_core * clock(board, MHz or "boost") / 1e9 if flop_per_core else lanes)


def warps_per_scheduler(gpu: str, share: float, blocks: int) -> Curve:
    """Warps of one scheduler at a share of the full occupancy, in so many blocks as shared memory admits."""
    per_block = int(board_limits(gpu).max_warps_per_sm * share / blocks)
    found = residency.occupancy(gpu, 32 * per_block, 0, board_limits(gpu).shared_per_sm // blocks)
    return np.asarray(found.warps_per_sm / board_limits(gpu).sub_cores)


def board_limits(gpu: str) -> Any:
    return limits(board_of(gpu).compute_capability)


def traffic_ratio(caching: str, coalesced: int) -> Curve:
    """Bytes of one diverged access and some coalesced ones over those of as many coalesced ones, 3.0."""
    lane, on = np.arange(32, dtype=np.uint64)[None, :], np.ones((1, 32), bool)
    near, far = (
        float(coalescing.transactions(lane * np.uint64(step), on, 4, 30, caching).bytes[0]) for step in (4, 4096)
    )
    return np.asarray((coalesced * near + far) / ((coalesced + 1) * near))


def said(workload: str, case: str, gpu: str, field: str) -> Curve:
    """What Hong and Kim's model is given of a shipped workload."""
    written = next(one for one in read(workload) if case in ("", one.case))
    inputs = answers.inputs_of("hong_kim_2009", launched(written, board_of(gpu)))
    parts = field.split("+")
    return np.asarray(sum(getattr(inputs, part) for part in parts))


SITUATIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        adds, worst_ratio, share_of_peak_over, warps_until_nothing_exposed, needed, alphas_over_the_cusp,
        reachable_warps, transpose_partitions, mxv_on_scoreboard, departure_over_bandwidth,
        algorithm_2_differs, scheduler_peak, add_latency, cores, warps_per_scheduler, traffic_ratio, said,
    )
}  # fmt: skip


# ---------------------------------------------------------------- tests

CASES = [(case["id"], case) for case in BOOK["case"]]


def check(case: dict[str, Any]) -> None:
    got = SITUATIONS[case["situation"]](**case["inputs"])
    assert np.shape(got) == np.shape(case["expected"])
    np.testing.assert_allclose(got, case["expected"], rtol=case["rtol"], atol=0, equal_nan=False)


def test_situations() -> None:
    assert_each(check, CASES)


def test_situations_notice_a_function_without_an_answer() -> None:
    assert_each(check_that_nan_is_noticed, CASES)


def check_that_nan_is_noticed(case: dict[str, Any]) -> None:
    owner, name = case["uses"].rsplit(".", 1)
    module = importlib.import_module(owner)
    original = getattr(module, name)
    with pytest.MonkeyPatch.context() as patch, np.errstate(invalid="ignore"), suppress(ValueError):
        patch.setattr(module, name, lambda *args, **kwargs: poisoned(original(*args, **kwargs)))
        assert not passes(check, case), "it holds for NaN, too"


def test_situations_say_what_they_are() -> None:
    ids = [case["id"] for case in BOOK["case"]]
    assert len(ids) == len(set(ids))
    for case in BOOK["case"]:
        assert case["kind"] in {"printed", "derived"}
        assert case["where"]
        assert 0 < case["rtol"] < 0.1
        assert case["uses"].startswith("warpbound.")


def test_the_page_on_models_shows_these_numbers() -> None:
    page = (ROOT / "docs" / "models.md").read_text()
    for case in BOOK["case"]:
        if case["id"].startswith("page."):
            assert " | ".join(f"{value:.1f}" for value in case["expected"]) in page, case["id"]
