"""Chapters 1 to 3, the first pictures: what occupancy brings, what models miss, one diverging branch, Little's law."""

from collections.abc import Iterator

import numpy as np

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figure_series import Figure, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import (
    ADDS,
    OCCUPANCY,
    THESIS,
    adds,
    adds_plot,
    loads_plot,
    machines,
    needed_plots,
)
from warpbound.synthetic_family.comparison import alphas, needed
from warpbound.synthetic_family.predictors import (
    PREDICTORS,
    Throughput,
    baghsorkhi,
    basic,
    cuda_guide,
    huang_greedy,
    refined,
    sim,
    zhang_owens,
)

UNDERESTIMATING = {"sim_2012": sim, "zhang_owens_2011": zhang_owens, "cuda_guide_2015": cuda_guide}


def figs_1_1_to_1_3(inputs: ItemInputs) -> Numbers:
    """Figures 1.1 to 1.3: needed occupancy over the models' estimates at intermediate intensities; heights of cusps."""
    every, at = machines(inputs), alphas(inputs["steps"])
    needs = {name: needed(refined, machine, at, inputs["share"]).warps for name, machine in every.items()}
    least, most = inputs["intermediate"]
    between = (least <= at) & (at <= most)
    return {
        "occupancy underestimated, at most by": {
            name: max(
                float(np.nanmax((needs[gpu] / needed(model, every[gpu], at, inputs["share"]).warps)[between]))
                for gpu in inputs["gpus"]
            )
            for name, model in UNDERESTIMATING.items()
        },
        "cusp over its memory side": {name: float(np.nanmax(warps) / warps[0]) for name, warps in needs.items()},
    }


def figs_1_1_to_1_3_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 1.1, throughput up to a limit; Figure 1.2, six estimates beside the refined model; Figure 1.3, a cusp."""
    every = machines(inputs)
    for name in inputs["drawn"]:
        machine, n = every[name], every[name].occupancies
        lines = {f"alpha {alpha:g}": adds(refined, machine, n, alpha) for alpha in inputs["intensities"]}
        title, source = f"More warps, up to a limit, {name}", f"{THESIS}, Figure 1.1: the model"
        yield Figure(title, OCCUPANCY, ADDS, series_over(n, lines), source)
    for part, (name, alpha, model) in zip("aabbcc", inputs["estimates"], strict=True):
        models = {model: _BY_NAME[model], "volkov_2016, contention": refined}
        place = f"Figure 1.2{part}"
        if alpha:
            yield adds_plot("An estimate", every[name], alpha, models, place)
        else:
            yield loads_plot("An estimate", every[name], models, place)
    cusp = {"volkov_2016": basic, "volkov_2016, contention": refined}
    for_cusp = {**inputs, "gpus": [inputs["cusp"]]}
    yield from needed_plots(for_cusp, cusp, "Cusp on", "Figure 1.3: the models")


_BY_NAME: dict[str, Throughput] = {**PREDICTORS, "huang_2014": huang_greedy, "baghsorkhi_2010": baghsorkhi}


# ---------------------------------------------------------------- one branch


@dataclass(frozen=True)
class Issue:
    """An instruction of the warp, with the mask of the threads that execute it."""

    line: int
    mask: tuple[bool, ...]


def issue_order(code: list[str], condition: tuple[bool, ...]) -> list[Issue]:
    """The instructions that a warp issues of code with SSY, one predicated branch and .S; labels end in a colon.

    The threads that branch go first; the path of the others waits on the divergence stack. Code without SSY and .S is
    that of a single thread, so all threads must branch alike.
    """
    lines = [line.partition(":")[2].strip() if ":" in line else line for line in code]
    labels = {line.partition(":")[0]: at for at, line in enumerate(code) if ":" in line}
    stack: list[tuple[int, tuple[bool, ...]]] = []
    at, mask, issued = 0, (True,) * len(condition), []
    while at < len(lines) and lines[at]:
        issued.append(Issue(at, mask))
        word, _, rest = lines[at].partition(" ")
        place = labels.get(lines[at].split()[-1], 0)
        if word == "SSY":
            stack.append((place, mask))
        elif word == "@!P0":
            both = list(zip(mask, condition, strict=True))
            away, stay = (tuple(here and own == outcome for here, own in both) for outcome in (False, True))
            if any(away) and any(stay):
                stack.append((at + 1, stay))
            at, mask = (place, away) if any(away) else (at + 1, stay)
            continue
        elif word == "BRA":
            at = place
            continue
        elif word.endswith(".S"):
            at, mask = stack.pop()
            continue
        at += 1
    return [*issued, Issue(at, mask)]


def tables_2_2_to_2_4(inputs: ItemInputs) -> Numbers:
    """Tables 2.2 to 2.4: order and mask of a warp's instructions; of one thread, which the serial code gives too."""
    code = list(inputs["simt"])
    return {name: _execution(code, list(inputs["serial"]), case) for name, case in inputs["cases"].items()}


def _execution(code: list[str], serial: list[str], bits: str) -> Numbers:
    condition = tuple(bit == "1" for bit in bits)
    issued = issue_order(code, condition)
    rows: dict[str, Numbers] = {}
    for order, step in enumerate(issued):
        name = code[step.line].partition(":")[2].strip() or code[step.line].partition(":")[0]
        rows[name] = {"order": order, "mask": int("".join("01"[thread] for thread in step.mask))}
    alone = [_work(code, issue_order(code, (outcome,))) for outcome in condition]
    masked = [[step for step in issued if step.mask[thread]] for thread in range(len(bits))]
    own = [_work(serial, issue_order(serial, (outcome,))) for outcome in condition]
    return {
        **rows,
        "instructions of a thread": len(issue_order(code, condition[:1])),
        "instructions of the warp": len(issued),
        "each thread does as alone": all(_work(code, a) == b for a, b in zip(masked, alone, strict=True)),
        "and as the serial code": own == alone,
    }


def _work(code: list[str], issued: list[Issue]) -> list[str]:
    """The arithmetic in order, without the instructions that mark where threads reconverge."""
    texts = (code[step.line].rpartition(":")[2].strip() for step in issued)
    return [text.replace(".S", "") for text in texts if text.startswith("I")]


# ---------------------------------------------------------------- Little's law


def fig_3_1(inputs: ItemInputs) -> Numbers:
    """Figure 3.1: latency, throughput and concurrency of items with a start and an end."""
    start, end = np.array(inputs["items"]).T
    cycles = np.arange(inputs["interval"])
    at_once = ((start <= cycles[:, None]) & (cycles[:, None] < end)).sum(axis=1)
    latency, rate = float((end - start).mean()), len(start) / inputs["interval"]
    return {
        "mean latency": latency,
        "throughput": rate,
        "reciprocal throughput": 1.0 / rate,
        "least concurrency": int(at_once.min()),
        "most concurrency": int(at_once.max()),
        "mean concurrency": float(at_once.mean()),
        "mean latency times throughput": latency * rate,
    }


