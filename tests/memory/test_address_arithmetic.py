"""What integer opcodes do to forms: exact values against NumPy's, and values with an unknown of the whole warp."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sass_listing import kernel
from warpbound.memory import affine
from warpbound.memory.address_arithmetic import Address, addresses
from warpbound.memory.address_registers import Threads
from warpbound.memory.affine import Form
from warpbound.memory.static_lane_addresses import rows

BLOCK = Threads((8, 6, 2), {0x160: 1000, 0x164: 77})
T = np.arange(96).reshape(3, 32)
X, Y, Z = T % 8, T // 8 % 6, T // 48


def form_of(text: str, threads: Threads = BLOCK) -> Form | str:
    """What R9 holds after R0 = threadIdx.x, R1 = .y, R2 = .z, R3 = the thread's number, R4 = blockIdx.x and `text`."""
    start = """
        S2R R0, SR_TID.X
        S2R R1, SR_TID.Y
        S2R R2, SR_TID.Z
        IMAD R3, R2, 0x6, R1
        LEA R3, R3, R0, 0x3
        S2R R4, SR_CTAID.X
    """
    body = [row.strip() for row in f"{start}\n{text}\nLDS R20, [R9]\nEXIT".splitlines() if row.strip()]
    program = kernel("\n".join(f"B------:R-:W-:-:S01  {row}" for row in body))
    found = addresses(program.instructions, 86, threads, [range(len(program.instructions))])
    return found[max(found)].form


def exact(text: str) -> np.ndarray:
    form = form_of(text)
    assert isinstance(form, Form), form
    assert form.exact, form
    return np.broadcast_to(form.known, T.shape)


def signed(words: np.ndarray) -> np.ndarray:
    return np.asarray(words).astype(np.uint64).astype(np.uint32).view(np.int32).astype(np.int64)


EXACT = {  # instruction: what it makes of the threads' numbers
    "MOV R9, R3": T,
    "MOV R9, c[0x0][0x160]": np.full_like(T, 1000),
    "IADD3 R9, R3, -R0, 0x10": T - X + 16,
    "IADD3 R9, R3, ~R0, RZ": T - X - 1,
    "IMAD R9, R3, R0, R1": T * X + Y,
    "IMAD R9, R3, -0x3, RZ": -3 * T,
    "IMAD.HI.U32 R9, R3, 0x55555556, RZ": T // 3,
    "LEA R9, R3, R1, 0x4": T * 16 + Y,
    "LEA.HI R9, R3, R1, RZ, 0x1e": (T >> 2) + Y,
    "LEA.HI R9, R3, R1, R2, 0x1e": (T >> 2) + (Z << 30) + Y,
    "LEA.HI.SX32 R9, R3, R1, 0x1d": (T >> 3) + Y,
    "SHF.L.U32 R9, R3, 0x3, RZ": T * 8,
    "SHF.R.U32.HI R9, RZ, 0x2, R3": T >> 2,
    "SHF.R.S32.HI R9, RZ, 0x1f, R3": np.zeros_like(T),
    "SHL R9, R3, 0x2": T * 4,
    "SHR R9, R3, 0x3": T >> 3,
    "ISCADD R9, R3, R1, 0x5": T * 32 + Y,
    "LOP.XOR R9, R3, R1": T ^ Y,
    "LOP.OR R9, R3, R1": T | Y,
    "LOP32I.AND R9, R3, 0x15": T & 0x15,
    "IMNMX R9, R3, 0x20, PT": np.minimum(T, 32),
    "IMNMX R9, R3, R1, !PT": np.maximum(T, Y),
    "VIADDMNMX R9, R3, 0x5, R1, !PT": np.maximum(T + 5, Y),
    "HFMA2.MMA R9, -RZ, RZ, 0, 1.1920928955078125e-07": np.full_like(T, 2),
    "HFMA2.MMA R9, -RZ, RZ, 2, 0": np.full_like(T, 0x40000000),
    "S2R R9, SR_LANEID": T % 32,
    "S2R R9, SR_NTID.Y": np.full_like(T, 6),
    "SEL R9, R3, R3, P0": T,
    "R2UR UR9, R3\nMOV R9, UR9": T // 32 * 32,
    "CS2R R8, SRZ": np.zeros_like(T),
    "CS2R.32 R8, SRZ\nMOV R9, R3": T,
    "ULDC.64 UR8, c[0x0][0x160]\nMOV R9, UR9": np.full_like(T, 77),
    "LDC.64 R8, c[0x0][0x160]": np.full_like(T, 77),
}


@pytest.mark.parametrize("text", EXACT)
def test_exact_values(text: str) -> None:
    assert (exact(text) == signed(EXACT[text])).all()


@given(st.integers(0, 255), st.integers(-(2**31), 2**31 - 1))
def test_every_function_of_three_words(table: int, constant: int) -> None:
    found = exact(f"LOP3.LUT R9, R3, {constant:#x}, R1, {table:#x}, !PT")
    expected = np.zeros_like(T)
    for bit in range(32):
        a, b, c = ((word >> bit) & 1 for word in (T, np.full_like(T, constant), Y))
        expected |= ((table >> (4 * a + 2 * b + c)) & 1) << bit
    assert (found == signed(expected)).all()


