"""The interpreter's steps give what NumPy's handlers give, bit for bit, on random registers and memory."""

from collections.abc import Iterator

import numpy as np
import pytest

from support.emulator.all_cases import CASES
from support.emulator.both_engines import contents, difference, executed, kernel_of
from support.emulator.case import program_of
from support.emulator.one_instruction import instruction
from warpbound.emulate.native.library import interpreter
from warpbound.errors import WarpboundError
from warpbound.program.instruction import Instruction

pytestmark = [
    pytest.mark.usefixtures("disassembled_together"),
    pytest.mark.skipif(interpreter() is None, reason="the interpreter needs a C compiler"),
]

TRIALS = 3
MOVES = ("branch", "convergence", "barrier", "call", "return")  # which the whole kernels test


def forms(arch: int, group: str) -> Iterator[Instruction]:
    """The instructions of a group of cases, one of each form: opcode, modifiers, kinds and signs of operands."""
    seen = set()
    for name, make in CASES.items():
        case = make(np.random.default_rng(7))
        if not name.startswith(group) or arch < case.least_arch:
            continue
        for each in program_of(case, arch).instructions:
            operands = each.operands
            signs = tuple((x.kind, x.negate, x.absolute, x.invert, x.index in (7, 255), x.suffixes) for x in operands)
            form = each.mnemonic, signs, each.guard is None
            if form not in seen and each.traits.kind not in MOVES:
                seen.add(form)
                yield each


def compared(each: Instruction, arch: int, random: np.random.Generator) -> str:
    """What differs; "unknown" where the interpreter leaves the instruction to NumPy."""
    for _ in range(TRIALS):
        kernel = kernel_of(each, arch, random)
        given = contents(each, kernel, random, kernel.facts.registers)
        found = executed(kernel, given, native=True)
        if found is None:
            return "unknown"
        wanted = executed(kernel, given, native=False)
        assert wanted is not None
        if found.refused and each.traits.is_generic:  # tried as global alone
            continue
        if why := difference(wanted, found):
            return f"{each.text}: {why}"
    return ""


GROUPS = [
    "parallel", pytest.param("ptx", marks=pytest.mark.broad), pytest.param("instruction", marks=pytest.mark.broad),
    pytest.param("numeric", marks=pytest.mark.full), pytest.param("algorithm", marks=pytest.mark.full),
]  # fmt: skip


@pytest.mark.cuda
@pytest.mark.parametrize("arch", [80, pytest.param(120, marks=pytest.mark.full)])
@pytest.mark.parametrize("group", GROUPS)
def test_steps_are_handlers(group: str, arch: int) -> None:
    random = np.random.default_rng(arch)
    outcomes = [compared(each, arch, random) for each in forms(arch, group)]
    assert not [why for why in outcomes if why not in ("", "unknown")]
    assert outcomes.count("") > len(outcomes) / 2


