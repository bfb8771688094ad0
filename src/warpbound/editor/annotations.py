"""Answers as annotations of source lines: hints behind a line, and findings that an editor lists.

Models   shares of the cycles of one warp alone, by Nsight Compute's stall reasons; accesses by source line.
Omits    lines of headers; what other warps add to a stall (the table of stalls of `analyze` has it).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from warpbound.latency import LEVELS
from warpbound.quick_dataclasses import dataclass
from warpbound.report.formatting import CAUSE_WORDS, RESOURCE_WORDS, seconds
from warpbound.result.code import Access, SourceLine
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal
from warpbound.time_model.stall_reasons import OF_CAUSE, REPLACEMENT

Severity = Literal["error", "warning", "information"]

REASONS = {**OF_CAUSE, **dict.fromkeys(LEVELS, "long scoreboard"), "start": REPLACEMENT}  # cause -> stall
WORTH = 0.02        # share of a warp's time below which a line gets no annotation
SECOND = 0.10       # share of a warp's time from which on a line's second reason is shown
WASTEFUL = 2.0      # times the least sectors or wavefronts from which an access is a finding
_ERROR = re.compile(r"\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (.+)")
_LINE = re.compile(r", line (\d+): (.+)")


@dataclass(frozen=True)
class Answered:
    """An answer, and the line of the comment that asked for it; 0 where there is none."""

    asked_on: int
    entry: KernelResult | Refusal


@dataclass(frozen=True)
class Hint:
    """Words behind a source line (from 1), and more of them."""

    line: int
    text: str
    details: str


@dataclass(frozen=True)
class Finding:
    """An entry in the editor's list of problems: a line (from 1), its severity, a code and a sentence."""

    line: int
    severity: Severity
    code: str
    message: str


def hints(answers: Sequence[Answered], source: str) -> list[Hint]:
    """One hint for each line, by line; several kernels or boards share a line's hint.

    source : the text of the file, which tells where its kernels are.
    """
    by_line: dict[int, list[Hint]] = {}
    kernels = [answer.entry for answer in answers if isinstance(answer.entry, KernelResult)]
    for entry in kernels:
        several = f"{short_name(entry)} on {entry.gpu}: " if len(kernels) > 1 else ""
        for hint in (_of_kernel(entry, source), *_of_lines(entry)):
            if hint.line:
                full_hint = Hint(
                    hint.line, several + hint.text, f"{short_name(entry)} on {entry.gpu_name}. {hint.details}"
                )
                by_line.setdefault(hint.line, []).append(full_hint)
    return [
        Hint(line, "; ".join(hint.text for hint in some), "\n".join(hint.details for hint in some))
        for line, some in sorted(by_line.items())
    ]


def findings(answers: Sequence[Answered], source: str) -> list[Finding]:
    """Findings by line: the verdict, wasteful accesses, spills, and what has no answer."""
    all_findings: list[Finding] = []
    for answer in answers:
        if isinstance(answer.entry, KernelResult):
            all_findings += _of_answer(answer.entry, source)
        else:
            all_findings += _of_refusal(answer.entry, answer.asked_on or 1)
    return sorted(dict.fromkeys(all_findings), key=lambda finding: finding.line)


def short_name(entry: KernelResult) -> str:
    """`scale` of `ns::scale<float>(...)`."""
    return re.split(r"[<(]", entry.kernel)[0].rpartition("::")[2].strip()


def kernel_line(name: str, source: str) -> int:
    """The line (from 1) on which a kernel is defined, else declared; 0 where it is not in the text."""
    matches = list(re.finditer(rf"__global__[^;{{}}]*?\b{re.escape(name)}\s*\(", source))
    defined = [match for match in matches if re.match(r"[^;{]*\{", source[match.end() :])] or matches
    return source.count("\n", 0, defined[0].end()) + 1 if defined else 0


def _of_kernel(entry: KernelResult, source: str) -> Hint:
    verdict = _verdict(entry)
    registers = f"{entry.program.registers} registers, {entry.occupancy.warps_per_sm} warps per SM"
    return Hint(kernel_line(short_name(entry), source), verdict, f"{registers}.")


def _verdict(entry: KernelResult) -> str:
    binds = RESOURCE_WORDS.get(entry.bottleneck or "", entry.bottleneck or "nothing known")
    if entry.time_s is None:
        return f"{binds} binds {entry.scope}" if entry.scope else f"{binds} binds"
    return f"{seconds(entry.time_s)}, {binds} binds"


