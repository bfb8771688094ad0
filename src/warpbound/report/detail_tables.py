"""The tables of the report: occupancy, the kernel, its loops, its traffic, its instructions, and what is assumed."""

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Columns, Fitting
from warpbound.report.formatting import amount, count, listed, seconds
from warpbound.report.tables import TableStyle, open_table, ruled_table
from warpbound.result.blocks import BlockSample
from warpbound.result.code import SassLine
from warpbound.result.execution import Execution
from warpbound.result.kernel import KernelResult, Loop, MemoryTraffic, Segment


def occupancy(entry: KernelResult) -> RenderableType:
    """Resident blocks and warps, what limits them, and throughput at more warps."""
    own = entry.occupancy
    limits = ", ".join(f"{name} {n}" for name, n in own.block_limits.items())
    parts = [occupancy_sentence(entry), Text(f"Blocks that each limit admits: {limits}.", "dim")]
    return Group(*parts, *([Text(own.next_step)] if own.next_step else []), *_curve(entry))


def occupancy_sentence(entry: KernelResult) -> Text:
    own = entry.occupancy
    blocks = count(own.blocks_per_sm, "block")
    share = 100 * own.warps_per_sm / own.max_warps_per_sm
    blocks = f"At most {blocks}" if own.not_told else blocks
    return Text(
        f"{blocks} per SM, {own.warps_per_sm} of {own.max_warps_per_sm} warps ({share:.0f} %), "
        f"limited by {listed(own.limiters)}."
    )


def _curve(entry: KernelResult) -> list[RenderableType]:
    """Throughput over resident warps: it grows until the latency is hidden, at least by Volkov's bounds."""
    most, least = entry.occupancy.max_warps_per_sm, entry.warps_needed
    if not least or not most:
        return []
    values = tuple(min(warps / least, 1.0) for warps in range(1, most + 1))
    title = "Throughput by resident warps, by the bounds alone; ^ this launch:"
    return [Text(), Columns(values, float(entry.occupancy.warps_per_sm), title, "warps")]


def kernel(entry: KernelResult) -> RenderableType:
    program = entry.program
    mix = ", ".join(f"{pipe} {n}" for pipe, n in program.mix.items())
    spilled = program.spill_bytes_stored + program.spill_bytes_loaded
    local = f", {program.local_bytes} B of local memory" if program.local_bytes else ""
    spills = f", {spilled} B of spills" if spilled else ", no spills"
    return Group(
        Text(
            f"{program.registers} registers, {program.shared_bytes} B static shared memory"
            f"{local}{spills}, {count(program.barriers, 'barrier')}."
        ),
        Text(f"{program.instructions} instructions in the code, by pipe: {mix}."),
        *_executed(entry.execution),
    )


def _executed(own: Execution | None) -> list[Text]:
    """Facts that only the execution shows: divergence, parallelism in one warp, the hot loop."""
    if own is None:
        return []
    facts = [f"On average {own.lanes_per_instruction or 0:.3g} of 32 lanes are active"]
    facts += [f"one warp alone issues {own.ilp:.2g} instructions per cycle between its waits for memory"]
    facts += [f"loads in flight at once: {own.mlp:.2g}"] if own.mlp else []
    code = own.code
    where = {"loop": "in the hot loop", "whole kernel": "executed"}[code.hot]
    cache = f"the {code.held_by} instruction cache" if code.held_by else "no instruction cache"
    fits = f", which {cache} holds" if code.caches else ""
    return [Text(f"{'; '.join(facts)}."), Text(f"{_bytes(code.hot_bytes)} of code {where}{fits}.")]


def loops(entry: KernelResult) -> RenderableType:
    """All loops; what the columns mean."""
    note = (
        "tightest: the resource with most SM cycles; threads: per SM, to keep it busy; "
        "P: on the chip, for DRAM; Q: per SM, for issue; barrier: the part of an iteration that ends at that barrier."
    )
    return Group(loops_table(entry.loops, ruled_table), Text(note, "dim"))


def loops_table(rows: Sequence[Loop], style: TableStyle) -> RenderableType:
    """Per iteration: trips, least cycles of one warp, instructions, the tightest resource and what saturates it."""
    columns = ("lines", "trips", "latency", "instr", "tightest", "cycles", "threads", "P", "Q")
    table = style(columns, words=("lines", "tightest"))
    table.padding = (0, 1, 0, 0)
    for loop in rows:
        indent = "  " * (loop.depth - 1)
        trips = "?" if loop.trip_count is None else amount(loop.trip_count)
        table.add_row(indent + _span(loop.lines), trips, *_row(loop))
        for number, part in enumerate(loop.intervals, 1):
            table.add_row(f"{indent}  barrier {number}", "", *_row(part), style="dim")
    return Fitting(table)


def _row(part: Segment) -> tuple[str, ...]:
    """The cells behind the trips, for a loop or an interval."""
    demand = part.demand
    tightest = max(demand, key=lambda name: demand[name])
    return (
        f"{part.latency_cycles:.0f}",
        f"{part.warp_instructions:.0f}",
        tightest,
        amount(demand[tightest]),
        amount(part.threads_to_saturate.get(tightest)),
        amount(part.P),
        amount(part.Q),
    )


