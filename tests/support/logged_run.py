"""A simulated run with an event log."""

from dataclasses import replace

from warpbound.simulate.experiment import Experiment
from warpbound.simulate.warp_simulation import Outcome, run


def run_logged(x: Experiment, rows: int = 100_000) -> Outcome:
    """The outcome of `run` with its first events."""
    return run(replace(x, log_rows=rows))
