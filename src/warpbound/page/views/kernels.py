"""The views of a kernel: the verdict, occupancy, one warp in time, the machine code."""

from warpbound.isa.limits import limits
from warpbound.page.controls import Control, between
from warpbound.page.prediction import can_time, quick_seconds
from warpbound.page.subject import Subject
from warpbound.page.views.hiding import hiding
from warpbound.page.views.records import Drawn, Values, inputs
from warpbound.report import figures
from warpbound.report.words import seconds
from warpbound.residency import occupancy

AS_IT_IS = "the report's own sentences and tables are of the kernel as it is."


def verdict(subject: Subject, values: Values) -> Drawn:
    """One warp's latency by cause; for sliders alone, what the latency hiding view shows."""
    if subject.entry is None:
        return hiding(subject, values)
    words = []
    if subject.imagined and can_time(subject):
        words.append(f"About {seconds(quick_seconds(subject))} with the kernel's numbers as set; {AS_IT_IS}")
    elif subject.estimated and can_time(subject):
        words.append(f"About {seconds(quick_seconds(subject))}, an estimate while you move; the analysis follows.")
    parts = subject.launched.work.parts if subject.launched else (subject.entry.get("latency") or {}).get("parts")
    stack = figures.latency_stack({subject.name: parts}, "the schedule of one warp alone") if parts else None
    return Drawn(stack, tuple(words))



def occupancy_controls(subject: Subject) -> list[Control]:
    rules = limits(subject.gpu.compute_capability)
    return [
        between("block.threads", "Threads per block", "", subject.block.threads, (1, rules.max_threads_per_block)),
        between(
            "block.registers", "Registers per thread", "", subject.block.registers, (1, rules.max_registers_per_thread)
        ),
        between(
            "block.shared_bytes", "Shared memory per block", "B", subject.block.shared_bytes,
            (0, rules.max_shared_per_block),
        ),
    ]  # fmt: skip


def set_block(subject: Subject, values: Values) -> figures.Block:
    """The block with the numbers as set, whole."""
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
    own = ((subject.entry or {}).get("figures") or {}).get("timeline")
    if not own:
        return Drawn(words=("A timeline needs a kernel's own code: choose an example or paste CUDA.",))
    events = [figures.Event(0, *event) for event in own]
    title = f"One warp in time: its first {events[-1].end:.0f} cycles"
    return Drawn(figures.timeline(events, title, "control words and unloaded latencies"), _if_moving(subject))


def sass(subject: Subject, values: Values) -> Drawn:
    if not (subject.entry or {}).get("sass"):
        return Drawn(words=("There is no machine code here: choose an example or paste CUDA.",))
    return Drawn(words=_if_moving(subject))


def _if_moving(subject: Subject) -> tuple[str, ...]:
    return ("As it was before the last change; the analysis follows when you let go.",) if subject.estimated else ()
