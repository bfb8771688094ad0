"""The papers that give limits or times in a line or two each, from the texts: plain numbers, one case at a time.

Each `MODELS` entry draws a random case with edges in it and has `computed` (from the package) and `again` (from here):
the same quantities by name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf
from random import Random
from typing import Any

from warpbound.models import (
    baghsorkhi_2010,
    chen_aamodt_2009,
    cuda_guide_2015,
    interval_analysis,
    roofline_2009,
    saavedra_barrera_1990,
    sim_2012,
    transit_2015,
    valley_2009,
    zhang_owens_2011,
)

Symbols = dict[str, Any]
Quantities = dict[str, float]


@dataclass(frozen=True)
class Second:
    """A model twice: the package's answer and one worked out from the text."""

    drawn: Callable[[Random], Symbols]
    computed: Callable[[Symbols], Quantities]
    again: Callable[[Symbols], Quantities]


def over(above: float, below: float) -> float:
    """A quotient; no limit where nothing is asked for."""
    return above / below if below else inf


def _warps(random: Random) -> float:
    return random.choice([1.0, 2.0, float(random.randint(1, 64)), random.uniform(0.5, 100)])


# ---------------------------------------------------------------- roofline: p. 67, p. 68


def _roofline_drawn(random: Random) -> Symbols:
    draw = random.uniform
    return {"intensity": random.choice([0.0, draw(0.01, 100)]), "peak_flops": draw(1e9, 1e14),
            "peak_bandwidth": draw(1e9, 1e13), "flat": draw(1e8, 1e14), "slanted": draw(1e8, 1e13)}  # fmt: skip


def _roofline(s: Symbols) -> Quantities:
    x = roofline_2009.Inputs(s["intensity"], s["peak_flops"], s["peak_bandwidth"])
    low = roofline_2009.predict_under_ceilings(x, {"flat": s["flat"]}, {"slanted": s["slanted"]})
    ridge = roofline_2009.ridge(s["peak_flops"], s["peak_bandwidth"])
    return {"rate": float(roofline_2009.predict(x).rate), "under": float(low.rate), "ridge": float(ridge)}


def _roofline_again(s: Symbols) -> Quantities:
    roof = min(s["peak_flops"], s["peak_bandwidth"] * s["intensity"])
    return {"rate": roof, "under": min(roof, s["flat"], s["slanted"] * s["intensity"]),
            "ridge": s["peak_flops"] / s["peak_bandwidth"]}  # fmt: skip


# ---------------------------------------------------------------- the guide: thesis, section 4.8


def _guide_drawn(random: Random) -> Symbols:
    return {"warps": _warps(random), "alu_per_mem": random.choice([0.0, random.uniform(0.1, 300)]),
            "mem_latency": random.uniform(100, 900),
            "inst_time": random.choice([4.0, random.uniform(0.1, 4)])}  # fmt: skip


def _guide(s: Symbols) -> Quantities:
    x = cuda_guide_2015.Inputs(**s)
    return {"rate": float(cuda_guide_2015.predict(x).rate), "warps": float(cuda_guide_2015.warps_needed(x)),
            "refined": float(cuda_guide_2015.warps_needed_refined(x))}  # fmt: skip


def _guide_again(s: Symbols) -> Quantities:
    per_wait = s["warps"] * s["alu_per_mem"]
    return {"rate": min(per_wait / s["mem_latency"], 1 / s["inst_time"]),
            "warps": over(s["mem_latency"], s["inst_time"] * s["alu_per_mem"]),
            "refined": s["mem_latency"] / (s["inst_time"] * (s["alu_per_mem"] + 1)) + 1}  # fmt: skip


# ---------------------------------------------------------------- switching threads: thesis, section 4.9


def _switching_drawn(random: Random) -> Symbols:
    return {"threads": _warps(random), "run": random.uniform(1, 200), "latency": random.uniform(1, 900),
            "switch": random.choice([0.0, random.uniform(0, 50)])}  # fmt: skip


def _switching(s: Symbols) -> Quantities:
    x, model = saavedra_barrera_1990.Inputs(**s), saavedra_barrera_1990
    return {"busy": float(model.predict(x).rate), "needed": float(model.threads_needed(x)),
            "agarwal": float(model.predict_agarwal(x).rate), "his": float(model.threads_needed_agarwal(x)),
            "ahead": float(model.prefetch_distance_in_iterations(s["latency"], s["run"]))}  # fmt: skip


