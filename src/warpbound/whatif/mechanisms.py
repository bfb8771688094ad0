"""Explanations of each what-if: its mechanism, its line, its cost, the interval of its gain, its page.

Source   the interval of a gain: the pairs of docs/advice.md, promised against obtained; held-back pairs judge it there.
Models   Of promises up to SMALL, ln(obtained) / ln(promised) lies in POWERS for eight of ten pairs, so that small gains
         stay small; of larger ones, obtained / promised lies in FACTORS, whose upper end holds for small ones, too. No
         interval is narrower than what the model resolves between two versions; those of clocks, which change no code,
         are that.
Omits    The compiler's part: `try` compiles a change and counts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from warpbound.result.code import Access, SourceLine
from warpbound.result.what_if import WhatIf
from warpbound.whatif.costs import Needs, Takes, takes, warps_with, words

PAGE = "docs/mechanisms.md#{}"
SMALL = 2.0           # promised gain, up to which the obtained one is a power of it
POWERS = (0.69, 3.28)  # powers of a small promised gain, 10th and 90th percentile over the pairs of three sets
FACTORS = (0.59, 1.49)  # factors of a larger promised gain, the same percentiles
RESOLVED = 0.021      # relative: half width of the interval of a gain of 1
CLOCKS = "clocks and power"


@dataclass(frozen=True)
class Mechanism:
    """name : its section in docs/mechanisms.md. words : any of them in a what-if names it.

    cost : what it takes beside registers and shared memory, which `costs` counts. causes : of a warp's waiting, by
    which its line is found; sectors, wavefronts: the most wasteful access.
    """

    name: str
    words: tuple[str, ...]
    cost: str
    causes: tuple[str, ...] = ()


MEMORY = ("dram", "l2", "l1")
MECHANISMS = (  # the first that fits names the change
    Mechanism(CLOCKS, ("clock", "power limit"), "power"),
    Mechanism("occupancy", ("would let an SM hold", "limit by", "threads per block"),
              ""),
    Mechanism("throttling", ("throttling", "block fewer"), ""),
    Mechanism("sums in registers", ("kept in a register",), "", MEMORY),
    Mechanism("coalescing", ("coalesced",), "", ("sectors",)),
    Mechanism("bank conflicts", ("bank conflicts",), "", ("wavefronts",)),
    Mechanism("atomics", ("atomics",), "instructions for the sum of the copies", MEMORY),
    Mechanism("barriers", ("no barriers",), "instructions that exchange values within a warp", ("barrier",)),
    Mechanism("divergence", ("divergence",), "instructions for the sorting", ("issue",)),
    Mechanism("spills", ("no spills",), "", MEMORY),
    Mechanism("bypassing L1", ("past L1",), "", MEMORY),
    Mechanism("data kept in L2", ("kept in L2",), "what L2 then lacks for other data", MEMORY),
    Mechanism("multicast", ("multicast copies",), "waits for the blocks of the cluster", MEMORY),
    Mechanism("stores beside products", ("beside the products",), "warps of their own for copies and products"),
    Mechanism("copy warps", ("for copies alone",), "mbarriers that say when a stage is free", MEMORY),
    Mechanism("larger tiles", ("tiles of two blocks",), "", MEMORY),
    Mechanism("data kept on the SM", ("carve-out", "on the SM", "for L1"), "", MEMORY),
    Mechanism("wide accesses", ("128-bit accesses (",), "arrays aligned to 16 bytes", MEMORY),
    Mechanism("loads in flight", ("loads in flight", "(ILP x", "side by side", "stages in place"), "", MEMORY),
    Mechanism("even work", ("even parts", "blocks that work"), "instructions that share out the work"),
    Mechanism("grid", ("multiple of", "half the work each", "fill the GPU"), "the fixed work of each block more often"),
    Mechanism("shared-memory traffic", ("shared-memory traffic",), "", ("shared",)),
    Mechanism("memory traffic", ("L1 traffic", "L2 traffic", "DRAM traffic"), "",
              MEMORY),
    Mechanism("instructions", ("instructions", "instruction cache", "multiplications", "FP64", "special functions",
                               "tensor cores"), "", ("issue", "fixed")),
)  # fmt: skip


def mechanism_of(change: str) -> Mechanism | None:
    """The mechanism of a change, of the first of two; None for a change that no mechanism names."""
    first = change.partition("; and ")[0]
    return next((each for each in MECHANISMS if any(word in first for word in each.words)), None)


def promised_between(speedup: float) -> list[float]:
    """The least and the greatest gain that eight of ten changes of the code with this promise obtain."""
    ends = [speedup * factor for factor in FACTORS]
    if speedup <= SMALL:
        least, most = (speedup**power for power in POWERS)
        ends = sorted((least, most if speedup < 1 else min(most, ends[1])))
    resolved = resolved_between(speedup)
    return [min(ends[0], resolved[0]), max(ends[1], resolved[1])]


def resolved_between(speedup: float) -> list[float]:
    """The same for changes that leave the code as it is: the resolution of the model."""
    return [speedup / (1 + RESOLVED), speedup * (1 + RESOLVED)]


def explained(
    changes: Iterable[WhatIf], needs: Needs, lines: Sequence[SourceLine], accesses: Sequence[Access]
) -> list[WhatIf]:
    """The what-ifs with mechanism, line, interval, cost and page."""
    return [_explained(change, needs, lines, accesses) for change in changes]


def _explained(change: WhatIf, needs: Needs, lines: Sequence[SourceLine], accesses: Sequence[Access]) -> WhatIf:
    mechanism = mechanism_of(change.change)
    if mechanism is None:
        return change
    parts = [(each, part) for part in change.change.split("; and ") if (each := mechanism_of(part)) is not None]
    more = sum((takes(each.name, part, needs) for each, part in parts), Takes(change.registers, change.shared_bytes))
    warps, fitting = change.warps_per_sm, warps_with(needs, more)
    if not (warps is not None and change.shared_bytes):  # else the change states this itself
        warps = fitting if warps is None or fitting is None else min(warps, fitting) if more != Takes() else warps
    besides = ", ".join(dict.fromkeys(each.cost for each, _ in parts if each.cost))
    cost = mechanism.cost if mechanism.name == CLOCKS else words(more, warps, besides)
    between = resolved_between if mechanism.name == CLOCKS else promised_between
    return replace(
        change, mechanism=mechanism.name, line=_line(change, mechanism, lines, accesses),
        speedup_interval=between(change.speedup), cost=cost, registers=more.registers,
        shared_bytes=more.shared_bytes, warps_per_sm=warps,
        page=PAGE.format(mechanism.name.lower().replace(" ", "-")),
    )  # fmt: skip


def _line(change: WhatIf, mechanism: Mechanism, lines: Sequence[SourceLine], accesses: Sequence[Access]) -> int | None:
    """The line that the change itself names; else the most wasteful access, or where a warp waits longest for it."""
    if match := re.search(r"\blines? (\d+)", change.change):
        return int(match[1])
    wasteful = [(_waste(access, mechanism.causes), access.line) for access in accesses if access.line]
    waiting = [(sum(row.parts.get(cause, 0.0) for cause in mechanism.causes), row.line) for row in lines if row.line]
    cost, line = max([*wasteful, *waiting], default=(0.0, None), key=lambda row: row[0])
    return line if cost > 0 else None


def _waste(access: Access, causes: Sequence[str]) -> float:
    """Sectors or wavefronts of an access beyond those that would do; 0 for other causes."""
    if "sectors" in causes and access.space == "global":
        return (access.sectors or 0.0) - (access.ideal_sectors or 0.0)
    if "wavefronts" in causes and access.space == "shared":
        return (access.wavefronts or 0.0) - (access.ideal_wavefronts or 0.0)
    return 0.0
