"""The answer of `run` as one HTML file: kernels, launches, what went wrong."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from warpbound.report.program_run import notes, seconds, summary
from warpbound.result.program_run import ProgramRun

MOST_LAUNCHES = 2000  # rows of the table; the JSON has all
_LAUNCH_TITLES = ("launch", "start", "time", "grid", "block", "warps per SM", "bound by", "executed", "kernel")
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1a1a1a }
table { border-collapse: collapse; margin: 1rem 0; width: 100% }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #ddd; vertical-align: top }
th { background: #f4f4f4 } td:last-child, th:last-child { text-align: left; overflow-wrap: anywhere }
.bar { background: #4c78a8; height: .6rem }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #e8e8e8 } th { background: #262626 } th, td { border-color: #3a3a3a } }
"""


def page(run: ProgramRun) -> str:
    """A page that needs no other file."""
    title = escape(f"{run.program} on {run.gpu}")
    parts = [
        f"<h1>{title}</h1><p>{escape(summary(run))}</p>",
        "<h2>Kernels</h2>", _table(("share", "", "total", "launches", "mean", "bound by", "kernel"), _kernels(run)),
        "<h2>Launches</h2>",
        _table(_LAUNCH_TITLES, _launches(run)),
        "<h2>Copies</h2>" * bool(run.activities),
        *(f"<p>{escape(f'{each.name}: {each.count}, {seconds(each.time_s)}')}</p>" for each in run.activities),
        "<h2>Notes</h2>", *(f"<p>{escape(note)}</p>" for note in notes(run)),
    ]  # fmt: skip
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _kernels(run: ProgramRun) -> Iterator[Sequence[str]]:
    for kernel in run.kernels:
        share = kernel.share or 0.0
        yield (
            f"{share:.1%}", f'<div class="bar" style="width:{6 * share:.2f}rem"></div>', seconds(kernel.time_s),
            str(kernel.launches), seconds(kernel.mean_time_s), kernel.bottleneck or "-", escape(kernel.name),
        )  # fmt: skip


def _launches(run: ProgramRun) -> Iterator[Sequence[str]]:
    for launch in run.launches[:MOST_LAUNCHES]:
        yield (
            str(launch.number), seconds(launch.start_s), seconds(launch.time_s), _extent(launch.grid),
            _extent(launch.block), str(launch.warps_per_sm or "-"), launch.bottleneck or "-", launch.executed,
            escape(launch.kernel),
        )  # fmt: skip


def _extent(sizes: Sequence[int]) -> str:
    return " x ".join(str(size) for size in sizes)
