"""Every model's throughput on the synthetic family: accesses per cycle per SM, for arrays of warps and alpha.

The kernel is an endless chain of one access and alpha additions; a model that needs counts gets many iterations.
Sections 7.5 to 7.8 of the thesis have the models that take one scheduler and its warps.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.errors import InputError
from warpbound.models import (
    baghsorkhi_2010,
    chen_aamodt_2009,
    cuda_guide_2015,
    hong_kim_2009,
    huang_2014,
    roofline_2009,
    saavedra_barrera_1990,
    sim_2012,
    transit_2015,
    volkov_2016,
    x_model_2016,
    zhang_owens_2011,
)
from warpbound.synthetic_family.machine import LINE, THREADS, Machine

TURNS = 1e12  # of the chain, which the thesis lets run forever

Curve = NDArray[np.float64]
Throughput = Callable[[Machine, Real, Real], Curve]  # machine, warps per SM, alpha -> access/cycle/SM


def basic(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Volkov's model of section 4.1."""
    return volkov_2016.mixes.predict(machine.mix(warps, alpha)).rate


def latency_alone(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Volkov's bound on latency, as if nothing saturated."""
    return volkov_2016.mixes.predict(machine.mix(warps, alpha)).limits["latency"]


def refined(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Volkov's model with memory contention, section 6.5. Raises InputError where none was fitted."""
    if machine.contention is None:
        raise InputError(f"The memory of {machine.name} under load was not fitted.", "Take the basic model.")
    return volkov_2016.contention.predict(machine.mix(warps, alpha), machine.contention).rate


def baghsorkhi(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Baghsorkhi and others, section 7.2."""
    inputs = baghsorkhi_2010.Inputs(
        warps, np.multiply(alpha, TURNS), TURNS, 1 / machine.alu_throughput, machine.alu_latency,
        1 / machine.memory_throughput, machine.memory_latency,
    )  # fmt: skip
    return np.asarray(TURNS / baghsorkhi_2010.predict(inputs).total)


def hong_kim(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Hong and Kim, section 7.1: pin bandwidth, no departure delay."""
    inputs = hong_kim_2009.Inputs(
        freq=machine.clock_Hz, mem_bandwidth=machine.pin_bandwidth, mem_latency=machine.memory_latency,
        departure_uncoal=0.0, departure_coal=0.0, threads_per_block=THREADS,
        blocks=np.multiply(warps, machine.sm_count), active_sms=machine.sm_count, active_blocks=warps,
        comp_insts=np.multiply(alpha, TURNS), uncoal_mem_insts=0.0, coal_mem_insts=TURNS, synch_insts=0.0,
        uncoal_per_mw=1.0, load_bytes=LINE, issue_cycles=1 / machine.alu_throughput,
    )  # fmt: skip
    return np.asarray(TURNS * np.asarray(warps) / hong_kim_2009.predict(inputs).total)


def sim(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Sim and others, section 7.4: MWP_peak_bw from the best measured bandwidth."""
    peak = machine.memory_latency * machine.memory_throughput
    inputs = sim_2012.Inputs(
        warps, np.add(alpha, 1.0), 1.0, machine.alu_latency, 1 / machine.alu_throughput, machine.memory_latency, peak
    )
    return np.asarray(warps / sim_2012.predict(inputs).total)


def zhang_owens(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Zhang and Owens, section 7.3, with modelled in place of measured curves."""
    adds, accesses = modelled_curves(machine, warps).values()
    return zhang_owens_2011.predict(zhang_owens_2011.Inputs(alpha, 1.0, adds, accesses)).rate


def zhang_owens_added(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """The same where the times of both kinds add, the thin line of Figure 7.5."""
    adds, accesses = modelled_curves(machine, warps).values()
    return np.asarray(1.0 / (THREADS * (np.divide(alpha, adds) + np.divide(1.0, accesses))))


def modelled_curves(machine: Machine, warps: Real | None = None) -> dict[str, Curve]:
    """The throughput of either kind alone at these or at all occupancies, lanes per cycle per SM."""
    n = machine.occupancies if warps is None else warps
    return {
        "additions": np.asarray(zhang_owens_2011.modelled(n, machine.alu_latency, machine.alu_throughput)),
        "accesses": np.asarray(zhang_owens_2011.modelled(n, machine.memory_latency, machine.memory_throughput)),
    }


def huang(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Huang and others under round robin, section 7.5."""
    return _per_access(huang_2014.predict(huang_inputs(machine, warps, alpha)).total, machine, alpha)


def huang_greedy(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """The same under greedy-then-oldest, section 7.6."""
    return _per_access(huang_2014.predict_greedy(huang_inputs(machine, warps, alpha)).total, machine, alpha)


def huang_contended(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """The same under round robin with its term of bandwidth, section 7.7; negative where that is singular."""
    inputs = huang_inputs(machine, warps, alpha, requests=1.0)
    return _per_access(huang_2014.predict(inputs).total, machine, alpha)


def huang_inputs(machine: Machine, warps: Real, alpha: Real, requests: float = 0.0) -> huang_2014.Inputs:
    """One scheduler with its share of the warps; `requests` contend in every access."""
    intervals = (
        huang_2014.Interval(1.0, machine.memory_latency, requests=requests),
        huang_2014.Interval(1.0, machine.alu_latency, executions=alpha),
    )
    service = huang_2014.service_time(machine.clock_Hz, machine.pin_bandwidth, LINE)
    share = np.divide(warps, _issuers(machine))
    return huang_2014.Inputs(share, intervals, machine.sm_count * _issuers(machine), service)


def saavedra_barrera(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Saavedra-Barrera and others, no cost of a switch."""
    insts = np.add(alpha, 1.0)
    run_lengths = saavedra_barrera_1990.Inputs(warps, insts / machine.alu_throughput, machine.memory_latency, 0.0)
    return np.asarray(saavedra_barrera_1990.predict(run_lengths).rate * machine.alu_throughput / insts)


def cuda_guide(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """The vendor's guide, section 4.8."""
    guide = cuda_guide_2015.Inputs(warps, alpha, machine.memory_latency, 1 / machine.alu_throughput)
    return np.asarray(cuda_guide_2015.predict(guide).rate / alpha)


def chen_aamodt(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Chen and Aamodt, section 4.13: the warps of a scheduler that do not collide issue."""
    insts, issuers = np.add(alpha, 1.0), _issuers(machine)
    alone = latency_alone(machine, 1.0, alpha) * insts
    prediction = chen_aamodt_2009.predict(chen_aamodt_2009.Inputs(np.divide(warps, issuers), alone))
    return np.asarray(prediction.rate * issuers / insts)


def chen_aamodt_fourth(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Their fourth model: every instruction stalls its warp, so that none that is ready is lost."""
    insts, issuers = np.add(alpha, 1.0), _issuers(machine)
    alone = latency_alone(machine, 1.0, alpha) * insts
    prediction = chen_aamodt_2009.markov(chen_aamodt_2009.Inputs(np.divide(warps, issuers), alone))
    return np.asarray(prediction * issuers / insts)


def transit(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """Transit: a warp computes one instruction per cycle."""
    inputs = transit_2015.Inputs(
        warps, alpha, machine.alu_throughput, machine.memory_latency, machine.memory_throughput
    )
    return transit_2015.predict(inputs).rate


def x_model(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """X-model without a cache: a warp's E is the reciprocal of the arithmetic latency."""
    inputs = x_model_2016.Inputs(
        warps, 1 / machine.alu_latency, alpha, machine.alu_throughput, machine.memory_latency, machine.memory_throughput
    )
    return x_model_2016.predict(inputs).rate


def roofline(machine: Machine, warps: Real, alpha: Real) -> Curve:
    """The two roofs; warps are no factor."""
    peak = THREADS * machine.alu_throughput
    prediction = roofline_2009.predict(
        roofline_2009.Inputs(np.multiply(alpha, THREADS) / LINE, peak, machine.memory_throughput * LINE)
    )
    return np.asarray(prediction.rate / (np.multiply(alpha, THREADS)) * np.ones_like(warps))


PREDICTORS: dict[str, Throughput] = {
    "volkov_2016": basic,
    "volkov_2016, contention": refined,
    "hong_kim_2009": hong_kim,
    "baghsorkhi_2010": baghsorkhi,
    "zhang_owens_2011": zhang_owens,
    "sim_2012": sim,
    "huang_2014, round robin": huang,
    "huang_2014, greedy": huang_greedy,
    "huang_2014, bandwidth": huang_contended,
    "saavedra_barrera_1990": saavedra_barrera,
    "cuda_guide_2015": cuda_guide,
    "chen_aamodt_2009": chen_aamodt,
    "transit_2015": transit,
    "x_model_2016": x_model,
    "roofline_2009": roofline,
}


def _issuers(machine: Machine) -> int:
    """Schedulers that each issue an instruction per cycle; slower ones share one between them."""
    return max(1, round(machine.issue_throughput))


def _per_access(cpi: Curve, machine: Machine, alpha: Real) -> Curve:
    return np.asarray(_issuers(machine) / (cpi * np.add(alpha, 1.0)))
