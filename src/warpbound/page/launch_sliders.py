"""The numbers of a launch: grid, block, dynamic shared memory and the scalar arguments, each a slider.

A paper's workload has neither grid nor arguments: its sliders are blocks and their threads.
"""

from collections.abc import Mapping

import msgspec

from warpbound.kernel_launch import MAX_BLOCK, MAX_GRID, Launch
from warpbound.model_inputs.answers import LaunchFacts
from warpbound.page.sliders import REACH, Control, real_slider, whole_slider
from warpbound.page.subject import ARGUMENTS
from warpbound.page.worker_messages import Question

LAUNCH = "launch."  # what their names begin with among the values of a State
ARGUMENT, BLOCKS = ARGUMENTS, f"{LAUNCH}blocks"
AXES = "xyz"
LEAST_REACH = {"x": 1024, "y": 16, "z": 16}  # least end of a grid's sliders, in blocks
SHARED_REACH_B = 48 * 1024


def launch_controls(own: Launch | None) -> tuple[list[Control], list[Control]]:
    """Those that matter to this launch, and the dimensions it does not use; nothing where there is no launch."""
    if own is None:
        return [], []
    sizes = [_size("grid", axis, size) for axis, size in enumerate(own.grid)]
    sizes += [_size("block", axis, size) for axis, size in enumerate(own.block)]
    shown_controls = [control for control in sizes if control.value > 1 or control.key.endswith(".x")]
    reach = (0.0, max(REACH * own.smem, SHARED_REACH_B))
    smem = whole_slider(f"{LAUNCH}smem", "Dynamic shared memory", "B per block", own.smem, reach)
    return [*shown_controls, *_arguments(own), smem], [control for control in sizes if control not in shown_controls]


def written_controls(x: LaunchFacts, threads: Control) -> list[Control]:
    """Controls of a workload file's launch: its blocks, and their threads where the file gives them."""
    controls = []
    if x.blocks is not None:
        reach = (1, min(MAX_GRID[0], max(REACH * x.blocks, LEAST_REACH["x"])))
        controls.append(whole_slider(BLOCKS, "Blocks", "", x.blocks, reach))
    return controls if x.threads_per_block is None else [*controls, threads]


def _size(what: str, axis: int, size: int) -> Control:
    name = AXES[axis]
    most = MAX_BLOCK[axis] if what == "block" else min(MAX_GRID[axis], max(REACH * size, LEAST_REACH[name]))
    unit = "threads" if what == "block" else "blocks"
    return whole_slider(f"{LAUNCH}{what}.{name}", f"{what.capitalize()} {name}", unit, size, (1, most))


def _arguments(own: Launch) -> list[Control]:
    controls = []
    for argument in own.args:
        if argument.kind != "scalar" or isinstance(argument.value, bool) or not isinstance(argument.value, int | float):
            continue
        control = real_slider(f"{ARGUMENT}{argument.name}", f"Argument {argument.name}", "", argument.value)
        if isinstance(argument.value, int):
            control = whole_slider(
                control.key, control.label, "", argument.value, (int(control.low), max(control.high, 16.0))
            )
        controls.append(control)
    return controls


def with_launch(question: Question, own: Launch | None, values: Mapping[str, float]) -> Question:
    """The question with the numbers of the launch that are set by hand; itself where none is."""
    by_hand = {key.removeprefix(LAUNCH): value for key, value in values.items() if key.startswith(LAUNCH)}
    if own is None or not by_hand:
        return question
    words = {}
    for what, size in (("grid", own.grid), ("block", own.block)):
        if any(f"{what}.{axis}" in by_hand for axis in AXES):
            sizes = (by_hand.get(f"{what}.{axis}", n) for axis, n in zip(AXES, size, strict=True))
            words[what] = ",".join(f"{n:.0f}" for n in sizes)
    if "smem" in by_hand:
        words["smem"] = f"{by_hand['smem']:.0f}"
    args = [
        f"{argument.name}={_number(by_hand[f'arg.{argument.name}'], argument.value)}"
        for argument in own.args
        if argument.kind == "scalar" and f"arg.{argument.name}" in by_hand
    ]
    words["args"] = "\n".join(filter(None, [question.args, *args]))
    return msgspec.structs.replace(question, **words)


def _number(value: float, own: object) -> str:
    return f"{value:.0f}" if isinstance(own, int) else repr(float(value))
