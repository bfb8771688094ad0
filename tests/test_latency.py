"""How long instructions keep their scoreboards up: numbers of the tables, and what a wait is booked on."""

import pytest

from support.sass_listing import code
from warpbound.isa.opcodes import latency
from warpbound.latency import MemoryLatency, memory_latency, tensor_rate, waits
from warpbound.machine import gpu
from warpbound.schedule import Wait, schedule

CHIP = MemoryLatency(arch=86, l1=32, l2=200, dram=500, shared=24)


def wait(line: str, served: dict[str, float] | None = None, memory: MemoryLatency = CHIP) -> Wait:
    word, _, text = line.partition("  ")
    shares = {"dram": 1.0} if served is None else served
    return waits(code(f"{word}  {text}"), memory, lambda _: shares)[0]


def test_conflicts_delay_by_what_the_board_takes_for_a_wavefront() -> None:
    """Three wavefronts beyond the first: three cycles on a V100, six on a T4, whose banks answer every other cycle."""
    load = code("B------:R0:W1:-:S02  LDS R0, [R2]")
    for name, more in (("v100-pcie", 3.0), ("t4", 6.0)):
        memory = memory_latency(gpu(name), 1e9)
        free, in_conflict = (waits(load, memory, extra=lambda _, n=n: n)[0] for n in (0.0, 3.0))
        assert in_conflict.write - free.write == more
        assert in_conflict.busy == 1.0 + more


RAISES = "B------:R0:W1:-:S02  "
BARE = "B------:R-:W-:-:S02  "


@pytest.mark.parametrize(
    "text, write, read",
    [  # sm_86: sass tables of Huerta et al. (by width), DocumentSASS (XU) and the board (memory)
        ("LDG.E R0, [R2.64]", 500, 11),
        ("LDG.E.64 R0, [R2.64]", 502, 11),
        ("LDG.E.128 R0, [R4.64]", 506, 11),
        ("LDG.E R0, [UR4]", 497, 11),
        ("LDL R0, [R2]", 32, 11),
        ("LDS R0, [R2]", 24, 9),
        ("LDS.64 R0, [R2]", 24, 9),
        ("LDS.128 R0, [R4]", 26, 9),
        ("LDSM.16.M88.4 R0, [R4]", 23 + 3 * 2, 11),
        ("ATOMS.ADD R0, [R4], R2", 24, 11),
        ("STG.E [R2.64], R0", 2, 14),
        ("STG.E.64 [R2.64], R0", 2, 16),
        ("STG.E.128 [R2.64], R4", 2, 20),
        ("STS [R2], R0", 2, 12),
        ("STS.128 [R2], R4", 2, 18),
        ("LDC R0, c[0x0][0x160]", 26, 10),
        ("LDC R0, c[0x0][R4]", 29, 29),
        ("LDGSTS.E.BYPASS.128 [R5], [R2.64]", 500, 13),
        ("LDGDEPBAR", 2, 2),
        ("MUFU.RCP R0, R2", 17, 11),
        ("DADD R0, R2, R4", 45, 11),
        ("S2R R0, SR_TID.X", 20, 11),
        ("SHFL.BFLY PT, R0, R2, 0x1, 0x1f", 23, 11),
        ("HMMA.16816.F32 R0, R4, R8, R0", 24, 11),
        ("@!PT LDS RZ, [RZ]", 2, 2),
        ("CCTL.IVALL", 2, 11),
    ],
)
def test_cycles_until_written_and_until_read(text: str, write: float, read: float) -> None:
    found = wait(RAISES + text)
    assert (found.write, found.source_wait) == (write, read)


@pytest.mark.parametrize(
    "text, cause",
    [
        ("LDG.E R0, [R2.64]", "dram"),
        ("LDL R0, [R2]", "l1"),
        ("LDS R0, [R2]", "shared"),
        ("LDC R0, c[0x0][0x160]", "constant"),
        ("MUFU.RCP R0, R2", "fixed"),
        ("DADD R0, R2, R4", "fixed"),
        ("SHFL.BFLY PT, R0, R2, 0x1, 0x1f", "fixed"),
        ("BAR.SYNC 0x0", "barrier"),
        ("MEMBAR.SC.GPU", "barrier"),
    ],
)
def test_causes(text: str, cause: str) -> None:
    assert wait(RAISES + text).causes == ((cause, 1.0),)


def test_a_load_served_by_several_levels_waits_for_their_mean() -> None:
    found = wait(RAISES + "LDG.E R0, [R2.64]", {"l1": 0.5, "l2": 0.25, "dram": 0.25})
    assert found.write == 0.5 * 32 + 0.25 * 200 + 0.25 * 500  # 191
    assert dict(found.causes) == pytest.approx({"l1": 16 / 191, "l2": 50 / 191, "dram": 125 / 191})
    assert sum(share for _, share in found.causes) == pytest.approx(1)


def test_an_atomic_is_performed_at_l2_whatever_l1_holds() -> None:
    found = wait(RAISES + "ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R4", {"l1": 1.0})
    assert (found.write, dict(found.causes)) == (200, {"l2": 1.0})


