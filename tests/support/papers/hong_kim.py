"""Hong and Kim, sections 3.4 and 6.1, from the text: plain numbers, one launch at a time.

`adopted` follows the readings that docs/models.md names; `printed` is literal.
"""

from math import ceil, inf
from random import Random

Symbols = dict[str, float]


def drawn(random: Random) -> Symbols:
    """A random launch; without memory, with one warp, with scarce bandwidth among them."""
    uniform, choose = random.uniform, random.choice
    uncoalesced, coalesced = choose([0, 0, random.randint(1, 50)]), choose([0, random.randint(1, 50)])
    memory = uncoalesced + coalesced
    return {
        "freq": uniform(0.5e9, 2e9),
        "mem_bandwidth": choose([1e15, uniform(1e9, 2e11), 1e7]),
        "mem_latency": uniform(100, 800),
        "departure_uncoal": uniform(1, 60),
        "departure_coal": uniform(1, 20),
        "threads_per_block": float(choose([16, 32, 33, 96, 128, 500, 512])),
        "blocks": float(random.randint(1, 5000)),
        "active_sms": float(random.randint(1, 30)),
        "active_blocks": float(random.randint(1, 8)),
        "comp_insts": float(choose([1, random.randint(1, 2000)])),
        "uncoal_mem_insts": float(uncoalesced),
        "coal_mem_insts": float(coalesced),
        "synch_insts": float(choose([0, random.randint(1, 9)])),
        "uncoal_per_mw": float(choose([2, 4, 32])),
        "load_bytes": float(choose([32, 128, 256])),
        "issue_cycles": choose([1.0, 4.0]),
        "m_factor": choose([1.0, uniform(1, 5)]),
        "ind_mem_req": float(choose([0, random.randint(0, max(0, memory - 1))])) if memory else 0.0,
    }


def memory_terms(s: Symbols) -> tuple[float, float, float]:
    """Departure_delay, Mem_L, Mem_cycles: Eqs. 10 to 15 and 18."""
    together = s["uncoal_mem_insts"] + s["coal_mem_insts"]
    if not together:
        return 0.0, 0.0, 0.0
    scattered = s["mem_latency"] + (s["uncoal_per_mw"] - 1) * s["departure_uncoal"]
    share = s["uncoal_mem_insts"] / together
    latency = scattered * share + s["mem_latency"] * (1 - share)
    delay = s["departure_uncoal"] * s["uncoal_per_mw"] * share + s["departure_coal"] * (1 - share)
    return delay, latency, scattered * s["uncoal_mem_insts"] + s["mem_latency"] * s["coal_mem_insts"]


def limits(s: Symbols) -> tuple[float, float]:
    """MWP as departures and as bandwidth allow it: Eqs. 6, 7 and 16."""
    delay, latency, _ = memory_terms(s)
    if not latency:
        return inf, inf
    bandwidth_of_a_warp = s["freq"] * s["load_bytes"] / latency
    return latency / delay, s["mem_bandwidth"] / (bandwidth_of_a_warp * s["active_sms"])


def adopted(s: Symbols) -> tuple[float, float]:
    """Exec_cycles_app and Synch_cost in the adopted readings."""
    warps_of_block = ceil(s["threads_per_block"] / 32)
    n = warps_of_block * s["active_blocks"]
    loads = s["uncoal_mem_insts"] + s["coal_mem_insts"]
    delay, latency, waiting = memory_terms(s)
    computing = s["issue_cycles"] * (s["m_factor"] * s["comp_insts"] + loads)
    parallel = n * loads / (loads - s["ind_mem_req"]) if loads else n
    mwp = min(*limits(s), parallel)
    cwp = min((waiting + computing) / computing, n)
    turns = s["blocks"] / (s["active_blocks"] * s["active_sms"])
    if not loads:
        cycles = computing * n
    elif mwp >= n and cwp == n:
        cycles = waiting * n / mwp + computing + computing / loads * (n - 1)
    elif cwp >= mwp:
        cycles = waiting * n / mwp + computing / loads * max(mwp - 1, 0)
    else:
        cycles = latency + computing * n
    others = max(min(mwp, warps_of_block) - 1, 0)
    return cycles * turns, delay * others * s["synch_insts"] * s["active_blocks"] * turns


def printed(s: Symbols) -> tuple[float, float]:
    """The same, literally: Eqs. 5, 17, 19, 22 to 24 with the clause Comp_cycles > Mem_cycles, 26, 29 to 31."""
    warps_of_block = s["threads_per_block"] / 32
    n = warps_of_block * s["active_blocks"]
    loads = s["uncoal_mem_insts"] + s["coal_mem_insts"]
    delay, latency, waiting = memory_terms(s)
    computing = s["issue_cycles"] * s["m_factor"] * (s["comp_insts"] + loads)
    departures, bandwidth = limits(s)
    parallel = n * s["ind_mem_req"] / (loads - s["ind_mem_req"]) if s["ind_mem_req"] else n
    mwp = min(min(departures, n), bandwidth, parallel)
    cwp = min((waiting + computing) / computing, n)
    turns = s["blocks"] / (s["active_blocks"] * s["active_sms"])
    if mwp == n and cwp == n:
        cycles = waiting + computing + (computing / loads * (mwp - 1) if loads else 0)
    elif loads and (cwp >= mwp or computing > waiting):
        cycles = waiting * n / mwp + computing / loads * (mwp - 1)
    else:
        cycles = latency + computing * n
    return cycles * turns, delay * (min(mwp, warps_of_block) - 1) * s["synch_insts"] * s["active_blocks"] * turns
