"""Tables of a workload file, and the messages for errors in them."""

import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from warpbound.errors import InputError
from warpbound.table_decoding import TableFault, decoded, suggestion

Per = Literal["warp", "launch"]
Kind = Literal["load", "store", "shared_load", "shared_store"]
Level = Literal["dram", "l2", "l1", "shared", "alu"]
Cause = Literal["fixed", "l1", "l2", "dram", "shared", "constant", "barrier", "issue", "start"]
Bytes = Literal[1, 2, 4, 8, 16]

Count = Annotated[float, Meta(ge=0, le=1e30)]
Positive = Annotated[float, Meta(gt=0, le=1e30)]
Share = Annotated[float, Meta(ge=0, le=1)]
Lanes = Annotated[float, Meta(gt=0, le=32)]
Threads = Annotated[int, Meta(ge=1, le=1024)]
Many = Annotated[int, Meta(ge=1, le=2**53)]
Some = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Few = Annotated[int, Meta(ge=1, le=1000)]
Clock = Literal["base", "boost"] | Positive
Symbols = dict[str, float | dict[str, float] | list[dict[str, float]]]

GLOBAL_LEVELS = ("dram", "l2", "l1")
GLOBAL_ONLY, SHARED_ONLY = ("sectors", "l1_hit", "l2_hit"), ("wavefronts",)


class Shape(Struct, forbid_unknown_fields=True, frozen=True):
    """[launch]: threads of the launch, and resident threads per SM."""

    threads_per_block: Annotated[Threads | None, Meta(description="Threads of a block")] = None
    blocks: Annotated[Many | None, Meta(description="Blocks of the launch")] = None
    threads: Annotated[Many | None, Meta(description="Threads of the launch; blocks are as many as hold them")] = None
    registers: Annotated[Some | None, Meta(description="32-bit registers per thread")] = None
    shared_bytes: Annotated[Some | None, Meta(description="Shared memory of a block in bytes")] = None
    carveout: Annotated[Some | None, Meta(description="Shared memory of an SM in KiB")] = None
    blocks_per_sm: Annotated[Positive | None, Meta(description="Resident blocks, given instead of computed")] = None
    warps_per_sm: Annotated[Positive | None, Meta(description="Resident warps, given instead of computed")] = None


class Pipes(Struct, forbid_unknown_fields=True, frozen=True):
    """Warp instructions by pipe."""

    alu: Count = 0.0
    fma: Count = 0.0
    fp64: Count = 0.0
    xu: Count = 0.0
    tensor: Count = 0.0
    uniform: Count = 0.0
    lsu: Count = 0.0


class Flop(Struct, forbid_unknown_fields=True, frozen=True):
    """Operations of all lanes by type, FMA = 2."""

    fp16: Count = 0.0
    bf16: Count = 0.0
    fp32: Count = 0.0
    fp64: Count = 0.0
    tensor: Count = 0.0


class Tensor(Struct, forbid_unknown_fields=True, frozen=True):
    """Multiply-adds by operand type."""

    fp16: Count = 0.0
    bf16: Count = 0.0
    tf32: Count = 0.0
    fp8: Count = 0.0
    int8: Count = 0.0
    fp64: Count = 0.0


class Counts(Struct, forbid_unknown_fields=True, frozen=True):
    """[counts]: instructions and operations."""

    per: Annotated[Per, Meta(description="Whether counts are those of one warp or of the whole launch")]
    instructions: Annotated[
        Count | None, Meta(description="Warp instructions, accesses among them; absent: pipes and accesses added up")
    ] = None
    lanes: Annotated[Lanes, Meta(description="Mean lanes that are on")] = 32.0
    barriers: Annotated[Count, Meta(description="Barriers")] = 0.0
    pipes: Annotated[Pipes | None, Meta(description="Warp instructions by pipe, accesses not among them")] = None
    flop: Annotated[Flop | None, Meta(description="Operations of all lanes by type, FMA = 2")] = None
    tensor: Annotated[Tensor | None, Meta(description="Tensor multiply-adds by operand type")] = None


