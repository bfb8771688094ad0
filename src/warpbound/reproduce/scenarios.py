"""The papers' own scenarios in the event simulation of one SM."""

from warpbound.report.figures.picture import Picture
from warpbound.report.figures.simulated import warps_in_time
from warpbound.simulate import timelines
from warpbound.simulate.scenarios import SCENARIOS
from warpbound.simulate.warp_simulation import Outcome, run


def run_scenario(paper: str, scenario: str) -> Outcome:
    """Simulates a scenario of `warpbound.simulate.scenarios`."""
    return run(SCENARIOS[f"{paper}:{scenario}"]().experiment)


def run_with_log(paper: str, scenario: str) -> Outcome:
    """The same with the log of events that a picture needs."""
    return run(timelines.logged(SCENARIOS[f"{paper}:{scenario}"]().experiment))


def warp_timeline(paper: str, name: str, last: float = float("inf")) -> Picture:
    """The warps of a scenario up to cycle `last`."""
    scenario = SCENARIOS[f"{paper}:{name}"]()
    experiment = timelines.logged(scenario.experiment)
    outcome = run(experiment)
    spans = timelines.spans(experiment, outcome, min(last, outcome.cycles))
    return warps_in_time(spans, scenario.title, f"{scenario.source}: simulated")
