"""Structs passed by value, taken apart into their members, so that a launch can give each by name."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpbound.errors import InputError
from warpbound.program.headers import reachable
from warpbound.program.kernel import Parameter, Program

if TYPE_CHECKING:
    from warpbound.program.host_interpreter.struct_layout import Field


def with_members(program: Program, names: Iterable[str | int], include: Iterable[Path] = ()) -> tuple[Parameter, ...]:
    """The kernel's parameters; a struct of which `names` has members (`p.in`, `p.f[2]`) is replaced by all its members.

    include : folders of headers that declare structs. InputError where a struct's layout is not known.
    """
    words = [name for name in names if isinstance(name, str)]
    folders = (Path(program.source_name).parent, *include)
    result: list[Parameter] = []
    for parameter in program.parameters:
        is_apart = parameter.name and any(word.startswith(f"{parameter.name}.") for word in words)
        result += _members(program, parameter, folders) if is_apart else [parameter]
    return tuple(result)


def _members(program: Program, parameter: Parameter, folders: tuple[Path, ...]) -> Iterator[Parameter]:
    from warpbound.program.host_interpreter.syntax import plain_type

    way_out = f"Give it as bytes: --arg {parameter.name}=@FILE, or bytes = ... in a launch file."
    kind = plain_type(parameter.type)
    if program.source is None:
        raise InputError(f"the members of parameter '{parameter.name}' are not known without the source.", way_out)
    size, fields = _layout(program.source, kind, folders)
    if not fields or size != parameter.size:
        reason = f"the layout of `{kind}`, the type of parameter '{parameter.name}', is not known"
        reason += f" ({size} bytes by its declaration, {parameter.size} in the code)." if fields else "."
        raise InputError(reason, way_out)
    for field in fields:
        name = f"{parameter.name}.{field.path}"
        yield Parameter(name, field.type, parameter.offset + field.offset, field.size)


@lru_cache(32)
def _layout(source: str, kind: str, folders: tuple[Path, ...]) -> tuple[int, tuple["Field", ...]]:
    """Bytes and members of a type that a source or its headers declare; no members where it is not known."""
    from warpbound.program.host_interpreter import declarations

    layouts = declarations(source, reachable(source, folders, ()).spelled, {}).layouts
    return layouts.size_of(kind) or 0, layouts.fields(kind)
