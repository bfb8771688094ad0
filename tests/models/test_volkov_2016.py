"""Volkov's family of kernels against warps that share one SM cycle by cycle."""

import numpy as np
import pytest

from warpbound.models import volkov_2016 as volkov
from warpbound.models.volkov_2016 import one_warp
from warpbound.models.volkov_2016.mixes import Mix

GPUS = {  # Table 4.1: mem_lat, alu_lat, mem_thru, alu_thru, issue_thru, and the limit that never binds
    "G80": (444, 20, 0.0268, 0.25, 0.5, "issue"),
    "GT200": (434, 24, 0.0277, 0.25, 0.5, "issue"),
    "Fermi": (513, 18, 0.0599, 1, 1, "arithmetic"),
    "Kepler": (301, 9, 0.1338, 4, 4, "arithmetic"),
    "Maxwell": (368, 6, 0.0814, 4, 4, "arithmetic"),
}


@pytest.mark.parametrize("gpu", GPUS)
def test_one_limit_is_redundant_on_each_gpu_of_the_thesis(gpu: str) -> None:
    *machine, redundant = GPUS[gpu]
    alpha = np.concatenate([[0], 2 ** np.arange(-4, 12, 0.25)])[:, None]
    found = volkov.mixes.predict(Mix(np.arange(1, 65.0), alpha, *machine))
    others = [limit for name, limit in found.limits.items() if name != redundant]
    assert np.array_equal(np.minimum.reduce(np.broadcast_arrays(*others)), found.rate)


def simulate(
    starts: list[int],
    alpha: int,
    latency: tuple[int, int],
    interval: tuple[int, int],
    issue: tuple[int, int],
    rounds: int = 40,
) -> float:
    """Accesses per cycle of in-order warps sharing an issue slot and two pipes.

    latency, interval, issue : (memory, arithmetic) in cycles; a pipe takes one instruction per
    interval, an instruction keeps the slot for `issue` cycles (0: no limit on issue).
    """
    ready, step, free, slot, now = list(starts), [0] * len(starts), [0, 0], 0, 0
    while sum(step) < len(starts) * rounds * (alpha + 1):
        for w in sorted(range(len(starts)), key=ready.__getitem__):
            pipe = int(step[w] % (alpha + 1) > 0)
            if max(ready[w], free[pipe], slot) <= now:
                free[pipe], ready[w] = now + interval[pipe], now + latency[pipe]
                slot = now + issue[pipe]
                step[w] += 1
        now += 1
    return len(starts) * rounds / now


DIFFERENTIAL = [
    (warps, alpha, interval, issue)
    for warps in (1, 4, 16)
    for alpha in (0, 1, 8)
    for interval in ((16, 1), (1, 1), (1, 4))
    for issue in (1, 3)
]


def machine(warps: int, alpha: int, interval: tuple[int, int], issue: int) -> Mix:
    return Mix(warps, alpha, 20, 6, 1 / interval[0], 1 / interval[1], 1.0, op_issue_slots=issue)


@pytest.mark.parametrize("warps, alpha, interval, issue", DIFFERENTIAL)
def test_mix_holds_and_is_tight(warps: int, alpha: int, interval: tuple[int, int], issue: int) -> None:
    simulated = simulate([0] * warps, alpha, (20, 6), interval, (issue, 1))
    bound = volkov.mixes.predict(machine(warps, alpha, interval, issue)).rate
    assert 0.85 * bound <= simulated <= 1.05 * bound  # 40 rounds, not infinity; interference below


def test_differential_cases_reach_every_bound() -> None:
    limits = [volkov.mixes.predict(machine(*case)).limits for case in DIFFERENTIAL]
    for name in limits[0]:
        others = [min(v for other, v in limit.items() if other != name) for limit in limits]
        assert any(limit[name] < 0.8 * rest for limit, rest in zip(limits, others, strict=True)), name


@pytest.mark.parametrize(
    "starts, share",
    [([0, 1, 2, 12, 13, 14], 1.0), ([0] * 6, 24 / 27), ([0, 1, 2, 12, 13], 20 / 24), ([0] * 3, 12 / 24)],
)
def test_phase_of_the_warps_decides_at_the_knee(starts: list[int], share: float) -> None:
    """Section 4.6: six warps suffice when tiled as in Figure 4.7 and fall short when started together."""
    adds = 4 * simulate(starts, 4, (12, 3), (1, 1), (0, 0), rounds=1000)
    bound = 4 * volkov.mixes.predict(Mix(len(starts), 4, 12, 3, 1.0, 1.0, 2.0)).rate
    assert adds <= bound * 1.001
    assert adds == pytest.approx(share, rel=2e-3)


def test_longest_path_is_what_a_lone_warp_takes() -> None:
    program = [one_warp.Instruction("LD", gap=4.0, loads=True)]
    for i in range(6):
        program.append(one_warp.Instruction("FADD", waits=((i, 6.0 if i else 20.0),), gap=4.0))
    alone = one_warp.latency_bound(program, termination=6.0)
    assert alone == 1 / simulate([0], 6, (20, 6), (1, 1), (4, 4), rounds=1) + 5  # the last result is due
