"""Listings of the notes, from an item's data to the scoreboard's terms."""

from warpbound.models.interval_analysis.scoreboard import Device, Instruction, Schedule, schedule
from warpbound.reproduce.item import Given, Numbers


def device(given: Given) -> Device:
    """Lanes of one scheduler, and latencies by name."""
    return Device(given["lanes"], given["latencies"])


def listing(given: Given) -> tuple[Instruction, ...]:
    """The instructions in order."""
    return tuple(
        Instruction(
            line["text"], line["unit"], line.get("latency", ""), tuple(line.get("writes", ())), tuple(line["reads"])
        )
        for line in given["code"]
    )


def issue_and_ready(given: Given) -> Numbers:
    """t_is of every instruction, t_re of those that have a result."""
    code = listing(given)
    found: Schedule = schedule(code, device(given))
    return {
        "issue": {f"I{i} {line.text}": found.issue[i] for i, line in enumerate(code)},
        "ready": {f"I{i} {line.text}": found.ready[i] for i, line in enumerate(code) if line.writes},
    }
