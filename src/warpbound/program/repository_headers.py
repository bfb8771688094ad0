"""Headers that no include folder has: looked up in the source's own repository and in installed packages."""

import importlib.util
import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from warpbound.program.headers import Headers, reachable
from warpbound.program.host_headers import STANDARD
from warpbound.quick_dataclasses import dataclass

LARGEST_TREE = 30_000  # files of a repository that are looked at
FEW = 3  # headers in a note
HIGHEST = 3  # folders upwards where nothing marks the root of a repository
_MARKS = (".git", ".hg", ".svn", ".jj")
_PACKAGES = {  # installed package -> its include folders
    "nvidia": ("cu*/include", "cu*/include/cccl", "*/include"),
    "cutlass_library": ("source/include", "source/tools/util/include"),
    "torch": ("include", "include/torch/csrc/api/include"),
    "flashinfer": ("data/include", "data/cutlass/include"),
    "pybind11": ("include",),
}


@dataclass(frozen=True)
class Lookup:
    """What was found: headers that are reached now, folders to add, headers by the folder that they were found in.

    repository : folders of the source's own repository. packages : folders of installed packages.
    """

    headers: Headers
    repository: tuple[Path, ...]
    packages: tuple[Path, ...]
    places: dict[str, Path]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was added, in words for each folder."""
        by_folder: dict[Path, list[str]] = {}
        for header, place in self.places.items():
            by_folder.setdefault(place, []).append(header)
        return tuple(f"the folder {_short(place)} was added for {_listed(names)}" for place, names in by_folder.items())


def _short(place: Path) -> str:
    relative = os.path.relpath(place)
    return relative if len(relative) < len(str(place)) else str(place)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= FEW else f"{', '.join(names[:FEW])} and {len(names) - FEW} more"


def look_up(  # noqa: PLR0913  (what an include line depends on)
    text: str, home: Path | None, include: Sequence[Path], options: Sequence[str], system: Sequence[Path]
) -> Lookup:
    """Follow the `#include` lines of `text`; where `include` and `system` lack a header, add the folder that has it.

    home : the source's folder, None for text without a file. system : folders of the compiler itself.
    """
    repository: list[Path] = []
    packages: list[Path] = []
    places: dict[str, Path] = {}
    headers_so_far: set[str] = set()
    while True:
        headers = reachable(text, (*include, *repository), options)
        new = [name for name in headers.absent if name not in headers_so_far and not _of_the_compiler(name, system)]
        headers_so_far |= set(new)
        if not new:
            return Lookup(headers, tuple(repository), tuple(packages), places)
        for name in new:
            place = in_repository(name, home) if home is not None else None
            if place is None:
                place = in_packages(name)
                if place is not None and place not in packages:
                    packages.append(place)
            elif place not in repository:
                repository.append(place)
            if place is not None:
                places[name] = place


def _of_the_compiler(name: str, system: Sequence[Path]) -> bool:
    return name in STANDARD or any((place / name).is_file() for place in system)


def in_repository(header: str, home: Path) -> Path | None:
    """The folder that makes `#include <header>` work: the one of the nearest such file in the source's repository."""
    path_parts = [part for part in PurePosixPath(header).parts if part not in ("..", ".")]
    if not path_parts:
        return None
    here = home.resolve()
    best: tuple[tuple[int, int, str], Path] | None = None
    for path in _files(root_of(here)).get(path_parts[-1], ()):
        parts = path.parts
        if list(parts[-len(path_parts) :]) != path_parts:
            continue
        rank = (-len(os.path.commonpath([here, path])), len(parts), str(path))
        if best is None or rank < best[0]:
            best = rank, Path(*parts[: -len(path_parts)])
    return best[1] if best else None


def root_of(home: Path) -> Path:
    """The root of the repository around a folder; where nothing marks it, a few folders upwards."""
    beyond = {Path(home.anchor), Path(tempfile.gettempdir()).resolve(), _user_folder(), _user_folder().parent}
    root = home
    for count, folder in enumerate((home, *home.parents)):
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
        if folder in beyond:
            break
        root = folder if count <= HIGHEST else root
    return root


def _user_folder() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


@cache
def _files(root: Path) -> dict[str, tuple[Path, ...]]:
    """The files below a folder by their name; hidden folders are left out."""
    result: dict[str, list[Path]] = {}
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in names:
            result.setdefault(name, []).append(Path(folder, name))
        count += len(names)
        if count > LARGEST_TREE:
            break
    return {name: tuple(paths) for name, paths in result.items()}


def files_below(root: Path) -> Iterator[Path]:
    """The files of a repository, as far as they are looked at."""
    for paths in _files(root).values():
        yield from paths


def in_packages(header: str) -> Path | None:
    """The include folder of an installed package that has a header; None where no package has it."""
    return next((folder for folder in package_folders() if (folder / header).is_file()), None)


@cache
def package_folders() -> tuple[Path, ...]:
    """Include folders of the installed packages that bring CUDA headers."""
    result: list[Path] = []
    for package, patterns in _PACKAGES.items():
        spec = importlib.util.find_spec(package)
        for place in spec.submodule_search_locations or () if spec else ():
            for pattern in patterns:
                result += [path for path in sorted(Path(place).glob(pattern)) if path.is_dir()]
    return tuple(dict.fromkeys(result))
