"""Instructions of PTX as Hong and Kim count them: computation, memory, synchronisation, times trip counts.

Source   S. Hong, H. Kim, extended version of ISCA 2009, sections 3.5 and 4.3: loads and stores of global and local
         memory are memory instructions, all others computation, those of shared memory and barriers among them;
         barriers are counted once more by themselves. Trip counts and coalescing are the user's to give.
Models   a loop is the text from a label to the last branch back to it; an instruction counts the trips of every loop
         around it. Loads and stores that name no state space are taken as global.
Omits    which side of a branch is taken: all code counts; code of functions that are called.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from warpbound.errors import InputError
from warpbound.quick_dataclasses import dataclass

_REMARK = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_LINE_NUMBER = re.compile(r"^[^\S\n]*\d+\s*:(?!\d)", re.M)  # as a paper prints them
_LABEL = re.compile(r"\s*([$%\w.]+)\s*:(?!:)")
_LEFT_OUT = re.compile(r"^[ \t]*\.{2,}.*$", re.M)  # "..." for code that a paper does not print
_DIRECTIVE = re.compile(r"^[ \t]*\.(?:loc|file|version|target|address_size)\b.*$", re.M)  # those without a semicolon
_VECTOR = re.compile(r"\{([^{};]*)\}")
_ENTRY = re.compile(r"\.(?:entry|func)\b\s*(?:\([^()]*\)\s*)?([\w$%]+)")
_INSTRUCTION = re.compile(r"\s*(?:@!?%?[\w$]+\s+)?([a-z][a-z0-9]*)((?:\.[\w:]+)*)(.*)", re.S)
_WITHOUT_MEMORY = frozenset({"shared", "param", "const", "sreg"})
_ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu"})
_BARRIERS = frozenset({"bar", "barrier"})
_PLAIN = frozenset({"bra", "brx", "call", "ret", "exit", "trap", "brkpt", "pmevent"})  # others have a type


@dataclass(frozen=True)
class Mix:
    """Instructions per warp: computation, with synchronisation among it; memory in one transaction or in several."""

    computation: float = 0.0
    coalesced: float = 0.0
    uncoalesced: float = 0.0
    synchronisation: float = 0.0

    def plus(self, other: "Mix", times: float = 1.0) -> "Mix":
        """These counts plus `times` the other's."""
        return Mix(
            self.computation + times * other.computation,
            self.coalesced + times * other.coalesced,
            self.uncoalesced + times * other.uncoalesced,
            self.synchronisation + times * other.synchronisation,
        )

    @property
    def memory(self) -> float:
        return self.coalesced + self.uncoalesced


@dataclass(frozen=True)
class CountedLoop:
    """A loop: label, first and last line, trips (None: not given, taken as one), an iteration without inner loops."""

    label: str
    first: int
    last: int
    trips: float | None
    iteration: Mix


@dataclass(frozen=True)
class Counted:
    """One kernel, or a piece of one: in all, in loops only, by loop."""

    name: str
    total: Mix
    in_loops: Mix
    loops: tuple[CountedLoop, ...]


@dataclass(frozen=True)
class _Statement:
    line: int
    opcode: str
    modifiers: tuple[str, ...]
    target: str = ""  # of a branch


@dataclass(frozen=True)
class _Body:
    name: str
    statements: tuple[_Statement, ...]
    labels: Mapping[str, int]  # label -> line


def count_ptx(
    text: str, source: str, trips: Mapping[str, float] | None = None, uncoalesced: Collection[int] | None = ()
) -> tuple[Counted, ...]:
    """Counts of every kernel in PTX, or of the one piece that a text without .entry is; `source` names it in errors.

    trips : label of a loop -> how often it runs per entry. uncoalesced : lines whose accesses take several
    transactions; None for all.
    Raises InputError where a text is no PTX, or a label is no loop, or a line no access.
    """
    bodies = [body for body in _bodies(text, source) if body.statements]
    if not bodies:
        raise InputError(f"{source} holds no PTX instruction.", "Give what `nvcc -ptx` writes, or a piece of it.")
    trip_counts = dict(trips or {})
    result = tuple(_counted(body, trip_counts, uncoalesced) for body in bodies)
    _check(result, bodies, source, trip_counts, uncoalesced or ())
    return result


