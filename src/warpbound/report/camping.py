"""CampProf results as text: the regressions, the band with the kernel in it, the validation."""

import math
from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warpbound.camping.validation import Judged
from warpbound.models.campprof_2011.regression import Fit
from warpbound.report.charts import Fitting
from warpbound.report.formatting import amount, seconds
from warpbound.report.tables import ruled_table
from warpbound.result.campprof import (
    CampingBand,
    CampingFit,
    CampingValidation,
    Predictor,
    Regression,
    ValidatedKernel,
)  # fmt: skip

BARS = 32  # characters of the band
SYMBOLS = {
    "slope": "a1  warps",
    "two_byte": "a2  2-byte words",
    "four_byte": "a3  4-byte words",
    "constant": "b   constant",
    "slope_two_byte": "warps, 2-byte words",
    "slope_four_byte": "warps, 4-byte words",
}


def fit_entry(fits: Mapping[str, Fit], significant: Mapping[str, tuple[str, ...]], form: str) -> CampingFit:
    """The answer of `campprof fit`."""
    return CampingFit(form, {
        name: Regression(
            points=fit.points, degrees_of_freedom=fit.degrees_of_freedom, r_squared=fit.r_squared, rmse_s=fit.rmse,
            predictors={key: Predictor(*numbers) for key, *numbers in _rows(fit)}, selected=list(significant[name]),
        )
        for name, fit in fits.items()
    })  # fmt: skip


def fit_text(fits: Mapping[str, Fit], significant: Mapping[str, tuple[str, ...]]) -> RenderableType:
    """The four tables."""
    parts: list[RenderableType] = []
    for name, fit in fits.items():
        title = f"{name.replace('_', ' ')}: {fit.points} runs, R2 {fit.r_squared:.3f}, RMSE {seconds(fit.rmse)}"
        columns = ("predictor", "us", "standard error", "t", "p")
        table = ruled_table(columns, words=("predictor",), folded=columns)
        for key, coefficient, error, t, p in _rows(fit):
            mark = "" if key in significant[name] else " (not significant)"
            table.add_row(SYMBOLS[key] + mark, f"{coefficient * 1e6:.4g}", f"{error * 1e6:.2g}", f"{t:.1f}", f"{p:.1e}")
        parts += [Text(title, "bold cyan"), Padding(Fitting(table), (0, 0, 0, 2))]
    return Group(*parts)


def _rows(fit: Fit) -> list[tuple[str, float, float, float, float]]:
    columns = (fit.coefficients, fit.standard_errors, fit.t, fit.p)
    return list(zip(fit.names, *(column.tolist() for column in columns), strict=True))


def band_text(entry: CampingBand) -> RenderableType:
    """The band at every number of warps; the kernel's own configuration is marked."""
    lines: list[RenderableType] = [Text(entry.advice, "bold")]
    if entry.degree is not None:
        lines.append(Text(f"Degree of camping {entry.degree:.2f} (0 none, 1 every access)."))
    table = ruled_table(("warps", "best", "worst", "application", "best to worst"), words=("best to worst",))
    most = max(entry.worst_s)
    application: Sequence[float | None] = entry.application_s or [None] * len(entry.warps_per_sm)
    for warps, low, high, at in zip(entry.warps_per_sm, entry.best_s, entry.worst_s, application, strict=True):
        here = "*" if warps == entry.configuration.warps_per_sm else " "
        own = "" if at is None else _time(at)
        table.add_row(f"{warps}{here}", _time(low), _time(high), own, _bar((low, high, at), most))
    notes = [Text(f"- {note}", "dim") for note in entry.notes]
    return Group(*lines, Fitting(table), Text("* the configuration given; x the application.", "dim"), *notes)


def _bar(values: tuple[float, float, float | None], most: float) -> str:
    low, high, at = values
    first, last = (round(BARS * max(0.0, value) / most) if most > 0 else 0 for value in (low, high))
    letters = [" "] * first + ["-"] * (last - first + 1)
    if at is not None and 0 <= at <= most:
        place = round(BARS * at / most)
        letters += [" "] * (place + 1 - len(letters))
        letters[place] = "x"
    return "".join(letters).rstrip()


def _time(value: float) -> str:
    return seconds(value) if value > 0 else f"{value * 1e6:.3g} us"


def validation_entry(results: Sequence[Judged], form: str) -> CampingValidation:
    """The answer of `campprof validate`."""
    return CampingValidation(form, [
        ValidatedKernel(
            kernel=row.application.name, camping=row.application.camping, warps_per_sm=row.application.warps.tolist(),
            time_s=row.times.tolist(), best_s=row.band.best.tolist(), worst_s=row.band.worst.tolist(),
            degree=row.degrees.tolist(),
            best_error=row.best_error, worst_error=row.worst_error, line_error=row.line_error,
        )
        for row in results
    ])  # fmt: skip


def validation_text(results: Sequence[Judged]) -> RenderableType:
    """One row per kernel, with the kinds of error that the paper reports."""
    table = ruled_table(("kernel", "camping", "degree", "best", "worst", "line"), words=("kernel", "camping"))
    for kernel in results:
        degrees = [value for value in kernel.degrees.tolist() if math.isfinite(value)]
        degree = f"{degrees[len(degrees) // 2]:.2f}" if degrees else "-"
        errors = (f"{amount(100 * value)} %" for value in (kernel.best_error, kernel.worst_error, kernel.line_error))
        table.add_row(kernel.application.name, kernel.application.camping, degree, *errors)
    return Group(
        Fitting(table),
        Text("best, worst, line: geometric-mean errors of those bounds and of the application line;", "dim"),
        Text("degree: at the middle configuration. Times are simulated.", "dim"),
    )
