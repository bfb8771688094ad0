"""A sweep on processes of this machine, or on those of a Dask scheduler.

Source   dask.distributed 2026.8 (extra `sweep`): a task whose worker dies is given to another one; the caller
         takes results as they arrive, and only the caller writes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from warpbound.errors import InputError, MissingTool, install
from warpbound.forked_process import processors
from warpbound.sweeping import storage
from warpbound.sweeping.plan import Plan, plan
from warpbound.sweeping.predictions import configurations
from warpbound.sweeping.work_units import WorkUnit, work_units

Progress = Callable[[int, int], None]  # points that have answers, of how many
STARTS = 3  # times that a unit is restarted after its worker died


def sweep(
    path: str | Path, scheduler: str | None = None, out: str | Path | None = None, processes: int | None = None,
    progress: Progress | None = None,
) -> Any:  # fmt: skip
    """Every point of a plan as a pyarrow Table, in the order of the points; existing results are not computed again.

    path : of the plan. scheduler : address of a Dask scheduler whose workers have warpbound and see the same files; by
    default processes of this machine. out : the Parquet file, by default beside the plan. processes : by default one
    per processor; with one, the caller computes. progress : called at the
    start and after each unit, with the points done, and of all.
    Raises InputError if the plan is wrong, or if workers repeatedly die on a unit.
    """
    plan_ = plan(path)
    file = default_out(plan_.path) if out is None else Path(out)
    units = work_units(plan_)
    finished = storage.answered_units(file, units)
    ready = sum(unit.points for unit in units if unit.key in finished)
    if progress is not None:
        progress(ready, plan_.points)
    missing = [unit for unit in units if unit.key not in finished]
    for unit, rows in _computed(plan_, missing, scheduler, processes or processors()):
        storage.write_part(file, unit.key, rows)
        ready += unit.points
        if progress is not None:
            progress(ready, plan_.points)
    return storage.finish(file, units)


def default_out(plan_path: Path) -> Path:
    """plan.parquet beside plan.toml."""
    return plan_path.with_suffix(".parquet")


def answer(plan_: Plan, unit: WorkUnit) -> Any:
    """The rows of one unit; what a worker does."""
    return storage.table(plan_, unit, configurations(plan_, unit))


def _computed(
    plan_: Plan, units: Sequence[WorkUnit], scheduler: str | None, processes: int
) -> Iterator[tuple[WorkUnit, Any]]:
    """Units with their rows, in the order in which they finish."""
    if scheduler is None and min(processes, len(units)) <= 1:
        yield from ((unit, answer(plan_, unit)) for unit in units)
        return
    try:
        from distributed import KilledWorker, as_completed
    except ImportError as missing:
        raise MissingTool("A sweep on several processes needs Dask.", install("sweep")) from missing
    with _client(scheduler, min(processes, len(units))) as client:
        task = partial(answer, plan_)
        futures = {client.submit(task, unit, key=f"sweep-{unit.key}", pure=True): unit for unit in units}
        for future in as_completed(list(futures)):  # type: ignore[no-untyped-call]
            unit = futures.pop(future)
            try:
                yield unit, future.result()
            except KilledWorker:
                reason = f"Workers died {STARTS + 1} times on {unit.subject.source.name}."
                raise InputError(reason, "Start again with fewer --jobs: finished units are kept.") from None
            future.release()


@contextmanager
def _client(scheduler: str | None, processes: int) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    quiet = {"distributed.scheduler.allowed-failures": STARTS, "distributed.logging.distributed": "error"}
    with dask.config.set(quiet):
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout="20s")  # type: ignore[no-untyped-call]
            except (OSError, ValueError) as failed:
                reason = f"No Dask scheduler answers at {scheduler} ({failed})."
                raise InputError(reason, "Start one with `dask scheduler`, workers with `dask worker`.") from None
            with client:
                yield client
            return
        cluster = LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="critical"
        )
        with cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
            yield client
