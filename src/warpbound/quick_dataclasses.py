"""Dataclasses whose methods are made when they are first used.

`dataclasses` writes five methods of each class as text and compiles them while the class is defined: 0.6 ms a class,
a quarter of a whole `analyze` from the cache. Here `__init__` is made when the class is first instantiated, from code
that is compiled once for all classes with as many fields; the other methods are shared functions. Fields, replace,
asdict,
equality, hash, repr and errors are those of `dataclasses`.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, **others):
        """As `dataclasses.dataclass`, which still makes classes with other options and classes that inherit fields."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, **others)
        if others or any(map(dataclasses.is_dataclass, cls.__bases__)):
            return dataclasses.dataclass(cls, frozen=frozen, **others)
        return _frozen(cls) if frozen else _free(cls)


def _frozen(cls: type) -> type:
    own = dict(vars(cls))
    _prepare(cls)
    cls.__dataclass_params__.frozen = True  # type: ignore[attr-defined]
    fields = dataclasses.fields(cls)
    hashed = _values([field.name for field in fields if (field.compare if field.hash is None else field.hash)])

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    for name, method in (("__hash__", hash_of), ("__setattr__", _refused), ("__delattr__", _refused)):
        if own.get(name) is None:
            setattr(cls, name, method)
    return cls


def _free(cls: type) -> type:
    has_hash = "__hash__" in vars(cls)
    _prepare(cls)
    if not has_hash:
        cls.__hash__ = None  # type: ignore[assignment]
    return cls


def _prepare(cls: type) -> None:
    """Fields, and the methods of all dataclasses."""
    own = dict(vars(cls))
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else dataclasses writes the signature, and compiles __init__ for it
    dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    fields = dataclasses.fields(cls)
    for name, method in (
        ("__init__", _Init()),
        ("__repr__", _representation(tuple(field.name for field in fields if field.repr))),
        ("__eq__", _equality(_values([field.name for field in fields if field.compare]))),
    ):
        if own.get(name) is None:
            setattr(cls, name, method)


_SET_FROZEN, _SET = " _set(self, '{0}', {1})", " self.{0} = {1}"


class _Init:
    """A placeholder for `__init__` until it is first used."""

    def __get__(self, instance: Any, owner: type) -> Any:
        cls = next(cls for cls in owner.__mro__ if vars(cls).get("__init__") is self)
        init = _initialiser(cls)
        cls.__init__ = init  # type: ignore[misc]
        return init if instance is None else init.__get__(instance, owner)


def _initialiser(cls: type) -> Callable[..., None]:
    """`__init__` of a class: one parameter for each field, in their order."""
    fields = [field for field in dataclasses.fields(cls) if field.init]
    makers = tuple(field.default_factory is not dataclasses.MISSING for field in fields)
    line = _SET_FROZEN if cls.__dataclass_params__.frozen else _SET  # type: ignore[attr-defined]
    end = " self.__post_init__()" if hasattr(cls, "__post_init__") else " pass"
    code = _code(makers, line, end)
    names = {f"v{i}": field.name for i, field in enumerate(fields)}
    own = code.replace(
        co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        co_names=tuple(names.get(name, name) for name in code.co_names),
        co_consts=tuple(names.get(value, value) if isinstance(value, str) else value for value in code.co_consts),
    )
    values: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": dataclasses.MISSING}
    values |= {f"_make{i}": field.default_factory for i, field in enumerate(fields) if makers[i]}
    defaults = tuple(
        dataclasses.MISSING if maker else field.default
        for field, maker in zip(fields, makers, strict=True)
        if maker or field.default is not dataclasses.MISSING
    )
    init = FunctionType(own, values, "__init__", defaults)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


@cache
def _code(makers: tuple[bool, ...], line: str, end: str) -> CodeType:
    """The code of an `__init__` whose fields are v0, v1, ...

    makers : of each field, whether a function makes its default. line : what sets a field. end : the last line.
    """
    numbered = [f"v{i}" for i in range(len(makers))]
    body = [
        line.format(name, f"_make{i}() if {name} is _MISSING else {name}" if makers[i] else name)
        for i, name in enumerate(numbered)
    ]
    names: dict[str, Any] = {}
    exec("\n".join([f"def __init__({', '.join(['self', *numbered])}):", *body, end]), names)  # noqa: S102
    code: CodeType = names["__init__"].__code__
    return code


def _values(names: list[str]) -> Callable[[Any], Any]:
    """The values of these fields: a tuple, or one alone."""
    return attrgetter(*names) if names else lambda _: ()


def _representation(names: tuple[str, ...]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:  # noqa: N807  (it becomes the method)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _equality(values: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807  (it becomes the method)
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _refused(self: Any, name: str, *_: Any) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")
