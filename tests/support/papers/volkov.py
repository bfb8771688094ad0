"""Volkov's synthetic family, and Huang and others' intervals as his thesis restates them, from the text."""

from math import inf
from random import Random
from typing import Any

from support.papers.limits import Quantities, Second, Symbols, over
from warpbound.models import huang_2014
from warpbound.models.volkov_2016 import contention, mixes

# ---------------------------------------------------------------- sections 4.1 to 4.7, and 6.4


def _drawn(random: Random) -> Symbols:
    draw = random.uniform
    return {"warps": random.choice([1.0, float(random.randint(1, 64)), draw(0.5, 100)]),
            "alu_per_op": random.choice([0.0, draw(0, 1), draw(1, 512)]), "op_latency": draw(10, 900),
            "alu_latency": draw(4, 30), "op_throughput": draw(0.01, 1), "alu_throughput": draw(0.25, 4),
            "issue_throughput": draw(0.25, 8), "op_issue_slots": random.choice([1.0, 2.0, 8.0]),
            "op_to_op_latency": random.choice([None, draw(10, 900)]), "growth": draw(0, 200),
            "room": draw(1.01, 3)}  # fmt: skip


def _parts(s: Symbols) -> tuple[mixes.Mix, contention.Memory]:
    mix = mixes.Mix(**{name: value for name, value in s.items() if name not in ("growth", "room")})
    return mix, contention.Memory(s["op_latency"], (s["growth"],), (s["room"] * s["op_throughput"],))


def _family(s: Symbols) -> Quantities:
    mix, memory = _parts(s)
    return {"rate": float(mixes.predict(mix).rate), "needed": float(mixes.warps_needed(mix).total),
            "loaded": float(contention.predict(mix, memory).rate),
            "closed": float(contention.predict_one_term(mix, memory).rate)}  # fmt: skip


def _family_again(s: Symbols) -> Quantities:
    """Little's law on one warp's group of an access and its adds, and what pipes and slots admit."""
    alpha, access = s["alu_per_op"], s["op_latency"]
    if s["op_to_op_latency"] is not None and alpha < 1:  # of 1/alpha accesses the last feeds an add
        access = alpha * s["op_latency"] + (1 - alpha) * s["op_to_op_latency"]
    group = access + alpha * s["alu_latency"]
    slots = s["op_issue_slots"] + alpha
    roof = min(s["op_throughput"], over(s["alu_throughput"], alpha), s["issue_throughput"] / slots)
    low, high = 0.0, roof
    for _ in range(200):
        x = (low + high) / 2
        waits = s["op_latency"] + s["growth"] * x / (s["room"] * s["op_throughput"] - x) + alpha * s["alu_latency"]
        low, high = (x, high) if s["warps"] / waits > x else (low, x)
    return {"rate": min(s["warps"] / group, roof), "needed": group * roof, "loaded": high, "closed": high}


# ---------------------------------------------------------------- Huang and others: sections 7.5 to 7.8


def _huang_drawn(random: Random) -> Symbols:
    intervals: list[Any] = [
        {"insts": float(random.randint(1, 9)), "latency": random.uniform(2, 600),
         "executions": random.choice([1.0, float(random.randint(1, 40))]),
         "requests": random.choice([0.0, 1.0, 2.0]), "mshr_delay": random.choice([0.0, 0.0, random.uniform(0, 90)])}
        for _ in range(random.randint(1, 4))
    ]  # fmt: skip
    return {"warps": float(random.randint(1, 64)), "cores": float(random.randint(1, 30)),
            "service": random.uniform(0.05, 2), "intervals": intervals}  # fmt: skip


def _huang(s: Symbols) -> Quantities:
    intervals = tuple(huang_2014.Interval(**one) for one in s["intervals"])
    x = huang_2014.Inputs(s["warps"], intervals, s["cores"], s["service"])
    return {"fair": float(huang_2014.predict(x).total), "greedy": float(huang_2014.predict_greedy(x).total),
            "physical": float(huang_2014.is_physical(x))}  # fmt: skip


def _huang_again(s: Symbols) -> Quantities:
    n, every = s["warps"], s["intervals"]
    insts = sum(one["executions"] * one["insts"] for one in every)
    alone = sum(one["executions"] * (one["insts"] + one["latency"] - 1) for one in every)
    p, size = insts / alone, insts / sum(one["executions"] for one in every)
    fair = sum(one["executions"] * p * (n - 1) * (one["insts"] - 1) for one in every)
    greedy = sum(
        one["executions"] * max(0.0, min(p * (one["latency"] - 1), 1) * (n - 1) * size - (one["latency"] - 1))
        for one in every
    )
    queued, busiest = 0.0, 0.0
    for one in every:
        together = one["requests"] * n * s["cores"]
        rate = together / one["latency"]
        rho = rate * s["service"]
        busiest = max(busiest, rho)
        mean = rate * s["service"] ** 2 / (2 * (1 - rho)) if rho != 1 else inf
        queued += one["executions"] * (one["mshr_delay"] + min(mean, s["service"] * together / 2))
    return {"fair": (alone + fair) / (n * insts) + queued / insts,
            "greedy": (alone + greedy) / (n * insts) + queued / insts, "physical": float(busiest < 1)}  # fmt: skip


MODELS = {
    "volkov_2016": Second(_drawn, _family, _family_again),
    "huang_2014": Second(_huang_drawn, _huang, _huang_again),
}
