"""The first lines of every report: how long, what binds and by how much, whether more warps help, what to try first."""

import math

from rich.console import Group, RenderableType
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.report.formatting import RESOURCE_WORDS, amount, listed, seconds

UNKNOWN = "taken as 0; branches"  # of a note about contents that nobody gave and that decide how the kernel runs


def verdict(entry: Entry) -> RenderableType:
    """Four lines or so; why there is no time where there is none."""
    if entry["bottleneck"] is None:
        return Text(f"Nothing is said of time: {entry['gpu_name']} is an architecture, no board.")
    lines = [_binding(entry), _hiding(entry), _first(entry)]
    if entry["time_s"] is not None:
        low, high = entry["time_interval_s"]
        lines.insert(0, Text(f"Time {seconds(entry['time_s'])}, probably between {seconds(low)} and {seconds(high)}."))
        lines[0].stylize("bold")
        lines[1:1] = _of_zeros(entry)
    elif entry["not_executed"]:
        lines.insert(0, _stopped(entry))
    else:
        lines.append(_no_time(entry))
    return Group(*lines)


def _of_zeros(entry: Entry) -> list[Text]:
    """A warning where contents that were not given decide branches: the time is that of zeros, its interval too."""
    notes = [note for note in entry["confidence"]["assumed"] if UNKNOWN in note]
    said = [note.partition(" read")[0].removeprefix("unknown ") for note in notes]
    if not said:
        return []
    return [
        Text(
            f"This is the time for zeros: {listed(said)} decide branches and were not given. Give them "
            "(fill or file in the launch file, --arg NAME=@FILE.npy) before believing it.",
            "bold red",
        )
    ]


def _stopped(entry: Entry) -> Text:
    """Why the launch could not be executed: it is what the asker must know first."""
    return Text.assemble(
        ("The kernel could not be executed: ", "bold red"), (entry["not_executed"], "red"),
        " No time is given; what follows is read off the code alone.",
    )  # fmt: skip


def _no_time(entry: Entry) -> Text:
    wanted = "an --arg NAME=VALUE for each parameter"
    if entry["launch"] is None:
        wanted = f"--grid, --block and {wanted}"
    return Text(
        f"No time is given: trip counts are unknown without the arguments. Give {wanted} (or --launch FILE).", "dim"
    )


def _binding(entry: Entry) -> Text:
    name, second = entry["bottleneck"], entry["runner_up"]
    bounds = {bound["resource"]: bound for bound in entry["bounds"]}
    where = "" if entry["scope"].startswith("whole") else f"In the {entry['scope']}, "
    words = RESOURCE_WORDS[name]
    text = f"{words} binds" if where else f"{words[0].upper()}{words[1:]} binds"
    if name in bounds:
        unit = "warp and iteration" if where else "warp"
        text += f": {amount(bounds[name]['cycles_per_warp'])} SM cycles per {unit}{_used(bounds[name], ', ')}"
    if second in bounds and second != name:
        behind = bounds[second]
        text += f"; next {RESOURCE_WORDS[second]} ({amount(behind['cycles_per_warp'])}{_used(behind, '; ')})"
    return Text.assemble(where, (text + ".", "bold"))


def _used(bound: Entry, before: str) -> str:
    """How busy a resource is; latency and launching are no resources that could be."""
    if bound["resource"] in ("latency", "launch"):
        return ""
    return f"{before}{100 * bound['utilization']:.0f} % in use"


def _hiding(entry: Entry) -> Text:
    occupancy = entry["occupancy"]
    resident, most, needed = occupancy["warps_per_sm"], occupancy["max_warps_per_sm"], entry["warps_needed"]
    start = f"{resident} of {most} warps are resident; {amount(math.ceil(needed))} would hide the latency: "
    if entry["bottleneck"] == "launch":
        return Text(start + "but the launch itself costs more than the work.")
    if needed <= resident:
        return Text(start + "more occupancy buys nothing.")
    if needed <= most:
        return Text(start + "more occupancy helps.")
    if resident < most:
        limits = listed(occupancy["limiters"])
        return Text(start + f"more occupancy helps (limited by {limits}), and so does more at once per warp (ILP).")
    return Text(start + "more than an SM holds, so each warp must do more at once (ILP).")


def _first(entry: Entry) -> Text:
    """The change of the kernel or its launch that buys most; a faster clock is nobody's to write."""
    own = [whatif for whatif in entry["whatifs"] if "clock" not in whatif["change"]]
    if not own:
        return Text("No change to the kernel tried here would help by half a per cent.")
    return Text.assemble("First to try: ", (own[0]["change"], "bold"), f", {own[0]['speedup']:.2f}x as fast.")
