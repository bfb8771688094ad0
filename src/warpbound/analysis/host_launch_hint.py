"""The launch in the host code of a source, for a kernel that was analysed without one."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from shlex import quote

import msgspec

from warpbound.errors import MissingTool
from warpbound.program.host_launches import Assumed, host_launches
from warpbound.program.kernel import Program
from warpbound.program.kernel_names import normalized
from warpbound.result.host_launches import HostLaunch, HostLaunches, LaunchHint
from warpbound.result.kernel import KernelResult

_ENDINGS = (".cu", ".cuh")


def with_hint(
    entry: KernelResult, program: Program, include: Sequence[Path], defines: Mapping[str, str]
) -> KernelResult:
    """The static answer with the launch that the host code does, what it leaves open, and the command that writes it.

    include, defines : folders of headers and macros of the compilation. The answer itself where no launch is found.
    """
    if entry.mode != "static" or not program.source or not program.source_name.endswith(_ENDINGS):
        return entry
    folders = (Path(program.source_name).parent, *include)
    try:
        everything = _launches(program.source, program.source_name, folders, tuple(defines.items()))
    except MissingTool:
        return entry
    own = [launch for launch in everything.launches if normalized(launch.kernel) == normalized(program.title)]
    if not own:
        return entry
    launch = min(own, key=lambda launch_site: (not launch_site.is_reached, len(launch_site.needed)))
    command = _command(program, launch, include)
    hint = LaunchHint(file=launch.file, line=launch.line, needed=launch.needed, command=command)
    return msgspec.structs.replace(entry, host_launch=hint)


def _command(program: Program, launch: HostLaunch, include: Sequence[Path]) -> str:
    folders = "".join(f" -I {quote(str(folder))}" for folder in include)
    where = f" --line {launch.line}" if launch.file == program.source_name else f" --kernel {quote(launch.kernel)}"
    return f"warpbound launches {quote(program.source_name)}{folders}{where} -o launch.toml"


@lru_cache(8)
def _launches(
    source: str, name: str, folders: tuple[Path, ...], defines: tuple[tuple[str, str], ...]
) -> HostLaunches:
    return host_launches(source, name, Assumed(folders, dict(defines)))