def _switching_again(s: Symbols) -> Quantities:
    """Busy R of every R + C, or n R of every turn R + C + L."""
    n, run, wait, switch = s["threads"], s["run"], s["latency"], s["switch"]
    full = run / (run + switch)
    return {"busy": min(full, n * run / (run + switch + wait)), "needed": wait / (run + switch) + 1,
            "agarwal": min(full, n * run / (run + wait)), "his": (run + wait) / (run + switch),
            "ahead": ceil(wait / run)}  # fmt: skip


# ---------------------------------------------------------------- Chen and Aamodt: thesis, section 4.13


def _chance_drawn(random: Random) -> Symbols:
    return {"threads": random.choice([1, 2, random.randint(1, 7)]),
            "alone": random.choice([0.0, 1.0, random.random()]),
            "stalls": random.choice([1.0, random.uniform(0.05, 1)])}  # fmt: skip


def _chance(s: Symbols) -> Quantities:
    x, model = chen_aamodt_2009.Inputs(**s), chen_aamodt_2009
    return {"1": float(model.ignored(x)), "2": float(model.linear(x)), "3": float(model.probabilistic(x)),
            "4": float(model.markov(x)), "rate": float(model.predict(x).rate)}  # fmt: skip


def _chance_again(s: Symbols) -> Quantities:
    """One thread after the other fills what those before it left empty."""
    busy = 0.0
    for _ in range(s["threads"]):
        busy += (1 - busy) * s["alone"]
    return {"1": s["alone"], "2": sum([s["alone"]] * s["threads"]), "3": busy, "4": _settled(s), "rate": busy}


def _settled(s: Symbols) -> float:
    """Shares of cycles by number of stalled threads: the chain squared over and over until they stay.

    Each thread wakes for itself, one after the other; then one that is ready may stall.
    """
    if not s["alone"]:
        return 0.0
    wait, n = (1 / s["alone"] - 1) / s["stalls"], s["threads"]
    ends, falls = min(1.0, over(1.0, wait)), min(s["stalls"], s["stalls"] * wait)
    rows = []
    for stalled in range(n + 1):
        shares = {stalled: 1.0}
        for _ in range(stalled):
            after: dict[int, float] = {}
            for left, share in shares.items():
                after[left] = after.get(left, 0.0) + share * (1 - ends)
                after[left - 1] = after.get(left - 1, 0.0) + share * ends
            shares = after
        falling = falls if stalled < n else 0.0
        rows.append([(1 - falling) * shares.get(j, 0.0) + falling * shares.get(j - 1, 0.0) for j in range(n + 1)])
    for _ in range(30):
        rows = [[sum(a * row[j] for a, row in zip(one, rows, strict=True)) for j in range(n + 1)] for one in rows]
        rows = [[share / sum(one) for share in one] for one in rows]
    return 1 - rows[0][n]


# ---------------------------------------------------------------- Zhang and Owens: thesis, section 7.3


def _kinds_drawn(random: Random) -> Symbols:
    counts = random.choice([(0.0, 3.0), (5.0, 0.0), (random.uniform(1, 500), random.uniform(1, 50))])
    return {"alu_insts": counts[0], "mem_insts": counts[1], "alu_rate": random.uniform(1, 128),
            "mem_rate": random.uniform(0.1, 32), "warps": _warps(random), "latency": random.uniform(10, 500),
            "peak": random.uniform(0.1, 4)}  # fmt: skip


def _kinds(s: Symbols) -> Quantities:
    x = zhang_owens_2011.Inputs(*(s[name] for name in ("alu_insts", "mem_insts", "alu_rate", "mem_rate")))
    curve = zhang_owens_2011.modelled(s["warps"], s["latency"], s["peak"])
    return {"rate": float(zhang_owens_2011.predict(x).rate), "curve": float(curve),
            "lanes": float(zhang_owens_2011.lanes_per_cycle(x))}  # fmt: skip


def _kinds_again(s: Symbols) -> Quantities:
    """Time of a warp is that of its slower kind, 32 lanes an instruction."""
    time = max(32 * s["alu_insts"] / s["alu_rate"], 32 * s["mem_insts"] / s["mem_rate"])
    return {"rate": 1 / time, "curve": 32 * min(s["warps"] / s["latency"], s["peak"]),
            "lanes": 32 * s["alu_insts"] / time}  # fmt: skip


# ---------------------------------------------------------------- Sim and others: thesis, Table 7.1


