"""Limits of a traced execution: how long it may take, and what happens to accesses outside arrays."""

from collections.abc import Mapping

from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

PATIENCE_S = 20.0  # of one thread's processor time, after which a sample is given up
REFUSE, PASS = "refuse", "pass"
MOST_NAMED = 3  # source lines that a note names
STRAY = (
    "{count} accesses of single lanes outside their arrays ({places}) were let through: such reads give 0, such "
    "writes are dropped; on a GPU they reach whatever lies there"
)


FAILED = "{count} threads end where their assertion fails; on a GPU the whole kernel does"


@dataclass(frozen=True)
class Limits:
    """patience_s : processor time of a sample. out_of_bounds : whether an access near an array but outside it ends the
    execution ("refuse") or reads 0 and writes nothing ("pass"). failed_assertions : whether one ends the execution or
    its thread."""

    patience_s: float = PATIENCE_S
    out_of_bounds: str = REFUSE
    failed_assertions: str = REFUSE


LIMITS = Limits()


def stray_notes(program: Program, lanes: Mapping[int, int]) -> tuple[str, ...]:
    """A note that such accesses passed, with the source lines of most of them; lanes : by instruction."""
    if not lanes:
        return ()
    places: dict[str, int] = {}
    for at, count in lanes.items():
        instruction = program.instructions[at]
        place = instruction.place
        name = f"line {place.outermost.line}" if place else f"instruction {instruction.address:#x}"
        places[name] = places.get(name, 0) + count
    most = sorted(places, key=lambda name: -places[name])
    listing = ", ".join(most[:MOST_NAMED]) + (", ..." if len(most) > MOST_NAMED else "")
    return (STRAY.format(count=sum(lanes.values()), places=listing),)
