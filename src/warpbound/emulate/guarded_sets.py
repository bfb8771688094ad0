"""Sets of registers for which something holds in every lane, or only in lanes where a guard is true.

After a guarded instruction has read R6, R6 is live "under !P0": in lanes where P0 is false. Sets are bits of Python
integers, a bit for each name of a register.
"""

from collections.abc import Iterable
from functools import cache

_FIRST = {"R": 0, "UR": 256, "P": 512, "UP": 520, "CC": 528, "C": 529, "S": 530}  # bit of the register with number 0


@cache
def bit_of(name: str) -> int:
    """The bit of a register or predicate by name."""
    kind = name.rstrip("0123456789")
    return 1 << _FIRST[kind] + int(name[len(kind) :] or 0)


def bits_of(names: Iterable[str]) -> int:
    """The set of these names."""
    result = 0
    for name in names:
        result |= bit_of(name)
    return result


PLAIN_REGISTERS = bits_of(f"R{number}" for number in range(256))


@cache
def predicate_of(guard: str) -> int:
    """The predicate of a guard as a set; none of no guard, and of `!`, under which nothing executes (@!PT)."""
    name = guard.lstrip("!")
    return bit_of(name) if name else 0


def opposite(guard: str) -> str:
    return guard[1:] if guard.startswith("!") else f"!{guard}"


class GuardedSet:
    """always : in every lane. under : guard -> the registers in lanes where it is true."""

    __slots__ = ("always", "under")

    def __init__(self, always: int = 0, under: dict[str, int] | None = None) -> None:
        self.always, self.under = always, under or {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuardedSet) and self.always == other.always and self.under == other.under

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> "GuardedSet":
        return GuardedSet(self.always, dict(self.under))

    def anywhere(self) -> int:
        """Registers of at least some lanes."""
        result = self.always
        for registers in self.under.values():
            result |= registers
        return result

    def add(self, registers: int, guard: str) -> None:
        """Add a name in every lane, or in the lanes where the guard is true."""
        if not guard:
            self.always |= registers
        elif registers:
            self.under[guard] = self.under.get(guard, 0) | registers

    def include(self, other: "GuardedSet") -> None:
        """All that is in either."""
        self.always |= other.always
        for guard, registers in other.under.items():
            self.add(registers, guard)

    def common(self, other: "GuardedSet") -> "GuardedSet":
        """What is in both."""
        both = ((guard, registers & other.under.get(guard, 0)) for guard, registers in self.under.items())
        return GuardedSet(self.always & other.always, {guard: registers for guard, registers in both if registers})

    def take(self, predicates: int) -> int:
        """Remove what is there under one of these predicates, and return it."""
        result = 0
        for guard in [guard for guard in self.under if predicate_of(guard) & predicates]:
            result |= self.under.pop(guard)
        return result

    def remove(self, registers: int, guard: str) -> None:
        """Remove a name from every lane, or only from the lanes where the guard is true; the other lanes keep it."""
        elsewhere = self.always & registers if guard else 0
        self.always &= ~registers
        for other in [guard] if guard else list(self.under):
            rest = self.under.pop(other, 0) & ~registers
            if rest:
                self.under[other] = rest
        if guard:
            self.add(elsewhere, opposite(guard))
