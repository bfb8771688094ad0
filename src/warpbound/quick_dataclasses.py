"""Frozen dataclasses whose methods are compiled when they are first used.

`dataclasses` writes five methods of each class as text and compiles them while the class is defined: 0.6 ms a class,
a quarter of a whole `analyze` from the cache. Here `__init__` is compiled when the class is first instantiated, and the
others are shared functions. Fields, replace, asdict, equality, hash, repr and errors are those of `dataclasses`.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, **others):
        """As `dataclasses.dataclass`, which makes all classes but those that are frozen and nothing else."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, **others)
        if not frozen or others or any(map(dataclasses.is_dataclass, cls.__bases__)):
            return dataclasses.dataclass(cls, frozen=frozen, **others)
        return _frozen(cls)


def _frozen(cls: type) -> type:
    own = vars(cls)
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # dataclasses would write the signature, and compile __init__ for it
    dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    cls.__dataclass_params__.frozen = True  # type: ignore[attr-defined]
    fields = dataclasses.fields(cls)
    hashed = _values([field.name for field in fields if (field.compare if field.hash is None else field.hash)])

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    for name, method in (
        ("__init__", _Init()),
        ("__repr__", _representation(tuple(field.name for field in fields if field.repr))),
        ("__eq__", _equality(_values([field.name for field in fields if field.compare]))),
        ("__hash__", hash_of),
        ("__setattr__", _refused),
        ("__delattr__", _refused),
    ):
        if own.get(name) is None:
            setattr(cls, name, method)
    return cls


class _Init:
    """Stands for `__init__` until that is first asked for."""

    def __get__(self, instance: Any, owner: type) -> Any:
        cls = next(cls for cls in owner.__mro__ if vars(cls).get("__init__") is self)
        init = _compiled(cls)
        cls.__init__ = init  # type: ignore[misc]
        return init if instance is None else init.__get__(instance, owner)


def _compiled(cls: type) -> Callable[..., None]:
    """`__init__` of a class: one parameter for each field, in their order."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": dataclasses.MISSING}
    parameters, body = ["self"], []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        value = field.name
        if field.default is not dataclasses.MISSING:
            names[f"_default_{field.name}"] = field.default
            parameters.append(f"{field.name}=_default_{field.name}")
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_make_{field.name}"] = field.default_factory
            parameters.append(f"{field.name}=_MISSING")
            value = f"_make_{field.name}() if {field.name} is _MISSING else {field.name}"
        else:
            parameters.append(field.name)
        body.append(f" _set(self, {field.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n" + ("\n".join(body) or " pass"), names)  # noqa: S102  (names of fields)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


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
