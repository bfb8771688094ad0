"""What is installed here and what each missing piece would enable."""

import importlib.metadata
import importlib.util

from rich.console import RenderableType
from rich.text import Text

from warpbound import disk_cache
from warpbound.program import nvdisasm, older_nvdisasm
from warpbound.quick_dataclasses import dataclass
from warpbound.report.tables import ruled_table
from warpbound.result.installation import InstalledPart


@dataclass(frozen=True)
class Part:
    """A piece of software: what it is for and how to get it."""

    distribution: str
    module: str
    enables: str
    get: str


PARTS = (
    Part("nvidia-cuda-nvrtc", "nvidia", "compiling CUDA C++", "pip install 'warpbound[cuda]'"),
    Part("cuda-bindings", "cuda", "calling the compiler", "pip install 'warpbound[cuda]'"),
    Part("nvidia-cuda-nvrtc-cu12", "nvidia", "--compiler nvrtc-12.x", "pip install 'warpbound[nvrtc12]'"),
    Part("nvidia-cuda-nvrtc-cu11", "nvidia", "--compiler nvrtc-11.8", "pip install 'warpbound[nvrtc11]'"),
    Part("nvidia-cuda-nvdisasm", "nvidia", "reading machine code", "pip install 'warpbound[cuda]'"),
    Part("nvidia-cuda-nvcc", "nvidia", "compiling whole files and programs, with host code and standard headers",
         "pip install 'warpbound[nvcc]'"),
    Part("nvidia-nvjitlink", "nvidia", "reading PTX and device code that is not linked yet",
         "pip install 'warpbound[ptx]'"),
    Part("pyelftools", "elftools", "registers, shared memory, parameters from cubins", "pip install 'warpbound[cuda]'"),
    Part("numba", "numba", "simulations some thirty times faster", "pip install 'warpbound[simulate]'"),
    Part("plotly", "plotly", "figures, the HTML report", "pip install 'warpbound[figures]'"),
    Part("jinja2", "jinja2", "the HTML report", "pip install 'warpbound[figures]'"),
    Part("tree-sitter-cuda", "tree_sitter_cuda", "whole .cu files with host code", "pip install 'warpbound[cuda]'"),
)  # fmt: skip


def health() -> list[InstalledPart]:
    """Every piece of software, with the programs of CUDA and the cache."""
    installed = str(nvdisasm.find() or "") or None
    older = str(older_nvdisasm.find() or "") or None
    reading = "reading sm_70 code, which NVRTC 11 and 12 make"
    return [
        *(InstalledPart(part=p.distribution, version=_version(p), enables=p.enables, get=p.get) for p in PARTS),
        InstalledPart(
            part="nvdisasm program", version=installed, enables="reading machine code",
            get="pip install 'warpbound[cuda]'",
        ),
        InstalledPart(part="nvdisasm of CUDA 12", version=older, enables=reading, get=older_nvdisasm.COMMAND),
        InstalledPart(
            part="cache folder", version=str(disk_cache.folder()), enables="answers in under a second", get="",
        ),
    ]  # fmt: skip


def _version(part: Part) -> str | None:
    try:
        version = importlib.metadata.version(part.distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
    return version if importlib.util.find_spec(part.module) else None


def health_text(parts: list[InstalledPart]) -> RenderableType:
    """The same for reading."""
    columns = ("part", "found", "enables", "to get it")
    table = ruled_table(columns, words=columns, folded=columns)
    for part in parts:
        version = Text(part.version, "green") if part.version else Text("missing", "red")
        table.add_row(part.part, version, part.enables, Text("" if part.version else part.get))
    return table
