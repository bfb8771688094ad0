"""Arguments of profiled launches, from a TOML file: a report holds none.

    [[launches]]
    report = "smemtranspose.ncu-rep"     # end of the report's path
    kernel = "copyGmem"                  # absent: every kernel
    launches = [0, 1]                    # places in the report; absent: all
    args = ["0=f32[16777216]", "2=4096"] # as after --arg
    how = "where the values come from"
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_argument import Argument, parse_argument
from warpbound.nsight.report_file import ProfiledLaunch
from warpbound.quick_dataclasses import dataclass


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    report: str
    args: list[str]
    kernel: str | None = None
    launches: list[int] | None = None
    how: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    launches: list[_Entry]


@dataclass(frozen=True)
class ArgumentFile:
    """The entries of a file."""

    entries: tuple[_Entry, ...]

    def arguments(self, profile: ProfiledLaunch) -> tuple[Argument, ...]:
        """The arguments of a launch: of the first entry that names it; none where no entry does."""
        path = profile.report.as_posix()
        for entry in self.entries:
            if not path.endswith(entry.report) or entry.kernel not in (None, profile.kernel, profile.mangled):
                continue
            if entry.launches is None or profile.index in entry.launches:
                return tuple(parse_argument(word) for word in entry.args)
        return ()


def read_arguments(path: str | Path) -> ArgumentFile:
    """The entries of a TOML file. Raises InputError with the file's name where it cannot be read or is malformed."""
    try:
        file = msgspec.convert(tomllib.loads(Path(path).read_text(encoding="utf-8-sig")), _File)
        for entry in file.launches:
            _checked(entry.args)
    except (OSError, ValueError, msgspec.ValidationError, WarpboundError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        reason = f"argument file '{path}' cannot be read: {why}."
        raise InputError(reason, "Give a TOML file with [[launches]], report and args.") from problem
    return ArgumentFile(tuple(file.launches))


def _checked(words: Sequence[str]) -> None:
    for word in words:
        parse_argument(word)
