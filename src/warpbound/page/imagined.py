"""A kernel with other numbers than its own: what one warp waits for, takes up, moves and computes, set by sliders.

Views draw the launch with these numbers; the tables of the analysis stay those of the kernel as it is.
"""

from collections.abc import Mapping
from dataclasses import replace

from warpbound.adapt.answers import Launched
from warpbound.page.controls import MOST_POINTS, Control, around
from warpbound.page.subject import Subject
from warpbound.report.words import CAUSE_WORDS, RESOURCE_WORDS

WORK = "work."  # what the names of a kernel's numbers begin with among the values of a State
WARPS = f"{WORK}warps_per_sm"
MOVED = {
    "dram_bytes_read": ("Read from DRAM", "B per warp"),
    "dram_bytes_written": ("Written to DRAM", "B per warp"),
    "l2_sectors_read": ("Read from L2", "sectors per warp"),
    "l2_sectors_written": ("Written to L2", "sectors per warp"),
    "l1_wavefronts": ("L1 data path", "cycles per warp"),
    "shared_wavefronts_load": ("Shared-memory loads", "cycles per warp"),
    "shared_wavefronts_store": ("Shared-memory stores", "cycles per warp"),
}


def work_controls(subject: Subject) -> list[Control]:
    """Of the kernel as it is; none where its launch is not known. Resident warps first."""
    x = subject.launched
    if x is None:
        return []
    found = [around(WARPS, "Resident warps", "per SM", x.warps_per_sm)] if x.warps_per_sm else []
    found += [around(f"{WORK}parts.{cause}", _capital(CAUSE_WORDS.get(cause, cause)), "cycles per warp", cycles)
              for cause, cycles in x.work.parts.items() if cycles > 0]  # fmt: skip
    found += [around(f"{WORK}units.{unit}", _capital(RESOURCE_WORDS.get(unit, unit)), "cycles of a sub-core", cycles)
              for unit, cycles in x.work.units.items() if cycles > 0]  # fmt: skip
    found += [around(f"{WORK}memory.{name}", *words, getattr(x.work.memory, name))
              for name, words in MOVED.items() if getattr(x.work.memory, name) > 0]  # fmt: skip
    found += [around(f"{WORK}flop.{kind}", f"{kind} operations", "flop per warp", flop)
              for kind, flop in x.work.flop.items() if flop > 0]  # fmt: skip
    return found


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def imagined(subject: Subject, values: Mapping[str, float]) -> Subject:
    """The subject with the kernel's numbers that are set by hand; itself where none is."""
    own = {key.removeprefix(WORK): value for key, value in values.items() if key.startswith(WORK)}
    x = subject.launched
    if not own or x is None:
        return subject
    changed = {name: _of(own, name) for name in ("parts", "units", "memory", "flop")}
    parts = x.work.parts | {name: value for name, value in changed["parts"].items() if name in x.work.parts}
    work = replace(
        x.work,
        parts=parts,
        latency=x.work.latency + sum(parts.values()) - sum(x.work.parts.values()),
        units=x.work.units | {name: value for name, value in changed["units"].items() if name in x.work.units},
        memory=replace(x.work.memory, **{name: value for name, value in changed["memory"].items() if name in MOVED}),
        flop=x.work.flop | {name: value for name, value in changed["flop"].items() if name in x.work.flop},
    )
    launched, fitting = _resident(replace(x, work=work), subject, own.get("warps_per_sm"))
    return replace(subject, launched=launched, focus=work, fitting=fitting, imagined=True)


def _of(own: Mapping[str, float], group: str) -> dict[str, float]:
    return {name.removeprefix(f"{group}."): value for name, value in own.items() if name.startswith(f"{group}.")}


def _resident(x: Launched, subject: Subject, warps: float | None) -> tuple[Launched, int]:
    """The launch with so many resident warps, and the whole blocks that make about as many."""
    if warps is None:
        return x, subject.fitting
    per_block = -(-(x.threads_per_block or subject.block.threads) // 32)
    return replace(x, warps_per_sm=warps), max(1, round(min(warps / per_block, MOST_POINTS)))
