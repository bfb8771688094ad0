"""One SASS instruction as decoded: control word, opcode, operands, place in the source.

Source   Bit positions of the control word: from Volta on bits 105-125 of the 128-bit
         instruction; checked against nvdisasm's listings for sm_75 to sm_120.
"""

from dataclasses import field
from functools import cached_property

from warpbound.isa.traits import Traits, traits
from warpbound.quick_dataclasses import dataclass

RZ = 255  # index of the zero registers RZ and URZ
PT = 7  # index of the true predicates PT and UPT
NO_SCOREBOARD = 7


@dataclass(frozen=True)
class Control:
    """Control word of an instruction: scheduling information from the compiler.

    stall : cycles before the same warp may issue its next instruction, 0 to 15.
    yields : the warp offers its slot to another one (the bit is stored inverted).
    write_scoreboard, read_scoreboard : raised until the result is written, or the sources are read; None for none.
    wait : scoreboards (0 to 5) that must be down before this instruction issues.
    reuse : one bit per source slot kept in the operand cache.
    """

    stall: int
    yields: bool
    write_scoreboard: int | None
    read_scoreboard: int | None
    wait: tuple[int, ...]
    reuse: int


@dataclass(frozen=True)
class Operand:
    """One operand.

    kind : register uniform predicate uniform_predicate immediate float constant memory label
           targets special shape barrier scoreboard set other; shape: of a texture, 2D or ARRAY_CUBE;
           special: a special register, or PR, all predicates as bits.
    index : register or predicate number (RZ and URZ 255, PT and UPT 7), barrier or scoreboard number.
    value : an immediate; the byte offset of a constant or an address; the address of a label.
    negate, absolute, invert : -x, |x|, ~x or !p, applied in the order absolute, negate, invert.
    suffixes : what follows a register after dots: reuse, 64, H0_H0, X4, U32, ...
    terms : the registers that are added up in an address, in printed order; the labels of a branch table (targets).
    bank : constant bank, a number or the uniform register that holds its descriptor.
    """

    kind: str
    text: str
    index: int = -1
    value: int | float = 0
    negate: bool = False
    absolute: bool = False
    invert: bool = False
    suffixes: tuple[str, ...] = ()
    terms: tuple["Operand", ...] = ()
    bank: "int | Operand | None" = None


@dataclass(frozen=True)
class Place:
    """A line of source; `outer` is where the function holding it was inlined."""

    file: str
    line: int
    outer: "Place | None" = None

    @property
    def outermost(self) -> "Place":
        """The line in the kernel itself, through all inlining."""
        return self if self.outer is None else self.outer.outermost


@dataclass(frozen=True)
class Instruction:
    """One machine instruction of a kernel.

    address : bytes from the start of the kernel.
    guard : the predicate it runs under; None when it always runs.
    control : None in a listing printed without encodings.
    encoding : the low and high 64 bits, when known.
    pairs : marked to issue together with the next one (the braces of Kepler and Maxwell listings).
    """

    address: int
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    text: str
    guard: Operand | None = None
    control: Control | None = None
    encoding: tuple[int, int] | None = None
    place: Place | None = field(default=None, compare=False)
    pairs: bool = False

    def __hash__(self) -> int:
        """Of address and text alone, which almost always differ."""
        return hash((self.address, self.text))

    @property
    def mnemonic(self) -> str:
        """Opcode with its modifiers, as printed: LDG.E.64."""
        return ".".join((self.opcode, *self.modifiers))

    @cached_property
    def traits(self) -> Traits:
        """What its opcode is and does."""
        return traits(self.opcode)

    @property
    def skipped(self) -> bool:
        """Whether no thread ever executes it: a filler under @!PT or @!UPT."""
        return self.guard is not None and self.guard.index == PT and self.guard.invert


def control_word(high: int) -> Control:
    """Decode the control bits from the high 64 bits of an instruction."""
    return decoded_control(high >> 41 & 0x1FFFFF)


def decoded_control(bits: int) -> Control:
    """The 21 control bits of an instruction; Maxwell's have the same fields as Volta's."""
    write_scoreboard, read_scoreboard = bits >> 5 & 7, bits >> 8 & 7
    wait = bits >> 11 & 0x3F
    return Control(
        stall=bits & 15,
        yields=not bits >> 4 & 1,
        write_scoreboard=None if write_scoreboard == NO_SCOREBOARD else write_scoreboard,
        read_scoreboard=None if read_scoreboard == NO_SCOREBOARD else read_scoreboard,
        wait=tuple(i for i in range(6) if wait >> i & 1),
        reuse=bits >> 17 & 15,
    )
