"""What one SM holds, per compute capability: the numbers behind occupancy, each row with its sources."""

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warpbound.errors import CommandError


@dataclass(frozen=True)
class Limits:
    """Capacities and allocation units of one SM; sizes in bytes unless the name says KiB."""

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


def arch(compute_capability: str) -> int:
    """The number in sm_NN: 90 for "9.0", 121 for "12.1"."""
    major, minor = compute_capability.split(".")
    return 10 * int(major) + int(minor)


@cache
def _table() -> dict[str, Limits]:
    text = (files("warpbound.isa") / "limits.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)
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
        near = difflib.get_close_matches(compute_capability, table, n=4, cutoff=0.5)
        raise CommandError(
            f"Compute capability {compute_capability!r} is not known.",
            f"The nearest known ones are {', '.join(near or compute_capabilities())}.",
        )
    return table[compute_capability]
