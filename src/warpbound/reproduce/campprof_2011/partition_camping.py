"""CampProf: sections 2 and 4.1, Figures 3 to 5 and 7 to 10, on simulated memory partitions."""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from warpbound.camping.prediction import FREE, FULL
from warpbound.camping.validation import CENTRE, Judged, Known, judged, kernels, timed
from warpbound.machine import gpu
from warpbound.memory.coalescing import transactions
from warpbound.model_inputs.partition_benchmarks import GROUPS, Benchmarks, fits, selected, shipped
from warpbound.models.campprof_2011 import SIZES, WORDS, active_warps
from warpbound.models.campprof_2011.regression import PUBLISHED
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.residency import occupancy
from warpbound.simulate.partition_patterns import Micro, gem, micro, transpose
from warpbound.simulate.partition_views import steps
from warpbound.simulate.partitions import Machine, machine_of, simulate

STEP = 1e-6  # s, of one transaction
MICRO = 1e6
AT_ONCE = 1e15  # cycles/s: the SMs take no time
FORM = "by-size"  # of the pictures and degrees
APPLICATIONS = ("GEM", "clique counter", "transpose, coalesced", "transpose, diagonal")
WARPS, TIME = Axis("active warps per SM", "warp/SM"), Axis("time", "s")


def section_2(inputs: ItemInputs) -> Numbers:
    """Section 2: warps on an SM with one, two and more blocks; bytes of a transaction."""
    configurations = active_warps(inputs["most_warps"], inputs["block_warps"])
    threads = 32 * np.arange(1, inputs["block_warps"] + 1)
    resident = occupancy(gpu(inputs["gpu"]), threads, 0, 0)
    reached = {
        blocks * warps
        for warps, most in enumerate(np.asarray(resident.blocks_per_sm).tolist(), 1)
        for blocks in range(1, int(most) + 1)
    }
    return {
        "configurations": len(configurations),
        "also reached by blocks of 3, 5 and 9 warps": len(reached - set(configurations)),
        "bytes of a transaction": {f"{word}-byte words": _transaction(word) for word in inputs["words"]},
    }


def _transaction(word: int) -> float:
    address = (word * np.arange(32, dtype=np.uint64))[None, :]
    traffic = transactions(address, np.ones((1, 32), bool), word, 13)
    return float(traffic.bytes[0] / traffic.count[0])


def fig_3(inputs: ItemInputs) -> Numbers:
    """Figure 3: time of reads and writes of each size in one partition, over their time in all, at full occupancy."""
    table = _table(inputs["gpu"])
    rows = {}
    for operation in ("reads", "writes"):
        for size, word in zip(SIZES, WORDS, strict=True):
            warps, free = _measured(table, operation, word)
            _, camped = _measured(table, f"camped_{operation}", word)
            rows[f"{operation} of {size} B"] = float((camped / free)[warps == inputs["warps"]][0])
    return rows


def fig_3_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """64-byte reads with and without camping."""
    groups, table = {"without camping": "reads", "with camping": "camped_reads"}, _table(inputs["gpu"])
    lines = tuple(series(words, *_measured(table, group, 4), "both") for words, group in groups.items())
    yield Figure("Time of the 64-byte read micro-benchmark", WARPS, TIME, lines, "CampProf, Figure 3: simulated")


def _table(board: str) -> Benchmarks:
    table = shipped(board)
    if table is None:
        raise ValueError(f"{board} has no benchmark data")
    return table


def _measured(table: Benchmarks, group: str, word: int) -> tuple[np.ndarray, np.ndarray]:
    if group not in GROUPS:
        raise ValueError(f"there is no regression {group}")
    rows = table.group(group) & (table.word == word)
    return table.warps[rows], table.time[rows]


def figs_4_and_5(inputs: ItemInputs) -> Numbers:
    """Figures 4 and 5: bytes of a transaction of the read micro-benchmarks, and how many partitions they use."""
    machine = machine_of(gpu(inputs["gpu"]))
    rows: dict[str, Numbers] = {}
    for word in WORDS:
        free, camped = (micro(Micro("read", word, camped), inputs["warps"], machine)[0] for camped in (False, True))
        partition_counts = [
            len(np.unique(machine.mapping(x.address, machine.width, machine.partitions))) for x in (free, camped)
        ]
        sizes = {"bytes of a transaction": float(np.mean(free.size)), "partitions": partition_counts[0]}
        rows[f"{word}-byte words"] = sizes | {"partitions when camped": partition_counts[1]}
    return rows


def figs_4_and_5_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """The partition that the first warp of each block accesses, without and with camping."""
    machine = machine_of(gpu(inputs["gpu"]))
    for number, camped in ((4, False), (5, True)):
        pattern, _ = micro(Micro("read", 4, camped), inputs["warps"], machine)
        home = machine.mapping(pattern.address, machine.width, machine.partitions).reshape(pattern.blocks, -1)
        blocks = np.arange(pattern.blocks)
        lines = (series("partition", blocks, home[:, 0], "points"),)
        title = "Partition read by each block" + (", camped" if camped else "")
        yield Figure(title, Axis("block", "1"), Axis("partition", "1"), lines, f"CampProf, Figure {number}: as rebuilt")


def section_4_1(inputs: ItemInputs) -> Numbers:
    """Section 4.1: R2 and RMSE of the regressions in the paper's form, R2 by size; whether each predictor matters."""
    table = _table(inputs["gpu"])
    regressions = fits(table, "published").values()
    published, errors = [fit.r_squared for fit in regressions], [MICRO * fit.rmse for fit in regressions]
    by_size = [fit.r_squared for fit in fits(table, "by-size").values()]
    return {
        "R2, least": min(published),
        "R2, most": max(published),
        "RMSE, least": min(errors),
        "RMSE, most": max(errors),
        "RMSE, most over least": max(errors) / min(errors),
        "no predictor is insignificant": all(predictors == PUBLISHED for predictors in selected(table).values()),
        "R2 with a slope for each size, least": min(by_size),
    }