def _check(
    counts: Iterable[Counted], bodies: Iterable[_Body], source: str, trips: Mapping[str, float], lines: Collection[int]
) -> None:
    loops = [loop.label for kernel in counts for loop in kernel.loops]
    for label in trips:
        if label not in loops:
            names = ", ".join(loops) or "none"
            raise InputError(f"{source} has no loop at {label}.", f"Its loops begin at: {names}.")
    accesses = {statement.line for body in bodies for statement in body.statements if _is_memory(statement)}
    for line in lines:
        if line not in accesses:
            names = ", ".join(map(str, sorted(accesses))) or "none"
            raise InputError(f"{source}, line {line} is no access to global or local memory.", f"Those are: {names}.")


def _counted(body: _Body, trips: Mapping[str, float], uncoalesced: Collection[int] | None) -> Counted:
    ranges = _loops(body)
    total, inside = Mix(), Mix()
    sizes = {label: last - first for label, first, last in ranges}
    own: dict[str, Mix] = {label: Mix() for label, _, _ in ranges}
    for statement in body.statements:
        mix = _one(statement, uncoalesced)
        around = [label for label, first, last in ranges if first <= statement.line <= last]
        times = 1.0
        for label in around:
            times *= trips.get(label, 1.0)
        total = total.plus(mix, times)
        if around:
            inside = inside.plus(mix, times)
            innermost = min(around, key=sizes.__getitem__)
            own[innermost] = own[innermost].plus(mix)
    loops = tuple(CountedLoop(label, first, last, trips.get(label), own[label]) for label, first, last in ranges)
    return Counted(body.name, total, inside, loops)


def _one(statement: _Statement, uncoalesced: Collection[int] | None) -> Mix:
    if _is_memory(statement):
        alone = uncoalesced is not None and statement.line not in uncoalesced
        return Mix(coalesced=1.0) if alone else Mix(uncoalesced=1.0)
    return Mix(computation=1.0, synchronisation=1.0 if statement.opcode in _BARRIERS else 0.0)


def _is_memory(statement: _Statement) -> bool:
    return statement.opcode in _ACCESSES and not any(
        word.split("::")[0] in _WITHOUT_MEMORY for word in statement.modifiers
    )


def _loops(body: _Body) -> list[tuple[str, int, int]]:
    """(label, line of the label, line of the last branch back to it), outermost first."""
    ends: dict[str, int] = {}
    for statement in body.statements:
        if statement.target in body.labels and body.labels[statement.target] <= statement.line:
            ends[statement.target] = statement.line
    result = [(label, body.labels[label], end) for label, end in ends.items()]
    return sorted(result, key=lambda loop: (loop[1], -loop[2]))


def _bodies(text: str, source: str) -> Iterator[_Body]:
    """Kernels and functions; what stands before the first of them is a piece without a name."""
    plain = _LINE_NUMBER.sub("", _REMARK.sub(lambda counts: "\n" * counts[0].count("\n"), text))
    plain = _VECTOR.sub(r"(\1)", _DIRECTIVE.sub("", _LEFT_OUT.sub("", plain)))
    name, statements, labels = "", list[_Statement](), dict[str, int]()
    for line, part in _parts(plain):
        if entry := _ENTRY.search(part):
            yield _Body(name, tuple(statements), labels)
            name, statements, labels = entry[1], [], {}
            continue
        block_start = 0
        while label := _LABEL.match(part, block_start):
            line += part.count("\n", block_start, label.start(1))
            labels[label[1]] = line
            block_start = label.end()
        line += part.count("\n", block_start, len(part) - len(part[block_start:].lstrip()))
        part = part[block_start:].lstrip()
        if part and not part.startswith("."):
            statements.append(_statement(line, part, source))
    yield _Body(name, tuple(statements), labels)


def _statement(line: int, text: str, source: str) -> _Statement:
    match = _INSTRUCTION.match(text)
    if not match or not (match[2] or match[1] in _PLAIN):
        raise InputError(
            f"{source}, line {line}: `{text.split(chr(10))[0][:40]}` is not a PTX instruction.",
            "Give what `nvcc -ptx` writes, or a piece of it.",
        )
    words = tuple(word for word in match[2].split(".") if word)
    target = match[3].split()[-1] if match[1] == "bra" and match[3].split() else ""
    return _Statement(line, match[1], words, target)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Statements with the line on which their first word stands."""
    line = 1
    for part in re.split(r"(?<=[;{}])", text):
        blank = len(part) - len(part.lstrip())
        yield line + part.count("\n", 0, blank), part.strip().rstrip(";{}").strip()
        line += part.count("\n")
