"""The kernel's code in an answer: resources, source lines, memory accesses, SASS."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warpbound.result.quantities import ADDED, Added, AtLeastOne, Number, Space, Untyped, Whole


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of the kernel; offset and bytes in the constant bank that holds it."""

    name: str | None
    type: str | None
    offset: int
    bytes: int


class ProgramFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel is, whatever the launch: sizes in bytes, counts of the instructions that can be reached.

    mix : pipe -> instructions.
    """

    name: str
    source: str
    arch: str
    registers: int
    shared_bytes: int
    local_bytes: int
    spill_bytes_stored: int
    spill_bytes_loaded: int
    barriers: int
    max_threads_per_block: int | None
    parameters: list[Parameter]
    instructions: int
    mix: dict[str, int]


class SourceLine(msgspec.Struct, frozen=True, kw_only=True):
    """Cycles that a source line costs one warp, by cause."""

    file: str
    line: int
    text: str
    cycles: float
    parts: dict[str, float]


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """One memory instruction, the mean of its executions."""

    address: Whole
    text: str
    line: int | None
    space: Space
    bytes_per_lane: AtLeastOne
    stride_bytes: Annotated[int | None, Meta(description="From each lane to the next, where it is one"), ADDED]
    row_stride_bytes: Annotated[int | None, Meta(description="The same inside rows of 16, 8, 4 or 2 lanes"), ADDED]
    transactions: Annotated[Number | None, Meta(description="By the GPU's coalescing rule"), ADDED]
    sectors: Number | None
    ideal_sectors: Added[Number | None]
    wavefronts: Number | None
    ideal_wavefronts: Added[Number | None]
    depends_on: Annotated[str | None, Meta(description="What decides the address where the code does not")]
    served: Annotated[
        dict[str, Untyped[float]] | None,
        Meta(
            description="Shares of an executed load's requests whose slowest sector came from l1, l2 and dram",
        ),
        ADDED,
    ]


class ControlWord(msgspec.Struct, frozen=True, kw_only=True):
    """The compiler's schedule in an instruction: stall in cycles, scoreboards by number (wait: those waited for)."""

    stall: int
    yields: bool = msgspec.field(name="yield")
    write_scoreboard: int | None
    read_scoreboard: int | None
    wait: list[int]
    reuse: int


class SassLine(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction; where the path of one warp leads through it, when it issues and why it waits, in cycles.

    waits_for : address of the instruction whose result it waits for.
    """

    address: int
    text: str
    pipe: str
    control: ControlWord | None
    line: int | None
    issue: float | None
    waited: float | None
    waits_for: int | None
    critical: bool