def _span(lines: Sequence[int]) -> str:
    if not lines[0]:
        return "?"
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def memory(entry: KernelResult) -> RenderableType:
    """Loads, stores and the traffic of each level."""
    own = entry.memory
    rows = [
        ("global loads", f"{amount(own.global_load_requests)} requests, {amount(own.l1_sectors_load)} sectors"),
        (
            "global stores",
            f"{amount(own.global_store_requests)} requests, {amount(own.l1_sectors_store)} sectors",
        ),
        (
            "sectors per request",
            f"loads {amount(own.sectors_per_load)}, stores {amount(own.sectors_per_store)}",
        ),
        ("L1", f"{_per_cent(own.l1_hit_rate)} hits"),
        (
            "L2",
            f"{amount(own.l2_sectors_read)} sectors read, {amount(own.l2_sectors_written)} written, "
            f"{_per_cent(own.l2_hit_rate)} hits",
        ),
        *_far_side(own),
        ("DRAM", f"{_bytes(own.dram_bytes_read)} read, {_bytes(own.dram_bytes_written)} written"),
        *_sampling(own, entry.sample),
        (
            "shared memory",
            f"{amount(own.shared_wavefronts_load)} wavefronts of loads, "
            f"{amount(own.shared_wavefronts_store)} of stores; "
            f"{amount(own.shared_conflict_wavefronts)} for bank conflicts",
        ),
        *_atomics(own),
        ("touched", f"{_bytes(own.touched_bytes)} of global memory"),
        *_reach(entry.execution),
    ]
    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*row)
    return table


def _far_side(own: MemoryTraffic) -> list[tuple[str, str]]:
    far = own.l2_sectors_far
    return [("L2, far side", f"{amount(far)} of the sectors read, which cross from side to side")] if far else []


def _sampling(own: MemoryTraffic, sample: BlockSample | None) -> list[tuple[str, str]]:
    """Standard errors of cache hits and DRAM traffic that come from sampling, where at least a thousandth."""
    off = (sample.memory_error if sample else None) or {}
    rates = [(level, 100 * off.get(f"{level.lower()}_hit_rate", 0.0)) for level in ("L1", "L2")]
    bytes_ = [
        ("DRAM read", 100 * off.get("dram_bytes_read", 0.0) / max(1.0, own.dram_bytes_read or 0.0)),
        ("DRAM written", 100 * off.get("dram_bytes_written", 0.0) / max(1.0, own.dram_bytes_written or 0.0)),
    ]
    errors = [f"{name} hits {points:.2g} points" for name, points in rates if points >= 0.1]
    errors += [f"{name} {share:.2g} %" for name, share in bytes_ if share >= 0.1]
    return [("standard error", ", ".join(errors))] if errors else []


def _atomics(own: MemoryTraffic) -> list[tuple[str, str]]:
    if not own.global_atomic_requests and not own.shared_wavefronts_atomic:
        return []
    on_chip = amount(own.shared_wavefronts_atomic)
    return [("atomics", f"{amount(own.global_atomic_requests)} global requests, {on_chip} shared wavefronts")]


def _reach(own: Execution | None) -> list[tuple[str, str]]:
    """TLB reach, and the balance of traffic over memory partitions where their mapping is known."""
    if own is None:
        return []
    pages, spread = own.pages, own.partitions
    many = amount(pages.sample)
    rows = [("TLB reach", f"{many} pages of {pages.page_bytes >> 20} MiB touched by the sampled blocks")]
    if spread:
        shares = ", ".join(f"{100 * n / max(1, sum(spread.segments)):.3g}" for n in spread.segments)
        rows += [
            ("partitions", f"{shares} % of the sampled traffic"),
            ("", f"fullest: {spread.camping:.2g} times the mean, {spread.camping_at_once:.2g} at one moment"),
        ]
    return rows


def _bytes(number: float | None) -> str:
    text = amount(number)
    return f"{text} B" if text[-1].isdigit() else f"{text}B"


def _per_cent(value: float | None) -> str:
    return "no" if value is None else f"{100 * value:.1f} %"


def sass(rows: Sequence[SassLine]) -> RenderableType:
    """Issue cycle, control word as stall, write and read scoreboard, wait mask; * marks the critical path."""
    words = ("w", "r", "wait", "pipe", "instruction")
    table = open_table(("line", "cycle", "st", *words), words, folded=("instruction",))
    for row in rows:
        word = row.control
        fields = (word.stall, word.write_scoreboard, word.read_scoreboard) if word else (None, None, None)
        wait = "".join(str(board) for board in word.wait) if word else ""
        cycle = "" if row.issue is None else f"{math.floor(row.issue)}{'*' if row.critical else ' '}"
        style = "dim" if row.issue is None else "bold" if row.waited else ""
        waits = f"  +{row.waited:.0f} for {row.waits_for:04x}" if row.waited else ""
        table.add_row(
            str(row.line or ""), cycle, *map(_cell, fields), wait, row.pipe,
            Text(f"{row.address:04x} {row.text}{waits}"), style=style,
        )  # fmt: skip
    note = "cycle: issue (* on the critical path); st: stall; w, r: scoreboards raised; wait: scoreboards awaited."
    return Group(table, Text(note, "dim"))


def _cell(value: int | None) -> str:
    return "" if value is None else str(value)


def models(entry: KernelResult) -> RenderableType:
    table = ruled_table(("model", "time", "binds", ""), words=("model", "binds", ""), folded=("",))
    for name, answer in entry.models.items():
        table.add_row(name, seconds(answer.time_s), answer.bottleneck or "-", Text(answer.reason or ""))
    if "x_model_2016" not in entry.models or not entry.execution:
        return Fitting(table)
    own = entry.execution.x_model
    words = f"x_model_2016: E {own.E:.3g} is instructions per cycle of one warp alone; as the paper counts E,"
    return Group(Fitting(table), Text(f"{words} instructions to an issue, {own.E_as_published:.3g}."))
