"""Cost of an opcode: the pipe that executes it, the cycles that it occupies units, its latency.

opcodes.toml names each opcode's family (`traits`), families.toml holds pipe, demand and latency of a family, and
latencies.toml the latencies that belong to no single opcode, each with its source. Before 7.0 early_families.toml comes
first. An unknown opcode is never an error: it has `known` False and demands nothing, and callers count it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from warpbound.isa.traits import entries, traits
from warpbound.quick_dataclasses import dataclass
from warpbound.shipped_tables import shipped_table

PIPES = ("alu", "fma", "fp64", "xu", "tensor", "tmem", "uniform", "lsu", "tex", "adu", "cbu", "none", "unknown")
LATENCY_CLASSES = (
    "fixed", "xu", "fp64", "tensor", "shared", "global", "local", "constant", "barrier", "special", "branch",
)  # fmt: skip
_TRUST = ("vendor", "measured", "published", "assumed")  # from the best to the least


@dataclass(frozen=True)
class OpcodeFacts:
    """What one opcode with its modifiers costs one warp on one architecture."""

    family: str  # table of families.toml; "unknown" without an entry
    pipe: str  # one of PIPES
    demand: Mapping[str, float]  # unit of one sub-core -> cycle/inst; shared units: SM-wide x 4
    latency: float | None  # issue to use, cycle; None: from the machine's memory parameters
    latency_class: str  # cause to which a wait for it is attributed; see LATENCY_CLASSES
    source: str  # keys of `sources()`: demand's, then latency's where it is another
    how: str  # vendor | measured | published | assumed: the weaker of the two
    is_known: bool  # False: not in the data
    tensor: tuple[str, float] | None  # (operand type, FMA that the pipe does meanwhile); the board gives the rate
    products: float = 0.0  # FMA of one instruction on the tensor cores


@dataclass(frozen=True)
class Latency:
    """One latency of an architecture and where it comes from."""

    value: float  # cycle
    source: str  # key of `sources()`
    how: str  # vendor | measured | published | assumed


FIRST = 70  # the first architecture with a column in families.toml
_LATER, _EARLY = "", "early_"  # what the names of the two pairs of files begin with

_HALF_OF_THE_ROWS = re.compile(r"64x\d+x\d+$")  # a product of tcgen05 by one block

_UNKNOWN = OpcodeFacts(
    family="unknown",
    pipe="unknown",
    demand=MappingProxyType({}),
    latency=None,
    latency_class="fixed",
    source="unsourced",
    how="assumed",
    is_known=False,
    tensor=None,
)


def architectures() -> tuple[int, ...]:
    """Architectures with a data row from 7.0 on, ascending: 70 for compute capability 7.0."""
    return tuple(sorted(_rows(_LATER)))


def _row(book: str, arch: int) -> int:
    rows = _rows(book)
    if arch in rows:
        return rows[arch]
    older = [row for row in rows if row <= arch]
    return rows[max(older, default=min(rows))]


@cache
def opcode_facts(opcode: str, modifiers: tuple[str, ...], arch: int) -> OpcodeFacts:
    """Facts of ("IMAD", ("WIDE", "U32"), 90); `known` False where the opcode is not in the data."""
    for book in (_EARLY, _LATER) if arch < FIRST else (_LATER,):
        family = _family_of(book, opcode, modifiers)
        if family is not None:
            facts = _facts(book, family, _tensor_work(opcode, modifiers), arch)
            return replace(facts, tensor=_with_idle_rows(facts.tensor, opcode, modifiers))
    return _UNKNOWN


def _with_idle_rows(
    tensor: tuple[str, float] | None, opcode: str, modifiers: tuple[str, ...]
) -> tuple[str, float] | None:
    """A product of tcgen05 with half of the rows of tensor memory takes as long as one with all: the others idle.

    Source   SemiAnalysisAI/microbench-blackwell @28e82f2, umma_throughput/full.csv (B200): N / 2 cycles for 64 and for
             128 rows of one block; a pair's 128 rows lie in all rows of both (PTX ISA, layout B), N / 4.
    """
    half = any(map(_HALF_OF_THE_ROWS.match, modifiers))
    if tensor is None or not half or traits(opcode).kind != "tensor_memory" or "2CTA" in modifiers:
        return tensor
    return tensor[0], 2 * tensor[1]


def _facts(book: str, family: str, tensor: tuple[str, float] | None, arch: int) -> OpcodeFacts:
    row = _load(book + "families")[family]
    column = _column(book, arch)
    cost_source = str(_pick(row["source"], column))
    latency_source = str(_pick(row.get("latency_source", cost_source), column))
    sources = dict.fromkeys((cost_source, latency_source))
    latency = _pick(row.get("latency"), column)
    demand = {unit: float(_pick(cycles, column)) for unit, cycles in row.get("demand", {}).items()}
    return OpcodeFacts(
        family=family,
        pipe=str(_pick(row["pipe"], column)),
        demand=MappingProxyType({unit: cycles for unit, cycles in demand.items() if cycles}),
        latency=None if latency is None else float(latency),
        latency_class=str(_pick(row["class"], column)),
        source=" ".join(sources),
        how=max((_how(book, source, arch) for source in sources), key=_TRUST.index),
        is_known=True,
        tensor=tensor and (tensor[0], tensor[1] * float(_pick(row.get("stretch", 1.0), column))),
        products=tensor[1] if tensor else 0.0,
    )


@cache
def latency(name: str, arch: int) -> Latency:
    """A latency of latencies.toml, such as "predicate" or "war_stg_64"; KeyError for another name."""
    row = _load("latencies")[name]
    column = _column(_LATER, arch)
    source = str(_pick(row["source"], column))
    return Latency(float(_pick(row["value"], column)), source, _how(_LATER, source, arch))


def sources() -> Mapping[str, str]:
    """Source key -> what it represents."""
    books = (_load(_EARLY + "families"), _load(_LATER + "families"))
    return {key: source["text"] for book in books for key, source in book["sources"].items()}


@cache
def _load(name: str) -> dict[str, Any]:
    return shipped_table("isa", f"{name}.toml")


@cache
def _rows(book: str) -> dict[int, int]:
    return {int(arch): row for arch, row in _load(book + "families")["rows"].items()}


class _Column(NamedTuple):
    """A data row and its place in the lists."""

    row: int
    place: int


def _column(book: str, arch: int) -> _Column:
    row = _row(book, arch)
    return _Column(row, _load(book + "families")["columns"].index(row))


def _pick(value: Any, column: _Column) -> Any:
    """A value that holds for all columns, or the one of this column from a list or a table."""
    if isinstance(value, list):
        return value[column.place]
    if isinstance(value, dict):
        return value.get(str(column.row), value["rest"])
    return value


def _how(book: str, source: str, arch: int) -> str:
    """How far to trust a number from `source` for `arch`."""
    if _row(book, arch) != arch:
        return "assumed"
    return str(_load(book + "families")["sources"][source]["how"])


def _family_of(book: str, opcode: str, modifiers: tuple[str, ...]) -> str | None:
    entry, present = traits(opcode), set(modifiers)
    families = entry.early_families if book == _EARLY else entry.families
    return next((family for required, family in families if required <= present), None)


def _tensor_work(opcode: str, modifiers: tuple[str, ...]) -> tuple[str, float] | None:
    """Operand type and FMAs of one warp instruction, from the shape its modifiers name."""
    entry = traits(opcode)
    kind, fmas = entry.tensor, next(filter(None, map(_shape_fmas, modifiers)), 0.0)
    if not kind or not fmas:
        return None
    for modifier, other in entries()["tensor_modifiers"].items():
        if modifier in modifiers:
            kind = other
    if "F16" in modifiers and "F32" not in modifiers:
        kind += "_acc16"  # FP16 accumulation; boards give it a rate of its own
    if kind == "fp8" and "SF" in modifiers:
        kind += "_scaled"  # GeForce boards rate it apart
    if entry.kind == "warpgroup_matrix":
        fmas /= 4  # the shape is a warpgroup's
    if "SP" in modifiers:
        fmas /= 2  # 2:4 sparsity: half of the products are skipped
    if opcode == "HMMA" and "884" in modifiers:
        fmas *= 4  # four independent 8 x 8 x 4 products, one per quad pair
    return kind, fmas / _steps(modifiers)


def _shape_fmas(modifier: str) -> float:
    """m x n x k of "16816" or "64x256x16"; 0 where the modifier is no shape."""
    shape = re.fullmatch(r"(8|16)(8)(\d+)", modifier) or re.fullmatch(r"(\d+)x(\d+)x(\d+)", modifier)
    if shape is None:
        return 0.0
    m, n, k = map(int, shape.groups())
    return float(m * n * k)


def _steps(modifiers: tuple[str, ...]) -> int:
    """Instructions that share one product on Volta: 4 with FP32 accumulation, 2 with FP16."""
    if not any(modifier.startswith("STEP") for modifier in modifiers):
        return 1
    return 4 if "F32" in modifiers else 2
