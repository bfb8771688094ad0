"""Prints what a few experiments do, event by event: once compiled, once as plain Python, to be compared."""

import hashlib
import json
import sys
from dataclasses import replace

from warpbound.result.plain import plain
from warpbound.simulate.numba_jit import COMPILED
from warpbound.simulate.scenarios import hong_kim_2009, interval_analysis, volkov_2016
from warpbound.simulate.synthetic_family import Setting, experiment
from warpbound.simulate.timelines import summary
from warpbound.simulate.warp_simulation import run


class Small:
    """A machine with fractional rates."""

    name, memory_latency, memory_throughput, alu_latency = "small", 301.0, 0.1338, 9.0
    alu_throughput, issue_throughput, schedulers = 4.0, 4.0, 4


def main() -> None:
    """One line: whether compiled, and for each experiment its summary and a hash of its events."""
    found = {
        "5b": hong_kim_2009.periods(1, 3, 4, 2, 2),
        "barriers": hong_kim_2009.program(3, 2, hong_kim_2009.PROGRAM_A),
        "sass": interval_analysis.experiment(interval_analysis.ACTUAL, interval_analysis.MAXWELL),
        "streaming": volkov_2016.streaming(8, 12, 5),
        "family": experiment(Small(), 13, 4.0, Setting("exponential", rounds=3)),
    }
    lines = {}
    for name, x in found.items():
        done = run(replace(x, log_rows=10_000))
        lines[name] = [plain(summary(x, done)), hashlib.sha256(repr(done.log.tolist()).encode()).hexdigest()]
    sys.stdout.write(json.dumps({"compiled": COMPILED, "runs": lines}))


main()
