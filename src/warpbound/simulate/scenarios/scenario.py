"""One picture or example of a paper as an experiment."""

from dataclasses import dataclass

from warpbound.simulate.experiment import Experiment


@dataclass(frozen=True)
class Scenario:
    """`assumed` is what the paper leaves open and was chosen here; empty where it says all that matters."""

    title: str
    source: str
    experiment: Experiment
    assumed: str = ""
