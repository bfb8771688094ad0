"""Whatever the user gives - CUDA C++, a cubin, a listing - to Programs, one per kernel."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from warpbound import machine as machines
from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.program.cubin import Cubin, read_cubin
from warpbound.program.cuda import COMPILED_ARCHITECTURES, Compiled, Options, compile_cuda, with_instance
from warpbound.program.instruction import RZ, Instruction, Operand, Place
from warpbound.program.kernel import Fixup, Parameter, Program, Symbol
from warpbound.program.nvdisasm import disassemble
from warpbound.program.sass import Listing, Section, kernels, read_listing

Source = Path | str | bytes
_ENDINGS = (".cu", ".cuh", ".cubin", ".sass", ".txt")
LARGEST_FILE_B = 64 << 20
_TEGRA = frozenset({72, 87})  # neither run other boards' code nor lend theirs
_FATBIN = b"\x50\xed\x55\xba"
_PTX = re.compile(r"^\s*\.version\s+\d+\.\d+\s*$", re.M)
_LISTING = re.compile(r"^\s*\.target\s+sm_|^\s*/\*0000\*/", re.M)
_PLAIN_NAME = re.compile(r"\d+")


def compile_program(  # noqa: PLR0913  (the signature is the public one)
    source: Source,
    gpu: str | Path | Gpu,
    kernel: str | None = None,
    defines: Mapping[str, object] | None = None,
    options: Sequence[str] = (),
    include: Sequence[str | Path] = (),
) -> Program:
    """The one kernel of `source` (a Path, or the text itself) as `gpu` runs it.

    kernel : plain name, mangled name or name expression (`scale<float>`); needed where there are several.
    Raises InputError where the source holds no such kernel or does not compile, MissingTool without a compiler.
    """
    choice = Options(
        tuple((k, str(v)) for k, v in (defines or {}).items()),
        tuple(Path(folder) for folder in include),
        tuple(options),
    )
    found = programs(source, machines.gpu(gpu), kernel, choice)
    if len(found) > 1:
        raise InputError(
            f"{found[0].source_name} holds {len(found)} kernels: {', '.join(spelled(found))}.",
            "Name one of them with kernel= (--kernel).",
        )
    return found[0]


def programs(source: Source, machine: Gpu, kernel: str | None, options: Options) -> tuple[Program, ...]:
    """Every kernel of `source`, or those that `kernel` names, as `machine` runs them.

    source : a Path to .cu, .cuh, .cubin, .sass or .txt; or the text of CUDA C++ or a listing; or bytes.
    Raises InputError where nothing of that name is found or the input cannot be read.
    """
    source = _path_if_one(source)
    name, raw = _contents(source)
    place = source.parent if isinstance(source, Path) else Path()
    if raw[:4] == b"\x7fELF":
        found = _from_cubin(raw, name, None)
    else:
        text = _text(raw, name)
        is_source = isinstance(source, Path) and source.suffix in (".cu", ".cuh")
        if not is_source and _PTX.search(text) and ".address_size" in text:
            raise InputError(f"{name} is PTX, not machine code.", "Assemble it with ptxas and give the cubin.")
        if not is_source and _LISTING.search(text):
            found = _from_listing(text, name)
        else:
            options = replace(options, include=(place, *options.include))
            found = _from_cuda(text, name, machine, kernel, options)
    return tuple(_fits(one, machine) for one in _named(found, kernel, name))


def _path_if_one(source: Source) -> Source:
    """A text of one word that ends like a file of ours is the path of one: no kernel is that short."""
    if isinstance(source, str) and len(source.split()) == 1 and source.endswith(_ENDINGS):
        return Path(source)
    return source


def _contents(source: Source) -> tuple[str, bytes]:
    if isinstance(source, Path):
        name, raw = str(source), _read(source)
    else:
        name, raw = "<input>", source.encode() if isinstance(source, str) else source
    if len(raw) > LARGEST_FILE_B:
        raise InputError(
            f"{name} is larger than {LARGEST_FILE_B >> 20} MB, the limit.", "Give the cubin of the one kernel."
        )
    if not raw.strip():
        raise InputError(f"{name} is empty.", "Give CUDA C++, a cubin or a listing.")
    if raw.startswith(_FATBIN):
        raise InputError(f"{name} is a fat binary.", "Take the cubin out of it with `cuobjdump -xelf all`.")
    return name, raw


def _read(path: Path) -> bytes:
    """At most one byte more than is allowed, so that an endless file comes to an end."""
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Give a file: .cu, .cubin or .sass.")
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE_B + 1)
    except (OSError, ValueError) as failed:
        reason = getattr(failed, "strerror", None) or str(failed)
        raise InputError(f"{path} cannot be read ({reason}).", "Check the path.") from failed


def _text(raw: bytes, name: str) -> str:
    """UTF-8, UTF-16 with its mark (as PowerShell redirects), or Latin-1; control characters are in no text."""
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    strange = next((letter for letter in text if letter < " " and letter not in "\t\n\v\f\r\x1a"), None)
    if strange is not None:
        raise InputError(
            f"{name} is neither text nor a cubin (it holds the byte {ord(strange):#04x}).", "Give .cu, .cubin or .sass."
        )
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
        f"No compiler at hand makes code for compute capability {machine.compute_capability}.",
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
        functions=section.functions,
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
    return tuple(_program_of_section(section, listing, listing.arch, name) for section in kernels(listing))


def _program_of_section(section: Section, listing: Listing, arch: int, name: str) -> Program:
    """A listing has no resources; registers are counted, and what is missing is said."""
    highest = max((_last_register(one) for one in section.instructions), default=0)
    assumed = ["shared memory and barriers are not in a listing: taken as none"]
    if section.registers is None:
        assumed.append(f"registers counted from the listing: at least {highest + 1}")
    if any(one.control is None for one in section.instructions):
        assumed.append(
            "the listing has no encodings, so that nobody knows what waits for what: latencies are far too small "
            "(print it with `nvdisasm -c -hex -gi`)"
        )
    return Program(
        name=section.name,
        title=plain_name(section.name),
        arch=arch,
        features=listing.variant,
        instructions=tuple(section.instructions),
        labels=frozenset(section.labels.values()),
        functions=section.functions,
        registers=section.registers or highest + 1,
        source_name=name,
        assumed=tuple(assumed),
    )


def _last_register(one: Instruction) -> int:
    """The highest register an instruction touches; a wide result or store takes several from its number on."""
    wide = {"64": 2, "96": 3, "128": 4, "WIDE": 2} if one.opcode != "LDSM" else {}
    width = max((wide.get(word, 1) for word in one.modifiers), default=1)
    if one.opcode in ("DADD", "DMUL", "DFMA"):
        width = 2
    used = [x.index + width - 1 for x in one.operands if _is_register(x)]
    return max(used + [term.index for x in one.operands for term in x.terms if _is_register(term)], default=0)


def _is_register(operand: Operand) -> bool:
    return operand.kind == "register" and operand.index < RZ


def _named(found: tuple[Program, ...], kernel: str | None, name: str) -> tuple[Program, ...]:
    if not found:
        raise InputError(f"{name} holds no kernel.", "Give a file with a __global__ function.")
    if kernel is None:
        return found
    wanted = _bare(kernel)
    chosen = tuple(one for one in found if wanted in _names(one))
    if not chosen:
        raise InputError(f"{name} has no kernel `{kernel}`.", f"It holds: {', '.join(spelled(found))}.")
    exact = tuple(one for one in chosen if wanted in (_bare(one.name), _bare(one.title)))
    return exact or chosen


def _names(program: Program) -> set[str]:
    """What a kernel may be called: mangled, titled, plain, without namespaces; blanks do not count."""
    plain = plain_name(program.name)
    head, angle, rest = program.title.partition("<")
    bare_title = head.rpartition("::")[2] + angle + rest
    return {_bare(word) for word in (program.name, program.title, bare_title, plain, plain.rpartition("::")[2])}


def _bare(name: str) -> str:
    return re.sub(r"\s", "", name)


def spelled(found: Sequence[Program]) -> list[str]:
    """The titles of kernels, with the mangled name where a title is not one's own."""
    titles = [one.title for one in found]
    return [one.title if titles.count(one.title) == 1 else f"{one.title} ({one.name})" for one in found]


