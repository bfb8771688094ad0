"""The report a person reads: verdict, why, what to do, then the tables; 80 columns are enough."""

import math
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.report.table import side_by_side
from warpbound.report.words import CAUSE_WORDS, RESOURCE_WORDS, amount, count, listed, seconds

BAR = 24  # columns of a full bar


def pages(results: Sequence[Entry]) -> Iterator[RenderableType]:
    """One result in full; several in a table, with a verdict each."""
    if len(results) == 1:
        yield Report(results[0])
        return
    yield side_by_side(results)
    for entry in results:
        if "error" not in entry:
            yield Text(f"{_headline(entry)} ({entry['program']['source']})", style="bold cyan")
            yield Padding(_verdict(entry), (0, 0, 1, 2))


class Report:
    """One entry of `results`, to be printed by a Rich console."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if "error" in self.entry:
            yield _refusal(self.entry)
            return
        for title, part in _sections(self.entry):
            yield Text(title, style="bold cyan")
            yield Padding(part, (0, 0, 1, 2))


def _refusal(entry: Entry) -> Text:
    error = entry["error"]
    return Text.assemble((f"{entry['kernel'] or '-'} on {entry['gpu']}: ", "bold"), error["reason"], " ", error["hint"])


def _sections(entry: Entry) -> Iterator[tuple[str, RenderableType]]:
    yield _headline(entry), Text(_subline(entry), style="dim")
    yield "Verdict", _verdict(entry)
    if entry["latency"]:
        yield "Why: one warp alone", Group(_latency(entry), Text(), _lines(entry))
        yield "Why: what each resource allows", _bounds(entry)
        yield "What to do first", _whatifs(entry)
    yield "Occupancy", _occupancy(entry)
    yield "Kernel", _kernel(entry)
    if entry["loops"]:
        yield "Loops, per iteration and warp", _loops(entry)
    if entry["memory"]["global_load_requests"] is not None:
        yield "Memory traffic, whole launch", _memory(entry)
    if entry.get("sass"):
        yield "SASS along the path of one warp", _sass(entry["sass"])
    if entry["models"]:
        yield "The models of the papers", _models(entry)
    yield "How far to trust this", _confidence(entry)


def _headline(entry: Entry) -> str:
    return f"{entry['kernel']} on {entry['gpu_name']}"


def _subline(entry: Entry) -> str:
    program, launch = entry["program"], entry["launch"]
    words = [program["source"], f"code for {program['arch']}"]
    if launch:
        words += [f"grid {_size(launch['grid'])}", f"block {_size(launch['block'])}"]
        if launch["smem"]:
            words.append(f"{launch['smem']} B dynamic shared")
    if entry["clock_MHz"]:
        words.append(f"{entry['clock_MHz']:.0f} MHz")
    return ", ".join([*words, entry["mode"]])


def _size(dims: Sequence[int]) -> str:
    kept = list(dims)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " x ".join(str(n) for n in kept)


def _verdict(entry: Entry) -> RenderableType:
    if entry["bottleneck"] is None:
        return Text(f"Nothing is said of time: {entry['gpu_name']} is an architecture, no board.")
    lines = [_binding(entry), _hiding(entry)]
    if entry["time_s"] is not None:
        low, high = entry["time_interval_s"]
        lines.insert(0, Text(f"Time {seconds(entry['time_s'])} (between {seconds(low)} and {seconds(high)})."))
        lines[0].stylize("bold")
    else:
        lines.append(Text("No time is given: trip counts and addresses are unknown without the arguments.", "dim"))
        if entry["launch"] is None:
            lines.append(Text("Give --grid, --block and an --arg for each parameter (or --launch FILE).", "dim"))
        else:
            lines.append(Text("Give an --arg NAME=VALUE for each parameter (or --launch FILE).", "dim"))
    return Group(*lines)


def _binding(entry: Entry) -> Text:
    name, second = entry["bottleneck"], entry["runner_up"]
    cycles = {bound["resource"]: bound["cycles_per_warp"] for bound in entry["bounds"]}
    where = "" if entry["scope"].startswith("whole") else f"In the {entry['scope']}, "
    text = f"{RESOURCE_WORDS[name]} binds" if where else f"{_capital(RESOURCE_WORDS[name])} binds"
    if name in cycles:
        unit = "warp and iteration" if where else "warp"
        text += f": {amount(cycles[name])} SM cycles per {unit}"
    if second in cycles and second != name:
        text += f"; next {RESOURCE_WORDS[second]} ({amount(cycles[second])})"
    return Text.assemble(where, (text + ".", "bold"))


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _hiding(entry: Entry) -> Text:
    occupancy = entry["occupancy"]
    resident, most, needed = occupancy["warps_per_sm"], occupancy["max_warps_per_sm"], entry["warps_needed"]
    start = f"{resident} of {most} warps are resident; {amount(needed)} would hide the latency: "
    if entry["bottleneck"] == "launch":
        return Text(start + "but the launch itself costs more than the work.")
    if needed <= resident:
        return Text(start + "more occupancy buys nothing.")
    if needed <= most:
        return Text(start + "more occupancy helps.")
    return Text(start + "more than an SM holds, so each warp must do more at once (ILP).")


def _latency(entry: Entry) -> RenderableType:
    latency = entry["latency"]
    total = latency["cycles"]
    rows = sorted(((c, n) for c, n in latency["parts"].items() if n > 0), key=lambda row: -row[1])
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_column(no_wrap=True)
    table.add_column()
    for cause, cycles in rows:
        table.add_row(f"{cycles:.0f}", f"{100 * cycles / total:.0f} %", _bar(cycles / total), CAUSE_WORDS[cause])
    phases = latency["load_phases"]
    loads = (
        f" {count(len(phases), 'wait')} for global loads ({listed([str(n) for n in phases])} in flight)."
        if phases
        else ""
    )
    levels = latency["by_level"]
    served = ", ".join(f"{level.upper()} {cycles:.0f}" for level, cycles in levels.items())
    return Group(
        Text(f"{total:.0f} cycles at least{_once(entry)}.{loads}"),
        table,
        Text(f"If all global loads were served by one level: {served} cycles.", "dim"),
    )


def _once(entry: Entry) -> str:
    return ", every loop once" if entry["loops"] and entry["mode"] == "static" else ""


def _bar(fraction: float) -> Text:
    return Text("█" * max(1, round(BAR * min(1.0, fraction))), style="yellow")


def _lines(entry: Entry) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column("cycles", justify="right")
    table.add_column("line", justify="right")
    table.add_column("source", no_wrap=True, overflow="ellipsis", max_width=44)
    table.add_column("mostly", no_wrap=True)
    for row in entry["lines"][:6]:
        cause, cycles = max(row["parts"].items(), key=lambda part: part[1])
        name = row["text"] or row["file"].rpartition("/")[2]
        table.add_row(
            f"{row['cycles']:.0f}", str(row["line"]) if row["line"] else "-", Text(name), f"{cause} {cycles:.0f}"
        )
    return table


def _bounds(entry: Entry) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for name in ("resource", "SM cycles", "in use", ""):
        table.add_column(name, justify="right" if name in ("SM cycles", "in use") else "left")
    for bound in entry["bounds"]:
        used = bound["utilization"]
        style = "bold" if bound["resource"] == entry["bottleneck"] else ""
        table.add_row(
            RESOURCE_WORDS[bound["resource"]],
            amount(bound["cycles_per_warp"]),
            f"{100 * used:.0f} %",
            _bar(used),
            style=style,
        )
    what = "per warp" if entry["scope"].startswith("whole") else f"per warp and iteration of the {entry['scope']}"
    return Group(Text(f"Cycles of one SM {what}; the largest is the limit at this occupancy.", "dim"), table)


def _whatifs(entry: Entry) -> RenderableType:
    if not entry["whatifs"]:
        return Text("None of the changes tried here would help by half a per cent.")
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column()
    for whatif in entry["whatifs"]:
        table.add_row(f"{whatif['speedup']:.2f}x", Text.assemble((whatif["change"], "bold"), f" - {whatif['why']}."))
    return table


def _occupancy(entry: Entry) -> RenderableType:
    own = entry["occupancy"]
    blocks = count(own["blocks_per_sm"], "block")
    share = 100 * own["warps_per_sm"] / own["max_warps_per_sm"]
    text = (
        f"{blocks} per SM, {own['warps_per_sm']} of {own['max_warps_per_sm']} warps ({share:.0f} %), "
        f"limited by {listed(own['limiters'])}."
    )
    limits = ", ".join(f"{name} {n}" for name, n in own["block_limits"].items())
    parts = [Text(text), Text(f"Blocks that each limit admits: {limits}.", "dim")]
    if own["next_step"]:
        parts.append(Text(own["next_step"]))
    return Group(*parts)


def _kernel(entry: Entry) -> RenderableType:
    program = entry["program"]
    mix = ", ".join(f"{pipe} {n}" for pipe, n in program["mix"].items())
    spilled = program["spill_bytes_stored"] + program["spill_bytes_loaded"]
    local = f", {program['local_bytes']} B of local memory" if program["local_bytes"] else ""
    spills = f", {spilled} B of spills" if spilled else ", no spills"
    return Group(
        Text(
            f"{program['registers']} registers, {program['shared_bytes']} B static shared memory"
            f"{local}{spills}, {count(program['barriers'], 'barrier')}."
        ),
        Text(f"{program['instructions']} instructions in the code, by pipe: {mix}."),
    )


def _loops(entry: Entry) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for name in ("lines", "trips", "latency", "instr.", "binds", "cycles", "threads per SM", "P (chip)", "Q (SM)"):
        table.add_column(name, justify="left" if name in ("lines", "binds") else "right")
    for loop in entry["loops"]:
        name = loop["bottleneck"]
        lines = f"{loop['lines'][0]}-{loop['lines'][1]}" if loop["lines"][0] else "?"
        demand = {k: v for k, v in loop["demand"].items() if k != "latency"}
        tightest = max(demand, key=lambda k: demand[k]) if demand else "latency"
        needed = loop["threads_to_saturate"].get(tightest)
        table.add_row(
            "  " * (loop["depth"] - 1) + lines,
            amount(loop["trip_count"]) if loop["trip_count"] is not None else "?",
            f"{loop['latency_cycles']:.0f}", f"{loop['warp_instructions']:.0f}", name,
            amount(demand.get(tightest, 0.0)), amount(needed) if needed else "-",
            amount(loop["P"]) if loop["P"] else "-", amount(loop["Q"]) if loop["Q"] else "-",
        )  # fmt: skip
    note = "P: threads on the chip that saturate DRAM; Q: threads on an SM that saturate instruction issue."
    return Group(table, Text(note, "dim"))


def _memory(entry: Entry) -> RenderableType:
    memory = entry["memory"]
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    for key, value in memory.items():
        if value is not None:
            shown = f"{100 * value:.1f} %" if key.endswith("_rate") else amount(value)
            table.add_row(key.replace("_", " "), shown)
    return table


def _sass(rows: Sequence[Entry]) -> RenderableType:
    """Issue cycle, control word as stall, write and read scoreboard, wait mask; * marks the critical path."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for name in ("line", "cycle", "st", "w", "r", "wait", "pipe"):
        table.add_column(name, justify="right" if name in ("line", "cycle", "st") else "left", no_wrap=True)
    table.add_column("instruction", overflow="fold")
    for row in rows:
        word = row["control"] or {}
        wait = "".join(str(board) for board in word.get("wait", ()))
        cycle = "" if row["issue"] is None else f"{math.floor(row['issue'])}{'*' if row['critical'] else ' '}"
        style = "dim" if row["issue"] is None else "bold" if row["waited"] else ""
        said = f"  +{row['waited']:.0f} for {row['waits_for']:04x}" if row["waited"] else ""
        table.add_row(
            str(row["line"] or ""), cycle, _cell(word.get("stall")), _cell(word.get("write_scoreboard")),
            _cell(word.get("read_scoreboard")), wait, row["pipe"],
            Text(f"{row['address']:04x} {row['text']}{said}"), style=style,
        )  # fmt: skip
    note = "cycle: issue (* on the critical path); st: stall; w, r: scoreboards raised; wait: scoreboards awaited."
    return Group(table, Text(note, "dim"))


def _cell(value: int | None) -> str:
    return "" if value is None else str(value)


def _models(entry: Entry) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for name in ("model", "time", "binds", ""):
        table.add_column(name)
    for name, said in entry["models"].items():
        time = seconds(said["time_s"]) if said["time_s"] is not None else "-"
        table.add_row(name, time, said["bottleneck"] or "-", Text(said["reason"] or ""))
    return table


def _confidence(entry: Entry) -> RenderableType:
    confidence = entry["confidence"]
    lines = [Text("No validation data yet: no expected error is claimed.")]
    if confidence["expected_error"] is not None:
        lines = [Text(f"Expected error {100 * confidence['expected_error']:.0f} % (mean over the validation data).")]
    lines += [Text(f"- assumed: {note}", "dim") for note in confidence["assumed"]]
    if confidence["unknown_opcodes"]:
        names = ", ".join(confidence["unknown_opcodes"])
        lines.append(Text(f"- unknown opcodes, counted for issue only: {names}", "red"))
    return Group(*lines)
