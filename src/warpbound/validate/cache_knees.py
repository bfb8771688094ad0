"""Knees and plateaus of measured and predicted curves: the rate at which data are read, against how much there are.

Definition   A curve falls from one level of the memory to the next. Its knee is the size where half of the fall is
             done, in logarithms of size and rate, on the straight line between the two rows around it. The plateaus are
             the median rates of the rows that are AWAY times smaller or larger than the knee. Both follow from each
             other, from the first and the last row on. A curve that ends at FALLEN of its first rate or above has one
             plateau, the median of all rows, and no knee.
Omits        Where a fall begins: half of it is less a matter of the noise of single rows.
"""

from collections.abc import Iterator, Sequence
from math import exp, inf, log, sqrt
from statistics import median

from warpbound.quick_dataclasses import dataclass
from warpbound.validate.corpus import Corpus, corpus
from warpbound.validate.judged_row import Result
from warpbound.validate.row_prediction import HEADLINE

CURVES = {  # corpus -> the levels that its rows fall from and to
    "caches": ("L1", "L2, all SMs the same"),
    "l2-shared": ("L2, all SMs the same", "beyond half of L2"),
    "l2-reads": ("L2", "DRAM"),
}
Curve = Sequence[tuple[float, float]]  # (kB, GB/s), sizes ascending
AWAY = 1.5
FALLEN = 0.8
MOST_ROUNDS = 20


@dataclass(frozen=True)
class Shape:
    """Of one curve. knee : kB, None without one. plateaus : GB/s, one or two of them, in order of size."""

    knee: float | None
    plateaus: tuple[float, ...]


@dataclass(frozen=True)
class KneeComparison:
    """One curve of a board. of : what the number is of. measurement, prediction : kB or GB/s."""

    corpus: str
    gpu: str
    of: str
    unit: str
    measurement: float
    prediction: float

    @property
    def error(self) -> float:
        return self.prediction / self.measurement - 1.0


def shape(curve: Curve) -> Shape:
    """Knee and plateaus of one curve."""
    sizes, rates = zip(*curve, strict=True)
    upper, lower = rates[0], rates[-1]
    if lower >= FALLEN * upper:
        return Shape(None, (median(rates),))
    knee = 0.0
    for _ in range(MOST_ROUNDS):
        before, knee = knee, _crossing(curve, sqrt(upper * lower))
        if knee == before:
            break
        upper = median([rate for size, rate in curve if size * AWAY <= knee] or rates[:1])
        lower = median([rate for size, rate in curve if size >= AWAY * knee] or rates[-1:])
    return Shape(knee, (upper, lower))


def _crossing(curve: Curve, half: float) -> float:
    """Size where the rate is `half`, between the last row above it and the next."""
    last = max(place for place, (_, rate) in enumerate(curve[:-1]) if rate >= half)
    (small, fast), (large, slow) = curve[last : last + 2]
    return exp(log(small) + (log(large) - log(small)) * log(fast / half) / log(fast / slow))


def knee_comparisons(results: Sequence[Result]) -> Iterator[KneeComparison]:
    """Every plateau and knee of the boards of CURVES, from all rows of the corpora that were run as a whole."""
    for name in CURVES:
        swept = corpus(name)
        of_corpus = [r for r in results if r.corpus == name]
        if len(of_corpus) == len(swept.rows):
            for gpu in dict.fromkeys(row.gpu for row in swept.rows):
                yield from _of_board(name, gpu, *curves(swept, of_corpus, gpu))


def curves(swept: Corpus, results: Sequence[Result], gpu: str) -> tuple[Curve, Curve]:
    """(kB, GB/s) as measured and as predicted of one board; results in the order of the rows."""
    of_board = [(row, r) for row, r in zip(swept.rows, results, strict=True) if row.gpu == gpu]
    measured_curve = [(float(row.words["kB"]), float(row.words["GB/s"])) for row, _ in of_board]
    times = [r.measured / (r.seconds[HEADLINE] or inf) for _, r in of_board]
    return measured_curve, [(size, rate * time) for (size, rate), time in zip(measured_curve, times, strict=True)]


def _of_board(name: str, gpu: str, measured_curve: Curve, predicted_curve: Curve) -> Iterator[KneeComparison]:
    ours, theirs = shape(predicted_curve), shape(measured_curve)
    levels = CURVES[name]
    for level, rate, prediction in zip(levels, theirs.plateaus, ours.plateaus, strict=False):
        yield KneeComparison(name, gpu, f"plateau: {level}", "GB/s", rate, prediction)
    if theirs.knee is not None:
        yield KneeComparison(name, gpu, f"knee: {levels[0]}", "kB", theirs.knee, ours.knee or inf)
