"""Operations that random programs are made of: C++ that a GPU's compiler and the host's read alike.

A template names the types of its arguments in braces; `{#31}` is a number up to 31. What C++ leaves open is closed:
shifts are masked, divisions guarded, sums made in unsigned numbers.
"""

import re
from collections import defaultdict
from itertools import product

SIGNED = {"s8": "u8", "s16": "u16", "s32": "u32", "s64": "u64"}
UNSIGNED = ("u8", "u16", "u32", "u64")
WHOLE = (*UNSIGNED, *SIGNED)
BITS = {kind: int(kind[1:]) for kind in WHOLE}
FLOATS = ("f32", "f64")
KINDS = (*WHOLE, *FLOATS, "f16", "h2", "bf", "b2", "bool")  # all but the last of these are bits: one or two of 16
WAYS = ("rn", "rz", "ru", "rd")

WHOLE_FUNCTIONS = """
u32 __umulhi(u32, u32)        s32 __mulhi(s32, s32)         u64 __umul64hi(u64, u64)      s64 __mul64hi(s64, s64)
u32 __umul24(u32, u32)        s32 __mul24(s32, s32)         u32 __sad(s32, s32, u32)      u32 __usad(u32, u32, u32)
s32 __hadd(s32, s32)          s32 __rhadd(s32, s32)         u32 __uhadd(u32, u32)         u32 __urhadd(u32, u32)
s32 __popc(u32)               s32 __popcll(u64)             s32 __clz(s32)                s32 __clzll(s64)
s32 __ffs(s32)                s32 __ffsll(s64)              u32 __brev(u32)               u64 __brevll(u64)
s32 __vimax3_s32(s32, s32, s32)     u32 __vimin3_u32(u32, u32, u32)  u32 __vimax3_s16x2(u32, u32, u32)
u32 __vimin3_u16x2(u32, u32, u32)   s32 __vimin_s32_relu(s32, s32)   u32 __vimax_s16x2_relu(u32, u32)
u32 __byte_perm(u32, u32, u32)      u32 __funnelshift_l(u32, u32, u32)    u32 __funnelshift_r(u32, u32, u32)
u32 __funnelshift_lc(u32, u32, u32) u32 __funnelshift_rc(u32, u32, u32)
s32 __dp4a(s32, s32, s32)     u32 __dp4a(u32, u32, u32)     s32 __dp2a_lo(s32, s32, s32)  s32 __dp2a_hi(s32, s32, s32)
u32 __dp2a_lo(u32, u32, u32)  u32 __dp2a_hi(u32, u32, u32)
s32 lesser(s32, s32)          u32 lesser(u32, u32)          s64 lesser(s64, s64)          u64 lesser(u64, u64)
s32 greater(s32, s32)         u32 greater(u32, u32)         s64 greater(s64, s64)         u64 greater(u64, u64)
s16 lesser(s16, s16)          u16 greater(u16, u16)         s8 greater(s8, s8)            u8 lesser(u8, u8)
u32 distance(s32, s32)        u64 distance(s64, s64)        u32 rotated(u32, u32)         u64 rotated(u64, u32)
s32 divided(s32, s32)         s64 divided(s64, s64)         u32 divided(u32, u32)         u64 divided(u64, u64)
s32 rest(s32, s32)            s64 rest(s64, s64)            u32 rest(u32, u32)            u64 rest(u64, u64)
s16 divided(s16, s16)         u8 divided(u8, u8)            s8 rest(s8, s8)               u16 rest(u16, u16)
u32 field(u32, u32, u32)      s32 field(s32, u32, u32)      u64 field(u64, u32, u32)
u32 inserted(u32, u32, u32, u32)
s32 limited(s32, s32, s32)    u32 carried(u32, u32, u32)    u64 high_of_128(u64, u64)
s32 sum_of_three(s32, s32, s32)     u64 wide(u32, u32)      s64 wide(s32, s32)            u64 wide_sum(u32, u32, u64)
s64 wide_sum(s32, s32, s64)         u64 divided_128(u64, u64, u64)     u64 product_128(u64, u64, u64)
s64 shifted_128(s64, u64, u32)      u32 any_of_bits(u32, u32, u32)     u32 other_of_bits(u32, u32, u32)
u32 first_bit(u32)                  s32 sum_with_limits(s32, s32)
"""
FLOAT_FUNCTIONS = """
f32 fmaf(f32, f32, f32)       f64 fma(f64, f64, f64)        f32 least(f32, f32)           f64 least(f64, f64)
f32 most(f32, f32)            f64 most(f64, f64)            f32 fabsf(f32)                f64 fabs(f64)
f32 floorf(f32)               f32 ceilf(f32)                f32 truncf(f32)               f32 rintf(f32)
f64 floor(f64)                f64 ceil(f64)                 f64 trunc(f64)                f64 rint(f64)
f32 roundf(f32)               f64 round(f64)                f32 sqrtf(f32)                f64 sqrt(f64)
f32 signed_as(f32, f32)       f64 signed_as(f64, f64)       f32 fmodf(f32, f32)           f64 fmod(f64, f64)
f32 nextafterf(f32, f32)      f64 nextafter(f64, f64)       f32 fdimf(f32, f32)           f32 scaled(f32, s32)
f64 scaled(f64, s32)          u32 bits(f32)                 u64 bits(f64)                 f32 as_float(u32)
f64 as_double(u64)            f32 as_usual(u32)             f64 as_usual(u64)             bool is_nan(f32)
bool is_nan(f64)              bool is_infinite(f32)         bool is_finite(f64)           bool unordered(f32, f32)
f32 clamped(f32)              f64 clamped(f64)              s32 exponent(f32)             f32 fraction(f32)
"""
HALF_FUNCTIONS = """
f16 h_add(f16, f16)   f16 h_sub(f16, f16)   f16 h_mul(f16, f16)   f16 h_fma(f16, f16, f16)   f16 h_div(f16, f16)
f16 h_min(f16, f16)   f16 h_max(f16, f16)   f16 h_neg(f16)        f16 h_abs(f16)             f16 h_sqrt(f16)
bool h_lt(f16, f16)   bool h_ge(f16, f16)   bool h_eq(f16, f16)   bool h_neu(f16, f16)       f16 h_sat(f16, f16)
f32 h_float(f16)      f16 h_of_bits(u32)    u32 h_bits(f16)       f16 h_floor(f16)           f16 h_rint(f16)
f16 h_rn(f32)         f16 h_rz(f32)         f16 h_ru(f32)         f16 h_rd(f32)              f16 h_of_double(f64)
f16 h_of_int(s32)     f16 h_of_unsigned(u32) f16 h_of_short(s16)  f16 h_of_long(s64)
h2 h2_add(h2, h2)     h2 h2_mul(h2, h2)     h2 h2_fma(h2, h2, h2) h2 h2_pair(f16, f16)       h2 h2_of_floats(f32, f32)
f16 h2_low(h2)        f16 h2_high(h2)       h2 h2_swapped(h2)     h2 h2_neg(h2)              h2 h2_gt(h2, h2)
f16 h_ceil(f16)       f16 h_trunc(f16)      f16 h_min_nan(f16, f16)   f16 h_max_nan(f16, f16)   bool h_gtu(f16, f16)
s32 h_int_rn(f16)     u32 h_unsigned_rd(f16)  s16 h_short_rz(f16)     u16 h_ushort_ru(f16)      s64 h_long_rz(f16)
f16 h_of_int_rz(s32)  f16 h_of_ushort_ru(u16) h2 h2_abs(h2)           h2 h2_floor(h2)           h2 h2_leu(h2, h2)
h2 h2_gt_mask(h2, h2) h2 h2_neu_mask(h2, h2) bool h2_any_ge(h2, h2)   h2 h2_max_nan(h2, h2)     h2 h2_mul_sat(h2, h2)
h2 h2_lows(h2, h2)    h2 h2_highs(h2, h2)   h2 h2_relu(h2, h2, h2)    f16 h_relu(f16, f16, f16) f16 h_rn(f32)
bool h2_all_lt(h2, h2) h2 h2_sat(h2, h2, h2) h2 h2_sub(h2, h2)    h2 h2_min(h2, h2)          h2 h2_max(h2, h2)
"""
BFLOAT_FUNCTIONS = """
bf b_add(bf, bf)   bf b_mul(bf, bf)   bf b_fma(bf, bf, bf)   bf b_min(bf, bf)   bf b_max(bf, bf)   bool b_lt(bf, bf)
bf b_rn(f32)       bf b_rz(f32)       f32 b_float(bf)        u32 b_bits(bf)     bf b_of_bits(u32)  bf b_sub(bf, bf)
bf b_ru(f32)       bf b_neg(bf)      bf b_abs(bf)           bf b_sat(bf, bf)         bf b_relu(bf, bf, bf)
bool b_geu(bf, bf) bool b_ne(bf, bf) s32 b_int_rz(bf)       u16 b_ushort_rn(bf)      bf b_max_nan(bf, bf)
bf b_of_int(s32)   bf b_of_short(s16) bf b_of_double(f64)   bf b_of_unsigned_rd(u32) b2 b2_of_floats(f32, f32)
b2 b2_pair(bf, bf) bf b2_low(b2)     bf b2_high(b2)         b2 b2_fma(b2, b2, b2)    b2 b2_relu(b2, b2, b2)
b2 b2_add(b2, b2)  b2 b2_sub(b2, b2) b2 b2_mul(b2, b2)      b2 b2_gt_mask(b2, b2)    bool b2_all_lt(b2, b2)
b2 b2_min(b2, b2)  b2 b2_max(b2, b2) b2 b2_gt(b2, b2)       b2 b2_neg(b2)            b2 b2_abs(b2)
"""
ONE_INSTRUCTION = """
u32 cut_out(u32, u8, u8)    s32 cut_out(s32, u8, u8)    u64 cut_out(u64, u8, u8)    s64 cut_out(s64, u8, u8)
u32 put_in(u32, u32, u8, u8)      u64 put_in(u64, u64, u8, u8)      u32 bytes_of(u32, u32, u32)
u32 bytes_f4e(u32, u32, u32)  u32 bytes_b4e(u32, u32, u32)  u32 bytes_rc8(u32, u32, u32)  u32 bytes_ecl(u32, u32, u32)
u32 bytes_ecr(u32, u32, u32)  u32 bytes_rc16(u32, u32, u32) u32 highest(u32)              u32 highest(s32)
u32 highest(u64)              u32 highest(s64)              u32 to_highest(u32)           u32 to_highest(s64)
s32 sum_kept(s32, s32)        s32 difference_kept(s32, s32) u32 high_sum(u32, u32, u32)   s32 high_sum(s32, s32, s32)
u64 high_sum(u64, u64, u64)   s64 high_sum(s64, s64, s64)   u32 high_24(u32, u32, u32)    s32 high_24(s32, s32, s32)
u32 moved_left(u32, u32)      u64 moved_left(u64, u32)      u32 moved_right(u32, u32)     s32 moved_right(s32, u32)
u64 moved_right(u64, u32)     s64 moved_right(s64, u32)     u32 ones(u32, u32)            u32 ones_wrap(u32, u32)
u32 chosen(u32, u32, s32)     u64 chosen(u64, u64, f32)     u32 mask_less(s32, s32)       f32 one_if_more(f32, f32)
u32 mask_more(u64, u64)       s32 dot_su(s32, u32, s32)     s32 dot_us(u32, s32, s32)
s32 dot2_su(s32, u32, s32)    s32 dot2_us(u32, s32, s32)    u32 sum_96(u32, u32, u32, u32)
u32 difference_96(u32, u32, u32, u32)     u64 product_96(u32, u32, u32, u32)     u64 product_64_128(u64, u64, u64, u64)
u32 kept_u8(s32)              s32 kept_s8(s32)              s32 kept_s8(u32)              u16 kept_u16(s32)
s16 kept_s16(s32)             u16 kept_u16(s64)             u32 kept_u32(s64)             s32 kept_s32(u64)
u64 kept_u64(s32)             u16 whole_u16(f32)            s16 whole_s16(f64)            u32 whole_u8(f32)
s32 whole_s8(f32)             f32 sum_in_1(f32, f32)        f32 product_in_1(f32, f32)    f32 fused_in_1(f32, f32, f32)
f32 add_flushed(f32, f32)     f32 mul_flushed(f32, f32)     f32 fma_flushed(f32, f32, f32) f32 min_flushed(f32, f32)
f32 max_flushed(f32, f32)     f32 abs_flushed(f32)          f32 div_flushed(f32, f32)     f32 sqrt_flushed(f32)
f32 whole_flushed(f32)        u32 less_flushed(f32, f32)    f64 wide_flushed(f32)         f32 narrow_flushed(f64)
f32 least_or_nan(f32, f32)    f32 most_or_nan(f32, f32)     f32 logbf(f32)
f32 root_reciprocal(f32)      u32 nth_from(u32, u32, s32)   u32 logic_0x1b(u32, u32, u32)
u32 logic_0x96(u32, u32, u32) u32 logic_0xe8(u32, u32, u32) u32 logic_0xca(u32, u32, u32)
u32 logic_0x6d(u32, u32, u32) u32 logic_0x07(u32, u32, u32)
u64 pair_fma(u64, u64, u64)   u64 pair_add(u64, u64)        u64 pair_mul(u64, u64)
u64 retyped(u64, u32, u32, u16)
u64 float_bits_moved(f64, u32)
"""
PLAIN = [
    ("s32", "extended({s32}, {#31})"), ("u32", "extended({u32}, {#31})"),  # by a parameter ptxas misencodes it
    ("f32", "least_xor(number({f32}), number({f32}))"), ("f32", "most_xor(number({f32}), number({f32}))"),
    ("f32", "(f32)(({u32} >> 8) & 255)"), ("f32", "(f32)(s8)({u32} >> 16)"), ("f32", "(f32)(u16)({u32} >> 16)"),
    ("f64", "(f64)(({u32} >> 24) & 255)"), ("u64", "turned(three({u64}, within({f32}), {u8}), {u32}).a"),
    ("f32", "turned(three({u64}, within({f32}), {u8}), {u32}).b"), ("f32", "remainderf({f32}, {f32})"),
    ("f32", "ldexpf({f32}, {s32} % 99)"), ("f64", "remainder({f64}, {f64})"), ("f32", "(f32)__popc({u32})"),
    ("u32", "((u32){u8} << 24 | (u32){u8} << 16 | (u32){u8} << 8 | {u8})"), ("u64", "((u64){u32} << 32 | {u32})"),
    ("s32", "({s32} < {s32} ? -1 : {s32} > {s32} ? 1 : 0)"), ("bool", "(({f32} < {f32}) != ({f64} < {f64}))"),
]  # fmt: skip
SCALARS = {f"same_{kind}": kind for kind in ("u32", "s32", "f32", "f64", "u64", "u16")}  # arguments by value
BY_LANES = {
    "vadd": 2, "vsub": 2, "vaddss": 2, "vaddus": 2, "vsubss": 2, "vsubus": 2, "vavgu": 2, "vhaddu": 2, "vmaxs": 2,
    "vmaxu": 2, "vmins": 2, "vminu": 2, "vabsdiffs": 2, "vabsdiffu": 2, "vsads": 2, "vsadu": 2, "vabs": 1, "vabsss": 1,
    "vneg": 1, "vnegss": 1, "vcmpeq": 2, "vcmpne": 2, "vcmpgts": 2, "vcmpgtu": 2, "vcmpges": 2, "vcmpleu": 2,
    "vcmplts": 2, "vseteq": 2, "vsetgtu": 2, "vsetles": 2,
}  # fmt: skip
MISENCODED = ("vabsdiffs", "vabsdiffu", "vsads", "vsadu")  # ptxas may name R4 in VABSDIFF4 where it means UR4
MEMORY = {  # loads; `m` and `sh` are there in phases only
    "u32": ("LOADED(__ldg, m.words + ({u32} & 1023))", "LOADED(__ldcg, m.words + ({u32} & 1023))",
            "*(volatile u32*)(m.mine32 + 16 * m.thread + ({u32} & 15))", "sh.fixed[{u32} & 31]",
            "*({bool} ? sh.fixed + ({u32} & 31) : m.words + ({u32} & 1023))",
            "*({bool} ? m.words + ({u32} & 1023) : table + ({u32} & 63))",
            "m.words[{u32} & 1023]", "*(const u32*)((const u8*)m.words + (((s64){s32} << 2) & 4092))",
            "table[{u32} & 63]", "m.mine32[16 * m.thread + ({u32} & 15)]"),
    "u64": ("((const u64*)m.doubles)[{u64} & 255]", "m.mine64[m.thread + m.threads * ({u32} & 15)]"),
    "u8": ("m.bytes[{u32} & 1023]", "letters[{u32} & 31]", "m.mine8[m.thread * 16 + ({u32} & 15)]"),
    "s8": ("((const s8*)m.bytes)[{u64} & 1023]",),
    "u16": ("m.halves[{u32} & 255]", "m.mine16[m.threads * ({u32} & 15) + m.thread]"),
    "s16": ("((const s16*)m.halves)[{u16} & 255]", "steps[{u32} & 15]"),
    "f32": ("m.floats[{u32} & 255]",), "f64": ("m.doubles[{u32} & 255]", "scales[{u32} & 7]"),
    "f16": ("m.halves[{u32} & 255]",),
}  # fmt: skip


