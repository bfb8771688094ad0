"""A kernel with numbers set by hand: waits of one warp, its time on resources, traffic and operations, resident warps,
registers and shared memory of a block.

Everything that is computed from counts follows: bounds, time, what-ifs, models. Views of the code itself do not:
machine code, loops, single accesses.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warpbound import machine
from warpbound.memory.counters import COUNTERS
from warpbound.model_inputs.answers import LaunchFacts
from warpbound.page.sliders import MOST_POINTS, Control, real_slider, whole_slider
from warpbound.page.subject import Subject
from warpbound.program import Program
from warpbound.report.formatting import CAUSE_WORDS, RESOURCE_WORDS, capital
from warpbound.residency import occupancy
from warpbound.workload import Workload

if TYPE_CHECKING:
    from warpbound.analysis.case import Case
    from warpbound.analysis.static import Work

Numbers = Mapping[str, float]
WORK, BLOCK = "work.", "block."  # what their names begin with among the values of a State
WARPS, INSTRUCTIONS = f"{WORK}warps_per_sm", f"{WORK}warp_instructions"
THREADED, BARRIERS, TOGETHER = f"{WORK}thread_instructions", f"{WORK}barriers", f"{WORK}loads_together"
GIVEN = f"{WORK}given."  # of symbols that a paper's file gives a model; those with a view of their own are not here
WITH_VIEWS = ("x_model_2016", "hong_kim_2009")
THREADS, REGISTERS, SHARED = f"{BLOCK}threads", f"{BLOCK}registers", f"{BLOCK}shared_bytes"
WARP = 32
BY_HAND = "blocks of {size} threads, set by hand"


def kernel_values(values: Numbers) -> dict[str, float]:
    """Of the numbers set by hand those of the kernel."""
    return {key: value for key, value in values.items() if key.startswith((WORK, BLOCK))}


# ---------------------------------------------------------------- what can be set


def block_controls(subject: Subject) -> list[Control]:
    """Controls of a block's resources; its threads too where neither a launch nor a file gives them."""
    rules, block, static = subject.gpu.limits, subject.block, subject.static_shared
    return [
        *([] if subject.launch or subject.written else [threads_control(subject)]),
        whole_slider(REGISTERS, "Registers per thread", "", block.registers, (1, rules.max_registers_per_thread)),
        whole_slider(SHARED, "Static shared memory", "B per block", static, (0, rules.max_shared_per_block)),
    ]


def threads_control(subject: Subject) -> Control:
    """The threads of a block."""
    most = subject.gpu.limits.max_threads_per_block
    return whole_slider(THREADS, "Threads per block", "", subject.block.threads, (1, most))


def work_controls(subject: Subject) -> list[Control]:
    """Controls of the kernel's work; none without a known launch. Resident warps first."""
    x = subject.facts
    if x is None:
        return []
    controls = [_resident_warps(x)] if x.warps_per_sm else []
    if x.work.warp_instructions > 0:
        controls.append(real_slider(INSTRUCTIONS, "Instructions issued", "per warp", x.work.warp_instructions))
    for key, label, value in (
        (THREADED, "Instructions of threads", x.work.thread_instructions),
        (BARRIERS, "Barriers", x.work.barriers),
        (TOGETHER, "Loads before a wait for them, mean", _together(x.work)),
    ):
        controls += [real_slider(key, label, "per warp", value)] if value > 0 else []
    groups: tuple[tuple[str, Mapping[str, float], Callable[[str], tuple[str, str]]], ...] = (
        ("parts", x.work.parts, lambda cause: (capital(CAUSE_WORDS.get(cause, cause)), "cycles per warp")),
        ("units", x.work.units, lambda unit: (capital(RESOURCE_WORDS.get(unit, unit)), "cycles of a sub-core")),
        ("memory", {name: getattr(x.work.memory, name) for name in COUNTERS}, _counter_words),
        ("tensor", x.work.tensor, lambda kind: (f"{kind} products of tensor cores", "multiply-adds per warp")),
        ("flop", x.work.flop, lambda kind: (f"{kind} operations", "flop per warp")),
    )
    for group, counts, words in groups:
        controls += [real_slider(f"{WORK}{group}.{name}", *words(name), n) for name, n in counts.items() if n > 0]
    return controls + [real_slider(f"{GIVEN}{name}", f"What the file gives {name.replace('.', ', ')}", "", value)
                       for name, value in _given(x).items()]  # fmt: skip


