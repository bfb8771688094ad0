"""Control words decoded by hand from nvdisasm's listings, bit by bit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.program.instruction import Control, control_word


def stall(
    cycles: int, yields: str = "", write: int | None = None, read: int | None = None, wait: tuple[int, ...] = (),
    reuse: int = 0,
) -> Control:  # fmt: skip
    return Control(cycles, bool(yields), write, read, wait, reuse)


# The 21 bits above bit 104 of an instruction, that is `high >> 41`, written as
# reuse(4) wait(6) read(3) write(3) yield(1) stall(4).
BY_HAND = [
    # saxpy for sm_90: 0000 000000 111 111 1 0001
    ("LDC R1, c[0x0][0x28]", 0x000FE20000000800, stall(1)),
    # 0000 000000 111 000 1 0111: raises 0
    ("S2R R0, SR_TID.X", 0x000E2E0000002100, stall(7, write=0)),
    # 0000 000000 111 000 1 1000
    ("S2UR UR4, SR_CTAID.X", 0x000E300000002500, stall(8, write=0)),
    # 0000 000001 111 111 1 0001: waits for 0
    ("IMAD R7, R7, UR4, R0", 0x001FE2000F8E0200, stall(1, wait=(0,))),
    # 0000 000000 111 111 0 0100: yields
    ("ULDC UR4, c[0x0][0x210]", 0x000FC80000000800, stall(4, "yields")),
    # 0000 000000 111 111 0 1101
    ("ISETP.GE.AND P0, PT, R7, UR4, PT", 0x000FDA000BF06270, stall(13, "yields")),
    # 0000 000000 111 111 1 0101
    ("@P0 EXIT", 0x000FEA0003800000, stall(5)),
    # 0000 000000 111 010 1 0001: raises 2
    ("LDG.E.CONSTANT R2, desc[UR4][R2.64]", 0x000EA2000C1E9900, stall(1, write=2)),
    # 0000 000010 111 111 0 0101: waits for 1
    ("IMAD.WIDE R4, R7, 0x4, R4", 0x002FCA00078E0204, stall(5, "yields", wait=(1,))),
    # 0000 000000 111 010 1 0010
    ("LDG.E R7, desc[UR4][R4.64]", 0x000EA4000C1E1900, stall(2, write=2)),
    # 0000 000100 111 111 0 0101: waits for 2
    ("FFMA R7, R2, UR6, R7", 0x004FCA0008000007, stall(5, "yields", wait=(2,))),
    # 0000 100001 111 111 1 0101 (sm_75): waits for 0 and 5
    ("CALL.REL.NOINC R2 `(_Z2fpPfi)", 0x021FEA0003C3FFFF, stall(5, wait=(0, 5))),
    # 0000 000100 111 000 1 1000: raises 0, waits for 2
    ("LDC.64 R2, c[0x2][R2]", 0x004E300000000A00, stall(8, write=0, wait=(2,))),
    # all bits set and none
    ("nothing waits", 7 << 46 | 7 << 49, stall(0, "yields")),
    ("everything", 0x1FFFFF << 41, stall(15, wait=(0, 1, 2, 3, 4, 5), reuse=15)),
]


@pytest.mark.parametrize("text, high, control", BY_HAND, ids=[text for text, _, _ in BY_HAND])
def test_by_hand(text: str, high: int, control: Control) -> None:
    assert control_word(high) == control


@given(
    st.integers(0, 15), st.sampled_from([0, 1]), st.sampled_from([*range(6), 7]), st.sampled_from([*range(6), 7]),
    st.sets(st.integers(0, 5)), st.integers(0, 15), st.integers(0, 2**41 - 1),
)  # fmt: skip
def test_decoding_undoes_encoding(
    cycles: int,
    yields: int,
    write: int,
    read: int,
    wait: set[int],
    reuse: int,
    rest: int,
) -> None:
    bits = cycles | (not yields) << 4 | write << 5 | read << 8 | sum(1 << board for board in wait) << 11 | reuse << 17
    control = control_word(bits << 41 | rest)
    boards = (None if write == 7 else write, None if read == 7 else read)
    assert control == Control(cycles, bool(yields), *boards, tuple(sorted(wait)), reuse)