class Access(Struct, forbid_unknown_fields=True, frozen=True):
    """[[access]]: memory instructions that do the same; sectors and wavefronts are those of one of them."""

    kind: Annotated[Kind, Meta(description="load and store are of global memory")]
    per: Annotated[Per, Meta(description="Whether count is of one warp or of the whole launch")]
    count: Annotated[Count, Meta(description="Warp instructions")]
    bytes: Annotated[Bytes, Meta(description="Of one lane")] = 4
    sectors: Annotated[
        Positive | None,
        Meta(description="32-byte sectors (transactions on machines without caches) of one access; absent: coalesced"),
    ] = None
    l1_hit: Annotated[Share | None, Meta(description="Share of the sectors found in L1; loads only")] = None
    l2_hit: Annotated[Share | None, Meta(description="Share of the rest found in L2")] = None
    wavefronts: Annotated[
        Positive | None, Meta(description="Cycles of the shared-memory data path; absent: free of conflicts")
    ] = None


class Traffic(Struct, forbid_unknown_fields=True, frozen=True):
    """[memory]: measured traffic; it replaces the sums over the accesses."""

    per: Annotated[Per, Meta(description="Whether counts are those of one warp or of the whole launch")]
    global_load_requests: Count | None = None
    global_store_requests: Count | None = None
    l1_sectors_load: Count | None = None
    l1_sectors_store: Count | None = None
    l1_wavefronts: Count | None = None
    l2_sectors_read: Count | None = None
    l2_sectors_written: Count | None = None
    dram_bytes_read: Count | None = None
    dram_bytes_written: Count | None = None
    shared_wavefronts_load: Count | None = None
    shared_wavefronts_store: Count | None = None
    shared_wavefronts_atomic: Count | None = None
    ideal_sectors: Annotated[Count | None, Meta(description="Sectors that would hold the same bytes")] = None


class Parts(Struct, forbid_unknown_fields=True, frozen=True):
    """Cycles of one warp by cause."""

    fixed: Count = 0.0
    l1: Count = 0.0
    l2: Count = 0.0
    dram: Count = 0.0
    shared: Count = 0.0
    constant: Count = 0.0
    barrier: Count = 0.0
    issue: Count = 0.0
    start: Count = 0.0


class Phase(Struct, forbid_unknown_fields=True, frozen=True):
    """[[latency.phases]]: one wait of one warp, at the latency of the GPU or of so many cycles."""

    level: Annotated[Level | None, Meta(description="What is waited for, at the latency of the GPU")] = field(
        default=None, name="from"
    )
    cycles: Annotated[Count | None, Meta(description="The wait itself")] = None
    cause: Annotated[Cause | None, Meta(description="What to book cycles on")] = None
    times: Annotated[Count, Meta(description="How often")] = 1.0
    loads: Annotated[Few | None, Meta(description="Global loads in flight together")] = None


class Latency(Struct, forbid_unknown_fields=True, frozen=True):
    """[latency]: parts or phases."""

    parts: Annotated[Parts | None, Meta(description="Cycles by cause")] = None
    phases: Annotated[
        Annotated[list[Phase], Meta(min_length=1)] | None, Meta(description="Waits of one warp, one after another")
    ] = None


