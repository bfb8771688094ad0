"""Integer opcodes on affine forms.

Source   The meaning of each opcode as in `emulate`; tests compare the forms with its results.
Models   Lower words only: addresses within one array differ by less than 2^32 bytes. Indices are not negative. A clamp
         to the edge of an array (minimum or maximum with a value of the whole warp) is ignored.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import numpy as np

from warpbound.emulate.operand_access import Site
from warpbound.memory import affine
from warpbound.memory.address_registers import Registers, Value, at_place, has_register
from warpbound.memory.affine import Form
from warpbound.program.instruction import PT, RZ, Instruction
from warpbound.program.registers import result_width

Rule = Callable[[Registers, Site, list[Value]], tuple[Value, ...]]
LONGEST_SUM = 64  # terms: no index of an array has as many, and a sum of a thousand parameters would take minutes
_UPPER = ("the upper word of a 64-bit value",)


def results(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """The forms that an instruction writes, one per register; the last is repeated."""
    instruction = here.instruction
    rule = _RULES.get(instruction.traits.affine)
    if rule is not None:
        with suppress(IndexError, ValueError):  # fewer operands than the opcode has, in a damaged listing
            return tuple(_short(registers, here, values, value) for value in rule(registers, here, values))
    return (unfollowed(registers, instruction, values),)


def _short(registers: Registers, here: Site, values: list[Value], value: Value) -> Value:
    """The value itself; a form with more terms than an address has counts as not followed."""
    if isinstance(value, Form) and len(value.terms) > LONGEST_SUM:
        return unfollowed(registers, here.instruction, values)
    return value


def unfollowed(registers: Registers, instruction: Instruction, values: Sequence[Value]) -> Value:
    """An operation without a form. Operands that are the same for a whole warp give such a result; others, none."""
    for value in values:
        if isinstance(value, str):
            return value
    if all(value.uniform for value in values if isinstance(value, Form)) and not instruction.traits.by_lane:
        return registers.any_value()
    return f"`{instruction.opcode}`{at_place(instruction)}"


def _forms(values: Iterable[Value]) -> list[Form] | None:
    """The values, if all are known; else None."""
    forms = list(values)
    result = [value for value in forms if isinstance(value, Form)]
    return result if len(result) == len(forms) else None


def _first_reason(values: Iterable[Value]) -> Value:
    return next(value for value in values if isinstance(value, str))


def _add(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    if here.has("X"):
        return _UPPER
    forms = _forms(values)
    if forms is None:
        return (_first_reason(values), *_UPPER)
    total = affine.constant(0)
    for form in forms:
        total = affine.add(total, form)
    return (total, *_UPPER) if here.has("64") else (total,)


def _multiply_add(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    if here.has("X"):
        return _UPPER
    forms = _forms(values)
    if forms is None:
        return (_first_reason(values), *_UPPER)
    a, b, *c = forms
    if here.has("HI"):
        exact = a.exact and b.exact and all(form.exact for form in c)
        return (_high_product(a, b) if exact and here.has("U32") else unfollowed(registers, here.instruction, values),)
    product = affine.multiply(a, b)
    if product is None:
        return ("a product of sums",)
    total = affine.add(product, c[0]) if c else product
    return (total, *_UPPER) if here.has("WIDE") else (total,)


def _high_product(a: Form, b: Form) -> Form:
    """Upper word of the product of two unsigned words; an addend changes it only by a carry."""
    first, second = (np.asarray(form.known).astype(np.uint32).astype(np.uint64) for form in (a, b))
    return affine.constant((first * second >> np.uint64(32)).astype(np.int64))


def _move(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    return (values[0], *_UPPER) if here.has("64") else (values[0],)


def _half_constant(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """HFMA2 R, -RZ, RZ, high, low: two halves moved into a register."""
    factors, rest = here.sources[:2], here.sources[2:]
    if len(rest) == 2 and all(x.index == RZ for x in factors):
        high, low = (int(np.float16(float(x.value)).view(np.uint16)) for x in rest)
        return (affine.constant(high << 16 | low),)
    return ("half-precision arithmetic",)


def _shifted_add(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """LEA: (a << s) + b; .HI: b + the upper word of {c, a} << s."""
    if here.has("X"):
        return _UPPER
    sources = list(here.sources)
    amount = int(sources[-1].value) & 31 if sources[-1].kind == "immediate" and len(sources) > 2 else 0
    forms = _forms(values)
    if forms is None:
        return (_first_reason(values),)
    if not here.has("HI"):
        return (affine.add(affine.scale(forms[0], 1 << amount), forms[1]),)
    if not amount:
        return _UPPER
    kind = "signed" if here.has("SX32") else "unsigned"
    upper = affine.scale(forms[2], 1 << amount) if len(sources) > 3 else affine.constant(0)
    low = _right(registers, here.instruction, forms[0], (32 - amount, kind))
    return (low,) if isinstance(low, str) else (affine.add(affine.add(low, upper), forms[1]),)


def _shift(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """SHF: left of the first source, right of the third where .HI, else of the first with the third above it."""
    forms = _forms(values)
    if here.has("U64", "S64") and here.has("L"):
        return _UPPER
    if forms is None:
        reasons = [value for value in (values[1], values[0 if here.has("L") else -1]) if isinstance(value, str)]
        return (reasons[0] if reasons else _UPPER[0],)
    amount = forms[1]
    if not amount.exact or np.ndim(amount.known):
        return (unfollowed(registers, here.instruction, values),)
    by = int(amount.known) & 31
    if here.has("L"):
        plain = here.sources[2].index == RZ
        return (affine.scale(forms[0], 1 << by) if plain else unfollowed(registers, here.instruction, values),)
    shifted = forms[2] if here.has("HI") else forms[0]
    return (_right(registers, here.instruction, shifted, (by, "signed" if here.has("S32", "S64") else "unsigned")),)


def _right(registers: Registers, instruction: Instruction, form: Form, how: tuple[int, str]) -> Value:
    """form >> amount; the sign of an index is 0."""
    amount, kind = how
    if form.exact:
        base = form.known if kind == "signed" else form.known & np.int64(0xFFFF_FFFF)
        return affine.constant(base >> np.int64(amount))
    if amount == 31:
        return affine.constant(0)
    return affine.divide(form, 1 << amount) or unfollowed(registers, instruction, [form])


_ONE_OPERAND = {  # table of LOP3 -> the operand it hands on, and whether its bits are inverted
    0xF0: (0, False), 0xCC: (1, False), 0xAA: (2, False), 0x0F: (0, True), 0x33: (1, True), 0x55: (2, True),
}  # fmt: skip


def _logic(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """LOP3.LUT: three words and the table of the function as an immediate; masks of low bits are followed."""
    forms = _forms(values)
    if forms is None or len(forms) < 4:
        return (unfollowed(registers, here.instruction, values),)
    table = int(forms[3].known)
    if all(form.exact for form in forms[:3]):
        return (affine.constant(_looked_up([form.known for form in forms[:3]], table)),)
    if table & 0xFF in _ONE_OPERAND:
        number, negated = _ONE_OPERAND[table & 0xFF]
        return (affine.subtract(affine.constant(-1), forms[number]) if negated else forms[number],)
    if table & 0xFF == 0xC0:
        for form, mask in ((forms[0], forms[1]), (forms[1], forms[0])):
            masked = _masked(form, mask)
            if masked is not None:
                return (masked,)
    return (unfollowed(registers, here.instruction, values[:3]),)


def _looked_up(words: Sequence[affine.Words], table: int) -> affine.Words:
    result: affine.Words = np.int64(0)
    for row in range(8):
        if table >> row & 1:
            parts = [word if row >> (2 - bit) & 1 else ~word for bit, word in enumerate(words)]
            result = result | (parts[0] & parts[1] & parts[2])
    return result


def _masked(form: Form, mask: Form) -> Form | None:
    if not mask.exact or np.ndim(mask.known):
        return None
    word = int(mask.known)
    reach = 1 << (word if word >= 0 else ~word).bit_length()
    low = affine.remainder(form, reach)
    if low is None:
        return None
    masked = affine.constant(low.known & np.int64(word % reach))
    return masked if word >= 0 else affine.add(affine.subtract(form, low), masked)


def _special(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """S2R and related instructions: special registers."""
    name = next((x.text for x in here.sources if x.kind == "special"), "SRZ")
    kind, _, axis = name.removeprefix("SR_").partition(".")
    threads = registers.threads
    if kind == "TID" and axis:
        return (threads.index(axis),)
    if kind == "NTID" and axis:
        return (affine.constant(threads.block["XYZ".index(axis)]),)
    if kind in ("CTAID", "NCTAID") and axis:
        size = threads.grid.get(axis) if kind == "NCTAID" else None
        return (affine.unknown(f"{kind}.{axis}") if size is None else affine.constant(size),)
    if kind == "LANEID":
        return (affine.constant(np.tile(np.arange(32), (threads.warps, 1))),)
    if name in ("SRZ", "SR_CgaCtaId"):  # the rank in the cluster moves shared addresses by 2^24
        return (affine.constant(0),)
    return (name,) if kind.startswith(("LANEMASK", "TID")) else (registers.any_value(),)


def _load_constant(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    source = here.sources[0]
    if source.kind != "constant" or not isinstance(source.bank, int):
        return (registers.any_value(),)
    bank, offset = source.bank, int(source.value)
    if not has_register(source):
        return tuple(registers.word(bank, offset + 4 * part) for part in range(result_width(here.instruction)))
    index = [registers.value(term, None) for term in source.terms]
    same = all(isinstance(value, Form) and value.uniform for value in index)
    return (registers.any_value() if same else f"a table in constant memory{at_place(here.instruction)}",)


def _extreme(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """A minimum or maximum: of exact values exactly; against a value of the whole warp it is ignored."""
    forms = _forms(values[:2])
    return (_first_reason(values),) if forms is None else _extreme_of(registers, here, *forms)


def _add_extreme(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """A minimum or maximum of a sum and a third value."""
    forms = _forms(values[:3])
    if forms is None:
        return (_first_reason(values),)
    return _extreme_of(registers, here, affine.add(*forms[:2]), forms[2])


def _extreme_of(registers: Registers, here: Site, a: Form, b: Form) -> tuple[Value, ...]:
    choice = here.predicates_in[-1] if here.predicates_in else None
    if a.exact and b.exact and choice is not None and choice.index == PT:
        pick = np.maximum if choice.invert else np.minimum
        return (affine.constant(pick(a.known, b.known)),)
    if a.uniform != b.uniform:
        return (b if a.uniform else a,)
    return (unfollowed(registers, here.instruction, [a, b]),)


def _select(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    return (registers.either(values[0], values[1]),)


def _to_uniform(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """R2UR: the value of the first lane."""
    if isinstance(values[0], str) or values[0].uniform:
        return (values[0],)
    first = {name: np.asarray(c)[:, :1] if np.ndim(c) else c for name, c in values[0].terms.items()}
    return (Form({name: np.broadcast_to(c, (registers.threads.warps, 32)) if np.ndim(c) else c
                  for name, c in first.items()}),)  # fmt: skip


def _scaled_add(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """ISCADD a, b, s: (a << s) + b."""
    forms = _forms(values)
    if forms is None or len(forms) < 3 or not forms[2].exact or np.ndim(forms[2].known):
        return (unfollowed(registers, here.instruction, values),)
    return (affine.add(affine.scale(forms[0], 1 << (int(forms[2].known) & 31)), forms[1]),)


def _shift_left(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """SHL a, s."""
    amount, forms = _amount(values), _forms(values)
    if amount is None or forms is None:
        return (unfollowed(registers, here.instruction, values),)
    return (affine.scale(forms[0], 1 << amount),)


def _shift_right(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """SHR a, s; .U32 shifts in zeros."""
    amount, forms = _amount(values), _forms(values)
    if amount is None or forms is None:
        return (unfollowed(registers, here.instruction, values),)
    return (_right(registers, here.instruction, forms[0], (amount, "unsigned" if here.has("U32") else "signed")),)


def _amount(values: list[Value]) -> int | None:
    """Shift count of the second operand; None if not known."""
    by = values[1]
    return int(by.known) & 31 if isinstance(by, Form) and by.exact and not np.ndim(by.known) else None


def _plain_logic(registers: Registers, here: Site, values: list[Value]) -> tuple[Value, ...]:
    """LOP.AND, .OR and .XOR of two words."""
    table = next((table for name, table in _TWO_OPERANDS.items() if here.has(name)), None)
    if table is None or len(values) < 2:
        return (unfollowed(registers, here.instruction, values),)
    full: list[Value] = [values[0], values[1], affine.constant(0), affine.constant(table)]
    return _logic(registers, here, full)


_TWO_OPERANDS = {"AND": 0xC0, "OR": 0xFC, "XOR": 0x3C}
_RULES: dict[str, Rule] = {  # `affine` of an opcode's traits -> what it does to forms
    "add": _add, "multiply_add": _multiply_add, "move": _move, "half_constant": _half_constant,
    "shifted_add": _shifted_add, "funnel_shift": _shift, "logic": _logic, "special_register": _special,
    "constant": _load_constant, "extreme": _extreme, "add_extreme": _add_extreme, "select": _select,
    "to_uniform": _to_uniform, "scaled_add": _scaled_add, "shift_left": _shift_left, "shift_right": _shift_right,
    "plain_logic": _plain_logic,
}  # fmt: skip