def _sim_drawn(random: Random) -> Symbols:
    memory = random.uniform(1, 50)
    return {"warps": random.choice([1.0, 2.0, float(random.randint(3, 64))]), "insts": memory + random.uniform(0, 900),
            "mem_insts": memory, "alu_latency": random.uniform(4, 30), "alu_time": random.choice([1.0, 0.25, 4.0]),
            "mem_latency": random.uniform(100, 900), "mwp_peak_bw": random.choice([1.0, random.uniform(1, 80)]),
            "departure_delay": random.choice([0.0, random.uniform(1, 60)])}  # fmt: skip


def _sim(s: Symbols) -> Quantities:
    x = sim_2012.Inputs(**s)
    return {"cycles": float(sim_2012.predict(x).total), "mwp": float(sim_2012.mwp(x)), "cwp": float(sim_2012.cwp(x))}


def _sim_again(s: Symbols) -> Quantities:
    n, each = s["warps"], max(s["alu_latency"] / s["warps"], s["alu_time"])
    mwp = min(n, s["mwp_peak_bw"], over(s["mem_latency"], s["departure_delay"]))
    cwp = min(n, 1 + s["mem_insts"] * s["mem_latency"] / (s["insts"] * each))
    computing = s["insts"] * n * each
    waiting = n * s["mem_insts"] * s["mem_latency"] / min(mwp, max(1.0, cwp - 1))
    longer = max(computing, waiting) if cwp > mwp else max(computing, waiting + computing / n)
    return {"cycles": longer, "mwp": mwp, "cwp": cwp}


# ---------------------------------------------------------------- Baghsorkhi and others: thesis, section 7.2


def _exposed_drawn(random: Random) -> Symbols:
    return {"warps": _warps(random), "alu_insts": random.choice([0.0, random.uniform(1, 500)]),
            "mem_insts": float(random.randint(1, 40)), "issue_time": random.choice([4.0, 1.0, 0.25]),
            "alu_latency": random.uniform(4, 30), "mem_time": random.uniform(1, 60),
            "mem_latency": random.uniform(100, 900), "sync_insts": float(random.choice([0, 0, 2]))}  # fmt: skip


def _exposed(s: Symbols) -> Quantities:
    x = baghsorkhi_2010.Inputs(**s)
    return {"one": float(baghsorkhi_2010.predict(x).total), "all": float(baghsorkhi_2010.cycles(x))}


def _exposed_again(s: Symbols) -> Quantities:
    arithmetic = s["alu_insts"] * max(s["issue_time"], s["alu_latency"] / s["warps"])
    busy = arithmetic + s["mem_insts"] * s["issue_time"]
    transfer = s["issue_time"] + max(0.0, s["mem_time"] - busy / s["mem_insts"])
    exposed = s["mem_latency"] - (s["warps"] - 1) * busy / (1 + s["mem_insts"] + s["sync_insts"])
    one = arithmetic + s["mem_insts"] * max(transfer, exposed)
    return {"one": one, "all": one * s["warps"]}


# ---------------------------------------------------------------- Transit: the X-model's paper, section II


def _transit_drawn(random: Random) -> Symbols:
    balanced = random.random() < 0.1
    lanes, rate = float(random.randint(1, 192)), random.uniform(0.01, 2)
    return {"threads": random.choice([1.0, random.uniform(1, 3000)]),
            "intensity": lanes / rate if balanced else random.uniform(1, 300),
            "lanes": lanes, "latency": random.uniform(50, 900), "ms_throughput": rate}  # fmt: skip


def _transit(s: Symbols) -> Quantities:
    state = transit_2015.state(transit_2015.Inputs(**s))
    k = 0.5 * (float(state.fewest_ms_threads) + float(state.most_ms_threads))
    return {"f": float(state.ms_throughput), "zf": float(state.cs_throughput),
            "supply": float(transit_2015.supply(k, s["latency"], s["ms_throughput"])),
            "demand": float(transit_2015.demand(s["threads"] - k, s["lanes"], s["intensity"]))}  # fmt: skip


def _transit_again(s: Symbols) -> Quantities:
    """Halve the range of k until supply meets demand: supply never falls with k and demand never rises."""
    low, high = 0.0, s["threads"]
    for _ in range(200):
        k = (low + high) / 2
        supplied = s["ms_throughput"] * min(1.0, k / (s["ms_throughput"] * s["latency"]))
        more = supplied < min(s["threads"] - k, s["lanes"]) / s["intensity"]
        low, high = (k, high) if more else (low, k)
    rate = min(high / s["latency"], s["ms_throughput"])
    return {"f": rate, "zf": s["intensity"] * rate, "supply": rate, "demand": rate}


