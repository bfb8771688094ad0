"""Answers before and after a change of the source: what counts as a difference, and when a gate fails.

The model is deterministic: equal machine code and launch give equal numbers. A difference counts where it is larger
than what the model resolves: the floor of its intervals, 1.5 % to each side of a time, for two times, and twice the
sampling errors of both. Errors that both answers share (the board's parameters, mechanisms left out) cancel.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from warpbound.program.kernel import Program
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal
from warpbound.result.review import Diff, KernelChange, KernelState, MetricChange, Question

FLOOR = 0.015  # least half width of a time's interval, relative (analysis/interval.py)
RESOLUTION = math.sqrt(2) * FLOOR  # relative resolution of the difference of two times
METRICS = (
    "time_s", "cycles_per_warp", "registers", "spill_bytes", "shared_bytes", "warps_per_sm", "instructions",
    "warp_instructions", "dram_bytes", "l2_sectors", "bottleneck", "mode",
)  # fmt: skip
_DIGITS = 6  # significant, of numbers in a snapshot: more would change with the least change of a library


def digest(program: Program) -> str:
    """Of the machine code: instructions with their schedule, without source places."""
    lines = (f"{instruction.mnemonic} {instruction.text} {instruction.control}" for instruction in program.instructions)
    text = "\n".join(lines)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def state(entry: KernelResult, question: Question, code: str) -> KernelState:
    """The part of an answer that a review compares."""
    memory, facts = entry.memory, entry.program
    static = entry.mode == "static"
    return KernelState(
        kernel=entry.kernel,
        gpu=entry.gpu,
        file=question.file,
        launch=question.launch,
        mode=entry.mode,
        line=next((row.line for row in entry.lines if row.line), None),
        code=code,
        registers=facts.registers,
        spill_bytes=facts.spill_bytes_stored + facts.spill_bytes_loaded,
        shared_bytes=facts.shared_bytes,
        warps_per_sm=_rounded(entry.occupancy.warps_per_sm),
        instructions=facts.instructions,
        warp_instructions=_rounded(entry.instructions.warp_instructions),
        dram_bytes=_rounded(_sum(memory.dram_bytes_read, memory.dram_bytes_written)),
        l2_sectors=_rounded(_sum(memory.l2_sectors_read, memory.l2_sectors_written)),
        time_s=_rounded(entry.time_s),
        time_interval_s=[_rounded(end) or 0.0 for end in entry.time_interval_s] if entry.time_interval_s else None,
        cycles_per_warp=_rounded(entry.bounds[0].cycles_per_warp) if static and entry.bounds else None,
        bottleneck=entry.bottleneck,
        sampling_error=_rounded(entry.sample.sampling_error) if entry.sample else None,
    )


def refused(entry: Refusal, question: Question) -> KernelState:
    """A question without an answer."""
    return KernelState(
        kernel=entry.kernel or "", gpu=entry.gpu, file=question.file, launch=question.launch, error=entry.error.reason
    )


def _sum(*parts: float | None) -> float | None:
    return None if None in parts else sum(part for part in parts if part is not None)


def _rounded(value: float | None) -> float | None:
    if value is None or value == 0 or isinstance(value, int):
        return value
    return float(f"{value:.{_DIGITS}g}")


def compared(before: Sequence[KernelState], after: Sequence[KernelState], fail_above: float | None) -> Diff:
    """Two sets of answers side by side. fail_above : percent by which no kernel may become slower; None: no gate."""
    kernels = [_change(old, new, fail_above) for old, new in _pairs(before, after)]
    failed = any(kernel.fails for kernel in kernels)
    return Diff(schema_version="1", fail_above=fail_above, failed=failed, kernels=kernels)


def _pairs(
    before: Sequence[KernelState], after: Sequence[KernelState]
) -> Iterator[tuple[KernelState | None, KernelState | None]]:
    """Answers about the same kernel; a kernel alone in its file that has another name now is the same."""
    old_states, right = list(before), list(after)
    for keys in (("kernel", "gpu", "file", "launch"), ("gpu", "file", "launch")):
        for old in list(old_states):
            like = [new for new in right if _key(new, keys) == _key(old, keys)]
            alone = sum(_key(other, keys) == _key(old, keys) for other in old_states) == 1
            if like and (len(keys) == 4 or (len(like) == 1 and alone)):
                old_states.remove(old)
                right.remove(like[0])
                yield old, like[0]
    yield from ((old, None) for old in old_states)
    yield from ((None, new) for new in right)


def _key(state: KernelState, keys: Iterable[str]) -> tuple[object, ...]:
    return tuple(getattr(state, key) for key in keys)


def _change(old: KernelState | None, new: KernelState | None, fail_above: float | None) -> KernelChange:
    state = new or old
    assert state is not None
    change = KernelChange(
        name=state.kernel, gpu=state.gpu, file=state.file, line=state.line, before=old, after=new, significant=True,
        direction="changed", reason="-", resolution=RESOLUTION, changes=[], fails=False,
    )  # fmt: skip
    if old is None:
        return structs.replace(change, direction="added", reason="It is new.")
    if new is None:
        return structs.replace(change, direction="removed", reason="It is no longer there.")
    if new.error or old.error:
        return _without_answer(change, old, new, fail_above)
    return _difference(change, old, new, fail_above)


def resolved_difference(*sampling_errors: float | None) -> float:
    """The least relative difference of two times that the model resolves; sampling_errors : of both answers."""
    return math.hypot(RESOLUTION, *(2 * (error or 0.0) for error in sampling_errors))


def _without_answer(
    change: KernelChange, old: KernelState, new: KernelState, fail_above: float | None
) -> KernelChange:
    if not new.error:
        return structs.replace(change, direction="repaired", reason="It has an answer now.")
    if old.error:
        return structs.replace(change, direction="same", significant=False, reason=f"No answer: {new.error}")
    fails = fail_above is not None
    return structs.replace(change, direction="broken", reason=f"It no longer has an answer: {new.error}", fails=fails)


def _difference(change: KernelChange, old: KernelState, new: KernelState, fail_above: float | None) -> KernelChange:
    resolution = resolved_difference(old.sampling_error, new.sampling_error)
    change = structs.replace(change, changes=list(_metrics(old, new)), resolution=resolution)
    metric = "time_s" if old.time_s and new.time_s else "cycles_per_warp"
    relative = _relative(getattr(old, metric), getattr(new, metric))
    label = "Its time" if metric == "time_s" else "Its tightest bound, per warp and iteration,"
    if old.mode != new.mode:
        return structs.replace(change, reason=f"It was answered in {old.mode} mode, now in {new.mode} mode.")
    if relative is not None and abs(relative) > resolution:
        direction = "slower" if relative > 0 else "faster"
        fails = fail_above is not None and 100 * relative > fail_above
        reason = f"{label} changes by {100 * relative:+.1f} %{_cause(old, new)}."
        return structs.replace(change, direction=direction, reason=reason, fails=fails)
    if metric == "cycles_per_warp" and (reason := _static(old, new)):
        return structs.replace(change, direction="slower", reason=reason, fails=fail_above is not None)
    if old.code == new.code:
        return structs.replace(change, direction="same", significant=False, reason="Its machine code is the same.")
    size = "does not change" if not relative else f"changes by {100 * relative:+.1f} %"
    reason = f"{label} {size}, which is within what the model resolves ({100 * resolution:.1f} %)."
    return structs.replace(change, direction="same", significant=False, reason=reason)


def _static(old: KernelState, new: KernelState) -> str:
    """Why a kernel without a time counts as slower; "" if it does not."""
    if (new.spill_bytes or 0) > (old.spill_bytes or 0):
        return f"It spills {new.spill_bytes} bytes of registers instead of {old.spill_bytes}."
    if (new.warps_per_sm or 0) < (old.warps_per_sm or 0):
        return f"{new.warps_per_sm:g} warps are resident on an SM instead of {old.warps_per_sm:g}."
    return ""


def _cause(old: KernelState, new: KernelState) -> str:
    """The number that goes most with the difference, in words."""
    if (new.spill_bytes or 0) != (old.spill_bytes or 0):
        return f", with {new.spill_bytes} bytes of spills instead of {old.spill_bytes}"
    changes = [(name, _relative(getattr(old, key), getattr(new, key))) for name, key in (
        ("DRAM traffic", "dram_bytes"), ("L2 traffic", "l2_sectors"), ("executed instructions", "warp_instructions"),
        ("resident warps", "warps_per_sm"))]  # fmt: skip
    name, relative = max(changes, key=lambda pair: abs(pair[1] or 0.0))
    if relative is not None and abs(relative) > RESOLUTION:
        return f", with {100 * relative:+.0f} % of {name}"
    if old.bottleneck != new.bottleneck:
        return f", as {new.bottleneck} binds instead of {old.bottleneck}"
    return ""


def _metrics(old: KernelState, new: KernelState) -> Iterator[MetricChange]:
    for metric in METRICS:
        first, second = getattr(old, metric), getattr(new, metric)
        if first != second:
            yield MetricChange(metric, first, second, _relative(first, second))


def _relative(before: object, after: object) -> float | None:
    if isinstance(before, int | float) and isinstance(after, int | float) and before:
        return after / before - 1
    return None
