"""Listings 3.1 to 3.3: when one warp issues what."""

from warpbound.models.volkov_2016.one_warp import Instruction, after_barrier, issue_times
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Issue cycles of the three listings."""
    chain = _chain(given["chain"])
    alike, bar = given["independent"], given["barrier"]
    adds = issue_times([Instruction("FADD", gap=alike["add_gap"])] * alike["count"])
    stores = issue_times([Instruction("ST", gap=alike["store_gap"])] * alike["count"])
    long_way = issue_times(
        [
            Instruction("BRA", gap=bar["not_taken"]),
            Instruction("LD"),
            Instruction("FADD", waits=((1, bar["load"]),), gap=bar["add_gap"]),
            Instruction("BAR"),
        ]
    )
    short_way = issue_times([Instruction("BRA", gap=bar["taken"]), Instruction("BAR")])
    return {
        "chain": dict(zip([name for name, _ in given["chain"]], issue_times(chain).tolist(), strict=True)),
        "independent": {"last of 7 adds": adds[-1], "last of 7 stores": stores[-1]},
        "barrier": {
            "FADD of warp 1": long_way[2],
            "BAR of warp 1": long_way[3],
            "BAR of warp 2": short_way[1],
            "after the barrier": after_barrier([long_way[-1], short_way[-1]], bar["latency"]),
        },
    }


def _chain(steps: list[tuple[str, float]]) -> list[Instruction]:
    """Every instruction needs the result of the one before."""
    before = [()] + [((i, latency),) for i, (_, latency) in enumerate(steps[:-1])]
    return [Instruction(name, waits=waits) for (name, _), waits in zip(steps, before, strict=True)]
