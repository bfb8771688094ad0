"""One picture or example of a paper as an experiment."""

from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.experiment import Experiment


@dataclass(frozen=True)
class Scenario:
    """assumed : values that the paper does not give; empty where it gives all."""

    title: str
    source: str
    experiment: Experiment
    assumed: str = ""
