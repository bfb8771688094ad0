"""Steps of integer arithmetic, logic, shifts, moves and bit counts."""

from warpbound.emulate import packed_integers
from warpbound.emulate.native.step import (
    ABSOLUTE,
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
from warpbound.emulate.operand_access import Site, is_predicate
from warpbound.program.instruction import PT, Operand

COMPARISONS = {"LT": 0, "EQ": 1, "LE": 2, "GT": 3, "NE": 4, "GE": 5, "T": 6, "F": 7}
COMBINATIONS = {"AND": 0, "OR": 1, "XOR": 2}


def combination(here: Site) -> int:
    return next((COMBINATIONS[m] for m in here.instruction.modifiers if m in COMBINATIONS), 0)


@translates("IADD3 IADD VIADD UVIADD UIADD3 UIADD")
def add(here: Site) -> Step:
    """a + b [+ c], with carries in and out."""
    if packed_integers.is_packed(here) or here.has("ISAT"):
        raise NotTranslated
    carries = any(operand.index != PT for operand in here.predicates_out)
    sources = [integer(operand) for operand in here.sources]
    out = register_out(here.output)
    if here.has("64"):
        if carries or here.has("X"):
            raise NotTranslated
        return Step("add_wide", out, sources)
    flags = [flag(operand) for operand in here.predicates_in] if here.has("X") else []
    if not carries:
        live = [source for source in sources if source != constant(0)] + 2 * [constant(0)]
        return Step("add3", out, live[: 3 if len(live) == 5 else 2], (), flags)
    if any(source.change & ABSOLUTE for source in sources):
        raise NotTranslated
    return Step("add_carrying", out, sources, flags_out(here), flags)


@translates("IMAD UIMAD")
def multiply_add(here: Site) -> Step:
    """a b + c in its narrow, wide, high and carrying forms."""
    sources, out = [integer(source) for source in here.sources], register_out(here.output)
    flags = [flag(operand) for operand in here.predicates_in] if here.has("X") else []
    if len(flags) > 1:
        raise NotTranslated
    if here.has("WIDE", "HI"):
        sources += [constant(0)] * (3 - len(sources))
        return Step("multiply_wide", out, sources, flags_out(here)[:1], flags, (here.has("U32"), here.has("HI")))
    return Step("multiply_add", out, sources, (), flags)


@translates("ISETP UISETP")
def compare(here: Site) -> Step:
    """A comparison of words or pairs; .EX goes on from that of the lower words."""
    operation = next(COMPARISONS[m] for m in here.instruction.modifiers if m in COMPARISONS)
    sources = [integer(source) for source in here.sources]
    flags = [flag(operand) for operand in here.predicates_in] or [constant(0xFFFFFFFF)]
    if here.has("64", "S64", "U64"):
        mode = (operation, combination(here), here.has("U64"))
        if here.has("EX"):
            raise NotTranslated
        return Step("compare_wide", Source(), sources, flags_out(here), flags, mode)
    mode_of_words = (operation, combination(here), here.has("U32"), here.has("EX"))
    return Step("compare", Source(), sources, flags_out(here), flags, mode_of_words)


@translates("IMNMX VIMNMX UIMNMX UVIMNMX")
def minimum(here: Site) -> Step:
    """The smaller or the larger of two words."""
    if packed_integers.is_packed(here) or here.has("S64", "U64", "RELU") or any(o.kind for o in flags_out(here)):
        raise NotTranslated
    sources = [integer(source) for source in here.sources[:2]]
    return Step("minimum", register_out(here.output), sources, (), [flag(here.predicates_in[-1])], (here.has("U32"),))


@translates("IABS UIABS")
def absolute(here: Site) -> Step:
    """|a|."""
    return Step("absolute", register_out(here.output), [integer(here.sources[0])])


@translates("LEA ULEA")
def shifted_add(here: Site) -> Step:
    """(a << s) + b, or b + the upper word of {c, a} << s."""
    sources = list(here.sources)
    amount = int(sources.pop().value) & 31 if sources[-1].kind == "immediate" and len(sources) > 2 else 0
    high = here.has("HI")
    has_upper = high and len(sources) > 2
    first, second = (integer(source) for source in sources[:2])
    third = raw(sources[2]) if has_upper else constant(0)
    if (first.change | second.change) & ABSOLUTE or not has_upper and high and not here.has("SX32"):
        raise NotTranslated
    flags = [flag(here.predicates_in[0])] if here.has("X") else []
    if not (high or flags or first.change or any(each.kind for each in flags_out(here))):
        return Step("shifted_add_of_words", register_out(here.output), [first, second], mode=(amount,))
    mode = (amount, high, high and not has_upper)
    return Step("shifted_add", register_out(here.output), [first, second, third], flags_out(here), flags, mode)


@translates("LOP3 ULOP3")
def logic(here: Site) -> Step:
    """A function of three words by its table."""
    sources = [integer(source) for source in here.sources[:3]]
    flags = [flag(here.predicates_in[0])] if here.predicates_in else [constant(0)]
    mode = (int(here.sources[3].value), here.has("PAND"))
    return Step("logic", register_out(here.output), sources, flags_out(here), flags, mode)


@translates("PLOP3 UPLOP3")
def predicate_logic(here: Site) -> Step:
    """Two functions of three predicates by their tables."""
    tables = [int(operand.value) for operand in here.sources if operand.kind == "immediate"]
    if len(tables) != 2 or len(here.predicates_out) != 2:
        raise NotTranslated
    flags = [flag(operand) for operand in here.instruction.operands[2:5]]
    return Step("predicate_logic", Source(), (), flags_out(here), flags, tables)


@translates("SHF USHF")
def shift(here: Site) -> Step:
    """{c, a} shifted by b."""
    a, b, c = (raw(source) for source in here.sources[:3])
    wide, to_left, high = here.has("U64", "S64"), here.has("L"), here.has("HI")
    mode = (to_left, here.has("S32", "S64"), here.has("W"))
    out = register_out(here.output)
    if not wide and to_left != high:
        return Step("shift_word", out, [a if to_left else c, b], mode=mode)
    return Step("shift", out, [a, b, c], mode=(*mode, 63 if wide else 31, high))


@translates("PRMT UPRMT")
def permute(here: Site) -> Step:
    """Bytes of two words by a selector."""
    if here.modifiers:
        raise NotTranslated
    return Step("permute", register_out(here.output), [raw(source) for source in here.sources[:3]])


@translates("SEL USEL")
def select(here: Site) -> Step:
    """One of two words by a predicate."""
    if here.has("64"):
        raise NotTranslated
    sources = [integer(source) for source in here.sources[:2]]
    return Step("select_word", register_out(here.output), sources, (), [flag(here.predicates_in[0])])


@translates("MOV UMOV")
def move(here: Site) -> Step:
    """A word or a pair."""
    if here.has("64"):
        return Step("move_wide", register_out(here.output), [raw(here.sources[0])])
    return Step("move", register_out(here.output), [integer(here.sources[0])])


@translates("POPC UPOPC")
def count_bits(here: Site) -> Step:
    """How many bits are set."""
    return Step("count_bits", register_out(here.output), [integer(here.sources[0])])


@translates("BREV UBREV")
def reverse_bits(here: Site) -> Step:
    """Bits in the opposite order."""
    return Step("reverse_bits", register_out(here.output), [integer(here.sources[0])])


@translates("FLO UFLO")
def leading_one(here: Site) -> Step:
    """The place of the highest bit."""
    mode = (here.has("U32"), here.has("SH"))
    return Step("leading_one", register_out(here.output), [integer(here.sources[0])], flags_out(here), mode=mode)


@translates("SGXT USGXT")
def extend_sign(here: Site) -> Step:
    """A field of b bits with its sign."""
    sources = [raw(source) for source in here.sources[:2]]
    return Step("extend_sign", register_out(here.output), sources, mode=(here.has("U32"), here.has("W")))


@translates("BMSK UBMSK")
def bit_mask(here: Site) -> Step:
    """b ones from bit a on."""
    sources = [raw(source) for source in here.sources[:2]]
    return Step("bit_mask", register_out(here.output), sources, mode=(here.has("W"),))


def _byte_shift(operand: Operand | None) -> int:
    suffixes = operand.suffixes if operand else ()
    return next((8 * int(suffix[1]) for suffix in suffixes if suffix in ("B1", "B2", "B3")), 0)


@translates("P2R UP2UR")
def pack_predicates(here: Site) -> Step:
    """Predicates as bits."""
    mode = (int(here.sources[-1].value) & 0x7F, _byte_shift(here.output), here.uniform)
    if int(here.sources[-1].value) > 0x7F:
        raise NotTranslated
    return Step("pack_predicates", register_out(here.output), [raw(here.sources[-2])], mode=mode)


@translates("R2P")
def unpack_predicates(here: Site) -> Step:
    """Bits into predicates."""
    source = [operand for operand in here.instruction.operands if operand.kind == "register"][-1]
    if here.instruction.operands[-1].kind != "immediate" or any(is_predicate(o) for o in here.instruction.operands):
        raise NotTranslated
    mode = (int(here.instruction.operands[-1].value), _byte_shift(source))
    return Step("unpack_predicates", Source(), [raw(source)], mode=mode)
