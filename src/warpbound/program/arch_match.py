"""Which machine code runs on which GPU, and the architecture to compile for."""

from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.program import nvrtc_release, older_nvdisasm
from warpbound.program.cuda import COMPILED_ARCHITECTURES
from warpbound.program.kernel import Program

OLDEST = 60  # the first architecture for which code of another one may be used
_TEGRA = frozenset({72, 87})  # they neither run code of other boards, nor do other boards run theirs


def compiled_arch(machine: Gpu, compiler: str = "nvrtc") -> tuple[int, str | None]:
    """(architecture to compile for, `sm_75` if that code is a proxy) for a machine.

    compiler : as --compiler names it. nvrtc-12.6 makes code for sm_70 and sm_72, if an nvdisasm reads it.
    Raises InputError for machines older than 6.0: no available compiler supports them or a close relative. Raises
    MissingTool where that NVRTC is not installed.
    """
    arch = machine.arch
    if arch in COMPILED_ARCHITECTURES or _by_older(arch, compiler):
        return arch, None
    if OLDEST <= arch < 75:
        return 75, "sm_75"
    raise InputError(
        f"No available compiler generates code for compute capability {machine.compute_capability}.",
        "Give a listing for it, or choose a GPU of compute capability 6.0 or later.",
    )


def _by_older(arch: int, compiler: str) -> bool:
    """Whether an older NVRTC makes machine code for sm_`arch` and an older nvdisasm reads it."""
    if not older_nvdisasm.OLDEST <= arch < older_nvdisasm.LATER or not compiler.startswith("nvrtc-"):
        return False
    supported = nvrtc_release.release(compiler.removeprefix("nvrtc-")).architectures
    return arch in supported and older_nvdisasm.find() is not None


def runs_on(built: int, features: str, arch: int) -> bool:
    """Whether sm_`arch` runs machine code built for sm_`built`: the same major architecture, no later minor one.

    features : `a` ties code to one architecture; `f` to its family, which is the rule of all code.
    """
    if built == arch:
        return True
    tied = features == "a" or {built, arch} & _TEGRA
    return not tied and built // 10 == arch // 10 and built < arch


def assembles_for(target: int, features: str, arch: int) -> bool:
    """Whether PTX of `.target sm_<target><features>` can become code for sm_`arch`: any later one, if not tied."""
    if features == "a":
        return target == arch
    return target <= arch and (not features or target // 10 == arch // 10)


def fits(program: Program, machine: Gpu) -> Program:
    """The program, where the machine can run it. Raises InputError where it cannot: no code is silently moved."""
    stands_in = bool(program.proxy_isa) and OLDEST <= machine.arch < program.arch
    if stands_in or runs_on(program.arch, program.features, machine.arch):
        return program
    raise InputError(
        f"{program.source_name} is code for sm_{program.arch}{program.features}; {machine.name} is sm_{machine.arch} "
        "and cannot run it.",
        f"Give the source, or choose a GPU of compute capability {program.arch // 10}.{program.arch % 10}.",
    )
