"""Table 3: what follows from its own clocks and counts of SMs."""

from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Cores, and their peak at two flop a cycle, three where the special units multiply too."""
    return {name: _row(given, name) for name in given["gpus"]}


def _row(given: Given, name: str) -> dict[str, float]:
    machine = given["machines"][name]
    cores = given["cores_per_sm"] * machine["sms"]
    clock = given["exact_clock_GHz"].get(name, machine["freq_GHz"])
    return {"cores": cores, "peak": cores * given["flop_per_cycle"][name] * clock}