def prototypes(text: str) -> list[tuple[str, str]]:
    """(result, template) of functions written as in C."""
    found = re.findall(r"(\w+) (\w+)\(([\w, ]+)\)", text)
    return [(kind, f"{name}({', '.join(f'{{{one}}}' for one in args.split(', '))})") for kind, name, args in found]


def _of_whole(kind: str) -> list[tuple[str, str]]:
    plain = kind if kind in UNSIGNED else SIGNED[kind]
    wide = plain if BITS[kind] >= 32 else "u32"
    a, last = f"({wide}){{{kind}}}", BITS[kind] - 1
    b = a
    made = [f"({kind})({a} {sign} {b})" for sign in ("+", "-", "*", "&", "|", "^") for _ in range(2)]
    made += [f"({kind})({a} * {{#255}}u + {b})", f"({kind})({a} << {{#{last}}})"]
    made += [f"({kind})({a} << ({{u32}} & {last}))"]
    made += [f"({kind})({{{kind}}} >> {{#{last}}})", f"({kind})({{{kind}}} >> ({{u32}} & {last}))"]
    made += [f"({kind})~{{{kind}}}", f"({kind})(0 - {a})", f"({kind})({{{kind}}} / ({kind})({{#99}} + 1))"]
    made += [f"({kind})({{{kind}}} % ({kind})({{#100}} + 3))", f"({kind})({a} / (({wide}){{#62}} * 977 + 1))"]
    made += [f"({kind})(({a} & {b}) | (~({wide}){{{kind}}} & {b}))"]
    made += [f"({kind})({{{other}}})" for other in WHOLE if other != kind]
    made += [f"({kind}){{bool}}", f"({{bool}} ? {{{kind}}} : {{{kind}}})"]
    return [(kind, one) for one in made]


