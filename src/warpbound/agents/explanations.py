"""The meaning of a counter, a stall reason, a resource or a board's parameter, in one record."""

from dataclasses import fields
from difflib import get_close_matches

from warpbound.board_parameters import PARAMETERS
from warpbound.errors import CommandError
from warpbound.memory.counters import Memory
from warpbound.quick_dataclasses import dataclass
from warpbound.report.formatting import CAUSE_WORDS, RESOURCE_WORDS, STALL_WORDS


@dataclass(frozen=True)
class Explanation:
    """kind : counter, stall reason, resource, cause or parameter of a board. nsight : the metric's name there."""

    name: str
    kind: str
    meaning: str
    unit: str
    nsight: str


def explain(name: str) -> Explanation:
    """The meaning of a name, ours or Nsight Compute's. CommandError, with the nearest names, where there is none."""
    entries = _known()
    plain_name = name.strip().lower().replace("smsp__average_warps_issue_stalled_", "").split("_per_issue")[0]
    for spelling in (name.strip(), plain_name, plain_name.replace("_", " ")):
        if spelling in entries:
            return entries[spelling]
    near = get_close_matches(plain_name, entries, 3, 0.5)
    others = "Ask for a counter, a stall reason, a resource or a parameter."
    hint = f"Did you mean {', '.join(near)}?" if near else others
    raise CommandError(f"'{name}' is not known.", hint)


def _known() -> dict[str, Explanation]:
    entries: dict[str, Explanation] = {}
    for each in fields(Memory):
        counter = each.metadata["counter"]
        entry = Explanation(
            name=each.name, kind="counter", meaning=counter.label, unit=counter.unit or "count", nsight=counter.nsight
        )
        entries |= {name: entry for name in (each.name, counter.nsight) if name}
    for reason, words in STALL_WORDS.items():
        nsight = f"smsp__average_warps_issue_stalled_{reason.replace(' ', '_')}_per_issue_active.ratio"
        meaning = f"How a warp spends its time: {words}."
        entries[reason] = Explanation(reason, "stall reason", meaning, "share of time", nsight)
    for table, kind in ((RESOURCE_WORDS, "resource"), (CAUSE_WORDS, "cause")):
        for short_name, meaning in table.items():
            entries.setdefault(short_name, Explanation(short_name, kind, meaning, "cycles per warp", ""))
    for short_name, parameter in PARAMETERS.items():
        entries[short_name] = Explanation(
            name=short_name, kind="parameter of a board", meaning=parameter.meaning, unit=parameter.units[0], nsight=""
        )
    return entries