def test_a_copy_to_shared_memory_that_hits_l1_takes_longer_than_a_load() -> None:
    assert wait(RAISES + "LDGSTS.E [R5], [R2.64]", {"l1": 1.0}).write == 39


def test_only_loads_open_phases() -> None:
    opens = ["LDG.E R0, [R2.64]", "LDGSTS.E [R5], [R2.64]", "ATOMG.E.ADD PT, R0, [R2.64], R4"]
    others = ["STG.E [R2.64], R0", "RED.E.ADD [R2.64], R0", "LDS R0, [R2]", "LDL R0, [R2]", "LDC R0, c[0x0][R4]"]
    assert all(wait(BARE + text).loads for text in opens)
    assert not any(wait(BARE + text).loads for text in others)


@pytest.mark.parametrize(
    "text, hold",
    [("BAR.SYNC.DEFER_BLOCKING 0x0", 22), ("BAR.RED.POPC 0x0, P0", 22), ("BAR.ARV 0x1, 0x40", 0), ("ERRBAR", 0)],
)
def test_barriers_hold_the_warp_where_it_waits_at_them(text: str, hold: float) -> None:
    assert wait(BARE + text).hold == hold


def test_stall_zero_with_yield_holds_the_warp() -> None:
    idle = latency("stall_zero", 86).value
    assert idle == 46
    assert wait("B------:R-:W-:Y:S00  ERRBAR").hold == idle
    assert wait("B------:R-:W-:-:S00  ERRBAR").hold == 0
    assert wait("B------:R-:W-:Y:S01  ERRBAR").hold == 0


def test_a_raise_is_seen_two_cycles_later() -> None:
    instructions = code("B------:R1:W-:-:S01  STS [R2], R0\nB------:R-:W0:-:S01  LDGDEPBAR\nB0-----:R-:W-:-:S01 EXIT")
    assert schedule([0, 1, 2], instructions, waits(instructions, CHIP)).issue == (0, 1, 3)


def test_products_of_a_warpgroup_take_the_time_of_the_board() -> None:
    h200 = memory_latency(gpu("h200"), 1.8e9)
    # 64 x 256 x 16 multiply-adds on an SM of 2048 per cycle: 128 cycles, as measured by Luo et al.
    found = wait(BARE + "HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0", memory=h200)
    assert (found.write, found.busy, found.queue) == (128 + 34, 128, "tensor")
    small = wait(BARE + "HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0", memory=h200)
    assert (small.write, small.busy) == (18 + 34, 18)  # 64 and 8 rows of 32 bytes from shared memory, 128 a cycle


def test_queues_keep_global_shared_and_copies_apart() -> None:
    texts = ["LDG.E R0, [R2.64]", "LDS R0, [R2]", "LDGSTS.E [R5], [R2.64]", "MUFU.RCP R0, R2", "DADD R0, R2, R4"]
    assert [wait(BARE + text).queue for text in texts] == ["global", "shared", "async", "xu", "fp64"]
    silent = ["FADD R0, R2, R4", "STS [R2], R0", "BRA `(.L)", "@!PT LDS RZ, [RZ]"]
    assert [wait(BARE + text).queue for text in silent] == [""] * 4


def test_dram_keeps_its_nanoseconds_and_the_chip_its_cycles() -> None:
    board = gpu("a100-sxm-80gb")
    at = board.value("latency_clock")
    same, double = memory_latency(board, at), memory_latency(board, 2 * at)
    assert same.dram == pytest.approx(board.value("dram_latency"))
    assert double.dram - double.l2 == pytest.approx(2 * (same.dram - same.l2))
    assert (double.l1, double.l2, double.shared) == (same.l1, same.l2, same.shared)


def test_a_type_without_a_rate_runs_at_that_of_a_wider_one() -> None:
    a100 = gpu("a100-sxm-80gb")
    assert tensor_rate(a100, "int4") == tensor_rate(a100, "int8") == a100.value("tensor_int8")
    assert tensor_rate(a100, "fp8") == a100.value("tensor_fp16")
    assert tensor_rate(a100, "fp16_acc16") == a100.value("tensor_fp16")
    assert tensor_rate(gpu("rtx-4090"), "fp16_acc16") == gpu("rtx-4090").value("tensor_fp16_acc16")


def test_a_pair_of_blocks_multiplies_on_two_sms() -> None:
    """256 x 256 x 16 by a pair take as long as 128 x 256 x 16 by one block: 128 cycles at 4096 a cycle."""
    memory = memory_latency(gpu("b200"), 1.965e9)
    line = "gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0"
    alone = wait(f"{BARE}UTCHMMA.128x256x16 {line}", memory=memory)
    pair = wait(f"{BARE}UTCHMMA.2CTA.256x256x16 {line}", memory=memory)
    assert pair.busy == alone.busy == pytest.approx(128, rel=0.05)
    assert pair.queue == "products"
    sparse = wait(f"{BARE}UTCHMMA.128x256x32.SP {line}", memory=memory)  # twice the depth, half of which is skipped
    assert sparse.busy == (128 * 32 + 256 * 64) / 128  # of which shared memory delivers all columns