def _counter_words(name: str) -> tuple[str, str]:
    return COUNTERS[name].label, f"{COUNTERS[name].unit} per warp".strip()


def _together(work: Workload) -> float:
    return sum(work.phases) / len(work.phases) if work.phases else 0.0


def _given(x: LaunchFacts) -> dict[str, float]:
    """MODEL.SYMBOL, or MODEL.SYMBOL.PART where there are several -> number."""
    numbers: dict[str, Any] = {}
    for model, symbols in x.file_symbols.items():
        for symbol, value in symbols.items() if model not in WITH_VIEWS else ():
            parts = value.items() if isinstance(value, Mapping) else [("", value)]
            numbers |= {".".join(filter(None, (model, symbol, part))): number for part, number in parts}
    return {name: number for name, number in numbers.items() if isinstance(number, int | float)}


def _resident_warps(x: LaunchFacts) -> Control:
    """Resident warps, rounded to whole blocks where the block size is known."""
    resident, each = x.warps_per_sm or 0.0, per_block(x.threads_per_block or WARP)
    most = max(x.gpu.limits.max_warps_per_sm // each * each, each)
    return replace(whole_slider(WARPS, "Resident warps", "per SM", resident, (each, most)), step=float(each))



# ---------------------------------------------------------------- what follows from it


def overridden_program(program: Program, numbers: Numbers) -> Program:
    """The program as residency sees it; the code that is executed stays."""
    registers, shared = numbers.get(REGISTERS), numbers.get(SHARED)
    if registers is None and shared is None:
        return program
    return replace(
        program,
        registers=program.registers if registers is None else round(registers),
        shared_bytes=program.shared_bytes if shared is None else round(shared),
    )


def overridden_work(work: Workload, numbers: Numbers) -> Workload:
    """One warp's work with the numbers set by hand; cycles of source lines grow with those of their cause."""
    own = {key.removeprefix(WORK): value for key, value in numbers.items() if key.startswith(WORK)}
    changed = {name: _of(own, name) for name in ("parts", "units", "memory", "tensor", "flop")}
    issued = own.get("warp_instructions", work.warp_instructions)
    if all(name.startswith(("warps_per_sm", "given.")) for name in own):
        return work
    more = issued / work.warp_instructions if work.warp_instructions else 1.0
    parts = {cause: changed["parts"].get(cause, cycles) for cause, cycles in work.parts.items()}
    growth_by_cause = {cause: parts[cause] / cycles for cause, cycles in work.parts.items() if cycles > 0}
    lines = {
        place: {cause: cycles * growth_by_cause.get(cause, 1.0) for cause, cycles in by_cause.items()}
        for place, by_cause in work.lines_by_cause.items()
    }
    return replace(
        work,
        warp_instructions=issued,
        thread_instructions=own.get("thread_instructions", more * work.thread_instructions),
        barriers=own.get("barriers", work.barriers),
        phases=_phases(work, own.get("loads_together")),
        by_pipe={pipe: count * _times(work.units, changed["units"], pipe) for pipe, count in work.by_pipe.items()},
        issue_slots=None if work.issue_slots is None else more * work.issue_slots,
        parts=parts,
        lines_by_cause=lines,
        latency=work.latency + sum(parts.values()) - sum(work.parts.values()),
        units={unit: changed["units"].get(unit, cycles) for unit, cycles in work.units.items()},
        memory=replace(work.memory, **{name: value for name, value in changed["memory"].items() if name in COUNTERS}),
        tensor={kind: changed["tensor"].get(kind, count) for kind, count in work.tensor.items()},
        flop={kind: changed["flop"].get(kind, flop) for kind, flop in work.flop.items()},
    )


def _phases(work: Workload, together: float | None) -> tuple[int, ...]:
    """The same number of phases, with the loads of each scaled by the change of the mean."""
    if together is None:
        return work.phases
    return tuple(max(1, round(min(loads * together / _together(work), MOST_POINTS))) for loads in work.phases)


def _times(own: Numbers, changed: Numbers, unit: str) -> float:
    return changed[unit] / own[unit] if unit in changed and own.get(unit) else 1.0


def _of(own: Numbers, group: str) -> dict[str, float]:
    return {name.removeprefix(f"{group}."): value for name, value in own.items() if name.startswith(f"{group}.")}


def per_block(threads: int) -> int:
    """Warps of a block, rounded to an integer."""
    return -(-threads // WARP)


def whole_blocks(warps: float, threads_per_block: int) -> int:
    """The number of blocks that gives about this many resident warps."""
    return max(1, round(min(warps / per_block(threads_per_block), MOST_POINTS)))


def overridden_launch(x: LaunchFacts, numbers: Numbers) -> LaunchFacts:
    """The launch with changed work per warp and changed resident warps."""
    x = replace(x, work=overridden_work(x.work, numbers), file_symbols=_overridden_given(x, numbers))
    warps = numbers.get(WARPS)
    if warps is None:
        return x
    if x.threads_per_block is None:
        return replace(x, warps_per_sm=warps)
    blocks = whole_blocks(warps, x.threads_per_block)
    return replace(x, warps_per_sm=float(blocks * per_block(x.threads_per_block)), blocks_per_sm=blocks)


def _overridden_given(x: LaunchFacts, numbers: Numbers) -> Mapping[str, Mapping[str, Any]]:
    own = {key.removeprefix(GIVEN): value for key, value in numbers.items() if key.startswith(GIVEN)}
    if not own:
        return x.file_symbols

    def changed(model: str, symbol: str, value: Any) -> Any:
        name = f"{model}.{symbol}"
        if isinstance(value, Mapping):
            return {part: own.get(f"{name}.{part}", number) for part, number in value.items()}
        return own.get(name, value)

    return {model: {symbol: changed(model, symbol, value) for symbol, value in symbols.items()}
            for model, symbols in x.file_symbols.items()}  # fmt: skip


def overridden_case(case: "Case", numbers: Numbers) -> "Case":
    """The case with this many resident warps; and, if there is no launch, blocks of this many threads."""
    if case.launch is None and THREADS in numbers:
        size = round(numbers[THREADS])
        residency = occupancy(
            case.gpu, size, case.program.registers, case.program.shared_bytes, barriers=case.program.barriers,
            tensor_columns=case.program.tensor_columns,
        )  # fmt: skip
        case = replace(case, threads_per_block=size, residency=residency, block_note=(BY_HAND.format(size=size),))
    if case.launch is None or WARPS not in numbers:
        return case
    blocks = whole_blocks(numbers[WARPS], case.threads_per_block)
    warps = blocks * per_block(case.threads_per_block)
    room = {"max_warps_per_sm": warps, "max_blocks_per_sm": blocks, "warp_unit": 1}
    residency = occupancy(machine.override(case.gpu, room), case.threads_per_block, 0, 0)
    most = max(warps, case.gpu.limits.max_warps_per_sm)
    return replace(case, residency=replace(residency, max_warps_per_sm=most))


def overridden_counts(work: "Work", numbers: Numbers) -> "Work":
    """The kernel's counts, with the numbers set by hand.

    Hit rates are not known of traffic set by hand, nor latencies with all loads at one level; what-ifs of the caches,
    which follow the executed addresses, are left out.
    """
    whole = overridden_work(work.whole, numbers)
    if whole is work.whole or whole.warps is None:
        return work
    other_traffic = whole.memory != work.whole.memory
    stretch = whole.latency / work.whole.latency if work.whole.latency else 1.0
    return replace(
        work,
        whole=whole,
        focus=whole if work.focus is work.whole else work.focus,
        schedule=replace(work.schedule, cycles=work.schedule.cycles * stretch),
        by_level=dict if whole.parts != work.whole.parts else work.by_level,
        launch_memory=whole.memory.scaled(whole.warps) if other_traffic else work.launch_memory,
        hit_rates=(None, None) if other_traffic else work.hit_rates,
        choices=tuple,
        of_l2=tuple,
        again=lambda: None,
    )