def _of_lines(entry: KernelResult) -> Iterator[Hint]:
    own = [row for row in entry.lines if _own(row, entry)]
    total = sum(row.cycles for row in entry.lines)
    rows = {row.line: row for row in own}
    accesses: dict[int, list[Access]] = {}
    for access in entry.accesses:
        if access.line:
            accesses.setdefault(access.line, []).append(access)
    for line in sorted(rows.keys() | accesses.keys()):
        row = rows.get(line)
        words = [*(_shares(row, total) if row and total else ()), *_widths(accesses.get(line, ()))]
        if words:
            yield Hint(line, ", ".join(words), _details(row, total))


def _own(row: SourceLine, entry: KernelResult) -> bool:
    return row.file.rpartition("/")[2] == entry.program.source.rpartition("/")[2]


def _shares(row: SourceLine, total: float) -> Iterator[str]:
    """The line's main stall reason, and the second if it is large enough."""
    shares: dict[str, float] = {}
    for cause, cycles in row.parts.items():
        reason = REASONS.get(cause, cause)
        shares[reason] = shares.get(reason, 0.0) + cycles / total
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    for place, (reason, share) in enumerate(ordered[:2]):
        if share >= (SECOND if place else WORTH):
            yield f"{reason} {100 * share:.0f} %"


def _widths(accesses: Sequence[Access]) -> Iterator[str]:
    sectors = [access.sectors for access in accesses if access.space == "global" and access.sectors is not None]
    if sectors:
        yield f"{max(sectors):.3g} sectors per request"
    wasteful = [access for access in accesses if access.space == "shared" and _waste(access) >= WASTEFUL]
    if wasteful:
        worst = max(wasteful, key=_waste)
        yield f"{worst.wavefronts:.3g} wavefronts per request"


def _details(row: SourceLine | None, total: float) -> str:
    if row is None or not total:
        return ""
    ordered = sorted(row.parts.items(), key=lambda part: -part[1])
    parts = ", ".join(f"{cycles:.0f} {CAUSE_WORDS.get(cause, cause)}" for cause, cycles in ordered)
    share = 100 * row.cycles / total
    return f"This line takes {row.cycles:.0f} of the {total:.0f} cycles of one warp alone ({share:.0f} %): {parts}."


def _waste(access: Access) -> float:
    """Sectors, or wavefronts, over the least possible; 1 if one of them is not known."""
    actual, least = (
        (access.sectors, access.ideal_sectors)
        if access.space == "global"
        else (access.wavefronts, access.ideal_wavefronts)
    )
    return actual / least if actual and least else 1.0


def _of_answer(entry: KernelResult, source: str) -> Iterator[Finding]:
    at = kernel_line(short_name(entry), source) or 1
    where = f"{short_name(entry)} on {entry.gpu}"
    best = f" Best change, {entry.whatifs[0].speedup:.2f}x: {entry.whatifs[0].change}." if entry.whatifs else ""
    interval = ""
    if entry.time_interval_s:
        interval = f" (probably {seconds(entry.time_interval_s[0])} to {seconds(entry.time_interval_s[1])})"
    yield Finding(at, "information", "bottleneck", f"{where}: {_verdict(entry)}{interval}.{best}")
    if spilled := entry.program.spill_bytes_stored + entry.program.spill_bytes_loaded:
        yield Finding(at, "warning", "spills", f"{where}: {spilled} bytes of registers are spilled to local memory.")
    lines = {row.line for row in entry.lines if _own(row, entry)}
    for access in entry.accesses:
        if access.line in lines and _waste(access) >= WASTEFUL:
            yield _wasteful(access, where)


def _wasteful(access: Access, where: str) -> Finding:
    opcode = access.text.split()[0 if not access.text.startswith("@") else 1].partition(".")[0]
    stride = f"; its lanes are {access.stride_bytes} bytes apart" if access.stride_bytes else ""
    if access.space == "global":
        code, words = "uncoalesced", f"{access.sectors:.3g} sectors per request, {access.ideal_sectors:.3g} would do"
    else:
        code = "bank-conflict"
        words = f"{access.wavefronts:.3g} wavefronts per request, {access.ideal_wavefronts:.3g} would do"
    return Finding(access.line or 1, "warning", code, f"{where}: {opcode} moves {words}{stride}.")


def _of_refusal(entry: Refusal, line: int) -> Iterator[Finding]:
    reason = f"{entry.error.reason}\n{entry.error.hint}"
    errors = [(int(number), words) for number, words in _ERROR.findall(reason)]
    if not errors:
        errors = [(int(number), words) for number, words in _LINE.findall(reason)]
    for number, words in errors:
        yield Finding(number, "error", "compiler", words.strip())
    if not errors:
        yield Finding(line, "error", "no-answer", f"{entry.error.reason} {entry.error.hint}".strip())