def _fits(program: Program, machine: Gpu) -> Program:
    """Code runs on its own major architecture, on the same or a later minor one.

    Raises InputError where it cannot, so that no cubin is silently moved.
    """
    if program.proxy_isa or _runs(program, machine.arch):
        return program
    raise InputError(
        f"{program.source_name} is code for sm_{program.arch}{program.features}; {machine.name} is sm_{machine.arch} "
        "and cannot run it.",
        f"Give the source, or choose a GPU of compute capability {program.arch // 10}.{program.arch % 10}.",
    )


def _runs(program: Program, arch: int) -> bool:
    if program.arch == arch:
        return True
    tied = program.features == "a" or {program.arch, arch} & _TEGRA
    return not tied and program.arch // 10 == arch // 10 and program.arch < arch


def plain_name(mangled: str) -> str:
    """`ns::saxpy` for `_ZN2ns5saxpyEifPf`; names that are not mangled come back as they are."""
    if not mangled.startswith("_Z"):
        return mangled
    at = 3 if mangled.startswith("_ZN") else 2
    words = []
    while found := _PLAIN_NAME.match(mangled, at):
        length = int(found[0])
        word = mangled[found.end() : found.end() + length]
        words += [] if word.startswith("_GLOBAL__N_") else [word]  # a namespace without a name
        at = found.end() + length
        if not mangled.startswith("_ZN"):
            break
    return "::".join(words) or mangled
