"""Results of a sweep as text: the Pareto fronts of its kernels, and the boards that reach the target."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Fitting
from warpbound.report.formatting import amount, count, resource_words, seconds
from warpbound.sweeping.pareto_fronts import Front, FrontPoint, Sufficient, Summary


def pages(summary: Summary, top: int) -> Iterator[RenderableType]:
    """A heading, the first `top` points of every kernel's front, and the boards that reach the target."""
    missing = f", {summary.without_answer} without an answer" if summary.without_answer else ""
    yield Text(f"{count(summary.points, 'point')}{missing}", "bold cyan")
    for front in summary.fronts:
        yield from _front(front, top)
    yield from boards_pages(summary, top)


def boards_pages(summary: Summary, top: int) -> Iterator[RenderableType]:
    """The boards that reach the target, or how near the others come; nothing if no parameter was varied."""
    if summary.sufficient or summary.best:
        goal = f"{summary.target:g}x as fast (geometric mean)"
        yield Text(f"\nLeast changes of a board that make the kernels {goal}", "bold")
    if summary.sufficient:
        yield _boards(summary.sufficient[:top])
    for best in summary.best:
        changes = ", ".join(f"{name} {times:.3g}x" for name, times in best.times.items())
        yield Text(f"  {best.gpu}: none of these. The fastest is {best.speedup:.2f}x, at {changes}.")


def _front(front: Front, top: int) -> Iterator[RenderableType]:
    missing = f", {front.without_answer} without an answer" if front.without_answer else ""
    yield Text(f"\n{front.kernel}, {front.launch}: {count(front.points, 'point')}{missing}", "bold")
    if not front.front:
        return
    best = front.front[:top]
    yield Text(f"  Nothing beats {count(len(front.front), 'point')} of them in every quantity; the fastest first.")
    yield points_table(best)


def points_table(points: list[FrontPoint], names: Sequence[str] = ()) -> Fitting:
    """One line for each point, with the quantities that at least one point has. names : of the lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    if names:
        table.add_column("point", justify="right")
    with_values = [name for name in points[0].quantities if any(point.quantities[name] is not None for point in points)]
    for name in with_values:
        table.add_column(_HEADS[name], justify="right")
    table.add_column("board")
    if any(point.defines for point in points):
        table.add_column("macros")
    parameters = list(points[0].parameters)
    for name in parameters:
        table.add_column(name.replace("_", " "), justify="right")
    table.add_column("binds")
    for place, point in enumerate(points):
        macros = [point.defines] if any(each.defines for each in points) else []
        values = [_unbroken(amount(point.parameters[name])) for name in parameters]
        binds = resource_words(point.bottleneck)
        quantities = (_unbroken(_quantity(name, point)) for name in with_values)
        table.add_row(*names[place : place + 1], *quantities, point.gpu, *macros, *values, binds)
    return Fitting(table)


_HEADS = {"time_s": "time", "energy_J": "energy", "registers": "registers", "cost": "cost per million"}


def _quantity(name: str, point: FrontPoint) -> str:
    value = point.quantities[name]
    if value is None:
        return "-"
    match name:
        case "time_s":
            return seconds(value)
        case "energy_J":
            return f"{value * 1e3:.3g} mJ"
        case "cost":
            return f"{value * 1e6:.3g}"
        case _:
            return f"{value:.0f}"


def _unbroken(words: str) -> str:
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def _boards(boards: list[Sufficient]) -> Fitting:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("board")
    for name in boards[0].times:
        table.add_column(name.replace("_", " "), justify="right")
    for head in ("mean", "slowest", "kernels that reach it"):
        table.add_column(head, justify="right")
    for board in boards:
        times = [f"{times:.3g}x" for times in board.times.values()]
        reach = f"{board.reaching} of {board.kernels}"
        table.add_row(board.gpu, *times, f"{board.speedup:.2f}x", f"{board.least_speedup:.2f}x", reach)
    return Fitting(table)
