"""The report of a run, kernel by kernel: from the log to the answer of `run`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from warpbound.machine import Gpu
from warpbound.program_run.protocol import UNORDERED
from warpbound.program_run.server import EndedProgram, RunOptions
from warpbound.program_run.session import EndedLaunch, Log
from warpbound.result.program_run import Activity, ProgramRun, RunKernel, RunLaunch
from warpbound.result.quantities import SCHEMA_VERSION

STRAY = (
    "{lanes} accesses of single lanes outside every allocation were let through: their reads gave 0, their writes were "
    "dropped; on a GPU they reach whatever lies there."
)


def report(command: str, program: str, how: RunOptions, ended: EndedProgram, log: Log) -> ProgramRun:
    """The answer of `run`."""
    board = how.board
    launches = [_launch(number, launch, board) for number, launch in enumerate(log.launches, 1)]
    return ProgramRun(
        schema_version=SCHEMA_VERSION, command=command, program=program, gpu=board.key,
        execute="all" if how.choice.every_block else "sampled", exit_code=ended.exit_code,
        end_s=max((line.end for line in log.timelines), default=0.0),
        execution_s=log.busy_s, kernels=_kernels(launches), launches=launches, activities=_activities(log),
        unsupported=[f"{name} ({count} calls)" if count > 1 else name for name, count in log.unsupported.items()],
        problems=[*log.problems, *_strays(log), *_ending(ended)],
    )  # fmt: skip


def _strays(log: Log) -> Iterator[str]:
    for kernel, lanes in log.strays.items():
        yield f"{kernel}: {STRAY.format(lanes=lanes)}"


def _ending(ended: EndedProgram) -> list[str]:
    if ended.stopped:
        return ["The program did not end in time and was stopped."]
    if ended.signal_name:
        return [f"The program was ended by {ended.signal_name}."]
    return []


def _launch(number: int, launch: EndedLaunch, board: Gpu) -> RunLaunch:
    request, timing = launch.request, launch.timing
    result = timing.result if timing else None
    instructions = result.warp_instructions if result else None
    return RunLaunch(
        number=number, kernel=request.kernel.program.title, gpu=board.key, grid=list(request.grid),
        block=list(request.block), smem=request.smem, stream=request.stream & ~UNORDERED, start_s=launch.start_s,
        time_s=result.time_s if result else None,
        time_interval_s=list(result.interval_s) if result and result.interval_s else None,
        bottleneck=result.bottleneck if result else None,
        blocks_per_sm=result.blocks_per_sm if result else None,
        warps_per_sm=result.warps_per_sm if result else None, warp_instructions=instructions,
        executed=launch.execution, timed_as=timing.number if timing and timing.number != number else None,
        not_timed=(timing.why_not or None) if timing else "left out by the choice of launches",
        assumed=list(result.assumed) if result else [],
    )  # fmt: skip


def _kernels(launches: Sequence[RunLaunch]) -> list[RunKernel]:
    """By time, the longest first; kernels without a time last."""
    groups: dict[str, list[RunLaunch]] = defaultdict(list)
    for launch in launches:
        groups[launch.kernel].append(launch)
    total = sum(launch.time_s or 0.0 for launch in launches)
    kernels = [_kernel(name, group, total) for name, group in groups.items()]
    return sorted(kernels, key=lambda kernel: -(kernel.time_s or 0.0))


def _kernel(name: str, launches: Sequence[RunLaunch], total: float) -> RunKernel:
    times = [launch.time_s for launch in launches if launch.time_s is not None]
    by_bottleneck: dict[str, float] = defaultdict(float)
    for launch in launches:
        if launch.bottleneck:
            by_bottleneck[launch.bottleneck] += launch.time_s or 0.0
    counts = [launch.warp_instructions for launch in launches if launch.warp_instructions is not None]
    return RunKernel(
        name=name, launches=len(launches), time_s=sum(times) if times else None,
        mean_time_s=sum(times) / len(times) if times else None,
        share=min(1.0, sum(times) / total) if times and total else None,
        bottleneck=max(by_bottleneck, key=lambda key: by_bottleneck[key]) if by_bottleneck else None,
        warp_instructions=sum(counts) if counts else None,
    )  # fmt: skip


def _activities(log: Log) -> list[Activity]:
    groups: dict[str, list[float]] = defaultdict(list)
    for line in log.timelines:
        for span in line.spans:
            if span.launch is None:
                groups[span.what].append(span.end_s - span.start_s)
    return [Activity(name=name, count=len(times), time_s=sum(times)) for name, times in groups.items()]


def chrome_trace(run: ProgramRun, log: Log) -> dict[str, object]:
    """The timeline for Perfetto or chrome://tracing; microseconds."""
    events: list[dict[str, object]] = []
    for process, line in enumerate(log.timelines):
        for span in line.spans:
            launch = run.launches[span.launch - 1] if span.launch else None
            details = {"grid": launch.grid, "block": launch.block, "bottleneck": launch.bottleneck} if launch else {}
            events.append({
                "ph": "X", "name": span.what, "ts": span.start_s * 1e6, "dur": (span.end_s - span.start_s) * 1e6,
                "pid": process, "tid": span.stream, "args": details,
            })  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ns"}
