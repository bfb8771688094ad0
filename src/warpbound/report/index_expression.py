"""The answer to a typed index expression, for reading."""

from collections.abc import Sequence

from msgspec import UnsetType
from rich.console import Group, RenderableType
from rich.text import Text

from warpbound.report.charts import Fitting
from warpbound.report.formatting import amount, listed
from warpbound.report.tables import ruled_table
from warpbound.result.index_expression import BankRule, GlobalRule, HongKimCoalescing, IndexCost


def coalescing(entry: IndexCost) -> RenderableType:
    """The parsed expression, its cost by rule, the paper's own result, the reason and the remedy."""
    block = " x ".join(str(n) for n in entry.block if n > 1) or "1"
    slope = entry.derivative
    change = f"d/dtx = {slope}" if slope is not None else "d/dtx differs from thread to thread"
    head = Text.assemble(
        (entry.expression, "bold"), f", {entry.element_bytes} B per element, blocks of {block}: {change}"
    )
    parts: list[RenderableType] = [head, *_costs(entry.rules)]
    if entry.constants:
        names = listed(entry.constants)
        parts.append(Text(f"Assumed to be the same in all threads: {names}. Threads differ in threadIdx and blockIdx."))
    if entry.hong_kim_2009:
        parts.append(Text(_paper(entry.hong_kim_2009), "dim"))
    parts.append(Text(f"{entry.reason[0].upper()}{entry.reason[1:]}."))
    if entry.remedy:
        parts.append(Text(entry.remedy, "bold"))
    return Group(*parts)


def _costs(rules: Sequence[GlobalRule | BankRule]) -> list[RenderableType]:
    by_sector = [rule for rule in rules if isinstance(rule, GlobalRule)]
    by_bank = [rule for rule in rules if isinstance(rule, BankRule)]
    return [*([_rules(by_sector)] if by_sector else []), *([_banks(by_bank)] if by_bank else [])]


def _rules(rules: Sequence[GlobalRule]) -> RenderableType:
    words = ("compute capability", "")
    table = ruled_table(("compute capability", "transactions", "bytes", "of use", ""), words)
    for rule in rules:
        table.add_row(
            rule.compute_capability, amount(rule.transactions_per_request), amount(rule.bytes_per_request),
            f"{100 * rule.efficiency:.0f} %", "coalesced" if rule.coalesced else "not coalesced",
            style="" if rule.coalesced else "bold",
        )  # fmt: skip
    return Fitting(table)


def _banks(rules: Sequence[BankRule]) -> RenderableType:
    columns = ("compute capability", "wavefronts", "without conflict")
    table = ruled_table(columns, words=("compute capability",))
    for rule in rules:
        table.add_row(
            rule.compute_capability, amount(rule.wavefronts_per_request), amount(rule.without_conflict)
        )
    return Fitting(table)


def _paper(answer: HongKimCoalescing) -> str:
    first, second = answer.algorithm_1, answer.algorithm_2
    if isinstance(first, UnsetType) or isinstance(second, UnsetType):
        return f"Hong and Kim 2009: {answer.reason}."
    verdict = "coalesced" if first.coalesced else "not coalesced"
    return (
        f"Hong and Kim 2009: Algorithm 1 (1.0, 1.1) {verdict}, {first.transactions_per_warp} per warp; Algorithm 2 "
        f"(1.2, 1.3) {second.transactions_per_half_warp} per half-warp, {second.transactions_per_warp} per warp."
    )
