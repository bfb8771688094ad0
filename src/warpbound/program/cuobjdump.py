"""Reads what `cuobjdump -sass` prints, best with `-res-usage`: several architectures in one text, plain addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.program.arch_match import runs_on
from warpbound.program.jump_targets import label_targets
from warpbound.program.nvdisasm_lines import Section
from warpbound.program.nvdisasm_listing import Listing, finished, reader_of

_CODE = re.compile(r"^\s*code for sm_(\d+)([af]?)\s*$")
_FUNCTION = re.compile(r"^[^\S\n]*Function\s*:\s*(\S+)\s*$", re.M)
_FLAGS = re.compile(r"EF_CUDA_SM(\d+)\b")
_OTHER_CODE = re.compile(r"^\s*(?:\.nv\.\S+\s*:|Fatbin \w+ code:)\s*$")
_RESOURCES_OF = re.compile(r"^\s*Function (\S+):\s*$")
_RESOURCES = re.compile(r"^\s*REG:(\d+) STACK:(\d+) SHARED:(\d+) ")


@dataclass
class _Part:
    """The lines of one image, with their numbers; resources (registers, stack, shared memory) by function."""

    arch: int | None = None
    variant: str = ""
    lines: list[tuple[int, str]] = field(default_factory=list)
    resources: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"sm_{self.arch}{self.variant}"


def is_dump(text: str) -> bool:
    """Whether a text names its functions as cuobjdump does."""
    return _FUNCTION.search(text) is not None and "/*" in text


def read_dump(text: str, source: str, machine: Gpu) -> tuple[Listing, ...]:
    """The images in a dump that `machine` runs: of its own architecture, else of the closest one before.

    Raises InputError where there is none, or where lines are lost.
    """
    parts = [part for part in _parts(text) if any(_FUNCTION.match(line) for _, line in part.lines)]
    unnamed = next((part for part in parts if part.arch is None), None)
    if unnamed:
        raise InputError(
            f"{source} does not say which architecture it is for.", "Keep cuobjdump's `code for sm_NN` line."
        )
    fitting = [part for part in parts if part.arch is not None and runs_on(part.arch, part.variant, machine.arch)]
    if not fitting:
        inside = ", ".join(dict.fromkeys(str(part) for part in parts))
        raise InputError(
            f"{source} is code for {inside}; {machine.name} is sm_{machine.arch} and cannot run it.",
            "Choose another --gpu, or dump a program that was built for this one.",
        )
    best = max((section.arch or 0, section.variant) for section in fitting)
    return tuple(_listing(section, source) for section in fitting if (section.arch, section.variant) == best)


def _parts(text: str) -> Iterator[_Part]:
    part, owner = _Part(), ""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _CODE.match(line):
            resources = part.resources if part.arch is None else {}
            yield part
            part = _Part(int(match[1]), match[2], resources=resources)
        elif line.startswith("Fatbin "):
            yield part
            part = _Part()
        elif match := _RESOURCES_OF.match(line):
            owner = match[1]
        elif match := _RESOURCES.match(line):
            part.resources[owner] = (int(match[1]), int(match[2]), int(match[3]))
        else:
            if part.arch is None and (match := _FLAGS.search(line)):
                part.arch = int(match[1])
            part.lines.append((number, line))
    yield part


def _listing(part: _Part, source: str) -> Listing:
    arch = part.arch or 0
    reader = reader_of(arch, source)
    sections: list[Section] = []
    for number, line in part.lines:
        if match := _FUNCTION.match(line):
            sections.append(_section(match[1], number, part))
            reader.enter(sections[-1])
        elif _OTHER_CODE.match(line):
            reader.enter(Section("", number))  # read, and left out
        else:
            reader.line(number, line)
    filled = [label_targets(finished(section, arch)) for section in sections if section.instructions]
    if not filled:
        raise InputError(f"{source}: no instruction found.", "Give what `cuobjdump -sass` prints.")
    kernels = [
        section for section in filled if any(instruction.traits.kind == "exit" for instruction in section.instructions)
    ]
    return Listing(arch, part.variant, tuple(kernels or filled))


def _section(name: str, number: int, part: _Part) -> Section:
    if name not in part.resources:
        return Section(name, number)
    registers, stack, shared = part.resources[name]
    return Section(name, number, registers=registers, shared_bytes=shared, local_bytes=stack)
