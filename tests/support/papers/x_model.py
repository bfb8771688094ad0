"""The X-model, sections II and III, from the text: one machine at a time; intersections by walking along k."""

from random import Random

Symbols = dict[str, float]
STEPS = 20_000  # of the walk along k


def drawn(random: Random) -> Symbols:
    """A random machine and workload; one thread, no cache, no locality, many threads among them."""
    uniform, choose = random.uniform, random.choice
    return {
        "threads": choose([1.0, float(random.randint(2, 64)), uniform(1, 3000)]),
        "ilp": choose([1.0, uniform(0.1, 4)]),
        "intensity": uniform(1, 80),
        "lanes": uniform(1, 192),
        "latency": uniform(100, 900),
        "ms_throughput": uniform(0.005, 2),
        "cache_latency": uniform(1, 60),
        "cache_capacity": choose([0.0, 16384.0, 49152.0]),
        "alpha": choose([1.0, uniform(1.1, 8)]),
        "beta": uniform(64, 8192),
    }


def supply(s: Symbols, k: float) -> float:
    """f(k), Eqs. 1 to 5: Little's law on a latency that is the mean of hits and misses."""
    behind = s["latency"] if k <= s["ms_throughput"] * s["latency"] else k / s["ms_throughput"]
    missing = 1.0
    if s["cache_capacity"]:
        missing = (1.0 + s["cache_capacity"] / (s["beta"] * k)) ** (1.0 - s["alpha"])
    return k / ((1.0 - missing) * s["cache_latency"] + missing * behind)


def demand(s: Symbols, k: float) -> float:
    """g(n - k)/Z."""
    return min(s["ilp"] * (s["threads"] - k), s["lanes"]) / s["intensity"]


def reached(s: Symbols) -> float:
    """The first k from 0 at which memory supplies what is demanded, by steps and halving."""
    low, high = 0.0, s["threads"]
    for step in range(1, STEPS + 1):
        k = s["threads"] * step / STEPS
        if supply(s, k) >= demand(s, k):
            low, high = s["threads"] * (step - 1) / STEPS, k
            break
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if supply(s, middle) >= demand(s, middle):
            high = middle
        else:
            low = middle
    return high
