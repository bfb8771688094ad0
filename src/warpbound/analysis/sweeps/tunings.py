"""The tunings of a kernel: every combination of its macros' values, each with the launch that its expressions give."""

from collections.abc import Mapping, Sequence
from itertools import product

from warpbound.errors import CommandError, WarpboundError
from warpbound.kernel_launch import Launch, override
from warpbound.quick_dataclasses import dataclass
from warpbound.size_expressions import number, parts

MOST = 100_000  # combinations that are asked about in one go

Macros = Mapping[str, str]


@dataclass(frozen=True)
class Shape:
    """The launch as expressions of the macros; None keeps the value of the launch file.

    grid, block : one to three, with commas. smem : bytes of dynamic shared memory. where : a tuning takes part only
    if this is true.
    """

    grid: str | None = None
    block: str | None = None
    smem: str | None = None
    where: str | None = None


@dataclass(frozen=True)
class Tuning:
    """One combination with its launch, or the error of its expressions."""

    macros: Macros
    launch: Launch | WarpboundError

    @property
    def name(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.macros.items())


def tunings(macros: Mapping[str, Sequence[object]], shape: Shape, launch: Launch) -> list[Tuning]:
    """Every combination that `shape.where` admits, the last macro changing fastest.

    Raises CommandError where an expression is malformed or nothing is left.
    """
    values = {name: [str(value) for value in each] for name, each in macros.items()}
    count = 1
    for name, each in values.items():
        if not each or len(set(each)) < len(each):
            raise CommandError(f"The values of {name} are empty or repeated.", "Write TILE=16,32,64.")
        count *= len(each)
    if count > MOST:
        raise CommandError(f"{count} combinations are too many.", f"Give fewer values: {MOST} combinations at most.")
    combinations = [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]
    admitted = [combination for combination in combinations if shape.where is None or number(shape.where, combination)]
    if not admitted:
        raise CommandError(
            f"--where `{shape.where}` is false for all {count} combinations.", "Change the condition or the values."
        )
    return [Tuning(combination, _launch(combination, shape, launch)) for combination in admitted]


def _launch(macros: Macros, shape: Shape, launch: Launch) -> Launch | WarpboundError:
    """The launch of one combination; an expression whose value no launch can have is this combination's error alone."""
    sizes = {name: [number(part, macros) for part in parts(text)]
             for name, text in (("grid", shape.grid), ("block", shape.block)) if text is not None}  # fmt: skip
    smem = None if shape.smem is None else number(shape.smem, macros)
    try:
        return override(launch, **sizes, smem=smem)  # type: ignore[arg-type]
    except WarpboundError as problem:
        return problem
