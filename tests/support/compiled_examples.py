"""Every example compiled for an architecture, each once."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from support.paths import ROOT
from warpbound import launch
from warpbound.machine import gpu
from warpbound.program.cuda import Options, compile_cuda, with_instance
from warpbound.program.kernel import Program
from warpbound.program.source_files import Source, programs

EXAMPLES = tuple(sorted((ROOT / "examples").glob("*.cu")))
USUAL, BROAD = 90, 120  # sm_80 is what the emulator executes
FULL = (75, 80, 86, 89, 100)
ARCHITECTURES = [
    pytest.param(USUAL, id=f"sm_{USUAL}"),
    pytest.param(BROAD, id=f"sm_{BROAD}", marks=pytest.mark.broad),
    *(pytest.param(arch, id=f"sm_{arch}", marks=pytest.mark.full) for arch in FULL),
]


@dataclass(frozen=True)
class Built:
    """An example for one architecture: the cubin, and what we make of it."""

    name: str
    options: Options
    cubin: bytes
    programs: tuple[Program, ...]


@cache
def build(path: Path, arch: int) -> Built:
    """Compiled with the definitions, options and kernel of its launch file."""
    asked = launch(path.with_suffix(".toml"))
    options = Options(tuple(asked.defines.items()), tuple(asked.include), tuple(asked.options))
    found = programs(path, gpu(f"sm_{arch}"), asked.kernel, options)
    whole = with_instance(Options(options.defines, (path.parent, *options.include), options.extra), asked.kernel)
    return Built(path.stem, whole, compile_cuda(path.read_text(), str(path), arch, whole).cubin, found)




def kernels(source: Source, arch: int = 80, kernel: str | None = None, options: Options | None = None) -> list[Program]:
    return list(programs(source, gpu(f"sm_{arch}"), kernel, options or Options()))
