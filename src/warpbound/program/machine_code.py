"""Programs from a cubin: disassembled code with the attributes of the ELF file and the compiler."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import msgspec

from warpbound.disk_cache import cached, digest
from warpbound.program.compiler_output import Compiled
from warpbound.program.control_flow import calls
from warpbound.program.instruction import Instruction, Place
from warpbound.program.kernel import Fixup, Parameter, Program
from warpbound.program.kernel_names import plain_name, title_of
from warpbound.program.nvdisasm import disassemble, version
from warpbound.program.product_shapes import with_product_shapes
from warpbound.program.tail_calls import tail_calls_as_branches

if TYPE_CHECKING:
    from warpbound.program.cubin import Cubin
    from warpbound.program.nvdisasm_lines import Section
    from warpbound.program.nvdisasm_listing import Listing


def from_cubin(
    image: bytes, name: str, compilation: Compiled | None = None, listing: str | None = None
) -> tuple[Program, ...]:
    """Every kernel of a cubin, in the order of its source; `name` is the file's, `listing` the output of nvdisasm.

    Kernels that were read before come from the cache. Raises InputError where it cannot be read.
    """
    facts = msgspec.msgpack.encode(compilation)
    key = digest("kernels", _reader(), version(), os.getcwd(), name, image, facts)
    return _decoded(cached(key, lambda: msgspec.msgpack.encode(_read(image, name, compilation, listing))))


@lru_cache(maxsize=8)
def _decoded(kernels: bytes) -> tuple[Program, ...]:
    return msgspec.msgpack.decode(kernels, type=tuple[Program, ...])


@cache
def _reader() -> str:
    """Size and time of change of the files that define how machine code is read and what the records hold."""
    files: list[tuple[str, int, int]] = []
    for package in ("program", "isa"):
        with os.scandir(os.path.join(os.path.dirname(__file__), os.pardir, package)) as entries:
            stats = [(each.name, each.stat()) for each in entries if each.name.endswith((".py", ".toml"))]
        files += [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return repr(sorted(files))


def _read(image: bytes, name: str, compilation: Compiled | None, listing: str | None) -> tuple[Program, ...]:
    from warpbound.program.cubin import read_cubin  # these take a fifth of a run that finds the kernels in the cache
    from warpbound.program.linked_functions import with_functions
    from warpbound.program.nvdisasm_listing import kernels, read_listing

    cubin = read_cubin(image, name)
    listings = read_listing(disassemble(image, name) if listing is None else listing, name)
    functions = {section.name: section for section in listings.sections if section.instructions and not section.entry}
    result = [
        _program(with_functions(section, functions), listings, cubin, compilation, name)
        for section in kernels(listings)
        if section.name in cubin.kernels
    ]
    return tuple(_as_in_the_source(result))


def _as_in_the_source(kernels: list[Program]) -> list[Program]:
    """By the first line of each where all have lines; compilers write the last kernel of a file first."""
    places = [
        [instruction.place.outermost for instruction in program.instructions if instruction.place]
        for program in kernels
    ]
    if not all(places):
        return kernels
    firsts = {id(program): min((p.file, p.line) for p in own) for program, own in zip(kernels, places, strict=True)}
    return sorted(reversed(kernels), key=lambda program: firsts[id(program)])


def _program(
    section: "Section", listing: "Listing", cubin: "Cubin", compilation: Compiled | None, name: str
) -> Program:
    facts = cubin.kernels[section.name]
    plain = plain_name(section.name)
    signatures = compilation.parameters if compilation else {}
    candidates = signatures.get(section.name) or signatures.get(plain.rpartition("::")[2], [])
    declared = _agreed(
        [candidate for candidate in candidates if len(candidate) == len(facts.parameters)], len(facts.parameters)
    )
    return Program(
        name=section.name,
        title=(compilation.titles.get(section.name) if compilation else None) or title_of(section.name),
        arch=cubin.arch,
        features=listing.variant,
        instructions=with_product_shapes(tail_calls_as_branches(_placed(section.instructions, name))),
        labels=frozenset(section.labels.values()),
        functions=section.functions,
        registers=facts.registers,
        shared_bytes=facts.shared_bytes,
        local_bytes=facts.local_bytes,
        spills=compilation.spills.get(section.name, (0, 0)) if compilation else (0, 0),
        barriers=facts.barriers,
        max_threads=facts.max_threads,
        threads_required=facts.threads_required,
        cluster=facts.cluster,
        parameter_base=facts.parameter_base,
        parameters=tuple(
            Parameter(word, kind, offset, size)
            for (word, kind), (offset, size) in zip(declared, facts.parameters, strict=True)
        ),
        constants=facts.constants,
        symbols=cubin.symbols,
        data=cubin.sections,
        fixups=tuple(Fixup(*fixup) for fixup in cubin.fixups),
        source_name=name,
        assumed=tuple(_calls_away(section.instructions)),
    )


def _calls_away(instructions: Iterable[Instruction]) -> Iterator[str]:
    """The note about calls to functions in other sections, which separate compilation leaves."""
    names = dict.fromkeys(
        x.text
        for instruction in instructions
        if calls(instruction)
        for x in instruction.operands
        if x.kind == "label" and x.index
    )
    for name in names:
        yield f"calls {plain_name(name.strip('`() '))}, compiled apart: its instructions are not counted"


def _agreed(candidates: Sequence[Sequence[tuple[str, str]]], count: int) -> list[tuple[str, str]]:
    """Names and types of parameters as far as all overloads of the name agree on them."""
    parameters = []
    for choices in zip(*candidates, strict=True) if candidates else [()] * count:
        names, types = {word for word, _ in choices}, {kind for _, kind in choices}
        parameters.append((names.pop() if len(names) == 1 else "", types.pop() if len(types) == 1 else ""))
    return parameters


def _placed(instructions: Iterable[Instruction], name: str) -> tuple[Instruction, ...]:
    """Source places without the compile-time folder that the line tables add to the file name."""
    whole = os.path.normpath(os.path.join(os.getcwd(), name))
    renamed: dict[Place, Place] = {}

    def known_as(place: Place) -> Place:
        if place not in renamed:
            file = name if os.path.normpath(place.file) == whole else place.file
            renamed[place] = Place(file, place.line, known_as(place.outer) if place.outer else None)
        return renamed[place]

    return tuple(
        replace(instruction, place=known_as(instruction.place)) if instruction.place else instruction
        for instruction in instructions
    )
