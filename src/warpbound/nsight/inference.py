"""Inferences from a report about the arguments, whose values it lacks."""

import re
from collections.abc import Iterator

from warpbound.nsight.report_file import ProfiledLaunch
from warpbound.parameter_packing import declared_dtype
from warpbound.program import Program

READ = ("dram__bytes_read.sum",)
WRITTEN = ("dram__bytes_write.sum",)
SECTORS_READ = ("lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum",)
SECTOR_B = 32
POINTER_B = 8


def inferred(profile: ProfiledLaunch, program: Program) -> tuple[str, ...]:
    """Sentences on the parameters, the elements that are touched, and the bytes of all arrays together."""
    types = _types(profile.demangled, len(program.parameters))
    return tuple((*_parameters(program, types), *_elements(profile, program), *_bytes(profile)))


def _parameters(program: Program, types: list[str]) -> Iterator[str]:
    if not program.parameters:
        yield "the kernel has no parameters"
        return
    words = []
    for position, parameter in enumerate(program.parameters):
        kind = types[position] if types else ("8 B" if parameter.size == POINTER_B else f"{parameter.size} B")
        words.append(f"{position}: {kind}")
    yield f"parameters by position: {', '.join(words)}"


def _types(demangled: str, count: int) -> list[str]:
    """The types of the parameters, where the demangled name gives as many."""
    match = re.search(r"\((.*)\)\s*$", demangled)
    if match is None or "(" in match[1] or "<" in match[1]:
        return []
    types = [word.strip() for word in match[1].split(",")]
    return types if len(types) == count else []


def _elements(profile: ProfiledLaunch, program: Program) -> Iterator[str]:
    """Threads that load or store, by the first access of global memory that a thread does once."""
    threads = profile.by_address("thread_inst_executed_true")
    warps = profile.by_address("inst_executed")
    if not threads or not warps:
        return
    base = min(warps)
    thread_count = _product(profile.grid) * _product(profile.block)
    for instruction in program.instructions:
        lanes = threads.get(base + instruction.address)
        if "global" in instruction.traits.spaces and lanes and lanes <= thread_count:
            part = "all" if lanes == thread_count else f"{lanes:.0f} of the {thread_count}"
            yield f"{part} threads pass the bounds check before the first access of global memory ({instruction.text})"
            return


def _bytes(profile: ProfiledLaunch) -> Iterator[str]:
    missed = profile.number(*SECTORS_READ)
    size = profile.number(*READ) if missed is None else missed * SECTOR_B
    bytes_written = profile.number(*WRITTEN)
    if size:
        yield f"from cold caches {size / 1e6:.3g} MB were read: the arrays that are read hold at most that together"
    if bytes_written:
        yield f"{bytes_written / 1e6:.3g} MB reached DRAM before the end: at least so much is written"


def suggested(profile: ProfiledLaunch, program: Program) -> str:
    """The --arg words of one element per thread, for the types of the demangled name; "" where it gives none."""
    types = _types(profile.demangled, len(program.parameters))
    threads = _product(profile.grid) * _product(profile.block)
    words = []
    for position, kind in enumerate(types):
        if kind.endswith("*"):
            words.append(f"--arg {position}={declared_dtype(kind.rstrip('*').strip()) or 'u8'}[{threads}]")
        else:
            words.append(f"--arg {position}={threads if 'int' in kind or 'long' in kind else '1.0'}")
    return " ".join(words)


def _product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]