def _of_float(kind: str) -> list[tuple[str, str]]:
    a = f"{{{kind}}}"
    made = [f"({a} {sign} {a})" for sign in "+-*/" for _ in range(2)]
    made += [f"least(least({a}, {a}), {a})", f"most({a}, most({a}, {a}))", f"({kind})({a} < {a})"]
    made += [f"(-{a})", f"({{bool}} ? {a} : {a})", f"({a} * ({kind}){{#64}} + {a})", f"({a} + ({kind}){{#9}} / 4)"]
    letter, fma = ("f", "__fmaf") if kind == "f32" else ("d", "__fma")
    for way in WAYS:
        made += [f"__{letter}{name}_{way}({a}, {a})" for name in ("add", "sub", "mul", "div")]
        made += [f"{fma}_{way}({a}, {a}, {a})", f"__{letter}sqrt_{way}({a})", f"__{letter}rcp_{way}({a})"]
    return [(kind, one) for one in made]


def _conversions() -> list[tuple[str, str]]:
    made = [("f64", "(f64){f32}"), ("f32", "(f32){f64}"), ("f32", "(f32){u64}"), ("f32", "(f32){s8}")]
    names = {"s32": "int", "u32": "uint", "s64": "ll", "u64": "ull"}
    for way, (kind, name) in product(WAYS, names.items()):
        made += [(kind, f"__float2{name}_{way}(number({{f32}}))"), (kind, f"__double2{name}_{way}(number({{f64}}))")]
        made += [("f32", f"__{name}2float_{way}({{{kind}}})")]
        made += [("f64", f"__{name}2double_{way}({{{kind}}})")] if kind.endswith("64") else []
    made += [("f32", f"__double2float_{way}({{f64}})") for way in WAYS]
    made += [(kind, f"({kind})({{{other}}})") for kind in FLOATS for other in WHOLE]
    made += [(kind, f"({kind})within({{{other}}})") for kind in WHOLE for other in FLOATS]
    return made


