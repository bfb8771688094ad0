"""Workload, Gpu and Residency to the Inputs of coarse-grained multithreading: an SM as one processor of warps.

Assumes   the accesses of model_inputs/accesses.py; a run is the issue time of the instructions between two accesses,
          the access among them; a switch costs nothing.
"""

from typing import Any

from warpbound.model_inputs.accesses import accesses
from warpbound.model_inputs.launch_facts import LaunchFacts, present
from warpbound.models.saavedra_barrera_1990 import Inputs, predict
from warpbound.result.kernel import ModelAnswer

WANTED = {"run": "a global access", "latency": "the latency of DRAM"}


def known(x: LaunchFacts) -> dict[str, Any]:
    a = accesses(x)
    return present(
        threads=x.warps_per_sm,
        run=(a.arithmetic + a.count) / a.count * a.issue_each if a.count else None,
        latency=a.latency,
        switch=0.0,
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    share = float(prediction.rate)
    working = float(inputs.run) * accesses(x).count
    warp_rate = share / working if working else 0.0
    return ModelAnswer(x.seconds(warp_rate), share, "busy share", str(prediction.bottleneck), "a switch costs nothing")
