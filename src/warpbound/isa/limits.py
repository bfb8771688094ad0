"""What one SM holds, per compute capability: the numbers behind occupancy, each row with its sources."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from warpbound.errors import CommandError
from warpbound.quick_dataclasses import dataclass
from warpbound.shipped_tables import shipped_table


@dataclass(frozen=True)
class Limits:
    """Capacities and allocation units of one SM; sizes in bytes unless the name states KiB."""

    compute_capability: str
    max_threads_per_block: int
    max_warps_per_sm: int
    max_blocks_per_sm: int
    sub_cores: int  # schedulers, each with its share of warps and registers
    warp_unit: int  # a block's warps are counted in multiples of this
    launch_check_warps: int  # the per-block register check rounds warps up to this
    registers_per_sm: int  # 32-bit registers
    max_registers_per_block: int
    max_registers_per_thread: int
    register_unit: int  # registers are handed out in multiples of this ...
    registers_allocated_per: str  # ... to each "warp" or, on 1.x, to each "block"
    shared_per_sm: int  # at the largest carve-out
    max_shared_per_block: int  # with opt-in, without the driver's reserve
    default_shared_per_block: int  # without opt-in: static shared memory cannot exceed it
    shared_unit: int
    reserved_shared_per_block: int  # taken by the driver for every resident block
    carveouts_KiB: tuple[int, ...]  # shared memory per SM that can be set, ascending
    sources: tuple[str, ...]
    unified_l1_shared_KiB: int | None = None  # None: L1 and shared memory are separate
    l1_KiB: int | None = None  # of an L1 that is separate; None: unified, or none for global loads
    least_carveout_KiB: int = 0  # that drivers set for kernels that ask for less, or for none
    barriers_per_sm: int | None = None  # None: barriers do not limit residency
    doubled_register_units: tuple[int, ...] = ()  # registers per thread that double the unit (2.x)
    note: str = ""
    warp_size: int = 32

    @property
    def max_threads_per_sm(self) -> int:
        return self.max_warps_per_sm * self.warp_size

    @property
    def arch(self) -> int:
        """90 for "9.0"."""
        return arch(self.compute_capability)


@dataclass(frozen=True)
class Meaning:
    """What a limit means, its unit, and the least that it can be set to."""

    words: str
    unit: str = "1"
    least: int = 1


MEANINGS: dict[str, Meaning] = {  # of what can be set in place of an architecture's own
    "max_warps_per_sm": Meaning("most warps per SM"),
    "max_blocks_per_sm": Meaning("most blocks per SM"),
    "registers_per_sm": Meaning("registers per SM"),
    "shared_per_sm": Meaning("shared memory per SM", "B", 1024),
    "max_threads_per_block": Meaning("most threads per block"),
    "max_registers_per_thread": Meaning("most registers per thread"),
    "max_registers_per_block": Meaning("most registers per block"),
    "max_shared_per_block": Meaning("most shared memory per block", "B", 0),
    "register_unit": Meaning("registers handed out in steps of"),
    "shared_unit": Meaning("shared memory handed out in steps of", "B"),
    "warp_unit": Meaning("warps of a block counted in steps of"),
    "launch_check_warps": Meaning("warps rounded up by the check of registers per block"),
    "reserved_shared_per_block": Meaning("shared memory that the driver takes for each block", "B", 0),
    "least_carveout_KiB": Meaning("least carve-out of drivers", "KiB", 0),
    "unified_l1_shared_KiB": Meaning("L1 and shared memory together", "KiB"),
    "l1_KiB": Meaning("L1 of an SM, beside shared memory", "KiB"),
    "barriers_per_sm": Meaning("named barriers per SM"),
    "sub_cores": Meaning("sub-cores, each with its share of warps, registers and pipes"),
}
KIB = 1024
MOST = 2**31


def settable(rules: Limits) -> dict[str, int]:
    """Those of an architecture's limits that can be set, where it has them."""
    values = {name: getattr(rules, name) for name in MEANINGS}
    return {name: value for name, value in values.items() if value is not None}


def with_limits(rules: Limits, values: Mapping[str, float]) -> Limits:
    """The limits with other numbers in their places.

    The shared memory per SM becomes the largest carve-out; smaller carve-outs stay. The memory that L1 and shared
    memory share grows if it would be too small. Raises CommandError for a limit the architecture does not have, a
    fraction, or less than can be.
    """
    own = settable(rules)
    for name, value in values.items():
        if name not in own:
            raise CommandError(
                f"Compute capability {rules.compute_capability} has no limit {name}.", f"It has {', '.join(own)}."
            )
        meaning = MEANINGS[name]
        step = KIB if name == "shared_per_sm" else 1
        if not meaning.least <= value < MOST or value % step:
            kind = f"a multiple of {step}" if step > 1 else "a whole number"
            raise CommandError(f"{name} = {value:g} is out of range.", f"Give {kind} from {meaning.least} on.")
    whole = {name: int(value) for name, value in values.items()}
    sizes: dict[str, tuple[int, ...]] = {}
    if "shared_per_sm" in whole:
        largest = whole["shared_per_sm"] // KIB
        sizes["carveouts_KiB"] = (*(size for size in rules.carveouts_KiB if size < largest), largest)
    result = replace(rules, **whole, **sizes)  # type: ignore[arg-type]
    both = result.unified_l1_shared_KiB
    return result if both is None else replace(result, unified_l1_shared_KiB=max(both, result.carveouts_KiB[-1]))


def arch(compute_capability: str) -> int:
    """The number in sm_NN: 90 for "9.0", 121 for "12.1"."""
    major, minor = compute_capability.split(".")
    return 10 * int(major) + int(minor)


@cache
def _table() -> dict[str, Limits]:
    rows = shipped_table("isa", "limits.toml")
    sources = rows.pop("sources")
    table = {}
    for name, row in rows.items():
        lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        lists["sources"] = tuple(sources[key] for key in row["sources"])
        table[name] = Limits(compute_capability=name, **(row | lists))
    return table


def compute_capabilities() -> tuple[str, ...]:
    """Every compute capability known here, ascending."""
    return tuple(sorted(_table(), key=arch))


def limits(compute_capability: str) -> Limits:
    """The limits of one compute capability, such as "8.6"; CommandError where it is not known."""
    table = _table()
    if compute_capability not in table:
        from difflib import get_close_matches

        near = get_close_matches(compute_capability, table, n=4, cutoff=0.5)
        raise CommandError(
            f"Compute capability {compute_capability!r} is not known.",
            f"The nearest known ones are {', '.join(near or compute_capabilities())}.",
        )
    return table[compute_capability]
