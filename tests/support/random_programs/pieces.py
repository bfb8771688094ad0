"""What random programs are made of: pieces of text, steps between barriers, what stands in scope; tables of choices."""

from dataclasses import dataclass, field

from support.random_programs.operations import FLOATS, WHOLE

NUMBERS = (
    "0.0", "-0.0", "1.0", "-1.5", "0.1", "3e38", "1e-40", "65504.0", "1e9", "-2147483648.5", "0.5", "1e-7",
)  # fmt: skip
LEAF = 0.18
TEAMS = (("scanned", "tree", "sorted", "counted_apart", "drained", "diverged"), ("scanned", "tree", "sorted"))
TOGETHER = "together"  # a question to the whole block
DEEPEST = 3
OWN = (  # places of a thread's own: the type, in shared and in global memory
    ("u32", "(sh.own + 8 * tid)", "(m.mine32 + 16 * m.thread + ({} & 15))"),
    ("u64", "(sh.owned + tid)", "(m.mine64 + m.thread)"),
)
MATTER = {  # variables of each program by what it is about
    "words": ("u32", "u32", "s32", "s32", "bool"), "long": ("u64", "s64", "u32", "s32"),
    "narrow": ("u8", "s8", "u16", "s16", "u32"), "singles": ("f32", "f32", "f32", "s32", "bool"),
    "doubles": ("f64", "f64", "f32", "s64"), "halves": ("f16", "f16", "h2", "f32", "u32"),
    "bfloats": ("bf", "bf", "b2", "f32", "u32"), "all": (*WHOLE, *FLOATS, "bool"),
}  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """Text with a place {} for each part. kind : the type of its value; "" of a statement, "block" of several."""

    kind: str
    text: str
    parts: tuple["Piece", ...] = ()

    def __str__(self) -> str:
        if self.kind == "block":
            return "{ " + "\n".join(map(str, self.parts)) + " }"
        pieces = self.text.split("{}")
        return "".join(a + str(b) for a, b in zip(pieces, [*self.parts, ""], strict=True))


@dataclass(frozen=True)
class Step:
    """What comes between phases: statements of each thread up to a barrier, or a question to the warp.

    asked : the function that the lanes call together, "" for statements; only `lanes` (a mask, or a piece that each
    lane answers for itself) take part; its body says what to assign to, the value, the number that goes with it.
    """

    body: Piece
    asked: str = ""
    lanes: int | Piece = 0xFFFFFFFF
    width: int = 32


@dataclass(frozen=True)
class RandomProgram:
    """A program, and how it is to be launched."""

    variables: tuple[tuple[str, str], ...]
    functions: tuple[Piece, ...]
    steps: tuple[Step, ...]
    halves: str
    threads: int
    blocks: int
    alike: bool = False  # the threads of a block begin with the same numbers

    def __str__(self) -> str:
        """What is its own, without what all programs have."""
        named = ", ".join(f"{kind} {name}" for name, kind in self.variables)
        steps = [f"{step.asked or 'each'} {step.lanes} {step.width}: {step.body}" for step in self.steps]
        return "\n".join([f"{self.blocks} x {self.threads} threads, {named}", *map(str, self.functions), *steps])


@dataclass
class Scope:
    """What can be read and assigned where a piece stands."""

    readable: list[tuple[str, str]]
    assignable: list[tuple[str, str]]
    memory: bool
    arrays: list[tuple[str, str, int]] = field(default_factory=list)
    loops: int = 0
