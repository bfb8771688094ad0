"""Programs from SASS listings: counts registers, and notes what a listing does not contain."""

from dataclasses import replace

from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.program.cubin import reserved_shared_B
from warpbound.program.cuobjdump import read_dump
from warpbound.program.instruction import Instruction
from warpbound.program.instruction_encoding import MAXWELL, parameter_base
from warpbound.program.jump_targets import unknown_targets
from warpbound.program.kernel import BARRIERS_NOT_TOLD, SHARED_NOT_TOLD, Program
from warpbound.program.kernel_names import title_of
from warpbound.program.nvdisasm_lines import Section
from warpbound.program.nvdisasm_listing import kernels, read_listing
from warpbound.program.product_shapes import with_product_shapes
from warpbound.program.raw_sass import read_bare
from warpbound.program.registers import reads, writes
from warpbound.program.tail_calls import tail_calls_as_branches

_WAYS = "print it with `nvdisasm -c -hex -gi`"


def from_listing(text: str, name: str) -> tuple[Program, ...]:
    """Every kernel in the output of nvdisasm. Raises InputError where it does not name its architecture."""
    listing = read_listing(text, name)
    if listing.arch is None:
        raise InputError(f"{name} does not say which architecture it is for.", "Keep nvdisasm's `.target sm_NN` line.")
    return tuple(_program(section, listing.arch, listing.variant, name) for section in kernels(listing))


def from_dump(text: str, name: str, machine: Gpu) -> tuple[Program, ...]:
    """The kernels in the output of `cuobjdump -sass`, in the code that `machine` runs.

    Raises InputError where there is none.
    """
    return tuple(
        _program(section, listing.arch, listing.variant, name)
        for listing in read_dump(text, name, machine)
        for section in listing.sections
        if listing.arch is not None
    )


def from_bare(text: str, name: str, machine: Gpu) -> tuple[Program, ...]:
    """The kernel of a bare listing, as code for `machine`."""
    listing = read_bare(text, name, machine)
    note = f"the listing does not name its architecture, which is assumed to be sm_{machine.arch}"
    result = (_program(section, machine.arch, "", name) for section in listing.sections)
    return tuple(replace(program, assumed=(*program.assumed, note)) for program in result)


def _program(section: Section, arch: int, variant: str, name: str) -> Program:
    """A program from one section of a listing; notes the resources that a listing does not contain."""
    highest = max((_last_register(instruction) for instruction in section.instructions), default=0)
    assumed = [SHARED_NOT_TOLD if section.shared_bytes is None else BARRIERS_NOT_TOLD]
    if section.registers is None:
        assumed.append(f"registers counted from the listing: at least {highest + 1}")
    if all(instruction.control is None for instruction in section.instructions):
        assumed.append(_no_control_words(arch))
    if any(unknown_targets(instruction) for instruction in section.instructions):
        assumed.append(
            "the targets of jumps through a table are not printed: every place where a block begins is assumed"
        )
    reserved = reserved_shared_B(arch)
    return Program(
        name=section.name,
        title=title_of(section.name),
        arch=arch,
        features=variant,
        instructions=with_product_shapes(tail_calls_as_branches(section.instructions)),
        labels=frozenset(section.labels.values()),
        functions=section.functions,
        registers=section.registers or highest + 1,
        shared_bytes=max(0, (section.shared_bytes or 0) - reserved),
        local_bytes=section.local_bytes,
        parameter_base=parameter_base(arch),
        source_name=name,
        assumed=tuple(assumed),
    )


def _no_control_words(arch: int) -> str:
    """The note about how instructions issue in a listing without control words."""
    assumption = "each instruction is assumed to wait for the registers that it reads"
    return f"the listing has no control words: {assumption}" + (f" ({_WAYS})" if arch >= MAXWELL else "")


def _last_register(instruction: Instruction) -> int:
    """The highest register that an instruction reads or writes."""
    return max((int(name[1:]) for name in (*reads(instruction), *writes(instruction)) if name[0] == "R"), default=0)
