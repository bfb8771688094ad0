"""The parameters of a board and their units: one definition each, in board_parameters.toml."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from warpbound.errors import CommandError
from warpbound.shipped_tables import shipped_table

UNITS: dict[str, float] = {  # unit -> factor to its base unit
    "1": 1.0,
    "cycle": 1.0,
    "B": 1.0,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
    "bit": 1.0,
    "Gbit/s": 1e9,
    "GB/s": 1e9,
    "TB/s": 1e12,
    "GFLOP/s": 1e9,
    "TFLOP/s": 1e12,
    "B/cycle/SM": 1.0,
    "FMA/cycle/SM": 1.0,
    "Hz": 1.0,
    "MHz": 1e6,
    "GHz": 1e9,
    "s": 1.0,
    "us": 1e-6,
    "ns": 1e-9,
    "W": 1.0,
    "pJ": 1e-12,
    "pJ/B": 1e-12,
}

SMALLEST, LARGEST = 1e-9, 1e15  # of a value that can be set: beyond, sums of floats lose terms
TINY_PART = 1e-6  # share of a board's own value: a smaller setting is an error in the unit
NARROWEST = 1e-3  # plausible numbers of lanes of a pipe, and of instructions that an SM issues in a cycle
SLOWEST_MHZ, FASTEST_MHZ = 1, 100_000  # plausible range of an SM clock
HOW = ("vendor", "measured", "published", "assumed")
Decides = Literal[
    "all", "nothing", "launch", "latency", "issue", "fixed", "barrier", "constant", "shared",
    "alu", "fma", "fp64", "xu", "lsu", "uniform", "tensor", "l1", "l2", "dram",
]  # fmt: skip


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One parameter of a board."""

    meaning: str
    units: tuple[str, ...]      # that a board may give it in, the usual one first
    fallback: str               # where a board has no value: "required" (it must), "none" (no prediction needs one),
                                # "relatives" (the calibrated boards), "model" (`default` or a rule of the model),
                                # tables of isa/, or another parameter of the same board
    decides: Decides            # the throughput bound, or the part of a warp's latency, that it enters
    required_from: int | None = None  # first architecture (sm number) whose boards must give it
    first_arch: int = 0         # first architecture that has it, or is predicted from code that has it
    whole: bool = False         # a whole number of at least 1
    lanes: bool = False         # the width of the pipe that it decides, per SM
    at_most: str = ""           # the parameter that it does not exceed
    ratio_to: str = ""          # the tensor rate that NVIDIA keeps it in step with,
    ratio: float = 0.0          # and how many times that it is
    plausible: tuple[float, float] | None = None  # least and most of a real board, base unit
    carries: tuple[str, ...] = ()  # rates that change in proportion when this one is set
    default: float = 0.0        # with fallback "model": the value, in the first unit
    rule: str = ""              # of time_model/parameter_fallbacks, where the value depends on the board
    default_with: str = ""      # what a board must have for the default to matter
    default_archs: tuple[int, ...] = ()  # architectures where the default was measured
    origin: str = ""            # where the default comes from, after "from"
    relatives_per: str = ""     # from relatives: in proportion to this parameter ("1/NAME": to its reciprocal)
    relatives_beyond: str = ""  # from relatives: the difference to this parameter is the same
    relatives_by: Literal["memory", "sides of L2"] = "memory"  # what boards must share to be relatives
    spread: tuple[float, float] | None = None  # relative standard uncertainty: fitted, from relatives
    fit: tuple[float, float, float] | None = None  # first guess, least, most of a fit; base unit, or of pin bandwidth
    opcode: str = ""            # the instruction whose latency it is
    rows: tuple[str, ...] = ()  # rows of isa/latencies.toml in proportion to it; it is the first
    follows: Mapping[str, tuple[str, ...]] = {}  # latency classes, pipes and families whose latency it scales
    slider: str = ""            # label on the page, for the parameters most kernels feel; others: their meaning
    slider_rank: int = 0        # order of these
    partition_rank: int = 0     # place on the page among those that memory partitions are simulated with; 0: none
    varied_with: str = ""       # group that a sweep varies as arrays, as none of it changes what a warp does
    watts_need: bool = False    # no watts are predicted for a board that lacks it
    device_attribute: str = ""  # of the driver, in base units: a profile may give it instead
    measured_by: tuple[str, ...] = ()  # mechanisms of `warpbound measure`, the most reliable first
    not_measured: str = ""      # why no mechanism measures it, unless the fallback explains that

    @property
    def least(self) -> float:
        """The smallest value that can be set, in any of its units."""
        if self.whole:
            return 1.0
        return NARROWEST if self.lanes or self.decides == "issue" else SMALLEST


def _definitions() -> dict[str, Parameter]:
    return msgspec.convert(shipped_table("board_parameters.toml"), dict[str, Parameter])


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(_definitions())
LATENCIES = (  # parameters that scale latencies of instructions: of one opcode, then of rows of isa/latencies.toml
    *(name for name, parameter in PARAMETERS.items() if parameter.opcode),
    *(name for name, parameter in PARAMETERS.items() if parameter.rows),
)
LANES: Mapping[str, str] = MappingProxyType(  # pipe -> the parameter that is its width
    {str(parameter.decides): name for name, parameter in PARAMETERS.items() if parameter.lanes}
)


def varied_with(group: str) -> tuple[str, ...]:
    """Names of the parameters in a group that a sweep varies as arrays, in the catalogue's order."""
    return tuple(name for name, parameter in PARAMETERS.items() if parameter.varied_with == group)


def with_followers(name: str) -> tuple[str, ...]:
    """A parameter, and the rates that change in proportion when it is set."""
    return (name, *PARAMETERS[name].carries)


def check_setting(name: str, value: float, reference: tuple[float, str, str] | None) -> None:
    """Raise CommandError for a value that a parameter cannot have.

    reference : the board's value, its unit, and the board's name; else those of another board, if one has it.
    """
    parameter = PARAMETERS[name]
    if not parameter.least <= value <= LARGEST:
        way_out = f"Give a positive number, from {parameter.least:g} to {LARGEST:g}."
        raise CommandError(f"{name} = {value:g} is out of range.", way_out)
    if parameter.whole and value != round(value):
        raise CommandError(f"{name} = {value:g} is not a whole number.", "Give an integer.")
    if reference is not None and value < TINY_PART * reference[0]:
        usual, unit, owner = reference
        usual_value = f"{usual:g} {unit}".removesuffix(" 1")
        way_out = f"Give at least {TINY_PART * usual:g}."
        raise CommandError(f"{name} = {value:g} is out of range: {owner} has {usual_value}.", way_out)


def megahertz(clock: str | float) -> float:
    """A number of MHz. Raises CommandError where it is none, or no SM clock."""
    try:
        value = float(clock)
    except ValueError:
        value = math.nan
    if not SLOWEST_MHZ <= value <= FASTEST_MHZ:
        unknown, impossible = f"Clock {clock!r} is not known.", f"A clock of {value:g} MHz is out of range."
        way_out = f"Give sustained, base, boost or a number of MHz, from {SLOWEST_MHZ} to {FASTEST_MHZ}."
        raise CommandError(unknown if math.isnan(value) else impossible, way_out)
    return value
