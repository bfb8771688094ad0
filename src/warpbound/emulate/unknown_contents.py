"""Contents that a kernel reads and nobody gave: `__constant__` and `__device__` variables, arrays without contents.

Models   A variable counts as given if the launch gives its contents, if the code initialises it with anything but
         zeros, or if the kernel itself writes it: counters start at zero. Contents decide if a branch depends on them
         that matters (`control_dependence`).
"""

from collections.abc import Callable, Mapping, Set

from warpbound.emulate.control_dependence import ControlDependence
from warpbound.emulate.launch_memory import CONSTANT, GLOBAL_SECTIONS, USER_BANK, is_known, symbol_named
from warpbound.emulate.value_dependence import Reach, address_registers, dependents_of, lines_of, taint
from warpbound.kernel_launch import Launch
from warpbound.program.instruction import Instruction, Operand
from warpbound.program.kernel import Program, Symbol
from warpbound.program.kernel_names import plain_name
from warpbound.program.registers import lane_bytes
from warpbound.quick_dataclasses import dataclass

CONTENTS_OF = "unknown contents of '{name}'"
COMPILER_BANK = 2  # constants that the compiler makes
BY_CONST = "--const {name}=VALUE"
BY_CONST_ARRAY = "--const {name}=@FILE.npy, or by --const {name}=TYPE[COUNT]:FILL, as f32[64]:rand"
SCALAR_B = 8
BY_ARG = "--arg {name}=@FILE.npy, or a fill in the launch file"


@dataclass(frozen=True)
class UnknownContents:
    """Contents that were read and not given. what : in words. readers : instructions. option : how to give them."""

    what: str
    readers: frozenset[int]
    option: str

    def note(self, program: Program) -> str:
        """A sentence for an answer that takes the contents as zeros."""
        where = lines_of(program, self.readers)
        return f"{self.what} is read{where} and not given: it is taken as 0; give it by {self.option}"

    def refusal(self, program: Program, brought: Set[int], reach: Reach | None = None) -> str:
        """Why there is no time, if what the instructions `brought` read decides; else empty. reach : as of
        `value_dependence.tainted_before`."""
        branches = deciding_branches(program, brought, reach)
        if not branches:
            return ""
        where = lines_of(program, branches)
        return f"branches{where} depend on {self.what}, which is not given: give it by {self.option}"


def deciding_branches(program: Program, loads: Set[int], reach: Reach | None = None) -> tuple[int, ...]:
    """The branches that matter and depend on what the instructions `loads` bring."""
    control = ControlDependence(program)
    return tuple(at for at in dependents_of(program, loads, reach).branches if control.matters(at))


def array_refusals(
    program: Program, unknown: Mapping[str, Set[int]], reloads: Callable[[Set[int]], Set[int]], reach: Reach
) -> tuple[str, ...]:
    """Why there is no time, for each array whose contents nobody gave and that decides.

    unknown : what was read (CONTENTS_OF) -> instructions that read it. reloads : adds the loads that read values stored
    from those. reach : as of `value_dependence.tainted_before`.
    """
    refusals = []
    for what, readers in unknown.items():
        before, quote, name = what.rstrip("'").partition("'")
        if quote and CONTENTS_OF.startswith(before):
            array = UnknownContents(f"the contents of '{name}'", frozenset(readers), BY_ARG.format(name=name))
            refusals.append(array.refusal(program, reloads(readers), reach))
    return tuple(filter(None, refusals))


def unknown_symbols(program: Program, launch: Launch) -> tuple[UnknownContents, ...]:
    """The variables that the kernel reads, that are not given and that no code initialises; in the memory of a running
    program all are given."""
    if launch.placed is not None:
        return ()
    contents = (argument for argument in launch.constants if argument.kind != "array" or is_known(argument))
    names = {symbol_named(program, str(argument.name)).name for argument in contents}
    result = []
    for symbol in program.symbols:
        constant = symbol.section.startswith(f"{CONSTANT}{USER_BANK}")
        if symbol.name in names or not (constant or symbol.section in GLOBAL_SECTIONS) or _initialised(program, symbol):
            continue
        readers = _of_constant(program, symbol) if constant else _of_variable(program, symbol)
        if readers:
            name = plain_name(symbol.name)
            kind = "__constant__" if constant else "__device__"
            option = BY_CONST if symbol.size <= SCALAR_B else BY_CONST_ARRAY
            result.append(UnknownContents(f"{kind} variable '{name}'", readers, option.format(name=name)))
    return tuple(result)


