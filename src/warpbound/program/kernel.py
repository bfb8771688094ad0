"""Program: the machine code of one kernel and its attributes."""

from dataclasses import field
from functools import cached_property

from warpbound.errors import CommandError
from warpbound.program.control_flow import Flow, calls, flow
from warpbound.program.fixed_block_size import counts_threads
from warpbound.program.instruction import Instruction
from warpbound.program.register_banks import bank_reads
from warpbound.program.register_sets import RegisterSets, register_sets
from warpbound.program.tensor_columns import tensor_columns
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: name and type as written (empty when unknown), place in the parameter area, bytes."""

    name: str
    type: str
    offset: int
    size: int


@dataclass(frozen=True)
class Symbol:
    """A `__device__` or `__constant__` variable: section, offset and size there, in bytes."""

    name: str
    section: str
    offset: int
    size: int


@dataclass(frozen=True)
class Fixup:
    """A place in a section (a constant bank, initialised globals) where the loader puts a symbol's address."""

    section: str
    offset: int
    symbol: str
    addend: int = 0


BARRIERS_NOT_TOLD = "barriers are not in a listing: none assumed"
SHARED_NOT_TOLD = "shared memory and barriers are not in a listing: none assumed; --smem gives the bytes of a block"


@dataclass(frozen=True)
class Program:
    """One kernel as compiled.

    name : as in the machine code (mangled); title : as a person would write it.
    arch : 90 for sm_90, the architecture the code was built for; features : `a` or `f` for sm_90a or sm_100f.
    proxy_isa : `sm_75` where that code stands in for the machine's own.
    registers : per thread. shared_bytes : static, per block, without the driver's reserve.
    local_bytes : stack frame per thread. spills : (bytes stored, bytes loaded) by the compiler's log.
    parameter_base : where the parameters begin in constant bank 0, bytes.
    labels : addresses that carry a label. functions : those where a device function begins.
    max_threads, threads_required : the most and the exact number of threads of a block. cluster : blocks of a cluster,
    where the kernel is compiled for clusters. assumed : what the input lacks and was filled in. compiler : name and
    release, where warpbound called one.
    """

    name: str
    title: str
    arch: int
    instructions: tuple[Instruction, ...] = field(repr=False)
    labels: frozenset[int] = field(repr=False, default=frozenset())
    functions: frozenset[int] = field(repr=False, default=frozenset())
    features: str = ""
    registers: int = 0
    shared_bytes: int = 0
    local_bytes: int = 0
    spills: tuple[int, int] = (0, 0)
    barriers: int = 0
    max_threads: int | None = None
    threads_required: bool = False
    cluster: tuple[int, int, int] | None = None
    parameter_base: int = 0x160
    parameters: tuple[Parameter, ...] = ()
    constants: dict[int, bytes] = field(repr=False, default_factory=dict)
    symbols: tuple[Symbol, ...] = field(repr=False, default=())
    data: dict[str, bytes] = field(repr=False, default_factory=dict)
    fixups: tuple[Fixup, ...] = field(repr=False, default=())
    source_name: str = ""
    source: str | None = field(repr=False, default=None)
    assumed: tuple[str, ...] = ()
    proxy_isa: str | None = None
    compiler: tuple[str, str] | None = None

    @cached_property
    def flow(self) -> Flow:
        """Basic blocks and loops."""
        return flow(self.instructions, self.labels, self.functions)

    @cached_property
    def register_sets(self) -> RegisterSets:
        """What each instruction reads and writes."""
        return register_sets(self.instructions)

    @cached_property
    def bank_reads(self) -> list[tuple[int, int]]:
        """Registers that each instruction reads from the even and from the odd bank."""
        return bank_reads(self.instructions)

    @cached_property
    def launch_constants(self) -> frozenset[int]:
        """Offsets in bank 0, where a launch puts its sizes, addresses and parameters, that the code names."""
        operands = (operand for instruction in self.instructions for operand in instruction.operands)
        return frozenset(int(x.value) for x in operands if x.kind == "constant" and x.bank == 0)

    @cached_property
    def tensor_columns(self) -> int:
        """Columns of tensor memory that a block allocates, as far as the code gives them."""
        return tensor_columns(self.instructions)

    @property
    def block_size_fixed(self) -> bool:
        """Whether the code works with blocks of one size only."""
        return self.threads_required or any(map(counts_threads, self.instructions))

    @cached_property
    def has_calls(self) -> bool:
        return any(calls(instruction) for instruction in self.instructions)

    def source_line(self, number: int) -> str:
        """Text of a line of the source (from 1), empty when the source is not known."""
        lines = (self.source or "").splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def check_program(program: object) -> None:
    """Raise CommandError unless `program` is a Program."""
    if not isinstance(program, Program):
        raise CommandError(f"The program is of type {type(program).__name__}.", "Give what warpbound.compile returns.")
