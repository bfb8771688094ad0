"""Whatever the user gives - CUDA C++, a cubin, a listing - to Programs, one per kernel."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from warpbound.errors import InputError
from warpbound.machine import Gpu, gpu
from warpbound.program.cubin import Cubin, read_cubin
from warpbound.program.cuda import COMPILED_ARCHITECTURES, Compiled, Options, compile_cuda, with_instance
from warpbound.program.instruction import Instruction, Place
from warpbound.program.kernel import Fixup, Parameter, Program, Symbol
from warpbound.program.nvdisasm import disassemble
from warpbound.program.sass import Listing, Section, kernels, read_listing

Source = Path | str | bytes
LARGEST_FILE_B = 64 << 20
_PLAIN_NAME = re.compile(r"\d+")


def compile_program(  # noqa: PLR0913  (the signature is the public one)
    source: Source,
    machine: str | Path | Gpu,
    kernel: str | None = None,
    defines: Mapping[str, object] | None = None,
    options: Sequence[str] = (),
    include: Sequence[str | Path] = (),
) -> Program:
    """The one kernel of `source` (a Path, or the text itself) as `machine` runs it.

    kernel : plain name, mangled name or name expression (`scale<float>`); needed where there are several.
    Raises InputError where the source holds no such kernel or does not compile, MissingTool without a compiler.
    """
    choice = Options(
        tuple((k, str(v)) for k, v in (defines or {}).items()),
        tuple(Path(folder) for folder in include),
        tuple(options),
    )
    found = programs(source, gpu(machine), kernel, choice)
    if len(found) > 1:
        raise InputError(
            f"{found[0].source_name} holds {len(found)} kernels: {', '.join(p.title for p in found)}.",
            "Name one of them with kernel= (--kernel).",
        )
    return found[0]


def programs(source: Source, machine: Gpu, kernel: str | None, options: Options) -> tuple[Program, ...]:
    """Every kernel of `source`, or those that `kernel` names, as `machine` runs them.

    source : a Path to .cu, .cuh, .cubin, .sass or .txt; or the text of CUDA C++ or a listing; or bytes.
    Raises InputError where nothing of that name is found or the input cannot be read.
    """
    name, raw = _contents(source)
    place = source.parent if isinstance(source, Path) else Path()
    if raw[:4] == b"\x7fELF":
        found = _from_cubin(raw, name, None)
    else:
        text = _text(raw, name)
        if re.search(r"^\s*\.target\s+sm_|^\s*/\*0000\*/", text, re.M):
            found = _from_listing(text, name)
        else:
            options = replace(options, include=(place, *options.include))
            found = _from_cuda(text, name, machine, kernel, options)
    return tuple(_fits(one, machine) for one in _named(found, kernel, name))


def _contents(source: Source) -> tuple[str, bytes]:
    if not isinstance(source, Path):
        if not source.strip():
            raise InputError("The input is empty.", "Give CUDA C++, a cubin or a listing.")
        return "<input>", source.encode() if isinstance(source, str) else source
    if source.is_dir():
        raise InputError(f"{source} is a folder.", "Give a file: .cu, .cubin or .sass.")
    try:
        size = source.stat().st_size
        if size > LARGEST_FILE_B:
            raise InputError(
                f"{source} is {size >> 20} MB; the limit is {LARGEST_FILE_B >> 20} MB.", "Give the one kernel's cubin."
            )
        raw = source.read_bytes()
    except OSError as failed:
        raise InputError(f"{source} cannot be read ({failed.strerror}).", "Check the path.") from failed
    if not raw.strip():
        raise InputError(f"{source} is empty.", "Give CUDA C++, a cubin or a listing.")
    return str(source), raw


def _text(raw: bytes, name: str) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError as broken:
        raise InputError(
            f"{name} is neither text nor a cubin (byte {broken.start} is not UTF-8).", "Give .cu, .cubin or .sass."
        ) from broken
    if "\0" in text:
        raise InputError(f"{name} is neither text nor a cubin (it holds zero bytes).", "Give .cu, .cubin or .sass.")
    return text


def _from_cuda(text: str, name: str, machine: Gpu, kernel: str | None, options: Options) -> tuple[Program, ...]:
    arch, proxy = compiled_arch(machine)
    compiled = compile_cuda(text, name, arch, with_instance(options, kernel))
    found = _from_cubin(compiled.cubin, name, compiled)
    return tuple(replace(one, source=text, proxy_isa=proxy, assumed=compiled.notes) for one in found)


def compiled_arch(machine: Gpu) -> tuple[int, str | None]:
    """(architecture to compile for, `sm_75` where that is a stand-in) for a machine.

    Raises InputError for machines older than 6.0: no compiler at hand makes code for anything like them.
    """
    arch = machine.arch
    if arch in COMPILED_ARCHITECTURES:
        return arch, None
    if 60 <= arch < 75:
        return 75, "sm_75"
    raise InputError(
        f"No compiler at hand makes code for sm_{arch} ({machine.name}).",
        "Give a listing for it, or choose a GPU of compute capability 6.0 or later.",
    )


def _from_cubin(image: bytes, name: str, compiled: Compiled | None) -> tuple[Program, ...]:
    cubin = read_cubin(image, name)
    listing = read_listing(disassemble(image, name), name)
    return tuple(
        _program(section, listing, cubin, compiled, name)
        for section in kernels(listing)
        if section.name in cubin.kernels
    )


def _program(section: Section, listing: Listing, cubin: Cubin, compiled: Compiled | None, name: str) -> Program:
    facts = cubin.kernels[section.name]
    plain = plain_name(section.name)
    written = compiled.parameters.get(plain.rpartition("::")[2], []) if compiled else []
    known = _agreed([one for one in written if len(one) == len(facts.parameters)], len(facts.parameters))
    return Program(
        name=section.name,
        title=(compiled.titles.get(section.name) if compiled else None) or plain,
        arch=cubin.arch,
        features=listing.variant,
        instructions=_placed(section.instructions, name),
        labels=frozenset(section.labels.values()),
        registers=facts.registers,
        shared_bytes=facts.shared_bytes,
        local_bytes=facts.local_bytes,
        spills=compiled.spills.get(section.name, (0, 0)) if compiled else (0, 0),
        barriers=facts.barriers,
        max_threads=facts.max_threads,
        parameter_base=facts.parameter_base,
        parameters=tuple(
            Parameter(word, kind, offset, size)
            for (word, kind), (offset, size) in zip(known, facts.parameters, strict=True)
        ),
        constants=facts.constants,
        symbols=tuple(Symbol(s.name, s.section, s.offset, s.size) for s in cubin.symbols),
        data=cubin.sections,
        fixups=tuple(Fixup(*one) for one in cubin.fixups),
        source_name=name,
    )


def _agreed(written: Sequence[Sequence[tuple[str, str]]], count: int) -> list[tuple[str, str]]:
    """Names and types of parameters as far as all overloads of the name agree on them."""
    known = []
    for choices in zip(*written, strict=True) if written else [()] * count:
        names, types = {word for word, _ in choices}, {kind for _, kind in choices}
        known.append((names.pop() if len(names) == 1 else "", types.pop() if len(types) == 1 else ""))
    return known


def _placed(instructions: Iterable[Instruction], name: str) -> tuple[Instruction, ...]:
    """The line tables hold the folder of the compilation before the name; the user knows the file by its name."""
    whole = os.path.normpath(os.path.join(os.getcwd(), name))
    renamed: dict[Place, Place] = {}

    def known_as(place: Place) -> Place:
        if place not in renamed:
            file = name if os.path.normpath(place.file) == whole else place.file
            renamed[place] = Place(file, place.line, known_as(place.outer) if place.outer else None)
        return renamed[place]

    return tuple(replace(one, place=known_as(one.place)) if one.place else one for one in instructions)


def _from_listing(text: str, name: str) -> tuple[Program, ...]:
    listing = read_listing(text, name)
    if listing.arch is None:
        raise InputError(f"{name} does not say which architecture it is for.", "Keep nvdisasm's `.target sm_NN` line.")
    return tuple(_program_of_section(section, listing.arch, name) for section in kernels(listing))


def _program_of_section(section: Section, arch: int, name: str) -> Program:
    """A listing has no resources; registers are counted, and what is missing is said."""
    highest = max(
        (x.index for one in section.instructions for y in one.operands for x in (y, *y.terms)
         if x.kind == "register" and x.index < 255),
        default=0,
    )  # fmt: skip
    assumed = ["shared memory and barriers are not in a listing: taken as none"]
    if section.registers is None:
        assumed.append(f"registers counted from the listing: {highest + 1}")
    return Program(
        name=section.name,
        title=plain_name(section.name),
        arch=arch,
        instructions=tuple(section.instructions),
        labels=frozenset(section.labels.values()),
        registers=section.registers or highest + 1,
        source_name=name,
        assumed=tuple(assumed),
    )


def _named(found: tuple[Program, ...], kernel: str | None, name: str) -> tuple[Program, ...]:
    if not found:
        raise InputError(f"{name} holds no kernel.", "Give a file with a __global__ function.")
    if kernel is None:
        return found
    chosen = tuple(
        p for p in found if kernel in (p.name, p.title, plain_name(p.name), plain_name(p.name).rpartition("::")[2])
    )
    if not chosen:
        raise InputError(
            f"{name} has no kernel `{kernel}`.", f"It holds: {', '.join(sorted({p.title for p in found}))}."
        )
    return chosen


def _fits(program: Program, machine: Gpu) -> Program:
    """Code runs on its own major architecture, on the same or a later minor one.

    Raises InputError where it cannot, so that no cubin is silently moved.
    """
    same = program.arch // 10 == machine.arch // 10 and program.arch <= machine.arch
    if same or program.proxy_isa:
        return program
    raise InputError(
        f"{program.source_name} is code for sm_{program.arch}; {machine.name} is sm_{machine.arch} and cannot run it.",
        f"Give the source, or choose a GPU of compute capability {program.arch // 10}.x.",
    )


def plain_name(mangled: str) -> str:
    """`ns::saxpy` for `_ZN2ns5saxpyEifPf`; names that are not mangled come back as they are."""
    if not mangled.startswith("_Z"):
        return mangled
    at = 3 if mangled.startswith("_ZN") else 2
    words = []
    while found := _PLAIN_NAME.match(mangled, at):
        length = int(found[0])
        words.append(mangled[found.end() : found.end() + length])
        at = found.end() + length
        if not mangled.startswith("_ZN"):
            break
    return "::".join(words) or mangled
