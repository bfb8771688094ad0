"""Steps of loads, stores, shuffles, votes, branches, convergence and barriers."""

from dataclasses import replace

from warpbound.emulate.addresses import memory_operand
from warpbound.emulate.control_flow import _target as target_of
from warpbound.emulate.loads_and_stores import width
from warpbound.emulate.native.step import (
    BANKS,
    NOTHING,
    REGISTER,
    NotTranslated,
    Source,
    Step,
    constant,
    flag,
    flags_out,
    integer,
    raw,
    register_out,
)
from warpbound.emulate.native.translations import translates
from warpbound.emulate.operand_access import MASK64, Site, is_predicate
from warpbound.emulate.semantics import WITHOUT_EFFECT
from warpbound.program.instruction import PT, RZ, Operand

_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_WORD = 1  # of a term of a 64-bit address
_MOST_TERMS, _WIDEST = 3, 16
_SHUFFLES = {"IDX": 0, "UP": 1, "DOWN": 2, "BFLY": 3}
_VOTES = {"ANY": 0, "ALL": 1, "EQ": 2}
OF_THREAD = (
    "SR_TID.X", "SR_TID.Y", "SR_TID.Z", "SR_NTID.X", "SR_NTID.Y", "SR_NTID.Z", "SR_NCTAID.X", "SR_NCTAID.Y",
    "SR_NCTAID.Z", "SRZ", "SR_LANEID", "SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK", "SR_GEMASK", "SR_WARPID",
    "SR_SWINHI", "SR_SWINLO", "SR_SMEMSZ", "SR_DYNAMICSMEMSZ",
)  # fmt: skip  (the same in all blocks)
OF_BLOCK = ("SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z", "SR_VIRTUALSMID", "SR_CgaCtaId")


# --- memory ---


def _terms(operand: Operand) -> list[Operand]:
    terms = [each for each in operand.terms if each.index != RZ]
    if len(terms) > _MOST_TERMS:
        raise NotTranslated
    return terms


def _global_address(operand: Operand) -> list[Source]:
    """Terms of a 64-bit address, and the rest of it."""
    sources = []
    for term in _terms(operand):
        narrow = "U32" in term.suffixes or "32" in term.suffixes
        plain = raw(Operand(term.kind, term.text, index=term.index))
        sources.append(Source(plain.kind, plain.index, _WORD if narrow else 0))
    return [*sources, *[Source()] * (_MOST_TERMS - len(sources)), constant(int(operand.value) & MASK64)]


def _narrow_address(operand: Operand) -> list[Source]:
    """Terms of a 32-bit address, and the rest of it."""
    sources = []
    for term in _terms(operand):
        plain = raw(Operand(term.kind, term.text, index=term.index))
        factor = next((_SCALES[s] for s in term.suffixes if s in _SCALES), 1)
        sources.append(Source(plain.kind, plain.index, 0, factor))
    return [*sources, *[Source()] * (_MOST_TERMS - len(sources)), constant(int(operand.value))]


def _is_signed(here: Site) -> bool:
    return here.has("S8", "S16")


def _access(here: Site, kinds: tuple[str, str]) -> tuple[Source, list[Source], tuple[int, ...], str]:
    """Data, address, mode and space of an access whose operands are of these kinds alone."""
    operands, size = here.instruction.operands, width(here)
    if size > _WIDEST or tuple("memory" if o.kind == "memory" else "register" for o in operands) != kinds:
        raise NotTranslated
    space, operand = here.instruction.traits.spaces[0], memory_operand(here)
    data = operands[1 - kinds.index("memory")]
    if data.kind != "register":
        raise NotTranslated
    address = (_global_address if space == "global" else _narrow_address)(operand)
    log = size.bit_length() - 1
    return raw(data), address, (size, log, space == "local", _is_signed(here)), space


@translates("LDG LDS LDL")
def load(here: Site) -> Step:
    """A load from one space."""
    data, address, mode, space = _access(here, ("register", "memory"))
    out = Source() if data.kind != REGISTER else data
    return Step("load_global" if space == "global" else "load_window", out, address, mode=mode)


@translates("STG STS STL")
def store(here: Site) -> Step:
    """A store to one space."""
    data, address, mode, space = _access(here, ("memory", "register"))
    return Step("store_global" if space == "global" else "store_window", data, address, mode=mode)


