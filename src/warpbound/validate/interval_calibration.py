"""The distance of an interval's edges, from measured launches; and the intervals of launches that are held back.

Source   conformal prediction for launches in groups (R. Dunn, L. Wasserman, A. Ramdas, Distribution-free prediction
         sets for two-layer hierarchical models, JASA 118, 2023), with errors relative to the expected spread
         (`warpbound.analysis.interval`). There each group counts once; here by its launches, at most MOST.
Models   a group is one corpus on one board. A class takes the groups that have launches of it, and one more group that
         represents unknown launches: all launches of the other classes, with the mean weight of its groups.
Omits    likeness between groups: boards of one generation, corpora of one author.
"""

import math
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.accuracy import ANY, Form
from warpbound.analysis.interval import Interval, halves, stretched
from warpbound.validate.judged_row import Result
from warpbound.validate.row_prediction import HEADLINE

Array = NDArray[np.float64]
Scores = dict[str, list[float]]  # group -> one per launch
TAIL = 0.1                       # share of the launches beyond each edge
MOST = 15                        # launches with which a group counts: more of them tell no more of the next group


def form_errors(results: Sequence[Result]) -> tuple[Form, ...]:
    """One entry per class that judged launches have, and ANY."""
    usable = [r for r in results if is_judged(r)]
    names = sorted({r.binds for r in usable})
    return tuple(_form(name, usable) for name in (ANY, *names)) if usable else ()


def with_held_back_intervals(results: Sequence[Result], others: Sequence[Result] = ()) -> Iterator[Result]:
    """Results with the intervals that would have been stated had their own corpus on their board not been measured."""
    pool = [r for r in (*results, *others) if is_judged(r)]
    forms: dict[tuple[str, str], Form] = {}
    for r in results:
        if r.bare is None:
            yield r
            continue
        key = (r.binds, group(r))
        if key not in forms:
            forms[key] = _form(r.binds, [other for other in pool if group(other) != group(r)])
        yield msgspec.structs.replace(r, interval=stated(r, forms[key]))


def stated(r: Result, form: Form) -> tuple[float, float]:
    """The interval that a report states: the model's own error, then the clocks that the board may hold."""
    time_s = r.seconds[HEADLINE] or 0.0
    edges = Interval(time_s, *stretched(time_s, r.bare or (time_s, time_s), form), {}).with_held_clocks(r.clocks_s)
    return edges.low, edges.high


def is_judged(r: Result) -> bool:
    """Whether it is judged and has what a score needs."""
    return r.kind == "judged" and r.bare is not None


def group(r: Result) -> str:
    """Launches that have their origin in common."""
    return f"{r.corpus}, {r.gpu}"


def score(r: Result) -> float:
    """How often the expected spread fits between measured and predicted time; positive where measured is slower."""
    time_s = r.seconds[HEADLINE] or 0.0
    below, above = halves(time_s, r.bare or (time_s, time_s))
    error = math.log(r.measured / time_s)
    return error / (above if error > 0 else below)


def _form(name: str, pool: Sequence[Result]) -> Form:
    own = _by_group(r for r in pool if name in (ANY, r.binds))
    rest = _by_group(r for r in pool if name not in (ANY, r.binds))
    slower, faster = (edge(own, rest, sign) for sign in (1, -1))
    return Form(name, slower, faster, sum(map(len, own.values())), tuple(own))


def _by_group(results: Iterator[Result]) -> Scores:
    scores: Scores = {}
    for r in results:
        scores.setdefault(group(r), []).append(score(r))
    return scores


def edge(own: Scores, rest: Scores, sign: int) -> float:
    """The distance below which all but TAIL of the launches stay on one side (sign 1: slower, -1: faster), at least 0.

    A group of `own` weighs as its launches do, at most MOST; those of `rest` together as one group of the mean weight.
    """
    if not own and not rest:
        return 1.0
    parts = [(np.array(scores), float(min(len(scores), MOST))) for scores in own.values()]
    unseen = sum(weight for _, weight in parts) / len(own) if own else 1.0
    parts += [(np.array(scores), unseen / len(rest)) for scores in rest.values()]
    values = sign * np.concatenate([scores for scores, _ in parts])
    weights = np.concatenate([np.full(len(scores), weight / len(scores)) for scores, weight in parts])
    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    return max(0.0, float(values[order][np.searchsorted(share, 1.0 - TAIL - 1e-9)]))
