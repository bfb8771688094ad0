"""The first lines of every report: time, bottleneck and margin, whether more warps help, first change to try."""

import math
from shlex import quote

from msgspec import UNSET
from rich.console import Group, RenderableType
from rich.text import Text

from warpbound.parameter_packing import declared_dtype
from warpbound.report.bottleneck_tables import changes_of_the_kernel, whole_kernel
from warpbound.report.confidence import unknown_inputs
from warpbound.report.formatting import amount, capital, joules, listed, resource_words, seconds
from warpbound.result.code import Parameter
from warpbound.result.kernel import Bound, KernelResult
from warpbound.result.what_if import HIDE_MORE

BEHIND_CACHES = ("dram", "l2")  # resources whose use the caches decide
WORTH_SAYING = 0.02  # standard error of the counts from which on the verdict states it
MOST_OF_TIME = 0.8  # share of the time of all blocks that the heaviest of them take together
AT_THE_EDGE = 0.15  # share of an interval: a time closer to one end gets an explanation
WIDE = 1.1  # times its lower end, from which on an interval is wide enough for such an explanation
EVEN = 1.5  # times their share of the blocks, up to which blocks count as alike
BUYS = 1.02  # gain of another block per SM that the verdict names, although the warps suffice on average
ANY_TYPE = "(any type)"  # behind a parameter of a template whose argument is a lambda or another object
NOT_GIVEN = "not given: give it by "  # in the reason why a launch was not executed


def verdict(entry: KernelResult) -> RenderableType:
    """Four lines or so; why there is no time where there is none."""
    if entry.bottleneck is None:
        return no_time(entry)
    lines = [binding(entry), latency_hiding(entry), _first(entry)]
    if entry.time_s is not None:
        return Group(*unknown_inputs(entry), time(entry), *classes(entry), *lines)
    return Group(no_time(entry), *lines) if entry.not_executed else Group(*lines, no_time(entry))


def time(entry: KernelResult) -> Text:
    low, high = entry.time_interval_s or (None, None)
    words = f"Time {seconds(entry.time_s)}, probably between {seconds(low)} and {seconds(high)}.{_lopsided(entry)}"
    error = (entry.sample.sampling_error if entry.sample else None) or 0.0
    if error >= WORTH_SAYING:
        words += f" The work of the other blocks is known to {100 * error:.0f} % (standard error)."
    return Text.assemble((words, "bold"), *_power(entry))


def _lopsided(entry: KernelResult) -> str:
    """Why the time lies close to an edge of its interval, where it does."""
    if entry.time_s is None or entry.time_interval_s is None:
        return ""
    low, high = entry.time_interval_s
    near = AT_THE_EDGE * math.log(high / low) if high > WIDE * low else 0.0
    if math.log(entry.time_s / low) < near:
        return " Measured launches with the same bottleneck were often slower than predicted and seldom faster."
    if math.log(high / entry.time_s) < near:
        return " Measured launches with the same bottleneck were often faster than predicted and seldom slower."
    return ""


def _power(entry: KernelResult) -> list[str]:
    """Watts, joules, and whether they hold the clock."""
    if entry.power_W is None or entry.clock_MHz is None:
        return []
    words = f" About {entry.power_W:.0f} W at {entry.clock_MHz:.0f} MHz: {joules(entry.energy_J)} per launch."
    binds = " Power binds: at its limit the board holds no higher clock." if entry.clock_limiter == "power" else ""
    return [words, binds]


def no_time(entry: KernelResult) -> Text:
    """Why no time is predicted, and the input that would give one."""
    if entry.bottleneck is None:
        return Text(f"No time is predicted: {entry.gpu_name} names an architecture, not a board.")
    if entry.not_executed and NOT_GIVEN in entry.not_executed:
        words = f"{entry.not_executed}. What follows comes from the code alone."
        return Text.assemble(("No time is predicted: ", "bold red"), (words, "red"))
    if entry.not_executed:
        return Text.assemble(
            ("The kernel could not be executed: ", "bold red"), (entry.not_executed, "red"),
            " No time is predicted; what follows comes from the code alone.",
        )  # fmt: skip
    return _options_for_a_time(entry)


def _options_for_a_time(entry: KernelResult) -> Text:
    """What to add to the command line for a time; where no option can give it, the program to run."""
    parameters, file, hint = entry.program.parameters, entry.program.source, entry.host_launch
    program = f"warpbound run --gpu {entry.gpu} -- {quote(file)}"
    if hint is not UNSET and (objects := [each for each in hint.needed if each.endswith(ANY_TYPE)]):
        text = Text(f"No time without a launch, and the host code does not fix {listed(objects)}. Run the program: ")
        return text.append(program, "bold")
    if hint is not UNSET:
        effect = f"gives all but {'; '.join(hint.needed)}" if hint.needed else "gives all values"
        text = Text(f"No time without a launch. The host code, line {hint.line}, {effect}: ")
        return text.append(hint.command, "bold").append(", then --launch launch.toml.")
    if entry.launch is None and file.endswith(".cu") and parameters and not any(each.name for each in parameters):
        text = Text("No time without a launch, and no source here names the parameters. Run the program: ")
        return text.append(program, "bold")
    grid = [] if entry.launch else ["--grid X", "--block X"]
    args = [f"--arg {p.name or number}={_value(p)}" for number, p in enumerate(parameters)]
    missing = "the arguments of the launch" if entry.launch else "a launch and its arguments"
    return Text(f"No time without {missing}. Add {' '.join(grid + args)} or --launch FILE.toml.")


def _value(parameter: Parameter) -> str:
    words = parameter.type or ""
    dtype = declared_dtype(words)
    return f"{dtype or 'TYPE'}[COUNT]" if "*" in words else "NUMBER" if dtype else "VALUE"


