"""The papers' own scenarios played by the event simulation of one SM."""

from warpbound.report.figures.picture import Picture
from warpbound.report.figures.simulated import warps_in_time
from warpbound.simulate import timelines
from warpbound.simulate.scenarios import SCENARIOS
from warpbound.simulate.warp_simulation import Outcome, run


def played(paper: str, scenario: str) -> Outcome:
    """What happens in a scenario of `warpbound.simulate.scenarios`."""
    return run(SCENARIOS[f"{paper}:{scenario}"]().experiment)


def played_with_log(paper: str, scenario: str) -> Outcome:
    """The same with as many events written down as a picture takes."""
    return run(timelines.logged(SCENARIOS[f"{paper}:{scenario}"]().experiment))


def in_time(paper: str, scenario: str, last: float = float("inf")) -> Picture:
    """The warps of a scenario up to cycle `last`."""
    one = SCENARIOS[f"{paper}:{scenario}"]()
    x = timelines.logged(one.experiment)
    done = run(x)
    return warps_in_time(timelines.spans(x, done, min(last, done.cycles)), one.title, f"{one.source}: simulated")
