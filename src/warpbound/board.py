"""One GPU board: every parameter with its value, unit, source and the way it was obtained.

Values keep the unit of their source; `Gpu.value` converts to base units: s, Hz, B, B/s, bit, bit/s, flop/s, W, cycle,
B/cycle/SM, FMA/cycle/SM.
"""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from warpbound.board_parameters import PARAMETERS, UNITS, Parameter
from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import MEANINGS, Limits, arch, limits, with_limits
from warpbound.quick_dataclasses import dataclass

__all__ = ["Claim", "Gpu", "Quantity", "absent_parameters", "definition"]


@dataclass(frozen=True)
class Claim:
    """The value of the same parameter in another source, in the same unit."""

    value: float
    source: str
    note: str = ""


@dataclass(frozen=True)
class Quantity:
    """One parameter as its source gives it."""

    value: float  # in `unit`
    unit: str
    source: str  # the reference in words
    how: str  # vendor | measured | published | assumed
    note: str = ""
    others: tuple[Claim, ...] = ()

    @property
    def in_base_unit(self) -> float:
        return self.value * UNITS[self.unit]


@dataclass(frozen=True)
class Gpu:
    """One board; or, with no parameters, an architecture alone (`gpu("sm_87")`).

    hypothetical : a machine that a paper made up. changed_limits : values that replace those of the architecture
    (`Limits`), in its units.
    """

    key: str
    name: str
    compute_capability: str
    parameters: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    aliases: tuple[str, ...] = ()
    hypothetical: bool = False
    changed_limits: Mapping[str, float] = field(default_factory=dict, hash=False)

    @cached_property
    def arch(self) -> int:
        """90 for compute capability 9.0."""
        return arch(self.compute_capability)

    @cached_property
    def limits(self) -> Limits:
        """The limits of one SM."""
        own = limits(self.compute_capability)
        return with_limits(own, self.changed_limits) if self.changed_limits else own

    @property
    def board(self) -> bool:
        """True if it has every parameter that a prediction of time needs."""
        return not absent_parameters(self)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Names of the parameters and limits that come from a related board or from the command line."""
        own = (name for name, quantity in self.parameters.items() if quantity.how == "assumed")
        return (*own, *self.changed_limits)

    def get(self, name: str) -> float | None:
        """A parameter in base units; None where this GPU has none; CommandError for an unknown name."""
        in_base_unit = self._in_base_units.get(name)
        if in_base_unit is None:
            definition(name)
        return in_base_unit

    @cached_property
    def _in_base_units(self) -> dict[str, float]:
        return {name: quantity.in_base_unit for name, quantity in self.parameters.items()}

    def value(self, name: str) -> float:
        """A parameter in base units; InputError where this GPU has none."""
        value = self.get(name)
        if value is None:
            number = f"NUMBER in {PARAMETERS[name].units[0]}".removesuffix(" in 1")
            reason = f"{self.name} has no value for {name} ({PARAMETERS[name].meaning})."
            raise InputError(reason, f"Give one with --set {name}={number}, or choose another board.")
        return value


def absent_parameters(board: Gpu) -> tuple[str, ...]:
    """Names of the parameters that a prediction of time needs and this GPU lacks."""
    return tuple(
        name
        for name, parameter in PARAMETERS.items()
        if parameter.required_from is not None
        and board.arch >= parameter.required_from
        and name not in board.parameters
    )


def definition(name: str) -> Parameter:
    """The definition of a parameter; CommandError, with similar names, for an unknown one."""
    if name not in PARAMETERS:
        from difflib import get_close_matches

        near = get_close_matches(name, [*PARAMETERS, *MEANINGS], n=3, cutoff=0.4)
        raise CommandError(
            f"GPU parameter {name!r} is not known.",
            f"Did you mean {' or '.join(near)}?" if near else f"Known are {', '.join([*PARAMETERS, *MEANINGS])}.",
        )
    return PARAMETERS[name]