@pytest.mark.parametrize(
    "text",
    [
        "IMAD R2, R3, -R4, R5", "IMAD.X R2, R3, R4, R5, P1",
        "IADD3 R2, P0, P1, R3, -R4, R5", "IADD3.X R2, P0, PT, R3, ~R4, R5, P1, !PT", "IMAD.WIDE R2, R4, -0x3, R6",
        "IMAD.HI.U32 R2, R4, R5, R6", "ISETP.GT.U32.OR P1, P2, R4, R5, !P0", "ISETP.LE.EX.AND P1, PT, R4, R5, PT, P2",
        "LEA R2, P1, R4, R6, 0x3", "LEA.HI.X.SX32 R2, R4, R5, 0x1, P1", "LOP3.LUT P1, R2, R3, R4, R5, 0xe4, P2",
        "SHF.R.S64 R2, R3, R4, R5", "SHF.L.U64.HI R2, R3, R4, R5", "PRMT R2, R3, R4, R5", "BREV R2, R3",
        "FLO.U32.SH R2, R3", "SGXT R2, R3, R4", "BMSK R2, R3, R4", "P2R R2, PR, R3, 0x5f", "R2P PR, R3.B1, 0x7e",
        "FADD.FTZ.SAT R2, -R3, |R4|", "FFMA.FTZ R2, R3, R4, -R5", "FSETP.GEU.FTZ.XOR P1, P2, R3, |R4|, P4",
        "FMNMX.FTZ R2, R3, -R4, P1", "FSEL.FTZ R2, R3, R4, P1", "FSET.BF.NE.AND R2, R3, R4, P2", "FCHK P1, R2, R3",
        "MUFU.RSQ R2, -|R3|", "MUFU.EX2 R2, R3", "MUFU.SIN R2, R3", "MUFU.RCP64H R2, R3", "DFMA R2, -R4, R6, |R8|",
        "DADD R2, R4, -R6", "DSETP.NEU.AND P1, P2, |R2|, R4, P3", "F2I.U64.TRUNC R2, R4", "F2I.S64.F64.FLOOR R2, R4",
        "F2I.FTZ.U32.CEIL.NTZ R2, R4", "I2F.U64 R2, R4", "I2F.S16 R2, -R4.H1", "I2F.F64.U32 R2, R4",
        "F2F.F32.F64 R2, R4", "FRND.FLOOR R2, R3", "SHFL.BFLY P1, R2, R3, R4, R5", "SHFL.UP P1, R2, R3, 0x3, 0x800",
        "HADD2 R2, -R3, |R4|.H0_H0", "HADD2.F32 R2, -RZ, R3.H1_H1", "HMUL2.BF16_V2 R2, R3.H1_H1, R4",
        "HFMA2.SAT R2, R3, R4, -R5", "HFMA2.BF16_V2 R2, R3, R4, R5", "HFMA2.RELU R2, R3, 1.5, 0.25, R4.H1_H1",
        "HADD2.FTZ R2, R3, R4", "HSETP2.GEU.AND P1, P2, R3, R4.H0_H0, P3", "HMNMX2 R2, R3, R4, !P1",
        "F2FP.F16.F32.PACK_AB R2, R3, -R4", "F2FP.BF16.F32.PACK_AB.RELU R2, |R3|, R4",
        "VOTE.ALL R2, P1, P2", "VOTE.EQ R2, P1, !P2", "VIADD R2, R3, 0x10", "IMNMX.U32 R2, R3, R4, !P1",
    ],
)  # fmt: skip
def test_a_form_of_each_step(text: str) -> None:
    random = np.random.default_rng(1)
    for guarded in (text, f"@!P3 {text}"):
        assert compared(instruction(guarded), 80, random) == ""


@pytest.mark.parametrize(
    "text",
    [
        "ATOMS.MIN.S32 R2, [R3], R4", "ATOMG.E.ADD.F32 PT, R2, [R4.64], R6", "RED.E.MAX.S32 [R4.64], R6",
        "ATOMS.CAST.SPIN R2, [R3], R4, R5", "ATOMS.CAST.SPIN.64 P1, [R3], R4, R6", "ATOMS.INC R2, [R3], R4",
        "ATOMG.E.CAS.64 PT, R2, [R4.64], R6, R8", "RED.E.ADD [R4.64], R6", "ATOMS.POPC.INC.32 RZ, [R3]",
    ],
)  # fmt: skip
def test_lanes_of_an_atomic_act_in_order(text: str) -> None:
    random = np.random.default_rng(2)
    assert [compared(instruction(text), 80, random) for _ in range(4)] == [""] * 4


def test_what_the_interpreter_does_not_know_is_left_to_numpy() -> None:
    random = np.random.default_rng(3)
    for text in ("HADD2.F32 R2, R3.F32, R4", "FADD.RZ R2, R3, R4", "IADD3.64 R2, P0, R4, R6", "FROB R2, R3"):
        assert compared(instruction(text), 80, random) == "unknown"


def test_arithmetic_on_numbers_is_a_move() -> None:
    kernel = kernel_of(instruction("HFMA2.MMA R2, -RZ, RZ, 1.875, 0"), 80, np.random.default_rng(4))
    given = contents(kernel.program.instructions[0], kernel, np.random.default_rng(5), kernel.facts.registers)
    found = executed(kernel, given | {"lanes": None}, native=True)
    assert found is not None
    assert set(found.rows["rows"][2].tolist()) == {0x3F800000}


def test_an_instruction_that_numpy_refuses_is_not_translated() -> None:
    refused = instruction("FADD.MADEUP R2, R3, R4")
    kernel = kernel_of(refused, 80, np.random.default_rng(6))
    with pytest.raises(WarpboundError):
        executed(kernel, contents(refused, kernel, np.random.default_rng(7), kernel.facts.registers), native=False)
    assert compared(refused, 80, np.random.default_rng(8)) == "unknown"
