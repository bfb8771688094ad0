"""Values stored to shared memory behind a barrier do not reach a load before it, nor a wait at an mbarrier."""

import pytest

from support.sass_listing import PLAIN, kernel
from warpbound.emulate.reserved_shared import reserved_accesses
from warpbound.emulate.shared_order import SharedOrder
from warpbound.emulate.value_dependence import dependents_of
from warpbound.emulate.value_slicing import slice_of

BARRIER = "BAR.SYNC.DEFER_BLOCKING 0x0"
LINES = [
    "S2R R0, SR_TID.X", "MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]", "ISETP.GT.AND P0, PT, R0, 0x5, PT",
    "STS [R0], R0", BARRIER, "LDS R9, [RZ]", BARRIER,
    "LOOP", "LDG.E R4, [R2.64]", "STS [R0+0x400], R4", "@P0 BRA `(LOOP)", "LDS R5, [R9+0x400]",
    "STG.E [R2.64], R5", "EXIT",
]  # fmt: skip


def program(lines):
    rows = [".L_LOOP:" if line == "LOOP" else PLAIN.format(2, line.replace("LOOP", ".L_LOOP")) for line in lines]
    return kernel("\n".join(rows), 90)


def at(code, start):
    return next(i for i, instruction in enumerate(code.instructions) if instruction.text.startswith(start))


def replaced(old, new):
    return [new if line == old else line for line in LINES]


def without_barrier_behind_the_load():
    place = LINES.index("LDS R9, [RZ]")
    return [*LINES[: place + 1], *LINES[place + 2 :]]


def load_in_the_loop():
    moved = [line for line in LINES if line != "LDS R9, [RZ]"]
    return [*moved[: moved.index("LOOP") + 1], "LDS R9, [RZ]", BARRIER, *moved[moved.index("LOOP") + 1 :]]


@pytest.mark.parametrize("lines, reaches", [
    (LINES, False), (without_barrier_behind_the_load(), True), (load_in_the_loop(), True),
    (replaced("STS [R0+0x400], R4", "ST.E [R2.64], R4"), True), (replaced(BARRIER, "BAR.SYNC 0x1, 0x40"), True),
    (replaced(BARRIER, f"@P0 {BARRIER}"), True),
])  # fmt: skip
def test_a_store_behind_a_barrier_behind_the_load_is_no_source(lines, reaches):
    code = program(lines)
    load, late = at(code, "LDS R9"), at(code, next(x for x in lines if "R4" in x and x.startswith("ST")))
    first = at(code, "STS [R0], R0")
    assert SharedOrder(code).sources({first, late}, {load}) == ({first, late} if reaches else {first})


COPIES = [
    "MOV R2, RZ", "LDS R9, [RZ]", "UCGABAR_ARV", "UCGABAR_WAIT", BARRIER, "UBLKCP.S.G [UR6], [UR8], UR4", "EXIT",
]  # fmt: skip


@pytest.mark.parametrize("lines, reaches", [
    (COPIES, False), ([*COPIES[:2], *COPIES[4:]], True), (["UCGABAR_ARV", *COPIES[:2], *COPIES[3:]], True),
    ([*COPIES[:2], "UCGABAR_ARV", "@P0 UCGABAR_WAIT", *COPIES[4:]], True),
])  # fmt: skip
def test_a_bulk_copy_may_come_from_a_block_that_is_ahead(lines, reaches):
    """A barrier of the block does not hold the other blocks of the cluster; a load while they may go on is too late."""
    lines = [*lines[:-1], "UCGABAR_ARV", "UCGABAR_WAIT", "EXIT"]
    code = program(lines)
    load, copy = at(code, "LDS R9"), at(code, "UBLKCP")
    assert (copy in SharedOrder(code).sources({copy}, {load})) is reaches


def test_a_load_of_some_threads_is_before_the_barrier_that_all_reach():
    lines = [f"@P0 {line}" if line.startswith("LDS R9") else line for line in LINES]
    code = program(lines)
    late = at(code, "STS [R0+0x400]")
    assert SharedOrder(code).sources({late}, {at(code, "@P0 LDS R9")}) == set()


@pytest.mark.parametrize("lines, depends", [(LINES, False), (without_barrier_behind_the_load(), True)])
def test_neither_addresses_nor_values_follow_from_what_comes_later(lines, depends):
    code = program(lines)
    loaded, second = at(code, "LDG"), at(code, "LDS R5")
    assert (second in dependents_of(code, {loaded}).addresses) is depends
    assert (loaded not in slice_of(code).unneeded) is depends


def test_waits_at_mbarriers_need_no_values_in_shared_memory():
    code = program(replaced("LDS R5, [R9+0x400]", "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R20")[:-2] + ["EXIT"])
    assert {at(code, "LDG"), at(code, "STS [R0+0x400]")} <= slice_of(code).unneeded


POINTER = ["MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]"]
RESERVED = [
    *POINTER, "S2UR UR5, SR_CgaCtaId", "UMOV UR4, 0x40", "ULEA UR6, UR5, UR4, 0x18", "UMOV UR7, 0x400",
    "ULEA UR8, UR5, UR7, 0x18", "UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR9, UR7", "LDG.E R4, [R2.64]", "STS [UR8], R4",
    "ATOMS.OR RZ, [UR6+0x14], R3", "LDS R0, [UR6+0x14]", "ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0 EXIT", "EXIT",
]  # fmt: skip


@pytest.mark.parametrize("changed, apart", [
    ("", True), ("UMOV UR4, 0x400", False), ("@UP1 UMOV UR4, 0x40", False), ("ULEA UR6, UR5, UR4, 0x10", False),
])  # fmt: skip
def test_no_value_of_a_kernel_lies_in_reserved_shared_memory(changed, apart):
    """Where the columns of tensor memory are counted; an address that is not known to be there may be anywhere."""
    start = changed.removeprefix("@UP1 ").partition(",")[0]
    code = program([changed if start and line.startswith(start) else line for line in RESERVED])
    assert ({at(code, "ATOMS"), at(code, "LDS")} == reserved_accesses(code)) is apart
    assert (at(code, "LDG") in slice_of(code).unneeded) is apart
    assert at(code, "ATOMS") not in slice_of(code).unneeded


def test_the_place_of_a_copy_in_shared_memory_is_one_register():
    lines = [*POINTER, "MOV R4, RZ", "LDG.E R5, [R2.64]", "LDGSTS.E [R4], [R2.64]", "STG.E [R2.64], R5", "EXIT"]
    code = program(lines)
    assert at(code, "LDG.E") in slice_of(code).unneeded


def test_a_test_of_an_mbarrier_reads_one_register_and_its_set_up_two():
    lines = [*POINTER, "LDG.E R5, [R2.64]", "LDG.E.CONSTANT R7, [R2.64]", "MOV R4, RZ", "MOV R6, RZ", "MOV R9, RZ",
             "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R9], R4",
             "SYNCS.EXCH.64 URZ, [R9], R6", "STG.E [R2.64], R5", "EXIT"]  # fmt: skip
    code = program(lines)
    assert at(code, "LDG.E R5") in slice_of(code).unneeded
    assert at(code, "LDG.E.CONSTANT") not in slice_of(code).unneeded
