"""Grid, block and arguments of one kernel launch, from a TOML file or from Python."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from operator import index
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

import msgspec

from warpbound.argument_contents import contents, pieces
from warpbound.errors import CommandError, InputError
from warpbound.kernel_argument import Argument, Keys, Scalar, Where, argument_of, converted, from_value, parse_argument
from warpbound.quick_dataclasses import dataclass
from warpbound.size_expressions import number
from warpbound.table_decoding import suggestion

__all__ = [
    "Argument", "Changes", "Dim", "Launch", "aliased", "bind", "check", "contents", "launch", "override",
    "parse_argument", "parse_dim", "pieces",
]  # fmt: skip

Dim = tuple[int, int, int]

# Limits of a launch that hold on every architecture from sm_75 on (CUDA C++ Programming Guide, table
# "Technical Specifications per Compute Capability"); shared memory is that of the largest of them.
MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_CLUSTER_BLOCKS = 16
MAX_BELOW = 1 << 32  # of random integers
MAX_SHARED_B = 227 * 1024


@dataclass(frozen=True)
class Launch:
    """One launch as the user gives it; `check` refuses a launch that no GPU accepts."""

    grid: Dim  # [block]
    block: Dim  # [thread]
    kernel: str | None = None  # plain, mangled or a name expression
    gpu: str | None = None  # default for --gpu
    cluster: Dim | None = None  # [block]
    smem: int = 0  # dynamic shared memory [B/block]
    carveout: int | None = None  # shared memory of one SM [KiB]; None: what the driver would take
    persist: str | None = None  # array of an access-policy window: its lines persist in L2
    defines: dict[str, str] = field(default_factory=dict)
    include: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    args: tuple[Argument, ...] = ()  # in the kernel's parameter order where they have no position
    constants: tuple[Argument, ...] = ()
    path: Path | None = None  # the file it came from
    placed: Callable[[Any, "Launch"], Any] | None = field(default=None, repr=False, compare=False)
    # of a program that runs: (program, launch) -> its present memory, arguments included


class Changes(TypedDict, total=False):
    """Values of a launch in Python; None means "not given"."""

    grid: int | Sequence[int] | None
    block: int | Sequence[int] | None
    kernel: str | None
    gpu: str | None
    cluster: int | Sequence[int] | None
    smem: int | None
    carveout: int | None
    persist: str | None
    defines: Mapping[str, Scalar | str] | None
    include: Iterable[str | Path] | None
    options: Iterable[str] | None
    args: Mapping[Any, Any] | Iterable[Argument] | None  # name or position -> array, scalar, bytes, text
    constants: Mapping[Any, Any] | Iterable[Argument] | None


def launch(path: str | Path | None = None, **changes: Unpack[Changes]) -> Launch:
    """The launch of a file, overridden by `changes`; `grid` and `block` must be in one of the two.

    InputError names the file, the key and what to do; CommandError is for values given here. A file's sizes pass
    `check`.
    """
    if path is not None:
        replaced = {key: 1 for key in ("grid", "block") if changes.get(key) is not None}
        own = _read(Path(path), replaced)
        changed = override(own, **changes)
        if _fault(changed) == _fault(own):  # faults of `changes` are reported where they are used
            with blamed(path):
                check(changed)
        return changed
    if changes.get("grid") is None or changes.get("block") is None:
        raise CommandError("a launch needs a grid and a block.", "Give both, or the path of a launch file.")
    return override(Launch((1, 1, 1), (1, 1, 1)), **changes)


def override(launch: Launch, **changes: Unpack[Changes]) -> Launch:
    """`launch` with the given values in place of its own.

    Arguments and constants replace those of the same name or position and otherwise come after them;
    defines are merged; include folders and options are added at the end.
    """
    values: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
    for key in values.keys() - Changes.__annotations__.keys():
        raise CommandError(f"a launch has no '{key}'.", suggestion(key, Changes.__annotations__))
    for key in values.keys() & {"grid", "block", "cluster"}:
        values[key] = _dim(values[key], key)
    for key in values.keys() & {"smem", "carveout"}:
        values[key] = _count(values[key], key)
    for key in values.keys() & {"args", "constants"}:
        values[key] = _merged(getattr(launch, key), _arguments(values[key]))
    if "defines" in values:
        values["defines"] = launch.defines | _defines(values["defines"])
    if "include" in values:
        values["include"] = launch.include + tuple(Path(folder) for folder in values["include"])
    if "options" in values:
        values["options"] = launch.options + tuple(values["options"])
    return _linked(replace(launch, **values))


def check(launch: Launch) -> None:
    """Raise CommandError for what is no Launch, and for sizes that no GPU from sm_75 on accepts; the hint names the
    limit."""
    if not isinstance(launch, Launch):
        raise CommandError(f"The launch is of type {type(launch).__name__}.", "Give what warpbound.launch returns.")
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    _within(threads, MAX_THREADS, f"block {_text(launch.block)} has {threads} threads")
    for axis, size, limit in zip("xyz", launch.block, MAX_BLOCK, strict=True):
        _within(size, limit, f"block.{axis} is {size}")
    for axis, size, limit in zip("xyz", launch.grid, MAX_GRID, strict=True):
        _within(size, limit, f"grid.{axis} is {size}")
    _within(launch.smem, MAX_SHARED_B, f"dynamic shared memory is {launch.smem} bytes")
    if launch.cluster is not None:
        blocks = launch.cluster[0] * launch.cluster[1] * launch.cluster[2]
        _within(blocks, MAX_CLUSTER_BLOCKS, f"cluster {_text(launch.cluster)} has {blocks} blocks")
        if any(size % step for size, step in zip(launch.grid, launch.cluster, strict=True)):
            raise CommandError(
                f"grid {_text(launch.grid)} is not a multiple of cluster {_text(launch.cluster)}.",
                "Make every grid dimension a multiple of the cluster's.",
            )


@contextmanager
def blamed(path: str | Path | None, kind: str = "launch file") -> Iterator[None]:
    """Turns CommandError of this block into an InputError that names the file."""
    try:
        yield
    except CommandError as error:
        raise InputError(f"{kind} '{path}': {error.reason}", error.hint) from error


def _fault(launch: Launch) -> str:
    """The reason why `check` refuses a launch; "" if it does not."""
    try:
        check(launch)
    except CommandError as error:
        return error.reason
    return ""


def bind(arguments: Sequence[Argument], parameters: Sequence[str]) -> tuple[Argument, ...]:
    """One argument for each parameter, in the kernel's order.

    parameters : their names; "" where the code gives none: then the order of the arguments counts.
    InputError where an argument has no parameter or a parameter has no argument.
    """
    slots: list[Argument | None] = [None] * len(parameters)
    for order, argument in enumerate(arguments):
        at: str | int = argument.name if any(parameters) or isinstance(argument.name, int) else order
        if isinstance(at, str) and at not in parameters:
            raise InputError(f"the kernel has no parameter '{at}'.", suggestion(at, parameters))
        position = parameters.index(at) if isinstance(at, str) else at
        if position >= len(slots):
            raise InputError(
                f"argument {position} ('{argument.name}') is one too many.",
                f"The kernel has {len(slots)} parameters, counted from 0.",
            )
        if slots[position] is not None:
            raise InputError(f"parameter {position} is given twice.", "Remove one of the two arguments.")
        slots[position] = argument
    missing = [parameters[i] or str(i) for i, argument in enumerate(slots) if argument is None]
    if missing:
        reason = f"the launch gives no value for parameter{'s' * (len(missing) > 1)} {', '.join(missing)}."
        raise InputError(reason, f"Add it by --arg {missing[0]}=VALUE or [[args]].")
    return tuple(argument for argument in slots if argument is not None)


def aliased(argument: Argument, arguments: Sequence[Argument]) -> Argument | None:
    """The array among `arguments` whose memory an alias shares; None if there is none."""
    for order, other in enumerate(arguments):
        if other.kind == "array" and argument.alias in (other.name, _key(other, order)):
            return other
    return None


def parse_dim(text: str, option: str = "size") -> Dim:
    """Grid, block or cluster from "37,2048,1"; missing sizes are 1. CommandError, with `option`, where malformed."""
    if not re.fullmatch(r"[0-9]{1,99}(,[0-9]{1,99}){0,2}", text):
        raise CommandError(f"{option} '{text}' is not a size of one to three dimensions.", "Write it like 37,2048,1.")
    return _dim([int(part) for part in text.split(",")], option)


# --- the file ---


_Size = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
_Sizes = _Size | Annotated[list[_Size], msgspec.Meta(min_length=1, max_length=3)]
_Bytes = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class _Compile(msgspec.Struct, forbid_unknown_fields=True):
    include: Annotated[list[str], msgspec.Meta(description="Folders, from the launch file's own")] = []
    options: Annotated[list[str], msgspec.Meta(description="NVRTC options")] = []


class LaunchFile(msgspec.Struct, forbid_unknown_fields=True):
    grid: Annotated[_Sizes, msgspec.Meta(description="Blocks")]
    block: Annotated[_Sizes, msgspec.Meta(description="Threads of a block")]
    kernel: Annotated[str | None, msgspec.Meta(description="Plain name, mangled name or C++ name expression")] = None
    gpu: Annotated[
        str | None, msgspec.Meta(description="Default for --gpu: a catalogue name, a TOML file or sm_NN")
    ] = None
    cluster: Annotated[_Sizes | None, msgspec.Meta(description="Blocks of a cluster")] = None
    smem: Annotated[_Bytes, msgspec.Meta(description="Dynamic shared memory of a block in bytes")] = 0
    carveout: Annotated[
        _Bytes | None, msgspec.Meta(description="Shared memory of one SM in KiB; absent: what the driver would take")
    ] = None
    persist: Annotated[
        str | None, msgspec.Meta(description="Array of an access-policy window: its lines persist in L2")
    ] = None
    defines: Annotated[dict[str, Scalar | str], msgspec.Meta(description="Preprocessor macros")] = {}
    compile: Annotated[_Compile, msgspec.Meta(description="How to compile")] = msgspec.field(default_factory=_Compile)
    args: Annotated[list[Keys], msgspec.Meta(description="In the kernel's parameter order")] = []
    constants: Annotated[list[Keys], msgspec.Meta(description="__constant__ and __device__ symbols")] = []


def _read(path: Path, replaced: Mapping[str, int]) -> Launch:
    """The launch of a file; `replaced` has the caller's values, whose keys the file may lack."""
    try:
        document = dict(replaced) | tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        reason = f"launch file '{path}' cannot be read: {why}."
        raise InputError(reason, "Give a TOML file with grid, block and [[args]].") from problem
    where = Where(f"launch file '{path}'", InputError, path.parent)
    file = converted(document, LaunchFile, where)
    lists: dict[str, Any] = {"args": (), "constants": ()}
    for key in lists:
        for order, keys in enumerate(getattr(file, key)):
            label = f" ('{keys.name}')" if keys.name else ""
            here = replace(where, text=f"{where.text}, {key}[{order}]{label}")
            if key == "constants" and (keys.name is None or keys.alias is not None):
                hint = "A constant needs a name and takes no alias."
                raise here.refusal("", "is not a symbol of its own.", hint)
            lists[key] += (argument_of(keys, keys.name or order, here),)
    return _linked(Launch(
        grid=_dim(file.grid, "grid"), block=_dim(file.block, "block"), kernel=file.kernel, gpu=file.gpu,
        cluster=_dim(file.cluster, "cluster") if file.cluster is not None else None, smem=file.smem,
        carveout=file.carveout, persist=file.persist,
        defines=_defines(file.defines), options=tuple(file.compile.options),
        include=tuple(path.parent / folder for folder in file.compile.include), path=path, **lists,
    ))  # fmt: skip


