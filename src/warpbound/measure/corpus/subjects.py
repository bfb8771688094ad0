"""Kernels of the corpus: source, launch, and the other tunings."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from warpbound import shipped_examples
from warpbound.kernel_launch import Dim, Launch, launch
from warpbound.measure.corpus import tuned
from warpbound.measure.corpus.tuned import Tuning
from warpbound.program.cuda import Options
from warpbound.quick_dataclasses import dataclass

EXAMPLES = shipped_examples.folder()
APPLICATIONS = "applications"
SMALL = 4  # every tuning also runs with this fraction of its blocks, 1/4


@dataclass(frozen=True)
class Subject:
    """A kernel with its launch. shares : divisors of the blocks along the longest side of the grid."""

    source: Path
    launch: Launch
    tunings: tuple[Tuning, ...] = ()
    shares: tuple[int, ...] = (1, 2, 4, 8)

    @property
    def kernel(self) -> str:
        """Its name without template arguments."""
        return (self.launch.kernel or self.source.stem).partition("<")[0]

    def options(self, defines: Mapping[str, str]) -> Options:
        """Compiler options with further macros."""
        macros = tuple(({**self.launch.defines, **defines}).items())
        kernel = self.launch.kernel
        instance = kernel if kernel and "<" in kernel else None
        return Options(macros, (self.source.parent, *self.launch.include), self.launch.options, instance)


def _rows(elements: int, *threads: int) -> tuple[Tuning, ...]:
    return tuple(Tuning(f"block{t}", (-(-elements // t), 1, 1), (t, 1, 1)) for t in threads)


TUNINGS: dict[str, tuple[Tuning, ...]] = {
    "saxpy": _rows(1 << 24, 64, 128, 512, 1024),
    "vector_add": _rows(1 << 24, 64, 128, 512, 1024),
    "black_scholes": _rows(1 << 23, 64, 128, 512, 1024),
    "matmul_tiled": tuple(
        Tuning(f"tile{t}", (2048 // t, 2048 // t, 1), (t, t, 1), {"TILE": str(t)}) for t in (8, 16)
    ),
    "convolution": tuple(
        Tuning(f"block{x}x{y}", (8192 // x, 8192 // y, 1), (x, y, 1))
        for x, y in ((32, 4), (32, 32), (128, 2), (256, 1))
    ),
    "nbody": tuple(
        Tuning(f"threads{t}", (-(-16896 // t), 1, 1), (t, 1, 1), {"THREADS": str(t)}) for t in (64, 256, 512)
    ),
}  # fmt: skip


@cache
def subjects() -> dict[str, Subject]:
    """The examples, the applications among them at two sizes, then the tunable kernels."""
    every = {}
    for path in sorted(EXAMPLES.glob("*.toml")) if EXAMPLES.is_dir() else ():
        every[path.stem] = Subject(path.with_suffix(".cu"), launch(path), TUNINGS.get(path.stem, ()))
    for path in sorted((EXAMPLES / APPLICATIONS).glob("*.toml")):
        every[f"application_{path.stem}"] = Subject(path.with_suffix(".cu"), launch(path), (), (1, 4))
    for name, family in tuned.FAMILIES.items():
        first, *others = family.tunings
        own = launch(grid=first.grid, block=first.block, smem=family.smem, kernel=family.kernel,
                     defines=first.defines, args=family.arguments())  # fmt: skip
        every[name] = Subject(tuned.FOLDER / f"{family.kernel}.cu", own, tuple(others), (1, 4))
    return every


def tunings(subject: Subject) -> tuple[Tuning, ...]:
    """Every set of macros: the subject's own, then the tunings."""
    return (Tuning("", subject.launch.grid, subject.launch.block), *subject.tunings)


def launches(subject: Subject) -> dict[str, Tuning]:
    """Label -> tuning: the subject's own launch with fewer and fewer blocks, then every tuning, whole and a quarter."""
    own = subject.launch
    every: dict[str, Tuning] = {}
    for share in subject.shares:
        tuning = Tuning(f"1/{share}", _fewer(own.grid, share), own.block)
        if tuning.grid not in [other.grid for other in every.values()]:
            every[tuning.name] = tuning
    for tuning in subject.tunings:
        every[tuning.name] = tuning
        every[f"{tuning.name}-1/{SMALL}"] = replace(tuning, grid=_fewer(tuning.grid, SMALL))
    return every


def _fewer(grid: Dim, share: int) -> Dim:
    longest = max(range(3), key=lambda at: (grid[at], at))
    x, y, z = (max(1, side // share) if at == longest else side for at, side in enumerate(grid))
    return (x, y, z)