def _initialised(program: Program, symbol: Symbol) -> bool:
    data: Mapping[str, bytes] = program.data
    contents = data.get(symbol.section, b"")
    if symbol.section.startswith(CONSTANT):
        contents = program.constants.get(USER_BANK, b"")
    fixed = any(
        fixup.section == symbol.section and 0 <= fixup.offset - symbol.offset < symbol.size for fixup in program.fixups
    )
    return fixed or any(contents[symbol.offset : symbol.offset + symbol.size])


def _of_constant(program: Program, symbol: Symbol) -> frozenset[int]:
    """The instructions that read a constant. An index that begins at no constant offset has its variable's own in it,
    from the compiler's bank or a number in the code: the largest such offset counts, as 4 and 8 are often mere sizes.
    """
    code, end = program.instructions, symbol.offset + symbol.size
    bare = {i for i, instruction in enumerate(code) if _indexed(instruction) and _reads(instruction, USER_BANK, 0, 1)}
    begins = dict.fromkeys(bare, 0)
    for offset in sorted(other.offset for other in _constants(program)) if bare else ():
        begins |= dict.fromkeys(bare & _at_index(program, offset), offset)
    return frozenset(
        i
        for i, instruction in enumerate(code)
        if (begins[i] == symbol.offset if i in bare else _reads(instruction, USER_BANK, symbol.offset, end))
    )


def _constants(program: Program) -> list[Symbol]:
    return [symbol for symbol in program.symbols if symbol.section.startswith(f"{CONSTANT}{USER_BANK}")]


def _indexed(instruction: Instruction) -> bool:
    return any(operand.kind == "constant" and operand.terms for operand in instruction.operands)


def _at_index(program: Program, offset: int) -> set[int]:
    """The instructions whose index of a constant contains this offset of a variable."""
    code, names = program.instructions, program.register_sets
    bank = program.constants.get(COMPILER_BANK, b"")
    places = [at for at in range(0, len(bank) - 3, 4) if bank[at : at + 4] == offset.to_bytes(4, "little")]
    sources = {
        i
        for i, instruction in enumerate(code)
        if any(_reads(instruction, COMPILER_BANK, at, at + 4) for at in places)
        or (instruction.traits.affine == "move" and any(_is_number(x, offset) for x in instruction.operands))
    }
    before = taint(program, sources if offset else set(), {i for i, x in enumerate(code) if x.traits.kind == "load"})
    return {i for i in range(len(code)) if before[i] & names.of(address_registers(code[i]))}


def _is_number(operand: Operand, value: int) -> bool:
    return operand.kind == "immediate" and operand.value == value


def _reads(instruction: Instruction, bank: int, first: int, end: int) -> bool:
    """Whether an instruction reads bytes [first, end) of a bank, at an index or without."""
    size = max(4, lane_bytes(instruction)) if instruction.traits.kind == "constant" else 4
    return any(
        operand.kind == "constant" and operand.bank == bank and first < int(operand.value) + size
        and int(operand.value) < end
        for operand in instruction.operands
    )  # fmt: skip


def _of_variable(program: Program, symbol: Symbol) -> frozenset[int]:
    """The loads of a variable in global memory that the kernel does not write."""
    code, names = program.instructions, program.register_sets
    banks = [
        (int(fixup.section.removeprefix(CONSTANT).split(".")[0]), fixup.offset)
        for fixup in program.fixups
        if fixup.symbol == symbol.name and fixup.section.startswith(CONSTANT)
    ]
    pointers = {
        i for i, instruction in enumerate(code) if any(_reads(instruction, bank, at, at + 8) for bank, at in banks)
    }
    brought = {i for i, instruction in enumerate(code) if instruction.traits.kind in ("load", "atomic")}
    before = taint(program, pointers, brought)
    uses = {i for i in range(len(code)) if before[i] & names.of(address_registers(code[i]))}
    if any("global" in code[i].traits.stores or code[i].traits.is_global_atomic for i in uses):
        return frozenset()
    return frozenset(i for i in uses if code[i].traits.is_global_load)
