"""The catalogue of boards: a GPU by its name or by the path of its file, its clock, and values that a user sets."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from warpbound.board import Claim, Gpu, Quantity, definition
from warpbound.board_file import load, of_table
from warpbound.board_parameters import HOW, PARAMETERS, UNITS, Parameter, check_setting, megahertz
from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import MEANINGS, arch, limits, with_limits
from warpbound.shipped_tables import shipped_table

__all__ = [
    "HOW", "PARAMETERS", "UNITS", "Claim", "Gpu", "Parameter", "Quantity",
    "catalogue", "clock", "gpu", "listed", "load", "override",
]  # fmt: skip

NEAR = 3  # similar names that an error shows
_BOARDS = Path(__file__).parent / "gpus"


def gpu(name_or_path: str | Path | Gpu) -> Gpu:
    """A GPU by catalogue key, alias or full name, by path of a TOML file, or `sm_NN` (architecture only).

    Case, blanks, hyphens and the maker's words (NVIDIA, GeForce, Tesla, Quadro) in a name do not matter.
    """
    if isinstance(name_or_path, Gpu):
        return name_or_path
    if not isinstance(name_or_path, str | Path):
        raise CommandError(f"{name_or_path!r} names no GPU.", "Give a name, the path of a .toml file, or a Gpu.")
    if isinstance(name_or_path, Path) or _looks_like_path(name_or_path):
        return _read(Path(name_or_path))
    key = _plain(name_or_path)
    if match := re.fullmatch(r"sm[-_]?(\d+)(\d)[af]?", key):
        return _architecture(f"{match[1]}.{match[2]}")
    if key in catalogue():
        return _shipped(key)
    names = _names()
    key_of_board = names.get(key) or {_bare(name): of for name, of in names.items()}.get(_bare(key))
    if key_of_board:
        return _shipped(key_of_board)
    from difflib import get_close_matches

    near = get_close_matches(key, names, n=NEAR, cutoff=0.6)
    raise CommandError(
        f"GPU {name_or_path!r} is not in the catalogue.",
        (f"Did you mean {' or '.join(near)}? " if near else "")
        + "`warpbound gpus` lists all names; sm_NN is an architecture alone; a path ends in .toml.",
    )


def listed(names: str) -> tuple[Gpu, ...]:
    """The GPUs of a comma list; `all` is every board that exists, the oldest first. Raises CommandError."""
    if names.strip() == "all":
        return tuple(sorted((b for b in map(gpu, catalogue()) if not b.hypothetical), key=lambda b: (b.arch, b.key)))
    boards = tuple(gpu(name) for name in names.split(",") if name.strip())
    if not boards:
        raise CommandError(f"--gpu {names!r} names no GPU.", "`warpbound gpus` lists them.")
    return boards


@cache
def catalogue() -> tuple[str, ...]:
    """The keys of every board that is shipped, sorted."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _BOARDS.iterdir() if path.name.endswith(".toml")))


def override(board: Gpu, settings: Mapping[str, float]) -> Gpu:
    """The board with some parameters, or limits of its SMs, replaced; values in the unit the board already uses.

    The rates that a parameter carries (`Parameter.carries`) change in proportion, unless they are set themselves.
    Raises CommandError for an unknown name or an impossible value.
    """
    of_an_sm = {name: value for name, value in settings.items() if name in MEANINGS}
    with_limits(limits(board.compute_capability), {**board.changed_limits, **of_an_sm})
    changed = dict(board.parameters)
    settings = {name: value for name, value in settings.items() if name not in of_an_sm}
    settings |= _carried(board, settings)
    for name, value in settings.items():
        before = board.parameters.get(name)
        unit = before.unit if before else definition(name).units[0]
        check_setting(name, value, (before.value, unit, board.name) if before else _elsewhere(name, unit))
        claims = (Claim(before.value, before.source, before.note), *before.others) if before else ()
        changed[name] = Quantity(float(value), unit, "command line", "assumed", "given by the user", claims)
    return replace(board, parameters=changed, changed_limits={**board.changed_limits, **of_an_sm})


def _elsewhere(name: str, unit: str) -> tuple[float, str, str] | None:
    """The least value of a parameter on boards that have it, or its default; with its unit and where it comes from."""
    shipped = map(_shipped, catalogue())
    values = [(own.value, unit, b.name) for b in shipped if (own := b.parameters.get(name)) and own.unit == unit]
    if (default := PARAMETERS[name].default) and unit == PARAMETERS[name].units[0]:
        values.append((default, unit, "the model"))
    return min(values, default=None)


def _carried(board: Gpu, settings: Mapping[str, float]) -> dict[str, float]:
    """Values of rates in proportion to a parameter that is set; with several, to the last of the catalogue."""
    return {
        follower: board.parameters[follower].value * settings[name] / board.parameters[name].value
        for name, parameter in PARAMETERS.items()
        if name in settings and name in board.parameters
        for follower in parameter.carries
        if follower in board.parameters and follower not in settings
    }


def clock(board: Gpu, which: str | float) -> float:
    """The SM clock in Hz: "base", "boost", a number in MHz, or "sustained", which is the boost clock until power limits
    it."""
    if which == "sustained":
        return board.get("highest_clock") or board.value("boost_clock")
    if which in ("base", "boost"):
        return board.value(f"{which}_clock")
    return 1e6 * megahertz(which)


def _architecture(compute_capability: str) -> Gpu:
    limits(compute_capability)
    number = arch(compute_capability)
    return Gpu(f"sm_{number}", f"sm_{number} (architecture only)", compute_capability)


def _looks_like_path(name: str) -> bool:
    return name.endswith(".toml") or "/" in name or "\\" in name


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def _read(path: Path) -> Gpu:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: no text, or a path with a NUL
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"The GPU file {path} cannot be read ({why}).", "Check the path.") from None
    return load(text, path.stem, str(path))


@cache
def _shipped(key: str) -> Gpu:
    name = f"{key}.toml"
    return of_table(shipped_table("gpus", name), key, (_BOARDS / name).read_text(encoding="utf-8"), name)


@cache
def _names() -> dict[str, str]:
    """Every accepted spelling -> key."""
    names = {key: key for key in catalogue()}
    for key in catalogue():
        board = _shipped(key)
        for name in (board.name, *board.aliases):
            names.setdefault(_plain(name), key)
    return names


def _bare(plain: str) -> str:
    """A plain name without hyphens and without the words of the maker: rtx4090."""
    return re.sub("nvidia|geforce|tesla|quadro|-", "", plain)
