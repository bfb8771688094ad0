"""`sweep`: kernels x macros x launches x boards x parameters of boards."""

from pathlib import Path

import click

from warpbound.cli.output import remaining, show, write
from warpbound.errors import CommandError

EXAMPLES = """
\b
Examples:
  warpbound sweep plan.toml
  warpbound sweep plan.toml --scheduler tcp://head:8786 -o results.parquet
  warpbound sweep plan.toml --show --target 2x
  warpbound sweep results.parquet --show --format json
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", metavar="PLAN.toml")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler; default: processes of this machine.")
@click.option("-o", "out", metavar="OUT.parquet", help="Results; default: beside the plan.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes; default: one per processor.")
@click.option("--show", "only_show", is_flag=True, help="Compute nothing; print tables of the stored results.")
@click.option("--target", metavar="1.5x", help="Wanted speed-up of the kernels; default: the plan's.")
@click.option("--top", type=click.IntRange(1), default=10, metavar="N", show_default=True, help="Rows of each table.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="What to print.")
def sweep(  # noqa: PLR0913  (each is an option)
    file: str, scheduler: str | None, out: str | None, jobs: int | None, only_show: bool, target: str | None,
    top: int, form: str,
) -> None:  # fmt: skip
    """Predict a plan of kernels, launches, boards and parameters.

    Results are stored as they are computed; the same command continues a stopped sweep. docs/sweeps.md describes plans.
    """
    from warpbound.report.document import as_json
    from warpbound.sweeping import storage
    from warpbound.sweeping.pareto_fronts import summary
    from warpbound.sweeping.plan import plan
    from warpbound.sweeping.runner import default_out
    from warpbound.sweeping.runner import sweep as computed
    from warpbound.sweeping.text import pages

    is_plan = Path(file).suffix != ".parquet"
    if not is_plan and not only_show:
        raise CommandError(f"{file} holds results, no plan.", "Add --show, or name the plan.")
    goal = _target(target) or (plan(file).target if is_plan else 1.5)
    if only_show:
        rows = storage.read(Path(out) if out else default_out(Path(file)) if is_plan else Path(file))
    else:
        rows = computed(file, scheduler, out, jobs, remaining("points"))
    fronts = summary(rows, goal)
    if form == "json":
        write(as_json(fronts), None)
    else:
        show(pages(fronts, top), None)
        if not only_show:
            write(f"\nAll points are in {out or default_out(Path(file))}.\n", None)


def _target(word: str | None) -> float | None:
    if word is None:
        return None
    try:
        value = float(word.removesuffix("x"))
    except ValueError:
        value = 0.0
    if value <= 0:
        raise CommandError(f"--target {word!r} is not a number of times.", "Write --target 1.5x.")
    return value

