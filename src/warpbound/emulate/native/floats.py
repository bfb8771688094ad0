"""Steps of FP32 and FP64 arithmetic to nearest, comparisons, special functions and conversions."""

from warpbound.emulate.float32 import direction
from warpbound.emulate.native.integers import COMPARISONS, combination
from warpbound.emulate.native.step import (
    ABSOLUTE,
    NEGATED,
    NotTranslated,
    Source,
    Step,
    constant,
    double,
    flag,
    flags_out,
    raw,
    register_out,
    single,
)
from warpbound.emulate.native.translations import translates
from warpbound.emulate.operand_access import Site
from warpbound.program.instruction import Operand

FLUSHES, SATURATES = 1, 2
FLOAT16, FLOAT32, FLOAT64 = range(3)
_COMPARISONS = {
    **{name: number for name, number in COMPARISONS.items() if name != "NE"}, "NE": 15, "NEU": 4, "GEU": 8, "GTU": 9,
    "LEU": 10, "LTU": 11, "EQU": 12, "NUM": 13, "NAN": 14,
}  # fmt: skip
_FUNCTIONS = {"RCP": 0, "RSQ": 1, "SQRT": 2, "LG2": 3, "EX2": 4, "SIN": 5, "COS": 6, "TANH": 7}  # modifiers of MUFU
_WHOLE = {"TRUNC": 1, "FLOOR": 2, "CEIL": 3, "RZ": 1, "RM": 2, "RP": 3}
_WIDTHS = {"F16": FLOAT16, "BF16": FLOAT16, "F32": FLOAT32, "F64": FLOAT64}
_INTEGERS = {f"{sign}{bits}": (bits, sign == "S") for sign in "SU" for bits in (8, 16, 32, 64)}


def _rounding(here: Site) -> int:
    """mode[0]: whether results and sources are flushed, and results saturated."""
    if direction(here) != "RN":
        raise NotTranslated
    return FLUSHES * here.has("FTZ") + SATURATES * here.has("SAT")


def _arithmetic(operation: str, here: Site, count: int) -> Step:
    sources = [single(source, here) for source in here.sources[:count]]
    return Step(operation, register_out(here.output), sources, mode=(_rounding(here),))


@translates("FADD UFADD")
def add(here: Site) -> Step:
    """a + b."""
    return _arithmetic("add_float", here, 2)


@translates("FMUL UFMUL")
def multiply(here: Site) -> Step:
    """a b."""
    if here.has("D2", "D4", "D8", "M2", "M4", "M8"):
        raise NotTranslated
    return _arithmetic("multiply_float", here, 2)


@translates("FFMA UFFMA")
def multiply_add(here: Site) -> Step:
    """a b + c."""
    return _arithmetic("multiply_add_float", here, 3)


def _double_arithmetic(operation: str, here: Site, count: int) -> Step:
    if direction(here) != "RN" or len(here.sources) != count:
        raise NotTranslated
    return Step(operation, register_out(here.output), [double(source) for source in here.sources])


@translates("DADD")
def add_double(here: Site) -> Step:
    """a + b of FP64; the source between them is RZ."""
    sources = [o for o in here.sources if o.index != 255 or o.negate or len(here.sources) == 2]
    if direction(here) != "RN" or len(sources) != 2:
        raise NotTranslated
    return Step("add_double", register_out(here.output), [double(source) for source in sources])


@translates("DMUL")
def multiply_double(here: Site) -> Step:
    """a b of FP64."""
    return _double_arithmetic("multiply_double", here, 2)


@translates("DFMA")
def multiply_add_double(here: Site) -> Step:
    """a b + c of FP64."""
    return _double_arithmetic("multiply_add_double", here, 3)


def comparison(here: Site) -> int:
    """The number of the comparison in c/floats.h."""
    return next(_COMPARISONS[m] for m in here.instruction.modifiers if m in _COMPARISONS)


@translates("FSETP UFSETP")
def compare(here: Site) -> Step:
    """Predicates of a comparison."""
    mode = (FLUSHES * here.has("FTZ"), comparison(here), combination(here))
    sources = [single(source, here) for source in here.sources[:2]]
    return Step("compare_float", Source(), sources, flags_out(here), [flag(here.predicates_in[0])], mode)


@translates("DSETP")
def compare_double(here: Site) -> Step:
    """Predicates of a comparison of FP64."""
    if here.has("MIN", "MAX"):
        raise NotTranslated
    mode = (0, comparison(here), combination(here))
    sources = [double(source) for source in here.sources[:2]]
    return Step("compare_double", Source(), sources, flags_out(here), [flag(here.predicates_in[0])], mode)


@translates("FSET UFSET")
def compare_to_word(here: Site) -> Step:
    """All ones, or 1.0, where a comparison holds."""
    true = 0x3F800000 if here.has("BF") else -1
    mode = (FLUSHES * here.has("FTZ"), comparison(here), combination(here), true)
    sources = [single(source, here) for source in here.sources[:2]]
    return Step("compare_to_word", register_out(here.output), sources, (), [flag(here.predicates_in[0])], mode)