def test_words_wrap_around() -> None:
    assert (exact("IMAD R9, R3, 0x40000000, RZ") == signed(T << 30)).all()
    assert (exact("SHF.R.S32.HI R9, RZ, 0x4, RZ") == 0).all()
    assert (exact("IADD3 R9, R3, 0x7fffffff, RZ\nSHF.R.S32.HI R9, RZ, 0x1f, R9")[0, 1:] == -1).all()


UNKNOWN = {  # instruction: (its exact part, coefficient of blockIdx.x)
    "IMAD R9, R4, 0x60, R3": (T, 96),
    "IADD3 R9, R3, -R4, RZ": (T, -1),
    "LOP3.LUT R9, RZ, R4, RZ, 0x33, !PT": (np.full_like(T, -1), -1),
    "IMAD R9, R4, 0x60, R3\nLOP3.LUT R9, R9, 0x1f, RZ, 0xc0, !PT": (T % 32, 0),
    "IMAD R9, R4, 0x60, R3\nLOP3.LUT R9, R9, 0x11, RZ, 0xc0, !PT": (T & 0x11, 0),
    "IMAD R9, R4, 0x60, R3\nLOP3.LUT R9, R9, 0xffffffe0, RZ, 0xc0, !PT": (T // 32 * 32, 96),
    "IMAD R9, R4, 0x60, R3\nLOP3.LUT R9, R9, 0xfffffff5, RZ, 0xc0, !PT": (T & ~10, 96),
    "IMAD R9, R4, 0x60, R3\nSHF.R.U32.HI R9, RZ, 0x5, R9": (T // 32, 3),
    "IMAD R9, R4, 0x60, R3\nSHF.R.S32.HI R9, RZ, 0x1f, R9": (np.zeros_like(T), 0),
    "IMAD R9, R4, 0x60, R3\nLEA.HI R9, R9, R9, RZ, 0x1": (T, 96),
    "IMNMX R9, R3, R4, PT": (T, 0),  # a clamp by a value of the whole warp is taken not to act
    "IMNMX R9, R4, R3, !PT": (T, 0),
    "IMAD.WIDE R8, R4, 0x4, R8\nMOV R9, R4": (np.zeros_like(T), 1),
}


@pytest.mark.parametrize("text", UNKNOWN)
def test_values_with_an_unknown(text: str) -> None:
    known, coefficient = UNKNOWN[text]
    form = form_of(text)
    assert isinstance(form, Form), form
    expected = affine.add(affine.constant(known), affine.scale(affine.unknown("CTAID.X"), coefficient))
    assert affine.equal(form, expected)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("IADD3.X R9, R3, R1, RZ, P0, !PT", "upper word"),
        ("IMAD.X R9, R3, 0x1, R1, P0", "upper word"),
        ("LEA.HI.X R9, R3, R1, R2, 0x2, P0", "upper word"),
        ("IMAD.WIDE R8, R3, 0x4, RZ", "upper word"),
        ("SHF.L.U64.HI R9, R3, 0x2, R1", "upper word"),
        ("IMAD R9, R4, 0x3, R3\nSHF.R.U32.HI R9, RZ, 0x5, R9", "`SHF`"),
        ("IMAD R9, R4, 0x3, R3\nLOP3.LUT R9, R9, 0x1f, RZ, 0xc0, !PT", "`LOP3`"),
        ("POPC R9, R3", "`POPC`"),
        ("SHFL.BFLY PT, R9, R4, 0x1, 0x1f", "`SHFL`"),
        ("I2F R9, R3", "`I2F`"),
        ("LDG.E.64 R8, [R2.64]", "data loaded"),
        ("LDC R9, c[0x3][R3]", "a table in constant memory"),
        ("SEL R9, R3, R1, P0", "a choice between two values"),
        ("MOV R9, R77", "not set"),
        ("S2R R9, SR_LANEMASK_LT", "SR_LANEMASK"),
    ],
)
def test_what_is_not_followed_says_why(text: str, reason: str) -> None:
    form = form_of(text)
    assert isinstance(form, str), form
    assert reason in form


@pytest.mark.parametrize(
    "text", ["POPC R9, R4", "SEL R9, R4, RZ, P0", "LDG.E R9, [R4.64]", "LDC R9, c[0x3][R4]", "S2R R9, SR_CLOCKLO"]
)
def test_a_value_of_the_whole_warp_stays_one(text: str) -> None:
    form = form_of(text)
    assert isinstance(form, Form)
    assert form.uniform
    assert not form.exact


def test_threads_beyond_the_block_take_no_part() -> None:
    lanes, active = rows(Address(affine.constant(np.arange(64).reshape(2, 32) * 4)), Threads((40, 1, 1)))
    assert active.sum() == 40
    assert lanes.shape == active.shape == (2, 32)
    assert active[1].tolist() == [True] * 8 + [False] * 24