class Tables(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Tables that a file and each of its cases may contain."""

    gpu: Annotated[str | None, Meta(description="Default for --gpu: catalogue names or TOML files, comma between")] = (
        None
    )
    clock: Annotated[Clock | None, Meta(description="Default for --clock: base, boost or MHz")] = None
    launch: Annotated[Shape | None, Meta(description="How many threads there are, and how many an SM holds")] = None
    counts: Annotated[Counts | None, Meta(description="Instructions and operations")] = None
    access: Annotated[list[Access] | None, Meta(description="Memory instructions, those that do the same together")] = (
        None
    )
    memory: Annotated[
        Traffic | None, Meta(description="Traffic as counted; what is named replaces what the accesses add up to")
    ] = None
    latency: Annotated[Latency | None, Meta(description="Least time of one warp: parts or phases")] = None
    inputs: Annotated[
        dict[str, Symbols] | None,
        Meta(
            description="Model name -> its own symbols (`warpbound models NAME`), taken before what its "
            "adapter would say"
        ),
    ] = None


class Variant(Tables, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """[[case]]: what differs from the file itself."""

    name: Annotated[str, Meta(description="What differs; unique in the file")]


class File(Tables, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The whole file."""

    title: Annotated[str, Meta(description="What this is")]
    source: Annotated[str, Meta(description="Paper, table, person")] = ""
    case: Annotated[
        list[Variant],
        Meta(description="Variants of the file: a case's keys replace the file's, launch and inputs key by key"),
    ] = []


def parse(document: dict[str, Any], origin: str) -> File:
    """The tables of a document; InputError names file, key and remedy."""
    _finite(document, origin, "")
    try:
        file = decoded(document, File)
    except TableFault as fault:
        raise _refusal(fault, origin) from None
    check(file, origin, "")
    keys_so_far: set[str] = set()
    for order, variant in enumerate(file.case):
        if variant.name in keys_so_far:
            raise InputError(f"{origin}, case[{order}]: '{variant.name}' is there twice.", "Rename one of the two.")
        keys_so_far.add(variant.name)
        check(variant, origin, f"case[{order}].")
    return file


def check(tables: Tables, origin: str, prefix: str) -> None:
    """Check for keys of one table that exclude each other."""
    shape = tables.launch
    if shape is not None:
        _one_of(shape, ("blocks", "threads"), f"{origin}, {prefix}launch")
        _one_of(shape, ("blocks_per_sm", "warps_per_sm"), f"{origin}, {prefix}launch")
    for order, access in enumerate(tables.access or ()):
        _check_access(access, f"{origin}, {prefix}access[{order}]")
    if tables.latency is not None:
        _check_latency(tables.latency, f"{origin}, {prefix}latency")


def _check_access(access: Access, place: str) -> None:
    foreign = GLOBAL_ONLY if access.kind.startswith("shared") else SHARED_ONLY
    if access.kind == "store":
        foreign = (*foreign, "l1_hit")
    for key in foreign:
        if getattr(access, key) is not None:
            raise InputError(f"{place}.{key} is not possible with kind '{access.kind}'.", f"Remove {key}.")


def _check_latency(latency: Latency, place: str) -> None:
    if latency.parts is None and latency.phases is None:
        raise InputError(f"{place} has neither parts nor phases.", "Give parts by cause, or phases.")
    _one_of(latency, ("parts", "phases"), place)
    for order, phase in enumerate(latency.phases or ()):
        here = f"{place}.phases[{order}]"
        if phase.level is None and phase.cycles is None:
            raise InputError(f"{here} has neither from nor cycles.", 'Give from = "dram", or cycles = NUMBER.')
        if phase.level is not None and (phase.cycles is not None or phase.cause is not None):
            wrong = "cycles" if phase.cycles is not None else "cause"
            raise InputError(f"{here}.{wrong} is not possible together with from.", f"Remove {wrong}, or from.")
        if phase.loads is not None and phase.level not in GLOBAL_LEVELS:
            raise InputError(f"{here}.loads is for global loads.", 'Give from = "dram", "l2" or "l1" with it.')


def _one_of(table: Struct, keys: tuple[str, str], place: str) -> None:
    if all(getattr(table, key) is not None for key in keys):
        raise InputError(f"{place} has both {keys[0]} and {keys[1]}.", "Keep one of the two.")


def _finite(value: Any, origin: str, key: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{origin}, {key} is {value}.", "Give a finite number.")
    inner: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        inner = ((f"{key}.{name}".lstrip("."), part) for name, part in value.items())
    elif isinstance(value, list):
        inner = ((f"{key}[{order}]", part) for order, part in enumerate(value))
    for name, part in inner:
        _finite(part, origin, name)


def _refusal(fault: TableFault, origin: str) -> InputError:
    place, word = f"{origin}, {fault.key}" if fault.key else origin, fault.word
    match fault.kind:
        case "unknown key":
            return InputError(f"{place} has no key '{word}'.", suggestion(word, fault.known))
        case "missing key":
            return InputError(f"{place} has no {word}.", _ADD.get(word, f"Add {word} = ...."))
        case "unknown word":
            return InputError(f"{place}: {word!r} is not known.", suggestion(word, fault.known))
    return InputError(f"{place} is wrong: {fault.reason}.", "Change its value.")


_ADD = {
    "per": 'Say whether the counts are those of one warp or of all: per = "warp" or per = "launch".',
    "title": 'Add title = "what this is".',
    "name": 'Add name = "what differs here".',
}