def _linked(launch: Launch) -> Launch:
    """`launch` with the sizes that name other arguments; names must be unique, and aliases point into arrays."""
    launch = replace(launch, args=_sized(launch, launch.args), constants=_sized(launch, launch.constants))
    for kind, arguments in (("argument", launch.args), ("constant", launch.constants)):
        names = [argument.name for argument in arguments]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{_file(launch)}{kind} '{name}' is given twice.", "Remove one of the two.")
    for argument in launch.args:
        if argument.alias is None:
            continue
        target = aliased(argument, launch.args)
        if target is None:
            arrays = [str(other.name) for other in launch.args if other.kind == "array"]
            which = f"argument '{argument.name}' aliases '{argument.alias}', which is not an array."
            raise InputError(_file(launch) + which, suggestion(str(argument.alias), arrays))
        if argument.offset >= target.size_B:
            reason = f"{_file(launch)}argument '{argument.name}' starts past the end of '{argument.alias}'."
            raise InputError(reason, f"Its offset must be less than {target.size_B} bytes.")
    return launch


def _sized(launch: Launch, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The arguments with shapes and limits computed from the integers of the launch and its macros."""
    if not any(argument.sizes or argument.limit for argument in arguments):
        return arguments
    values = dict(launch.defines)
    values |= {str(argument.name): str(int(argument.value)) for argument in launch.args
               if argument.kind == "scalar" and isinstance(argument.value, int)}  # fmt: skip
    return tuple(
        _with_sizes(argument, values, _file(launch)) if argument.sizes or argument.limit else argument
        for argument in arguments
    )


def _with_sizes(argument: Argument, values: Mapping[str, str], where: str) -> Argument:
    try:
        shape = tuple(number(size, values) for size in argument.sizes) or argument.shape
        below = number(argument.limit, values) if argument.limit else argument.below
    except CommandError as error:
        raise InputError(f"{where}argument '{argument.name}': {error.reason}", error.hint) from error
    if min(shape) < 1 or (below is not None and not 1 <= below <= MAX_BELOW):
        reason = f"{where}argument '{argument.name}': its sizes are {list(shape)}"
        reason += f", its random integers below {below}." if below is not None else "."
        raise InputError(reason, f"Every size is at least 1, random integers are below 1 to {MAX_BELOW}.")
    return replace(argument, shape=shape, below=below)


def _file(launch: Launch) -> str:
    return f"launch file '{launch.path}', " if launch.path else ""


def _arguments(values: Mapping[Any, Any] | Iterable[Argument]) -> tuple[Argument, ...]:
    """Arguments of Python values; the same array under a second name is an alias of the first."""
    if not isinstance(values, Mapping):
        arguments_given = tuple(values) if isinstance(values, Iterable) else (values,)
        if not all(isinstance(argument, Argument) for argument in arguments_given):
            raise CommandError(f"{values!r} names no arguments.", "Give a mapping of names or positions to values.")
        return arguments_given
    arguments: list[Argument] = []
    first: dict[int, str | int] = {}
    for name, value in values.items():
        if not isinstance(name, str | int) or (isinstance(name, int) and name < 0):
            raise CommandError(f"{name!r} names no argument.", "Give a parameter's name or position.")
        argument = from_value(name, value)
        if argument.kind == "array" and not isinstance(value, str):
            first_name = first.setdefault(id(value), name)
            argument = Argument(name, "alias", alias=first_name) if first_name != name else argument
        arguments.append(argument)
    return tuple(arguments)


def _merged(own: tuple[Argument, ...], new: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """`own` with those of `new` that have its name, or the position of an entry, in their places."""
    merged = list(own)
    for argument in new:
        at = next((i for i, old in enumerate(own) if argument.name in (old.name, _key(old, i))), None)
        if at is None:
            merged.append(argument)
        else:
            merged[at] = replace(argument, name=own[at].name)
    return tuple(merged)


def _key(argument: Argument, order: int) -> int:
    """The position that an argument represents: its own, or its place in the list."""
    return order if isinstance(argument.name, str) else argument.name


def _dim(sizes: int | Sequence[int], key: str) -> Dim:
    entries = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    if not 1 <= len(entries) <= 3:
        raise CommandError(f"{key} has {len(entries)} dimensions.", "Give one to three sizes.")
    x, y, z = [_count(size, key) for size in entries] + [1] * (3 - len(entries))
    if min(x, y, z) < 1 or max(x, y, z) > 2**31 - 1:
        raise CommandError(f"{key} {_text((x, y, z))} is out of range.", "Every size is 1 to 2147483647.")
    return x, y, z


def _count(value: object, key: str) -> int:
    try:
        count = index(value)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < 0 or isinstance(value, bool):
        raise CommandError(f"{key} is {value!r}, not a whole number.", "Give a number of 0 or more.")
    return count


def _defines(values: Mapping[str, Scalar | str]) -> dict[str, str]:
    return {key: str(int(value)) if isinstance(value, bool) else str(value) for key, value in values.items()}


def _within(size: int, limit: int, reason: str) -> None:
    if size > limit:
        raise CommandError(f"{reason}, more than any GPU allows.", f"The limit is {limit}.")


def _text(dim: Dim) -> str:
    return "x".join(str(size) for size in dim)