@translates("FSEL UFSEL")
def select(here: Site) -> Step:
    """One of two floats by a predicate."""
    sources = [single(source, here) for source in here.sources[:2]]
    mode = (FLUSHES * here.has("FTZ"),)
    return Step("select_float", register_out(here.output), sources, (), [flag(here.predicates_in[0])], mode)


@translates("FMNMX UFMNMX")
def minimum(here: Site) -> Step:
    """The smaller or the larger of two floats."""
    if here.has("NAN", "XORSIGN"):
        raise NotTranslated
    sources, mode = [single(source, here) for source in here.sources[:2]], (_rounding(here),)
    return Step("minimum_float", register_out(here.output), sources, (), [flag(here.predicates_in[0])], mode)


@translates("DMNMX")
def minimum_double(here: Site) -> Step:
    """The smaller or the larger of two FP64 numbers."""
    sources = [double(source) for source in here.sources[:2]]
    return Step("minimum_double", register_out(here.output), sources, (), [flag(here.predicates_in[0])])


@translates("FCHK")
def check_division(here: Site) -> Step:
    """Whether a division needs the slow path."""
    return Step("check_division", Source(), [single(source, here) for source in here.sources[:2]], flags_out(here))


@translates("MUFU")
def special_function(here: Site) -> Step:
    """A special function of FP32, or of the upper word of FP64."""
    if here.has("F16", "F16_V2", "BF16_V2", "BF16"):
        raise NotTranslated
    source, out = here.sources[0], register_out(here.output)
    if here.has("RCP64H", "RSQ64H"):
        word = raw(source)
        if source.kind in ("float", "immediate"):
            word = constant(double(source).upper)
        return Step("special_function_of_upper_word", out, [word], mode=(0, int(here.has("RSQ64H"))))
    function = next(_FUNCTIONS[m] for m in here.instruction.modifiers if m in _FUNCTIONS)
    return Step("special_function", out, [single(source, here)], mode=(FLUSHES, function))


# --- conversions ---


def _float_source(operand: Operand, here: Site, width: int) -> Source:
    if width == FLOAT16:
        raise NotTranslated
    return double(operand) if width == FLOAT64 else single(operand, here)


def _named_widths(here: Site) -> list[int]:
    return [_WIDTHS[m] for m in here.instruction.modifiers if m in _WIDTHS]


@translates("F2I UF2I")
def float_to_integer(here: Site) -> Step:
    """A float as the nearest integer of a width."""
    bits, is_signed = next((_INTEGERS[m] for m in here.instruction.modifiers if m in _INTEGERS), (32, True))
    width = next(iter(_named_widths(here)), FLOAT32)
    whole = next((_WHOLE[m] for m in here.instruction.modifiers if m in _WHOLE), 0)
    nan_to_zero = here.has("NTZ") or (width != FLOAT64 and bits < 64)
    mode = (FLUSHES * here.has("FTZ"), width, whole, bits, is_signed, nan_to_zero)
    return Step("float_to_integer", register_out(here.output), [_float_source(here.sources[0], here, width)], mode=mode)


@translates("I2F I2FP UI2F UI2FP")
def integer_to_float(here: Site) -> Step:
    """An integer as the nearest float."""
    bits, is_signed = next((_INTEGERS[m] for m in here.instruction.modifiers if m in _INTEGERS), (32, True))
    width, operand = next(iter(_named_widths(here)), FLOAT32), here.sources[0]
    if width == FLOAT16 or direction(here) != "RN" or operand.invert or (bits == 64 and operand.kind == "immediate"):
        raise NotTranslated
    plain = raw(operand)
    change = ABSOLUTE * operand.absolute + NEGATED * operand.negate
    source = Source(plain.kind, plain.index, change, plain.value, plain.upper)
    at = next((8 * int(x[1]) for x in operand.suffixes if x in ("B1", "B2", "B3")), 0)
    at = 16 if {"H1", "H1_H1"} & set(operand.suffixes) else at
    mode = (at, width, 0, bits, is_signed)
    return Step("integer_to_float", register_out(here.output), [source], mode=mode)


@translates("F2F UF2F")
def float_to_float(here: Site) -> Step:
    """A float of another width, or a whole one."""
    widths = _named_widths(here)
    target, width = (widths[0], widths[1]) if len(widths) > 1 else (FLOAT32, FLOAT32)
    whole = next((_WHOLE[m] for m in here.instruction.modifiers if m in ("TRUNC", "FLOOR", "CEIL")), -1)
    return _converted(here, target, width, whole)


@translates("FRND UFRND")
def round_to_whole(here: Site) -> Step:
    """A whole float."""
    width = next(iter(_named_widths(here)), FLOAT32)
    whole = next((_WHOLE[m] for m in here.instruction.modifiers if m in _WHOLE), 0)
    return _converted(here, width, width, whole)


def _converted(here: Site, target: int, width: int, whole: int) -> Step:
    if target == FLOAT16 or (direction(here) != "RN" and target == FLOAT32 and (whole < 0 or width == FLOAT64)):
        raise NotTranslated
    mode = (FLUSHES * here.has("FTZ"), width, whole, target)
    return Step("float_to_float", register_out(here.output), [_float_source(here.sources[0], here, width)], mode=mode)
