"""The views of a kernel: the verdict, occupancy, one warp in time, the machine code."""

from collections.abc import Sequence
from dataclasses import replace

from warpbound.page.quick_prediction import can_time, quick_seconds
from warpbound.page.sliders import Control
from warpbound.page.subject import Subject
from warpbound.page.views.latency_hiding import hiding
from warpbound.page.views.view import Drawn, Values, inputs
from warpbound.page.work_overrides import block_controls
from warpbound.report import figures
from warpbound.report.formatting import count, listed, seconds
from warpbound.report.html.illustrations import WAITED, one_warp_in_time
from warpbound.residency import occupancy

ISSUES = "issues"  # what an event of a timeline is called that is no wait
AS_COMPILED = "The kernel's numbers set by hand do not act here: each cycle is that of the code as compiled."


def verdict(subject: Subject, values: Values) -> Drawn:
    """One warp's latency by cause; for sliders alone, what the latency hiding view shows."""
    if subject.entry is None:
        return hiding(subject, values)
    words = []
    if subject.estimated and can_time(subject):
        words.append(f"About {seconds(quick_seconds(subject))}, an estimate while you move; the analysis follows.")
    parts = subject.launched.work.parts if subject.launched else (subject.entry.get("latency") or {}).get("parts")
    stack = figures.latency_stack({subject.name: parts}, "the schedule of one warp alone") if parts else None
    return Drawn(stack, tuple(words))


def occupancy_controls(subject: Subject) -> list[Control]:
    return block_controls(subject)


def set_block(subject: Subject, values: Values) -> figures.Block:
    """The block with the numbers as set, whole; a kernel's has them."""
    if subject.compiled:
        return subject.block
    found: figures.Block = inputs("block", subject.block, values)
    return figures.Block(round(found.threads), round(found.registers), round(found.shared_bytes))


def occupied(subject: Subject, values: Values) -> Drawn:
    block = set_block(subject, values)
    found = occupancy(subject.gpu, block.threads, block.registers, block.shared_bytes)
    words = [
        f"{found.blocks_per_sm} blocks and {found.warps_per_sm} of {found.max_warps_per_sm} warps per SM, "
        f"limited by {', '.join(found.limiters)}."
    ]
    words += [step.sentence for step in found.next_step]
    return Drawn(figures.occupancy_against_limits(subject.gpu, block), tuple(words))


def timeline(subject: Subject, values: Values) -> Drawn:
    entry = subject.entry or {}
    picture = one_warp_in_time(entry) if (entry.get("figures") or {}).get("timeline") else None
    if picture is None:
        return Drawn(words=("A timeline needs a kernel's own code: choose an example or paste CUDA.",))
    told = () if subject.estimated else (_in_time(entry["figures"]["timeline"]),)
    words = (*_if_moving(subject), *told)
    return Drawn(replace(picture, source="control words and unloaded latencies"), words)


def _in_time(events: Sequence[tuple[float, float, str]]) -> str:
    """What the figure shows, in a sentence: instructions issued, cycles waited for each cause, the longest first."""
    waited: dict[str, float] = {}
    for start, end, kind in events:
        if kind != ISSUES:
            cause = WAITED.get(kind, kind).removeprefix("waits ")
            waited[cause] = waited.get(cause, 0.0) + end - start
    issued = sum(kind == ISSUES for _, _, kind in events)
    longest = sorted(waited.items(), key=lambda one: -one[1])
    waits = [f"{count(round(cycles), 'cycle')} {cause}" for cause, cycles in longest if cycles >= 1]
    said = f" and waits {listed(waits)}" if waits else ""
    return f"In its first {events[-1][1]:.0f} cycles one warp issues {count(issued, 'instruction')}{said}."


def sass(subject: Subject, values: Values) -> Drawn:
    if not (subject.entry or {}).get("sass"):
        return Drawn(words=("There is no machine code here: choose an example or paste CUDA.",))
    return Drawn(words=_if_moving(subject))


def _if_moving(subject: Subject) -> tuple[str, ...]:
    if subject.estimated:
        return ("As it was before the last change; the analysis follows when you let go.",)
    return (AS_COMPILED,) if subject.imagined else ()