def _comparisons() -> list[tuple[str, str]]:
    signs = ("<", "<=", ">", ">=", "==", "!=")
    made = [f"({{{kind}}} {sign} {{{kind}}})" for kind in (*WHOLE, *FLOATS) for sign in signs]
    made += [f"!({{{kind}}} {sign} {{{kind}}})" for kind in FLOATS for sign in signs]
    made += [f"({{bool}} {sign} {{bool}})" for sign in ("&&", "||", "^", "&", "==") for _ in range(4)]
    made += ["({u32} & {u32}) != 0", "(({u32} >> ({u32} & 31)) & 1) != 0", "!{bool}", "({s64} & {#31}) == 0"]
    return [("bool", f"({one})") for one in made]


def operations(halves: str) -> dict[str, list[str]]:
    """Templates by the type of their result; `halves`: "f16", "bf" or nothing more."""
    pairs = [one for kind in WHOLE for one in _of_whole(kind)] + [one for kind in FLOATS for one in _of_float(kind)]
    pairs += prototypes(WHOLE_FUNCTIONS) + prototypes(ONE_INSTRUCTION) + PLAIN + prototypes(FLOAT_FUNCTIONS) * 2
    pairs += _conversions() + _comparisons()
    pairs += [
        ("u32", f"__{name}{count}({', '.join(['{u32}'] * arguments)})")
        for name, arguments in BY_LANES.items()
        for count in (2, 4)
        if count == 2 or name not in MISENCODED
    ]
    pairs += prototypes({"f16": HALF_FUNCTIONS, "bf": BFLOAT_FUNCTIONS, "": ""}[halves])
    loads = {kind: several for kind, several in MEMORY.items() if kind != "f16" or halves == "f16"}
    pairs += [(kind, one) for kind, several in loads.items() for one in several * 2]
    found = defaultdict(list)
    for kind, template in pairs:
        found[kind].append(template)
    return dict(found)
