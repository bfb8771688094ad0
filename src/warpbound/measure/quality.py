"""Gates that a trustworthy run passes; what does not is said, nothing is thrown away."""

from typing import Any

from warpbound.measure.proposal import Summary, facts_as_parameters

PINS = (0.80, 0.97)     # of the pins' rate: what streams usually reach
LITTLE = (1.1, 2.0)     # warps for 90 % over those of Little's law, streams from device memory
CONFLICT = 0.03         # how far a two-way conflict may be from half the rate
LINE = 128


def gates(summary: Summary) -> list[str]:
    """One line per gate that was not passed."""
    return [line for line in (_pins(summary), _conflict(summary), _little(summary)) if line]


def _pins(summary: Summary) -> str:
    pins = facts_as_parameters(summary.facts).get("dram_bandwidth")
    rows = summary.found.get("dram_achievable_bandwidth")
    if pins is None or not rows:
        return ""
    share = rows[0][1].value / pins.value
    low, high = PINS
    if low <= share <= high:
        return ""
    usual = f"{100 * low:.0f} to {100 * high:.0f} % are usual"
    return f"Gate: the best stream has {100 * share:.0f} % of the pins' rate; {usual}."


def _conflict(summary: Summary) -> str:
    table: Any = summary.figures.get("shared_patterns: load of 4 B") or {}
    if not table.get("1") or not table.get("2"):
        return ""
    ratio = table["2"] / table["1"]
    near = abs(ratio / 2.0 - 1.0) <= CONFLICT
    return "" if near else f"Gate: a two-way conflict takes {ratio:.2f} times as long, not 2."


def _little(summary: Summary) -> str:
    curve: Any = summary.figures.get("loaded_latency: dram stream") or {}
    clock = summary.found.get("latency_clock")
    if not curve or not curve["needed warps 90 %"] or clock is None:
        return ""
    rate = curve["peak GB/s"] * 1e9 / (LINE * 1e6 * clock[0][1].value * summary.facts.sm_count)
    ratio = curve["needed warps 90 %"] / (curve["latency"] * rate)
    low, high = LITTLE
    if low <= ratio <= high:
        return ""
    return f"Gate: 90 % of the chased rate need {ratio:.2f} times the warps of Little's law; about 1.3 are usual."
