"""Executes a kernel in the emulator and compares its arrays with NumPy expressions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.agents.questions import Question, launch_of, program_of
from warpbound.agents.reference import evaluated
from warpbound.emulate import run
from warpbound.errors import CommandError
from warpbound.kernel_launch import bind, contents
from warpbound.quick_dataclasses import dataclass

DEFAULT_TOLERANCE = 1e-5
LARGEST = 64 << 20  # elements of an array that is executed whole


@dataclass(frozen=True)
class Mismatch:
    """The worst element: its index, the kernel's value, the reference's value."""

    index: list[int]
    kernel: float
    reference: float


@dataclass(frozen=True)
class Checked:
    """wrong : elements outside the tolerance, of `elements`. worst : absent if all are right."""

    array: str
    right: bool
    elements: int
    wrong: int
    largest_relative_error: float
    worst: Mismatch | None


def run_and_check(question: Question, references: Mapping[str, str], tolerance: float) -> list[Checked]:
    """Each array after the kernel against its expression over the arguments before it.

    references : array -> NumPy expression. tolerance : relative, and absolute times the reference's largest value.
    CommandError without a launch, for arrays that the kernel does not have and for expressions that fail; InputError
    where the kernel does not execute.
    """
    launch = launch_of(question)
    if launch is None:
        raise CommandError("Nothing can be executed without a launch.", "Give grid, block and args.")
    program = program_of(question)
    arguments = bind(launch.args, [parameter.name for parameter in program.parameters])
    before: dict[str, object] = {}
    for order, (argument, parameter) in enumerate(zip(arguments, program.parameters, strict=True)):
        if argument.kind == "array" and int(np.prod(argument.shape)) > LARGEST:
            raise CommandError(f"'{argument.name}' has more than {LARGEST} elements.", "Check a smaller launch.")
        array = contents(argument, order)
        before[parameter.name or str(order)] = argument.value if array is None else array
    after = run(program, launch)
    checked = []
    for name, expression in references.items():
        if name not in after:
            raise CommandError(f"The kernel has no array '{name}'.", f"It has {', '.join(map(str, after))}.")
        checked.append(_compared(name, after[name], evaluated(expression, before), tolerance))
    return checked


def _compared(name: str, kernel: NDArray[Any], reference: NDArray[Any], tolerance: float) -> Checked:
    try:
        same_size = reference.size == kernel.size
        broadcast_reference = reference.reshape(kernel.shape) if same_size else np.broadcast_to(reference, kernel.shape)
    except ValueError as problem:
        reason = f"the reference of '{name}' has shape {list(reference.shape)}, the array {list(kernel.shape)}."
        raise CommandError(reason, "Give an expression of the array's shape.") from problem
    own, other = kernel.astype(np.float64), broadcast_reference.astype(np.float64)
    scale = float(np.max(np.abs(other[np.isfinite(other)]), initial=0.0))
    error = np.where((own == other) | (np.isnan(own) & np.isnan(other)), 0.0, np.abs(own - other))
    wrong = ~(error <= tolerance * np.maximum(np.abs(other), scale))
    relative = float(np.max(error, initial=0.0)) / scale if scale else float(np.max(error, initial=0.0))
    worst = None
    if wrong.any():
        at = np.unravel_index(int(np.argmax(np.where(wrong, np.nan_to_num(error, nan=np.inf), -1.0))), own.shape)
        worst = Mismatch(index=[int(i) for i in at], kernel=float(own[at]), reference=float(other[at]))
    return Checked(
        array=name, right=not wrong.any(), elements=own.size, wrong=int(wrong.sum()), largest_relative_error=relative,
        worst=worst,
    )  # fmt: skip
