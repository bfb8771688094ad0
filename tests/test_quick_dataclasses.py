"""Dataclasses of ours against those of the standard library: the same in everything that is used of them."""

import copy
import dataclasses
import inspect
import pickle
from functools import cached_property
from typing import Any

import pytest

from warpbound import quick_dataclasses


def made(dataclass: Any) -> tuple[type, type]:
    @dataclass(frozen=True)
    class Point:
        """Two numbers."""

        x: int
        y: int = 2
        tags: dict[str, int] = dataclasses.field(default_factory=dict, compare=False)
        note: str = dataclasses.field(default="", repr=False)
        parts: list[int] = dataclasses.field(default_factory=list, hash=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("below 0")

        @cached_property
        def total(self) -> int:
            return self.x + self.y

    @dataclass(frozen=True)
    class Nothing:
        pass

    return Point, Nothing


def free(dataclass: Any) -> type:
    @dataclass
    class Free:
        x: int
        seen: list[int] = dataclasses.field(default_factory=list)
        total: int = dataclasses.field(init=False, default=3)

        def __post_init__(self) -> None:
            self.total += self.x

    return Free


OURS, THEIRS = made(quick_dataclasses.dataclass), made(dataclasses.dataclass)


@dataclasses.dataclass(frozen=True)
class Known:
    n: int


@quick_dataclasses.dataclass(frozen=True)
class Ours:
    n: int


def outcome(act: Any, point: type) -> Any:
    try:
        return act(point)
    except Exception as problem:  # noqa: BLE001  (the kinds of errors are compared)
        return type(problem)


@pytest.mark.parametrize("act", [
    lambda P: repr(P(1)),
    lambda P: repr(P(1, tags={"a": 1}, note="n")),
    lambda P: P(1) == P(1, 2, {"b": 2}),
    lambda P: P(1) == P(1, note="n"),
    lambda P: P(1) == (1, 2, ""),
    lambda P: hash(P(1)) == hash(P(1, 2, {"c": 3})),
    lambda P: P(1).tags is P(1).tags,
    lambda P: P(1) == P(1, parts=[3]),
    lambda P: hash(P(1)) == hash(P(1, parts=[3])),
    lambda P: P(),
    lambda P: P(1, z=3),
    lambda P: P(-1),
    lambda P: setattr(P(1), "x", 3),
    lambda P: delattr(P(1), "x"),
    lambda P: repr(dataclasses.replace(P(1), y=5)),
    lambda P: dataclasses.asdict(P(1)),
    lambda P: [field.name for field in dataclasses.fields(P)],
    lambda P: list(inspect.signature(P).parameters),
    lambda P: P(1).total,
    lambda P: repr(copy.deepcopy(P(1, 2, {"d": 4}))),
    lambda P: P.__match_args__,
    lambda P: P.__doc__,
])  # fmt: skip
def test_behaves_as_the_standard_ones(act):
    assert outcome(act, OURS[0]) == outcome(act, THEIRS[0])


@pytest.mark.parametrize("act", [
    lambda F: repr(F(1)),
    lambda F: repr(F(seen=[2], x=4)),
    lambda F: F(1) == F(1),
    lambda F: F(1) == F(2),
    lambda F: F(1).seen is F(1).seen,
    lambda F: hash(F(1)),
    lambda F: setattr(F(1), "x", 3),
    lambda F: F(1, y=2),
])  # fmt: skip
def test_those_that_change_behave_as_the_standard_ones(act):
    assert outcome(act, free(quick_dataclasses.dataclass)) == outcome(act, free(dataclasses.dataclass))


def test_classes_of_one_form_keep_their_own_names():
    @quick_dataclasses.dataclass(frozen=True)
    class Other:
        v1: int

    assert (Other(v1=5).v1, Ours(n=4).n, repr(Other(1))) == (5, 4, f"{Other.__qualname__}(v1=1)")


def test_a_class_without_fields():
    ours, theirs = OURS[1], THEIRS[1]
    assert (ours() == ours(), repr(ours()), hash(ours())) == (theirs() == theirs(), repr(theirs()), hash(theirs()))


def test_values_are_pickled():
    assert pickle.loads(pickle.dumps(Ours(3))) == Ours(3)


def test_own_equality_keeps_the_hash():
    def own(dataclass: Any) -> Any:
        @dataclass(frozen=True)
        class Equal:
            n: int

            def __eq__(self, other: object) -> bool:
                return True

        return Equal

    assert hash(own(quick_dataclasses.dataclass)(3)) == hash(own(quick_dataclasses.dataclass)(3))
    assert hash(own(dataclasses.dataclass)(3)) == hash(own(dataclasses.dataclass)(3))


def test_own_methods_stay_and_other_options_are_the_standard_ones():
    @quick_dataclasses.dataclass(frozen=True)
    class Own:
        n: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    @quick_dataclasses.dataclass
    class Free:
        n: int

    @quick_dataclasses.dataclass(frozen=True)
    class Derived(Known):
        m: int

    @quick_dataclasses.dataclass(frozen=True)
    class OfOurs(Ours):
        m: int

    assert Own(1) == Own(2)
    assert hash(Own(1)) == 7
    free = Free(1)
    free.n = 2
    assert free == Free(2)
    assert (Derived(1, 2), OfOurs(1, 2)) == (Derived(1, 2), OfOurs(1, 2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        OfOurs(1, 2).m = 3