def fig_7(inputs: ItemInputs) -> Numbers:
    """Figure 7: the first ten steps of GEM's warps through the partitions, and when all partitions are in use."""
    warps = gem_pipeline(inputs)
    rows = {
        f"step {number}": " ".join(str(warp) if warp else "-" for warp in row)
        for number, row in enumerate(warps[:10].tolist(), 1)
    }
    return rows | {"steps until all partitions are in use": 1 + int(np.flatnonzero((warps > 0).all(axis=1))[0])}


def gem_pipeline(inputs: ItemInputs) -> NDArray[np.int64]:
    """The warp that each partition serves at each step, counted from 1; 0: none. Shape (steps, partitions)."""
    board = machine_of(gpu(inputs["gpu"]))
    machine = Machine(
        sm_count=inputs["warps"], clock=AT_ONCE, partitions=board.partitions, width=board.width,
        bandwidth=board.partitions * board.width / STEP, transit=0.0, port_cycles=0.0, in_flight=1, block_start=0.0,
    )  # fmt: skip
    return steps(simulate(gem(inputs["warps"], inputs["pieces"]), machine, 1), STEP)


def fig_8(inputs: ItemInputs) -> Numbers:
    """Figure 8: partitions of the tiles that neighbouring blocks read and write, and throughput, of both transposes."""
    return {"coalesced": _transpose(inputs, diagonal=False), "diagonal": _transpose(inputs, diagonal=True)}


def _transpose(inputs: ItemInputs, *, diagonal: bool) -> Numbers:
    machine = machine_of(gpu(inputs["gpu"]))
    pattern = transpose(inputs["side"], diagonal=diagonal, blocks=inputs["blocks"])
    home = machine.mapping(pattern.address, machine.width, machine.partitions).reshape(-1, 2, 2)
    result = simulate(transpose(inputs["simulated_side"], diagonal=diagonal), machine, inputs["blocks_per_sm"])
    reads, write = (_spread(np.bincount(home[:, side].ravel(), minlength=machine.partitions)) for side in (0, 1))
    return {"read": reads, "written": write, "throughput": result.throughput / 1e9}


def _spread(count: np.ndarray) -> str:
    in_use = np.count_nonzero(count)
    return "one" if in_use == 1 else "all alike" if np.ptp(count) == 0 else f"{in_use}, unlike"


def fig_9(inputs: ItemInputs) -> Numbers:
    """Figure 9: errors of the best case, the worst case and the application line by the paper's equation, per cent."""
    cases = validated(inputs["gpu"], "published")
    return {
        "GEM, best case": 100 * cases["GEM"].best_error,
        "transpose, diagonal, best case": 100 * cases["transpose, diagonal"].best_error,
        "copy in one partition, worst case": 100 * cases["copy in one partition"].worst_error,
        "clique counter, line": 100 * cases["clique counter"].line_error,
        "clique counter, line, a slope for each size": 100 * validated(inputs["gpu"])["clique counter"].line_error,
        "transpose, coalesced, line": 100 * cases["transpose, coalesced"].line_error,
    }


def fig_9_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """GEM and its best case; the clique counter and its line from 12 warps."""
    gem_case = validated(inputs["gpu"])["GEM"]
    warps = gem_case.application.warps
    lines = (series("simulated", warps, gem_case.times, "both"), series("best case", warps, gem_case.band.best))
    yield Figure("GEM: time and best case", WARPS, TIME, lines, "CampProf, Figure 9a: simulated")
    cliques = validated(inputs["gpu"])["clique counter"]
    warps = cliques.application.warps
    prediction = cliques.lines[int(np.flatnonzero(warps == CENTRE)[0])]
    lines = (series("simulated", warps, cliques.times, "both"), series(f"line from {CENTRE} warps", warps, prediction))
    title = "Clique counter: time and the application line"
    yield Figure(title, WARPS, TIME, lines, "CampProf, Figure 9b: simulated")


def validated(board: str, form: str = FORM) -> dict[str, Judged]:
    """The kernels of the paper's validation, by name."""
    table = _table(board)
    return {kernel.name: judged(kernel, times, table, form) for kernel, times in _timed(board)}


@cache
def _timed(board: str) -> tuple[tuple[Known, NDArray[np.float64]], ...]:
    machine = machine_of(gpu(board))
    return tuple((kernel, timed(kernel, machine)) for kernel in kernels(machine))


def fig_10(inputs: ItemInputs) -> Numbers:
    """Figure 10: the degree of camping of each application, in the paper's words and as a number."""
    degrees = {name: float(validated(inputs["gpu"])[name].degrees[-1]) for name in APPLICATIONS}
    words = {name: "free" if x < FREE else "moderate" if x < FULL else "full" for name, x in degrees.items()}
    return words | {f"{name}, degree": degree for name, degree in degrees.items()}


def fig_10_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """For each application, the band between best and worst case, and its times."""
    for name in APPLICATIONS:
        case = validated(inputs["gpu"])[name]
        warps = case.application.warps
        lines = (
            series("worst", warps, case.band.worst),
            series("simulated", warps, case.times, "both"),
            series("best", warps, case.band.best),
        )
        yield Figure(f"{name}: band and times", WARPS, TIME, lines, "CampProf, Figure 10: simulated")