@translates("LD")
def load_generic(here: Site) -> Step:
    """A load whose addresses are tried as global ones."""
    return _generic(here, "load_global", ("register", "memory"))


@translates("ST")
def store_generic(here: Site) -> Step:
    """A store whose addresses are tried as global ones."""
    return _generic(here, "store_global", ("memory", "register"))


def _generic(here: Site, operation: str, kinds: tuple[str, str]) -> Step:
    operands, size = here.instruction.operands, width(here)
    if size > _WIDEST or tuple("memory" if o.kind == "memory" else o.kind for o in operands) != kinds:
        raise NotTranslated
    data = raw(operands[1 - kinds.index("memory")])
    if operation.startswith("load") and data.kind != REGISTER:
        data = Source()
    mode = (size, size.bit_length() - 1, 0, _is_signed(here))
    return Step(operation, data, _global_address(memory_operand(here)), mode=mode)


@translates("LDC ULDC LDCU")
def load_constant(here: Site) -> Step:
    """A load from a constant bank."""
    operand = next(operand for operand in here.instruction.operands if operand.kind == "constant")
    output, *others = [o for o in here.instruction.operands if not is_predicate(o)]
    size = width(here)
    bank, terms = operand.bank, _terms(operand)
    if not isinstance(bank, int) or not 0 <= bank < BANKS or size > _WIDEST or len(others) != 1:
        raise NotTranslated
    out = register_out(output)
    if not terms and size in (4, 8):
        return Step("move" if size == 4 else "move_wide", out, [raw(replace(operand, terms=()))])
    mode = (size, 0, bank, _is_signed(here))
    return Step("load_constant", out, _narrow_address(replace(operand, terms=tuple(terms))), mode=mode)


_ATOMICS = {
    "ADD": 0, "POPC": 0, "MIN": 1, "MAX": 2, "AND": 3, "OR": 4, "XOR": 5, "EXCH": 6, "CAS": 7, "INC": 8, "DEC": 9,
}  # fmt: skip
_ELEMENTS = {"S32": (4, 1), "S64": (8, 1), "U64": (8, 0), "64": (8, 0), "F32": (4, 2), "F64": (8, 2)}
_OTHER_ATOMICS = {"SAFEADD", "ARRIVE", "128", "F16", "BF16", "F16x2", "BF16x2"}


