"""What instructions read and write: by hand for every generation, and against the control words of compilers."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

import pytest

from support.compiled_examples import ARCHITECTURES, EXAMPLES, build
from warpbound.latency import memory_latency, waits
from warpbound.machine import gpu
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.operands import split_instruction
from warpbound.program.pre_volta_sass import plain
from warpbound.program.registers import reads, writes
from warpbound.schedule import schedule
from warpbound.workload.static_paths import whole


def instruction(text: str) -> Instruction:
    guard, opcode, modifiers, operands = split_instruction(plain(text))
    return Instruction(0, opcode, modifiers, operands, text, guard=guard)


@pytest.mark.parametrize(
    "text, written, read",
    [
        ("MOV R1, c[0x0][0x44]", "R1", ""),
        ("IMAD R2, R0, c[0x0][0x28], R3", "R2", "R0 R3"),
        ("FADD R3, -R3, |R0|", "R3", "R3 R0"),
        ("@!P1 FADD R3, R3, RZ", "R3", "P1 R3"),
        ("@PT MOV R3, RZ", "R3", ""),
        # memory: addresses in one register or two, data as wide as it is
        ("LD R3, [R3]", "R3", "R3"),
        ("LD.E R2, [R2]", "R2", "R2 R3"),
        ("LD.E.64 R2, [R6+0x10]", "R2 R3", "R6 R7"),
        ("LDG.E.128 R4, [R2.64]", "R4 R5 R6 R7", "R2 R3"),
        ("LDG.E R0, desc[UR4][R2.64]", "R0", "UR4 UR5 R2 R3"),
        ("LDG.E R0, [R2.U32+UR4]", "R0", "R2 UR4"),
        ("LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]", "R12 R13 R14 R15 R8 R9 R10 R11", "UR4 UR5 R2 R3"),
        ("STG.E.ENL2.256 [R2.64], R4, R8", "", "R2 R3 R4 R5 R6 R7 R8 R9 R10 R11"),
        ("LDS.64 R4, [R2]", "R4 R5", "R2"),
        ("LDC R4, c[0x3][R5]", "R4", "R5"),
        ("ST [R2], R3", "", "R2 R3"),
        ("ST.E.64 [R2], R6", "", "R2 R3 R6 R7"),
        ("STG.E.128 [R2.64], R4", "", "R2 R3 R4 R5 R6 R7"),
        ("RED.E.ADD [R2], R5", "", "R2 R3 R5"),
        ("ATOM.E.ADD R6, [R2], R5", "R6", "R2 R3 R5"),
        ("ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5", "R6", "R2 R3 R5"),
        # atomics of 64 bits and more, in every way that says so
        ("ATOMG.E.ADD.64.STRONG.GPU PT, R4, [R16.64], R2", "R4 R5", "R16 R17 R2 R3"),
        ("ATOMG.E.CAS.64.STRONG.GPU PT, R6, [R16], R4, R8", "R6 R7", "R16 R17 R4 R5 R8 R9"),
        ("ATOMG.E.ADD.F64.RN.STRONG.GPU PT, R18, desc[UR6][R20.64], R8", "R18 R19", "UR6 UR7 R20 R21 R8 R9"),
        ("ATOMS.CAST.SPIN.64 P0, [R9], R12, R14", "P0", "R9 R12 R13 R14 R15"),
        ("ATOMG.E.ADD.F32x4.RN.STRONG.GPU PT, R4, [R16.64], R8", "R4 R5 R6 R7", "R16 R17 R8 R9 R10 R11"),
        ("ATOMG.E.ADD.F16x2.RN.STRONG.GPU PT, R4, [R16.64], R8", "R4", "R16 R17 R8"),
        ("RED.E.ADD.F64.RN.STRONG.GPU [R2.64], R6", "", "R2 R3 R6 R7"),
        # the copy engine: shared address, barrier and coordinates, then the address of the tensor map
        ("UTMALDG.2D [UR4], [UR8]", "", "UR4 UR5 UR6 UR7 UR8 UR9"),
        ("UTMALDG.2D.GATHER4 [UR8], [UR4]", "", "UR8 UR9 UR10 UR11 UR12 UR13 UR14 UR4 UR5"),
        ("UTMALDG.2D.MULTICAST [UR8], [UR6], UR4", "", "UR8 UR9 UR10 UR11 UR6 UR7 UR4"),
        ("UTMASTG.3D [UR4], [UR8]", "", "UR4 UR5 UR6 UR7 UR8 UR9"),
        ("UBLKCP.S.G [UR4], [UR6], UR8", "", "UR4 UR5 UR6 UR7 UR8"),
        # tensor memory
        ("LDTM.x4 R8, tmem[UR4+0x20]", "R8 R9 R10 R11", "UR4"),
        ("STTM.16dp256bit tmem[UR4], R4", "", "UR4 R4 R5 R6 R7"),
        ("UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], !UP0", "",
         "UR8 UR9 UR10 UR11 UR6 UR4 UR5 UP0"),
        # predicates and the carry
        ("VOTEU.ANY UP5, P0", "UP5", "P0"),
        ("ISETP.GE.AND P0, PT, R0, R11, PT", "P0", "R0 R11"),
        ("ISETP.GE.AND P0, P2, R0, 0x3, P1", "P0 P2", "R0 P1"),
        ("FCHK P0, R3, R2", "P0", "R3 R2"),
        ("IADD3 R4, P1, R4, R5, RZ", "R4 P1", "R4 R5"),
        ("SEL R4, R5, R6, !P3", "R4", "R5 R6 P3"),
        ("PSET.AND.AND R4, P0, P1, PT", "R4", "P0 P1"),
        ("SHFL.BFLY PT, R5, R6, 0x1, 0x1f", "R5", "R6"),
        ("LOP3.LUT P0, R2, R3, R4, RZ, 0xc0, !PT", "P0 R2", "R3 R4"),
        ("IADD32I R8.CC, R8, 0x4", "R8 CC", "R8"),
        ("IADD.X R9, RZ, R9", "R9", "R9 CC"),
        # pairs
        ("DFMA R4, R6, R8, R10", "R4 R5", "R6 R7 R8 R9 R10 R11"),
        ("DSETP.GT.AND P0, PT, R4, R8, PT", "P0", "R4 R5 R8 R9"),
        ("F2F.F64.F32 R4, R3", "R4 R5", "R3"),
        ("F2F.F32.F64 R4, R6", "R4", "R6 R7"),
        ("I2F.F64.S32 R4, R3", "R4 R5", "R3"),
        ("IMAD.WIDE R4, R2, R3, R8", "R4 R5", "R2 R3 R8 R9"),
        ("IMAD.WIDE.U32.X R4, R2, R3, R8, P1", "R4 R5", "R2 R3 R8 R9 P1 CC"),
        ("DSETP.GT.AND P0, PT, R4, R8, P1", "P0", "R4 R5 R8 R9 P1"),
        ("I2F.U64.RP R5, R8", "R5", "R8 R9"),
        ("I2F.F64 R4, R3", "R4 R5", "R3"),
        ("F2I.U64.TRUNC R6, R8", "R6 R7", "R8"),
        ("F2I.F64.TRUNC R6, R8", "R6", "R8 R9"),
        ("F2I.S64.F64.TRUNC R6, R8", "R6 R7", "R8 R9"),
        ("FRND.F64.FLOOR R6, R8", "R6 R7", "R8 R9"),
        ("CS2R R6, SRZ", "R6 R7", ""),
        ("CS2R.32 R6, SR_CLOCKLO", "R6", ""),
        ("FFMA2 R4, R6, R8, R10", "R4 R5", "R6 R7 R8 R9 R10 R11"),
        # pairs of integers, from sm_120 on
        ("MOV.64 R6, R8", "R6 R7", "R8 R9"),
        ("SEL.64 R6, R8, -0x1, P1", "R6 R7", "R8 R9 P1"),
        ("IADD.64 R4, R4, R12", "R4 R5", "R4 R5 R12 R13"),
        ("UIADD3.64 UR4, UP1, UPT, UR10, 0x200, URZ", "UR4 UR5 UP1", "UR10 UR11"),
        ("ISETP.GE.U64.AND P1, PT, R6, UR4, P2", "P1", "R6 R7 UR4 UR5 P2"),
        ("MATCH.ANY.U64 R0, R2", "R0", "R2 R3"),
        ("SHF.R.U64 R9, R2, 0xc, R3", "R9", "R2 R3"),
        # a copy names its place in shared memory by one register; the sum of a high product is a pair
        ("LDGSTS.E.BYPASS.128 [R47+0x1000], desc[UR14][R24.64], P0", "", "R47 UR14 UR15 R24 R25 P0"),
        ("LDGSTS.E [R5], [R2.64]", "", "R5 R2 R3"),
        ("IMAD.HI R8, R75, 0x2, RZ", "R8", "R75"),
        ("IMAD.HI.U32 R8, R2, R3, R6", "R8", "R2 R3 R6 R7"),
        # matrices: as many registers as their elements fill
        ("HMMA.16816.F32.BF16 R4, R8, R12, R4", "R4 R5 R6 R7", "R8 R9 R10 R11 R12 R13 R4 R5 R6 R7"),
        ("HMMA.16816.F16 R4, R8, R12, RZ", "R4 R5", "R8 R9 R10 R11 R12 R13"),
        ("HMMA.1684.F32.TF32 R4, R8, R12, R4", "R4 R5 R6 R7", "R8 R9 R12 R4 R5 R6 R7"),
        ("IMMA.8816.S8.S8 R4, R8, R12, R4", "R4 R5", "R8 R12 R4 R5"),
        ("QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4", "R4 R5 R6 R7", "R8 R9 R10 R11 R12 R13 R4 R5 R6 R7"),
        ("DMMA.8x8x4 R4, R8, R12, R4", "R4 R5 R6 R7", "R8 R9 R12 R13 R4 R5 R6 R7"),
        ("LDSM.16.M88.4 R4, [R2]", "R4 R5 R6 R7", "R2"),
        ("STSM.16.M88.2 [R2], R4", "", "R2 R4 R5"),
        # control
        ("@!P0 BRA `(.L_2)", "", "P0"),
        ("BAR.RED.POPC", "", ""),
        ("EXIT", "", ""),
        # 1.x: halves, address and condition registers
        ("MOV.U16 R0H, g [0x1].U16", "R0", ""),
        ("IMAD.U16 R0, g [0x6].U16, R0H, R1", "R0", "R0 R1"),
        ("ISET.S32.C0 o [0x7f], g [0x6], R0, LE", "C0", "R0"),
        ("RET C0.NE", "", "C0"),
        ("R2A A1, R3", "A1", "R3"),
    ],
)
def test_by_hand(text: str, written: str, read: str) -> None:
    one = instruction(text)
    assert writes(one) == tuple(written.split())
    assert reads(one) == tuple(read.split())


def compiled(arch: int) -> Iterator[Program]:
    for path in EXAMPLES:
        yield from build(path, arch).programs


@pytest.mark.cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_what_is_read_has_been_waited_for(arch: int) -> None:
    """Within a block, whoever reads a result of variable latency comes behind a wait for its scoreboard."""
    found, broken = 0, []
    for program in compiled(arch):
        for block in program.flow.blocks:
            pending: dict[str, tuple[int, str]] = {}
            for one in program.instructions[block.first : block.last]:
                assert one.control is not None
                down = set(one.control.wait) | {x.index for x in one.operands if x.kind == "scoreboard"}
                pending = {name: raised for name, raised in pending.items() if raised[0] not in down}
                if one.skipped:
                    continue
                broken += [(pending[name][1], one.text) for name in reads(one) if name in pending]
                for name in writes(one):
                    pending.pop(name, None)
                    if one.control.write_scoreboard is not None:
                        pending[name] = (one.control.write_scoreboard, one.text)
                        found += 1
    assert found > 300
    assert broken == []


@pytest.mark.cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_what_is_waited_for_is_read_or_written(arch: int) -> None:
    """Whoever waits for scoreboards touches a register that one of their raises stands for."""
    explained, others = 0, []
    for program in compiled(arch):
        for block in program.flow.blocks:
            pending: dict[int, set[str]] = {}
            for one in program.instructions[block.first : block.last]:
                assert one.control is not None
                for names in filter(None, [pending.pop(board, None) for board in one.control.wait]):
                    if names & {*reads(one), *writes(one)}:
                        explained += 1
                    elif one.opcode not in ("ENDCOLLECTIVE", "BAR"):  # which wait for others' sake
                        others.append(one.text)
                boards = one.control.write_scoreboard, one.control.read_scoreboard
                for board, own in zip(boards, (writes(one), reads(one)), strict=True):
                    if board is not None:
                        pending.setdefault(board, set()).update(own)
    assert explained > 200
    assert len(others) <= 0.02 * explained, others


@pytest.mark.cuda
@pytest.mark.parametrize("board, arch", [("a100-sxm-80gb", 80), ("h200", 90), ("rtx-5090", 120)])
def test_registers_alone_give_nearly_the_cycles_of_control_words(board: str, arch: int) -> None:
    """A lower bound but for waits that are none; what docs/old-machines.md says of it."""
    memory = memory_latency(gpu(board), 1e9)
    ratios = []
    for program in compiled(arch):
        stream = whole(program)
        told = schedule(stream, program.instructions, waits(program.instructions, memory))
        bare = tuple(replace(one, control=None, encoding=None) for one in program.instructions)
        ratios.append(schedule(stream, bare, waits(bare, memory)).cycles / told.cycles)
    assert min(ratios) > 0.6
    assert 0.9 < median(ratios) < 1.0
    assert max(ratios) < 1.1
