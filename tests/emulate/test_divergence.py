"""Masks and order of a warp whose lanes part, and of one whose lanes do not: Volkov 2016, Tables 2.3 and 2.4.

The thesis' listing with its four lanes, on a machine with convergence barriers: P0 is 0, 1, 1, 0 or 1, 1, 1, 1.  A
store on either side and one after both shows who is there.  The thesis supposes that the else branch goes first; here
the other one does, and only what does not depend on it is compared.  P0 is whether the lane plus 1 has a bit of the
mask.
"""

from support.sass_listing import kernel
from warpbound import emulate
from warpbound.kernel_launch import launch

LANES = 4
LISTING = """
S2R R0, SR_TID.X
SHF.L.U32 R8, R0, 0x2, RZ
IADD3 R7, R0, 0x1, RZ
LOP3.LUT R7, R7, {mask}, RZ, 0xc0, !PT
ISETP.NE.U32.AND P0, PT, R7, RZ, PT
BSSY B0, `(.L_end)
@!P0 BRA `(.L_else)
IADD3 R1, R1, 0x1, RZ
STS [R8], R1
BRA `(.L_end)
.L_else:
IADD3 R4, R4, 0x4, RZ
STS [R8], R4
.L_end:
BSYNC B0
STS [R8], R0
EXIT
"""
LEFT = """
S2R R0, SR_TID.X
SHF.L.U32 R8, R0, 0x2, RZ
ISETP.GT.U32.AND P0, PT, R0, 0x1, PT
BSSY B0, `(.L_end)
@P0 BRA `(.L_end)
BRA `(.L_left)
.L_end:
BSYNC B0
STS [R8], R0
.L_left:
WARPSYNC.ALL
BAR.SYNC 0x0
STS [R8], R8
EXIT
"""
ALONE = """
S2R R0, SR_TID.X
SHF.L.U32 R8, R0, 0x2, RZ
ISETP.NE.U32.AND P0, PT, R0, 0x3, PT
@!P0 BRA `(.L_alone)
.L_all:
WARPSYNC.ALL
STS [R8], R8
EXIT
.L_alone:
IADD3 R5, RZ, 0x8, RZ
WARPSYNC R5
STS [R8], R5
BRA `(.L_all)
"""
IF, ELSE, AFTER = 8, 11, 13  # the three stores


def traced(mask: str, listing: str = LISTING) -> emulate.Trace:
    lines = [line if line.endswith(":") else f"B------:R-:W-:-:S01  {line}" for line in listing.strip().splitlines()]
    program = kernel("\n".join(lines).format(mask=mask), registers=32)
    return emulate.trace(program, launch(grid=1, block=LANES, smem=64), [0])


def masks(trace: emulate.Trace) -> dict[int, str]:
    """Who is at each store, lane 0 first."""
    stores = trace.accesses["shared"]
    rows = zip(stores.instruction.tolist(), stores.active[:, :LANES].astype(int).tolist(), strict=True)
    return {store: "".join(map(str, lanes)) for store, lanes in rows}


def test_lanes_that_part_take_both_sides_and_meet_again() -> None:
    trace = traced("0x2")
    assert masks(trace) == {IF: "0110", ELSE: "1001", AFTER: "1111"}
    (stream,) = trace.streams.values()
    sides = [step for step in stream.tolist() if step in (IF, ELSE, AFTER)]
    assert sorted(sides) == [IF, ELSE, AFTER]
    assert sides[-1] == AFTER


def test_each_part_of_a_warp_issues_the_instruction_at_which_they_meet() -> None:
    """As the counters of Nsight Compute have it: BSYNC once for each part, what follows once."""
    apart, together = traced("0x2"), traced("0x7")
    assert apart.executed[0, AFTER - 1 : AFTER + 2].tolist() == [2, 1, 1]
    assert apart.threads[0, AFTER - 1] == LANES
    assert together.executed[0, AFTER - 1 : AFTER + 2].tolist() == [1, 1, 1]


def test_lanes_that_agree_never_see_the_other_side() -> None:
    trace = traced("0x7")
    assert masks(trace) == {IF: "1111", AFTER: "1111"}
    (stream,) = trace.streams.values()
    assert stream.tolist() == [*range(IF + 2), AFTER - 1, AFTER, AFTER + 1]


def test_lanes_that_leave_without_a_break_are_not_waited_for() -> None:
    """As compilers write it where the whole warp leaves, or none does, for a reason that they know."""
    assert masks(traced("", LEFT)) == {7: "0011", 10: "1111"}


def test_who_waits_for_itself_is_not_there_for_those_that_wait_for_all() -> None:
    assert masks(traced("", ALONE)) == {9: "0001", 5: "1111"}