@translates("ATOM ATOMG ATOMS RED REDG REDS")
def change(here: Site) -> Step:
    """An atomic of one or two words that every lane makes."""
    operands, modifiers = here.instruction.operands, here.instruction.modifiers
    if _OTHER_ATOMICS & here.modifiers or any("x" in m for m in modifiers):
        raise NotTranslated
    tells_success = here.has("CAST")
    operation = next((_ATOMICS[m] for m in modifiers if m in _ATOMICS), _ATOMICS["CAS"] if tells_success else None)
    if operation is None:
        raise NotTranslated
    size, element = next((_ELEMENTS[m] for m in reversed(modifiers) if m in _ELEMENTS), (4, 0))
    if element == 2 and operation:
        raise NotTranslated
    at = operands.index(memory_operand(here))
    before, after = operands[:at], operands[at + 1 :]
    first = before[0] if before and is_predicate(before[0]) else None
    if any(x.kind not in ("register", "predicate") for x in before):
        raise NotTranslated
    if first is not None and first.index != PT and not tells_success:
        raise NotTranslated
    output = next((o for o in before if o.kind == "register"), None)
    values = [raw(each) for each in after if not is_predicate(each)]
    if here.has("POPC") and not values:
        values = [constant(1)]
    if operation == _ATOMICS["CAS"] and len(values) == 1:
        pair = next(each for each in after if not is_predicate(each))
        values.append(raw(Operand(pair.kind, pair.text, index=pair.index + size // 4)))
    is_shared = here.instruction.traits.spaces == ("shared",)
    address = (_narrow_address if is_shared else _global_address)(memory_operand(here))
    out = register_out(output)
    silent = out.kind == NOTHING and not tells_success
    mode = (size, size.bit_length() - 1, tells_success, operation, element, silent)
    success = [] if first is None or first.index == PT else [flag(first)]
    return Step("change_window" if is_shared else "change_global", out, address, values, success, mode)


# --- lanes ---


@translates("SHFL")
def shuffle(here: Site) -> Step:
    """A word of another lane."""
    mode = (next(_SHUFFLES[m] for m in here.instruction.modifiers if m in _SHUFFLES),)
    sources = [raw(source) for source in here.sources[:3]]
    return Step("shuffle", register_out(here.output), sources, flags_out(here)[:1], mode=mode)


@translates("VOTE VOTEU")
def vote(here: Site) -> Step:
    """The lanes in which a predicate holds."""
    flags = [operand for operand in here.instruction.operands if is_predicate(operand)]
    mode = (next((_VOTES[m] for m in here.instruction.modifiers if m in _VOTES), 0),)
    return Step("vote", register_out(here.output), (), flags_out(here)[: len(flags) - 1], [flag(flags[-1])], mode)


@translates("R2UR")
def to_uniform(here: Site) -> Step:
    """The word of the first lane."""
    if here.predicates_out:
        raise NotTranslated
    return Step("to_uniform", register_out(here.output), [integer(here.sources[0])])


@translates("S2R S2UR CS2R CS2UR")
def read_special(here: Site) -> Step:
    """A special register that a launch decides."""
    name = next((operand.text for operand in here.instruction.operands if operand.text.startswith("SR")), "SRZ")
    wide = here.has("64") or (here.instruction.traits.width == "special" and not here.has("32"))
    if "CLOCK" in name or "TIMER" in name:
        return Step("read_clock", register_out(here.output), mode=(name.endswith("HI"), wide))
    if name in OF_BLOCK:
        return Step("read_of_block", register_out(here.output), mode=(OF_BLOCK.index(name), wide))
    if name not in OF_THREAD:
        raise NotTranslated
    return Step("read_of_thread", register_out(here.output), mode=(OF_THREAD.index(name), wide))


# --- control ---


@translates(WITHOUT_EFFECT)
def nothing(here: Site) -> Step:  # noqa: ARG001
    """Fences and hints."""
    return Step("nothing")


@translates("BRA JMP")
def branch(here: Site) -> Step:
    """A branch that all lanes take or none."""
    conditions = [operand for operand in here.instruction.operands if is_predicate(operand)]
    flags = [flag(operand) for operand in conditions if operand.index != PT or operand.invert]
    if here.has("DIV", "CONV") or len(flags) > 2:
        raise NotTranslated
    return Step("branch", flags=flags, target=target_of(here))


@translates("CALL")
def call(here: Site) -> Step:
    """A call of a function whose address is in the code."""
    if any(operand.kind in ("register", "uniform") for operand in here.instruction.operands):
        raise NotTranslated
    return branch(here)


@translates("RET JMX")
def branch_to_register(here: Site) -> Step:
    """A branch to the place that a register names."""
    operands = here.instruction.operands
    if any(is_predicate(operand) for operand in operands):
        raise NotTranslated
    source = next(operand for operand in operands if operand.kind in ("register", "uniform"))
    more = sum(int(operand.value) for operand in operands if operand.kind == "immediate")
    return Step("branch_to_register", sources=[raw(source)], mode=(more,))


@translates("BSSY")
def set_convergence(here: Site) -> Step:
    """The lanes that are here together."""
    register = next(operand.index for operand in here.instruction.operands if operand.kind == "barrier")
    if here.instruction.guard is not None:
        raise NotTranslated
    return Step("set_convergence", mode=(register,))


@translates("BSYNC")
def await_convergence(here: Site) -> Step:
    """Those lanes again."""
    register = next(operand.index for operand in here.instruction.operands if operand.kind == "barrier")
    if any(is_predicate(operand) for operand in here.instruction.operands):
        raise NotTranslated
    return Step("await_convergence", mode=(register,))


@translates("WARPSYNC")
def await_warp(here: Site) -> Step:
    """A whole warp."""
    if here.has("EXCLUSIVE", "COLLECTIVE"):
        raise NotTranslated
    return Step("await_others", mode=(0,))


@translates("BAR")
def await_block(here: Site) -> Step:
    """All threads of the block, where they all are here."""
    operands = [o for o in here.instruction.operands if o.kind in ("immediate", "register", "uniform")]
    if not here.has("SYNC") or len(operands) != 1 or here.has("RED", "ARV"):
        raise NotTranslated
    return Step("await_others", mode=(1,))
