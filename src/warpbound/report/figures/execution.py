"""Figures of execution over time: the latency stack, the execution graph, the issue timeline.

Source   V. Volkov, EECS-2016-143, Figures 3.3, 3.5 and 4.7; S. Hong, H. Kim, ISCA 2009, Figures 5 to 8.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from warpbound.models.volkov_2016 import one_warp
from warpbound.report.figures.picture import Arrows, Axis, Bars, Boxes, Layer, Picture, Points, Style
from warpbound.report.figures.theme import FILLS
from warpbound.report.formatting import CAUSE_WORDS

VOLKOV = "V. Volkov, Understanding Latency Hiding on GPUs, EECS-2016-143"
SMALLEST_PART = 0.005  # share of its bar below which a part is left out: too short to be visible
SMALLEST_TEXT = 0.06  # share of the longest bar below which a part has no number
_PARTS = {
    "issue": Style("blue"),
    "fixed": Style("orange", "dash"),
    "shared": Style("green", "dot"),
    "constant": Style("purple", "dashdot"),
    "l1": Style("yellow"),
    "l2": Style("sky", "8px,3px"),
    "dram": Style("vermilion", "longdash"),
    "barrier": Style("muted"),
    "start": Style("muted", "dash", fill=0.2),
}


def latency_stack(parts: Mapping[str, Mapping[str, float]], source: str = "the schedule of one warp alone") -> Picture:
    """Kernel (or GPU) -> cause -> cycles of one warp: one bar each, its causes one after the other."""
    names = tuple(parts)
    causes = list(dict.fromkeys(cause for row in parts.values() for cause in _seen(row)))
    longest = max((sum(row.values()) for row in parts.values()), default=1.0) or 1.0
    tops = dict.fromkeys(names, 0.0)
    layers: list[Layer] = []
    for cause in causes:
        lengths = [parts[name].get(cause, 0.0) for name in names]
        texts = tuple(f"{length:.0f}" if length > SMALLEST_TEXT * longest else "" for length in lengths)
        starts = [tops[name] for name in names]
        style = _PARTS.get(cause, FILLS[len(layers) % len(FILLS)])
        layers.append(Bars(CAUSE_WORDS.get(cause, cause), range(len(names)), starts, lengths, texts, style))
        tops = {name: tops[name] + length for name, length in zip(names, lengths, strict=True)}
    return Picture(
        title="Where the latency of one warp goes",
        x=Axis("one warp alone", "cycles", span=(0.0, 1.02 * longest)),
        y=Axis("", names=names, span=(len(names) - 0.4, -0.6)),
        layers=tuple(layers),
        source=source,
        caption="From the first instruction to the last, each cycle counts to what the warp waits for then.",
        height=170 + 60 * len(names),
    )


def _seen(row: Mapping[str, float]) -> list[str]:
    """The causes of a bar that are long enough to be visible."""
    return [cause for cause, cycles in row.items() if cycles > 0 and cycles >= SMALLEST_PART * sum(row.values())]


class Edge(NamedTuple):
    """The instruction `to` may not issue before `cycles` after `start` did; both are places in the program."""

    start: int
    to: int
    cycles: float
    critical: bool


def execution_graph(
    names: Sequence[str], issue: Sequence[float], edges: Sequence[Edge], source: str = VOLKOV + ", Figure 3.5"
) -> Picture:
    """Instructions in program order, downwards, at the cycle they issue; arrows are waits, the longest path marked."""
    layers: list[Layer] = []
    groups = (
        ("latency", [e for e in edges if not e.critical], Style("blue", "dash", width=1.2)),
        ("longest path", [e for e in edges if e.critical], Style("vermilion", "solid", width=3.0)),
    )
    for name, own, style in groups:
        if own:
            layers.append(
                Arrows(
                    name, [issue[e.start] for e in own], [e.start for e in own], [issue[e.to] for e in own],
                    [e.to for e in own], style,
                )  # fmt: skip
            )
    layers.append(Points("instruction", issue, range(len(names)), (), Style("ink"), hover=tuple(names)))
    critical = [e for e in edges if e.critical and e.cycles > 0]
    layers.append(
        Points(
            "",
            [(issue[e.start] + issue[e.to]) / 2 for e in critical],
            [(e.start + e.to) / 2 for e in critical],
            tuple(f"{e.cycles:.0f}" for e in critical),
            Style("muted", symbol="line-ns"),
            "top right",
        )
    )
    begin, last = min(issue), max(issue)
    room = 0.05 * (last - begin) or 1.0
    return Picture(
        title="Execution graph of one warp",
        x=Axis("issue", "cycles", span=(begin - room, last + 1.2 * room)),
        y=Axis("", names=tuple(names), span=(len(names) - 0.4, -0.6)),
        layers=tuple(layers),
        source=source,
        caption="Each dot is an instruction at the cycle it issues; an arrow is a latency it must wait for. The thick "
        "arrows are the longest path: its length is the least latency of a warp.",
        height=150 + 26 * len(names),
    )


def edges_of(program: Sequence[one_warp.Instruction], pairs: Sequence[tuple[int, int]] = ()) -> list[Edge]:
    """Every constraint of `one_warp.issue_times` as an edge; critical where it lies on the longest path."""
    issue = one_warp.issue_times(program, pairs)
    together = {second for _, second in pairs}
    edges = []
    for i, instruction in enumerate(program):
        if i:
            edges.append((i - 1, i, 0.0 if i in together else program[i - 1].gap))
        edges += [(producer, i, latency) for producer, latency in instruction.waits]
    path, at = set(), len(program) - 1
    while True:
        tight = [e for e in edges if e[1] == at and issue[e[0]] + e[2] == issue[at]]
        if not tight:
            break
        path.add(tight[-1])
        at = tight[-1][0]
    return [Edge(*instruction, critical=instruction in path) for instruction in edges]


_KINDS = {
    "issues": Style("blue"), "issues or computes": Style("blue"), "waits for memory": Style("vermilion"),
    "waits for something else": Style("green", fill=0.25), "waits for arithmetic": Style("orange"),
    "waits for special registers or constants": Style("purple"), "waits for branches or barriers": Style("muted"),
}  # fmt: skip


class Event(NamedTuple):
    """What a warp does from cycle `start` to cycle `end`."""

    warp: int
    start: float
    end: float
    kind: str


def timeline(
    events: Sequence[Event | tuple[int, float, float, str]],
    title: str = "Warps in time",
    source: str = "simulation of the warps of one SM",
) -> Picture:
    """One row per warp, one box per event, a colour per kind: issuing, computing, waiting for memory, at a barrier."""
    rows = [Event(*event) for event in events]
    warps = sorted({event.warp for event in rows})
    place = {warp: number for number, warp in enumerate(warps)}
    layers: list[Layer] = []
    for number, kind in enumerate(dict.fromkeys(event.kind for event in rows)):
        own = [event for event in rows if event.kind == kind]
        at = np.array([place[event.warp] for event in own], dtype=np.float64)
        style = _KINDS.get(kind, FILLS[number % len(FILLS)])
        layers.append(Boxes(kind, [e.start for e in own], [e.end for e in own], at - 0.4, at + 0.4, (), style))
    first, last = min(e.start for e in rows), max(e.end for e in rows)
    many = "Each row is a warp; what overlaps in time between rows is hidden, what is alone is not."
    return Picture(
        title=title,
        x=Axis("time", "cycles", span=(first, last)),
        y=Axis("warp", names=tuple(str(w) for w in warps) if len(warps) <= 24 else (), span=(len(warps) - 0.4, -0.6)),
        layers=tuple(layers),
        source=source,
        caption=many if len(warps) > 1 else "While it waits, other warps may issue: what their work covers is hidden.",
        height=min(720, 190 + 26 * len(warps)),
    )