def classes(entry: KernelResult) -> list[Text]:
    """How the time is spread over blocks, where they are of several classes."""
    rows = sorted(entry.blocks, key=lambda row: -row.share_of_time / max(1, row.count))
    total = sum(row.count for row in rows)
    if len(rows) < 2 or not total:
        return []
    count, share = 0, 0.0
    for row in rows:
        if share >= MOST_OF_TIME:
            break
        count, share = count + row.count, share + row.share_of_time
    if share < EVEN * count / total:
        return []
    words = f"{count} of {total} blocks take {100 * share:.0f} % of the blocks' time ({len(rows)} classes of blocks)."
    return [Text(words)]


def binding(entry: KernelResult) -> Text:
    """What binds and what comes next, with their SM cycles."""
    name, second = entry.bottleneck, entry.runner_up
    bounds: dict[str | None, Bound] = {bound.resource: bound for bound in entry.bounds}
    where = "" if whole_kernel(entry) else f"In the {entry.scope}, "
    if _reuse_unknown(entry):
        return _without_reuse(entry, where)
    text = f"{resource_words(name) if where else capital(resource_words(name))} binds"
    if name in bounds:
        unit = "warp and iteration" if where else "warp"
        text += f": {amount(bounds[name].cycles_per_warp)} SM cycles per {unit}{_used(bounds[name], ', ')}"
    if second in bounds and second != name:
        behind = bounds[second]
        text += f"; next {resource_words(second)} ({amount(behind.cycles_per_warp)}{_used(behind, '; ')})"
    return Text.assemble(where, (text + ".", "bold"))


def tightest(entry: KernelResult) -> Text:
    """What binds and what comes next, with their shares alone."""
    name, second = entry.bottleneck, entry.runner_up
    bounds: dict[str | None, Bound] = {bound.resource: bound for bound in entry.bounds}
    where = "" if whole_kernel(entry) else f"In the {entry.scope}, "
    if _reuse_unknown(entry):
        return _without_reuse(entry, where)
    text = f"{resource_words(name) if where else capital(resource_words(name))} binds{_share(bounds.get(name))}"
    if second != name:
        text += f", then {resource_words(second)}{_share(bounds.get(second))}"
    return Text.assemble(where, (text + ".", "bold"))


def _reuse_unknown(entry: KernelResult) -> bool:
    """Whether DRAM binds only because the code alone does not tell what the caches keep."""
    return entry.mode == "static" and entry.bottleneck in BEHIND_CACHES


def _without_reuse(entry: KernelResult, where: str) -> Text:
    """What binds where every access is taken to go to DRAM, and what if none did."""
    near = [bound.resource for bound in entry.bounds if bound.resource not in (*BEHIND_CACHES, "latency", "launch")]
    then = f", and {resource_words(near[0])} if all data were reused on the SM" if near else ""
    name = resource_words(entry.bottleneck)
    words = f"reuse is not known: {name} binds if no data are reused{then}."
    return Text.assemble(where, (words if where else capital(words), "bold"))


def _share(bound: Bound | None) -> str:
    return "" if bound is None else f" ({_used(bound, '')})" if _used(bound, "") else ""


def _used(bound: Bound, before: str) -> str:
    """How busy a resource is; latency and launching are no resources that could be."""
    if bound.resource in ("latency", "launch"):
        return ""
    return f"{before}{100 * bound.utilization:.0f} % in use"


def latency_hiding(entry: KernelResult) -> Text:
    """Resident warps against those that would hide the latency."""
    if entry.longest_block_s is not None:
        words = "the launch waits for it, and more occupancy buys nothing. Lines and changes below are its."
        return Text(f"The longest block alone takes {seconds(entry.longest_block_s)}: {words}")
    occupancy = entry.occupancy
    resident, most, least = occupancy.warps_per_sm, occupancy.max_warps_per_sm, entry.warps_needed or 0.0
    if (sms := entry.sms) is not None and sms.with_a_block < sms.count:
        have = "has" if sms.with_a_block == 1 else "have"
        idle = f"{sms.with_a_block} of {sms.count} SMs {have} a block: more blocks would use the others"
        return Text(f"{idle}, more occupancy would not.")
    if occupancy.not_told:
        words = "fewer if a block uses much shared memory (--smem BYTES)"
        advice = f"{amount(math.ceil(least))} would hide the latency."
        return Text(f"At most {resident} of {most} warps are resident, {words}; {advice}")
    are = "is" if resident == 1 else "are"
    start = f"{resident} of {most} warps {are} resident; {amount(math.ceil(least))} would hide the latency: "
    if entry.bottleneck == "launch":
        return Text(start + "but the launch itself costs more than the work.")
    if least <= resident:
        gain = max((change.speedup for change in entry.whatifs if HIDE_MORE in change.why), default=1.0)
        if gain >= BUYS:
            return Text(f"{start[:-2]} if they waited evenly: more occupancy buys {gain:.2f}x.")
        return Text(start + "more occupancy buys nothing.")
    if least <= most:
        return Text(start + "more occupancy helps.")
    if resident < most:
        limits = listed(occupancy.limiters)
        return Text(start + f"more occupancy helps (limited by {limits}), and so does more at once per warp (ILP).")
    return Text(start + "more than an SM holds, so each warp must do more at once (ILP).")


def _first(entry: KernelResult) -> Text:
    """The change of the kernel or its launch that buys most."""
    own = changes_of_the_kernel(entry)
    if not own:
        return Text("No what-if for the kernel would gain half a per cent.")
    return Text.assemble("First to try: ", (own[0].change, "bold"), f", {own[0].speedup:.2f}x as fast.")
