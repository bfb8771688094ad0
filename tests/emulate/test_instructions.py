"""Single instructions against Python's integers and exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from support.emulator.instruction_cases import rounded
from support.emulator.one_instruction import M32, M64, execute, flag, instruction, pair, word
from support.hypothesis_settings import sampled
from warpbound.emulate.handlers import PLAIN
from warpbound.emulate.operand_access import Constants, site
from warpbound.emulate.state import State

CORNERS = st.sampled_from([0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, M32])
WORDS = CORNERS | st.integers(0, M32)
BYTES = st.integers(0, 255)
SHIFTS = st.integers(0, 70) | WORDS
FLAGS = st.booleans()
FINITE32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
FINITE64 = st.floats(allow_nan=False, allow_infinity=False)


def signed(v, bits=32):
    return v - (v >> (bits - 1) << bits)


def bits32(v):
    return int(np.float32(v).view(np.uint32))


def bits64(v):
    raw = int(np.float64(v).view(np.uint64))
    return raw & M32, raw >> 32


def float32(raw):
    return np.uint32(raw).view(np.float32)


# --- integers ---


@sampled(WORDS, WORDS, WORDS, BYTES)
def test_lop3_is_its_truth_table(a, b, c, table):
    wanted = sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32))
    x = execute(f"LOP3.LUT P0, R3, R0, R1, R2, {table:#x}, !PT", {0: a, 1: b, 2: c})
    assert (word(x, 3), flag(x, 0)) == (wanted, wanted != 0)


@sampled(FLAGS, FLAGS, FLAGS, BYTES, BYTES)
def test_plop3_has_two_truth_tables(p, q, r, first, second):
    x = execute(f"PLOP3.LUT P3, P4, P0, P1, !P2, {first:#x}, {second:#x}", {}, {0: p, 1: q, 2: r})
    row = 4 * p + 2 * q + (not r)
    assert (flag(x, 3), flag(x, 4)) == (bool(first >> row & 1), bool(second >> row & 1))


@sampled(WORDS, WORDS, WORDS)
def test_prmt_picks_bytes_and_signs(a, b, selector):
    source = (b << 32 | a).to_bytes(8, "little")
    wanted = 0
    for place in range(4):
        nibble = selector >> 4 * place & 15
        byte = source[nibble & 7]
        wanted |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * place
    assert word(execute("PRMT R3, R0, R2, R1", {0: a, 1: b, 2: selector}), 3) == wanted
    assert word(execute(f"PRMT R3, R0, {selector & 0xFFFF:#x}, R1", {0: a, 1: b}), 3) == wanted


@pytest.mark.parametrize("kind", ["U32", "S32", "U64", "S64"])
@pytest.mark.parametrize("wraps", ["", ".W"])
@pytest.mark.parametrize("high", ["", ".HI"])
@pytest.mark.parametrize("way", ["L", "R"])
@sampled(WORDS, SHIFTS, WORDS, examples=15)
def test_shf_shifts_the_pair(way, high, wraps, kind, a, shift, c):
    limit = 32 if kind.endswith("32") else 64
    amount = shift % limit if wraps else min(shift, limit)
    both = c << 32 | a
    if way == "L":
        shifted = both << amount & M64 if amount < 64 else 0
    else:
        shifted = (signed(both, 64) if kind[0] == "S" else both) >> amount & M64
    wanted = shifted >> 32 if high else shifted & M32
    x = execute(f"SHF.{way}{wraps}.{kind}{high} R3, R0, R1, R2", {0: a, 1: shift, 2: c})
    assert word(x, 3) == wanted


@sampled(WORDS, WORDS, WORDS, FLAGS, FLAGS)
def test_iadd3_carries(a, b, c, p, q):
    x = execute("IADD3 R3, P0, P1, R0, R1, R2", {0: a, 1: b, 2: c})
    total = a + b + c
    assert (word(x, 3), flag(x, 0) + flag(x, 1)) == (total & M32, total >> 32)
    x = execute("IADD3.X R3, P0, P1, R0, ~R1, R2, P2, P3", {0: a, 1: b, 2: c}, {2: p, 3: q})
    total = a + (~b & M32) + c + p + q
    assert (word(x, 3), flag(x, 0) + flag(x, 1)) == (total & M32, total >> 32)


@sampled(st.integers(0, M64), st.integers(0, M64))
def test_wide_subtraction_through_two_words(a, b):
    low = execute("IADD3 R4, P0, R0, -R1, RZ", {0: a & M32, 1: b & M32})
    high = execute("IADD3.X R5, R0, ~R1, RZ, P0, !PT", {0: a >> 32, 1: b >> 32}, {0: flag(low, 0)})
    assert word(low, 4) | word(high, 5) << 32 == (a - b) & M64


@sampled(st.integers(0, M64), st.integers(0, M64), st.integers(0, M64))
def test_sums_of_three_pairs_carry_twice(a, b, c):
    start = {2 * i + part: value >> 32 * part & M32 for i, value in enumerate((a, b, c)) for part in range(2)}
    x = execute("IADD3.64 R8, P0, P1, R0, R2, R4", start, arch=120)
    assert (pair(x, 8), flag(x, 0) + flag(x, 1)) == ((a + b + c) & M64, a + b + c >> 64)
    x = execute("IADD3.64 R8, P0, PT, R0, R2, RZ", start, arch=120)
    assert (pair(x, 8), flag(x, 0)) == ((a + b) & M64, a + b > M64)


@sampled(WORDS, WORDS, st.integers(0, M64), FLAGS)
def test_imad_wide(a, b, c, carry):
    start = {0: a, 1: b, 2: c & M32, 3: c >> 32}
    assert pair(execute("IMAD.WIDE R4, R0, R1, R2", start), 4) == (signed(a) * signed(b) + c) & M64
    x = execute("IMAD.WIDE.U32 R4, P0, R0, R1, R2", start)
    assert (pair(x, 4), flag(x, 0)) == ((a * b + c) & M64, a * b + c > M64)
    x = execute("IMAD.WIDE.U32.X R4, P1, R0, R1, R2, P0", start, {0: carry})
    assert (pair(x, 4), flag(x, 1)) == ((a * b + c + carry) & M64, a * b + c + carry > M64)
    assert word(execute("IMAD.HI.U32 R4, R0, R1, R2", start), 4) == (a * b + c) >> 32 & M32
    assert word(execute("IMAD.HI R4, R0, R1, R2", start), 4) == (signed(a) * signed(b) + c) >> 32 & M32
    assert word(execute("IMAD R4, R0, R1, -R2", start), 4) == (a * b - (c & M32)) & M32
    assert word(execute("IMAD.X R4, R0, R1, R2, P0", start, {0: carry}), 4) == (a * b + c + carry) & M32


@sampled(WORDS, WORDS, WORDS, st.integers(0, 31), FLAGS)
def test_lea(a, b, c, shift, carry):
    start = {0: a, 1: b, 2: c}
    x = execute(f"LEA R4, P0, R0, R1, {shift:#x}", start)
    total = (a << shift & M32) + b
    assert (word(x, 4), flag(x, 0)) == (total & M32, total > M32)
    upper = (c << 32 | a) << shift >> 32 & M32
    assert word(execute(f"LEA.HI R4, R0, R1, R2, {shift:#x}", start), 4) == (upper + b) & M32
    x = execute(f"LEA.HI.X R4, P1, R0, R1, R2, {shift:#x}, P0", start, {0: carry})
    assert (word(x, 4), flag(x, 1)) == ((upper + b + carry) & M32, upper + b + carry > M32)
    by_sign = signed(a) << shift >> 32 & M32
    assert word(execute(f"LEA.HI.SX32 R4, R0, R1, {shift:#x}", start), 4) == (by_sign + b) & M32


@pytest.mark.parametrize(("name", "test"), [
    ("LT", int.__lt__), ("LE", int.__le__), ("EQ", int.__eq__), ("NE", int.__ne__),
    ("GE", int.__ge__), ("GT", int.__gt__),
])  # fmt: skip
@sampled(st.integers(0, M64), st.integers(0, M64), FLAGS, examples=25)
def test_isetp_in_one_and_two_words(name, test, a, b, given_flag):
    low = execute(f"ISETP.{name}.U32.AND P0, PT, R0, R1, PT", {0: a & M32, 1: b & M32})
    assert flag(low, 0) == test(a & M32, b & M32)
    high = {0: a >> 32, 1: b >> 32}
    x = execute(f"ISETP.{name}.AND.EX P2, P3, R0, R1, PT, P0", high, {0: flag(low, 0)})
    assert (flag(x, 2), flag(x, 3)) == (test(signed(a, 64), signed(b, 64)), not test(signed(a, 64), signed(b, 64)))
    x = execute(f"ISETP.{name}.OR P2, P3, R0, R1, P4", high, {4: given_flag})
    assert flag(x, 2) == (test(signed(a >> 32), signed(b >> 32)) or given_flag)


@sampled(WORDS)
def test_bit_counts(a):
    start = {0: a}
    assert word(execute("POPC R1, R0", start), 1) == a.bit_count()
    assert word(execute("BREV R1, R0", start), 1) == int(f"{a:032b}"[::-1], 2)
    assert word(execute("FLO.U32 R1, R0", start), 1) == (a.bit_length() - 1) & M32
    assert word(execute("FLO.U32.SH R1, R0", start), 1) == (32 - a.bit_length() if a else M32)
    folded = a if a < 1 << 31 else ~a & M32
    assert word(execute("FLO R1, R0", start), 1) == (folded.bit_length() - 1) & M32


@sampled(WORDS, st.integers(0, 40), st.integers(0, 40))
def test_fields(a, width, start):
    kept = a & ((1 << min(width, 32)) - 1)
    extended = kept if not 0 < width < 32 or not kept >> (width - 1) else kept - (1 << width) & M32
    assert word(execute("SGXT R2, R0, R1", {0: a, 1: width}), 2) == extended
    assert word(execute("SGXT.U32 R2, R0, R1", {0: a, 1: width}), 2) == kept
    mask = ((1 << min(width, 32)) - 1) << min(start, 32) & M32
    assert word(execute("BMSK R2, R0, R1", {0: start, 1: width}), 2) == mask


@sampled(WORDS, WORDS, WORDS)
def test_idp(a, b, c):
    parts = lambda v, t: np.array([v], np.uint32).view(t).astype(int)  # noqa: E731
    wanted = int((parts(a, np.int8) * parts(b, np.uint8)).sum()) + c
    assert word(execute("IDP.4A.S8.U8 R3, R0, R1, R2", {0: a, 1: b, 2: c}), 3) == wanted & M32


@sampled(WORDS, st.lists(FLAGS, min_size=7, max_size=7))
def test_predicates_in_a_register(a, flags):
    x = execute("P2R R1, PR, R0, 0x7f", {0: a}, dict(enumerate(flags)))
    assert word(x, 1) == a & ~0x7F | sum(f << i for i, f in enumerate(flags))
    x = execute("R2P PR, R0.B1, 0x15", {0: a})
    assert [flag(x, i) for i in (0, 2, 4)] == [bool(a >> 8 + i & 1) for i in (0, 2, 4)]


# --- floats ---

WAYS = {"": "n", ".RM": "d", ".RP": "u", ".RZ": "z"}


@pytest.mark.parametrize("way", WAYS)
@sampled(FINITE64, examples=40)
def test_f2f_narrows_in_every_direction(way, v):
    low, high = bits64(v)
    found = float32(word(execute(f"F2F.F32.F64{way} R2, R0", {0: low, 1: high}), 2))
    with np.errstate(over="ignore"):
        if np.isfinite(np.float32(v)) and abs(v) < 3.4e38:
            assert found == rounded(Fraction(v), np.float32, WAYS[way])


@pytest.mark.parametrize(("kind", "low", "high"), [
    ("", -(2**31), 2**31 - 1), (".U32", 0, M32), (".S64", -(2**63), 2**63 - 1), (".U64", 0, M64),
])  # fmt: skip
@pytest.mark.parametrize(("way", "whole"), [("", round), (".TRUNC", int), (".FLOOR", np.floor), (".CEIL", np.ceil)])
@sampled(FINITE64 | st.integers(-(2**65), 2**65).map(float), examples=20)
def test_f2i_rounds_and_saturates(way, whole, kind, low, high, v):
    a, b = bits64(v)
    x = execute(f"F2I{kind}.F64{way} R2, R0", {0: a, 1: b})
    found = pair(x, 2) if kind.endswith("64") else word(x, 2)
    wanted = int(min(max(int(whole(v)), low), high))
    assert found == wanted & (M64 if kind.endswith("64") else M32)


@pytest.mark.parametrize("way", WAYS)
@sampled(st.integers(0, M64), examples=40)
def test_i2f_rounds_in_every_direction(way, v):
    start = {0: v & M32, 1: v >> 32}
    found = float32(word(execute(f"I2F.U64{way} R2, R0", start), 2))
    assert found == rounded(Fraction(v), np.float32, WAYS[way])
    found = float32(word(execute(f"I2F.S64{way} R2, R0", start), 2))
    assert found == rounded(Fraction(signed(v, 64)), np.float32, WAYS[way])
    found = np.uint64(pair(execute(f"I2F.F64.S64{way} R2, R0", start), 2)).view(np.float64)
    assert found == rounded(Fraction(signed(v, 64)), np.float64, WAYS[way])
    found = float32(word(execute(f"I2F{way} R2, R0", start), 2))
    assert found == rounded(Fraction(signed(v & M32)), np.float32, WAYS[way])


@sampled(FINITE32, FINITE32)
def test_comparisons_know_unordered(a, b):
    start = {0: bits32(a), 1: bits32(b), 2: 0x7FFFFFFF}
    for name, wanted in (("LT", a < b), ("GEU", a >= b), ("NEU", a != b), ("NUM", True), ("NAN", False)):
        assert flag(execute(f"FSETP.{name}.AND P0, PT, R0, R1, PT", start), 0) == wanted
    for name, wanted in (("LT", False), ("LTU", True), ("NE", False), ("NEU", True), ("EQU", True), ("NAN", True)):
        assert flag(execute(f"FSETP.{name}.AND P0, PT, R0, R2, PT", start), 0) == wanted


def test_minimum_prefers_numbers_and_knows_zeros():
    start = {0: bits32(-0.0), 1: bits32(0.0), 2: 0x7FC00001, 3: bits32(5)}
    assert word(execute("FMNMX R4, R1, R0, PT", start), 4) == bits32(-0.0)
    assert word(execute("FMNMX R4, R0, R1, !PT", start), 4) == bits32(0.0)
    assert word(execute("FMNMX R4, R2, R3, PT", start), 4) == bits32(5)
    assert np.isnan(float32(word(execute("FMNMX.NAN R4, R3, R2, PT", start), 4)))


def test_flushing():
    tiny, small = 0x00400000, bits32(2.0**-100)
    assert word(execute("FADD R2, R0, R1", {0: tiny, 1: tiny}), 2) == 0x00800000
    assert word(execute("FADD.FTZ R2, R0, R1", {0: tiny, 1: tiny}), 2) == 0
    assert word(execute("FMUL.FTZ R2, R0, -R1", {0: small, 1: bits32(2.0**-30)}), 2) == 0x80000000
    assert word(execute("FMUL R2, R0, R1", {0: small, 1: bits32(2.0**-30)}), 2) == bits32(2.0**-130)


@pytest.mark.parametrize(("name", "function", "ulps"), [
    ("RCP", lambda v: 1 / v, 1), ("RSQ", lambda v: v**-0.5, 1), ("SQRT", np.sqrt, 1),
    ("EX2", np.exp2, 1), ("LG2", np.log2, 1),
])  # fmt: skip
def test_special_functions_within_an_ulp(name, function, ulps):
    v = np.linspace(0.1, 30, 32).astype(np.float32)
    found = execute(f"MUFU.{name} R1, R0", {0: v.view(np.uint32)}).float_rows[1]
    wanted = function(v.astype(float))
    assert (np.abs(found - wanted) <= ulps * np.spacing(np.abs(wanted).astype(np.float32))).all()


@sampled(st.lists(FLAGS, min_size=3, max_size=3))
def test_uniform_predicates_in_a_uniform_register(flags):
    x = State(1, 64)
    for index, value in enumerate(flags):
        x.put_uniform_predicate(index, np.bool_(value))
    PLAIN["UP2UR"](site(instruction("UP2UR UR43, UPR, URZ, 0x5"), Constants({}), 120))(x)
    assert int(x.uniform[43]) == flags[0] | flags[2] << 2


@pytest.mark.parametrize(("a", "wanted"), [(5, 12), (0x7FFFFFFC, 0x7FFFFFFF), (0x80000000, 0x80000007)])
def test_uniform_sums_keep_within_the_range_where_it_is_said(a, wanted):
    x = State(1, 64)
    x.uniform[4] = np.uint32(a)
    with x.arithmetic():
        PLAIN["UVIADD"](site(instruction("UVIADD.S32.ISAT UR5, UR4, 0x7"), Constants({}), 120))(x)
    assert int(x.uniform[5]) == wanted


def test_the_register_of_return_addresses_keeps_words():
    x = State(1, 64)
    for index, value in ((4, 7), (5, 9)):
        x.put(index, np.full(32, value, np.uint32) + np.arange(32, dtype=np.uint32))
    for text in ("RPCMOV.32 Rpc.LO, R4", "RPCMOV.32 Rpc.HI, R5", "RPCMOV.32 R6, Rpc.LO", "RPCMOV.32 R7, Rpc.HI"):
        PLAIN["RPCMOV"](site(instruction(text), Constants({}), 100))(x)
    assert np.array_equal(x.rows[6], 7 + np.arange(32))
    assert np.array_equal(x.rows[7], 9 + np.arange(32))