# ---------------------------------------------------------------- many threads: X-model's paper, section VII


def _valley_drawn(random: Random) -> Symbols:
    draw = random.uniform
    return {"elements": draw(1, 4096), "clock": draw(1e8, 3e9), "cpi": draw(0.5, 4),
            "cache_capacity": random.choice([0.0, draw(1e3, 1e8)]), "cache_latency": draw(1, 40),
            "memory_latency": draw(100, 900), "bandwidth": random.choice([1e8, draw(1e9, 1e13)]),
            "operand_bytes": draw(1, 16), "threads": random.choice([1.0, draw(1, 1e5)]),
            "memory_fraction": draw(0.01, 1), "alpha": random.choice([1.0, draw(1, 9)]),
            "beta": draw(10, 5000)}  # fmt: skip


def _valley(s: Symbols) -> Quantities:
    x = valley_2009.Inputs(**s)
    return {"rate": float(valley_2009.predict(x).rate), "hits": float(valley_2009.hit_rate(x)),
            "busy": float(valley_2009.utilisation(x))}  # fmt: skip


def _valley_again(s: Symbols) -> Quantities:
    """Performance N_PE f / CPI times the share of the elements that work, under the roof of what misses bring."""
    missing = (1 + s["cache_capacity"] / (s["threads"] * s["beta"])) ** -(s["alpha"] - 1)
    waits = missing * s["memory_latency"] + (1 - missing) * s["cache_latency"]
    busy = min(1.0, s["threads"] / (s["elements"] * (1 + s["memory_fraction"] * waits / s["cpi"])))
    roof = over(s["bandwidth"], s["memory_fraction"] * s["operand_bytes"] * missing)
    return {"rate": min(s["elements"] * s["clock"] / s["cpi"] * busy, roof), "hits": 1 - missing, "busy": busy}


# ---------------------------------------------------------------- interval analysis: the notes


def _interval_drawn(random: Random) -> Symbols:
    draw = random.uniform
    return {"executions": draw(1, 1e7), "threads": float(random.randint(1, 40000)), "latency": draw(1, 4000),
            "clock": draw(1e8, 2e9), "data": {"M": draw(1, 64), "2": random.choice([0.0, draw(1, 256)])},
            "data_bandwidth": {"M": draw(1e10, 1e12), "2": draw(1e10, 5e12)},
            "insts": {"IF": float(random.randint(0, 99)), "IM": float(random.randint(1, 99))},
            "inst_bandwidth": {"IF": draw(64, 4096), "IM": draw(64, 4096)}}  # fmt: skip


def _interval(s: Symbols) -> Quantities:
    x = interval_analysis.Inputs(**s)
    return {"t": float(interval_analysis.time(x)), "P": float(interval_analysis.enough_threads(x).rate)}


def _interval_again(s: Symbols) -> Quantities:
    """t = N max(L / (P phi), d / Theta, issue / phi); at P threads the first equals the largest of the others."""
    seconds = s["latency"] / s["clock"]
    issue = sum(s["insts"][kind] / s["inst_bandwidth"][kind] for kind in s["insts"]) / s["clock"]
    others = max(issue, *(s["data"][way] / s["data_bandwidth"][way] for way in s["data"]))
    return {"t": s["executions"] * max(seconds / s["threads"], others), "P": seconds / others}


MODELS = {
    "roofline_2009": Second(_roofline_drawn, _roofline, _roofline_again),
    "cuda_guide_2015": Second(_guide_drawn, _guide, _guide_again),
    "saavedra_barrera_1990": Second(_switching_drawn, _switching, _switching_again),
    "chen_aamodt_2009": Second(_chance_drawn, _chance, _chance_again),
    "zhang_owens_2011": Second(_kinds_drawn, _kinds, _kinds_again),
    "sim_2012": Second(_sim_drawn, _sim, _sim_again),
    "baghsorkhi_2010": Second(_exposed_drawn, _exposed, _exposed_again),
    "transit_2015": Second(_transit_drawn, _transit, _transit_again),
    "valley_2009": Second(_valley_drawn, _valley, _valley_again),
    "interval_analysis": Second(_interval_drawn, _interval, _interval_again),
}
