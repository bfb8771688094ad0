"""The views of a kernel: the verdict, occupancy, one warp in time, the machine code."""

from collections.abc import Sequence
from dataclasses import replace

from warpbound.page.quick_prediction import can_time, quick_seconds
from warpbound.page.sliders import Control
from warpbound.page.subject import Subject
from warpbound.page.views.latency_hiding import latency_hiding_view
from warpbound.page.views.view import Values, ViewOutput, inputs
from warpbound.page.work_overrides import block_controls
from warpbound.report import figures
from warpbound.report.formatting import count, listed, seconds
from warpbound.report.html.illustrations import WAITED, one_warp_in_time
from warpbound.residency import occupancy

ISSUES = "issues"  # what an event of a timeline is called that is no wait
AS_COMPILED = "This view ignores kernel numbers that are set by hand: it shows the code as compiled."


def verdict(subject: Subject, values: Values) -> ViewOutput:
    """One warp's latency by cause; without a kernel, the figure of the latency hiding view."""
    if subject.entry is None:
        return latency_hiding_view(subject, values)
    words = []
    if subject.estimated and can_time(subject):
        words.append(f"About {seconds(quick_seconds(subject))}, an estimate while you move; the analysis follows.")
    parts = subject.facts.work.parts if subject.facts else subject.entry.latency and subject.entry.latency.parts
    stack = figures.latency_stack({subject.name: parts}, "the schedule of one warp alone") if parts else None
    return ViewOutput(stack, tuple(words))


def occupancy_controls(subject: Subject) -> list[Control]:
    return block_controls(subject)


def set_block(subject: Subject, values: Values) -> figures.Block:
    """The block with the numbers that are set, in whole warps."""
    if subject.compiled:
        return subject.block
    block: figures.Block = inputs("block", subject.block, values)
    return figures.Block(
        round(block.threads), round(block.registers), round(block.shared_bytes), round(block.tensor_columns)
    )


def occupancy_view(subject: Subject, values: Values) -> ViewOutput:
    block = set_block(subject, values)
    size = block.threads, block.registers, block.shared_bytes
    residency = occupancy(subject.gpu, *size, tensor_columns=block.tensor_columns)
    words = [
        f"{residency.blocks_per_sm} blocks and {residency.warps_per_sm} of {residency.max_warps_per_sm} warps per SM, "
        f"limited by {', '.join(residency.limiters)}."
    ]
    words += [step.sentence for step in residency.next_step]
    return ViewOutput(figures.occupancy_against_limits(subject.gpu, block), tuple(words))


def timeline(subject: Subject, values: Values) -> ViewOutput:
    own = subject.figures
    picture = one_warp_in_time(own) if own else None
    if own is None or picture is None:
        return ViewOutput(words=("A timeline needs a kernel's own code: choose an example or paste CUDA.",))
    in_words = () if subject.estimated else (_in_time(own.timeline),)
    words = (*_if_moving(subject), *in_words)
    return ViewOutput(replace(picture, source="control words and unloaded latencies"), words)


def _in_time(events: Sequence[tuple[float, float, str]]) -> str:
    """The figure in a sentence: instructions issued, waiting cycles by cause, the longest first."""
    waited: dict[str, float] = {}
    for start, end, kind in events:
        if kind != ISSUES:
            cause = WAITED.get(kind, kind).removeprefix("waits ")
            waited[cause] = waited.get(cause, 0.0) + end - start
    issued = sum(kind == ISSUES for _, _, kind in events)
    longest = sorted(waited.items(), key=lambda wait: -wait[1])
    waits = [f"{count(round(cycles), 'cycle')} {cause}" for cause, cycles in longest if cycles >= 1]
    waiting = f" and waits {listed(waits)}" if waits else ""
    return f"In its first {events[-1][1]:.0f} cycles one warp issues {count(issued, 'instruction')}{waiting}."


def sass(subject: Subject, values: Values) -> ViewOutput:
    if not (subject.kernel and subject.kernel.sass):
        return ViewOutput(words=("There is no machine code here: choose an example or paste CUDA.",))
    return ViewOutput(words=_if_moving(subject))


def _if_moving(subject: Subject) -> tuple[str, ...]:
    if subject.estimated:
        return ("State before the last change; the analysis follows when you release the slider.",)
    return (AS_COMPILED,) if subject.overridden else ()
