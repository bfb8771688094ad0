"""The papers' own scenarios played by the event simulation of one SM."""

from warpbound.simulate.running import Outcome, run
from warpbound.simulate.scenarios import SCENARIOS


def played(paper: str, scenario: str) -> Outcome:
    """What happens in a scenario of `warpbound.simulate.scenarios`."""
    return run(SCENARIOS[f"{paper}:{scenario}"]().experiment)
