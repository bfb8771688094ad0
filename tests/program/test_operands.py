"""The operand parser: single operands by hand, and every form seen in compiled code written out again."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.operand_text import written
from warpbound.program.operands import operand, split_instruction

REAL = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "data" / "operands.tsv").read_text().splitlines()
    if line and not line.startswith("#")
]

# text: kind, then the fields that are not the default
BY_HAND = [
    ("R0", "register", {"index": 0}),
    ("R254", "register", {"index": 254}),
    ("RZ", "register", {"index": 255}),
    ("-R5", "register", {"index": 5, "negate": True}),
    ("-RZ", "register", {"index": 255, "negate": True}),
    ("~R7", "register", {"index": 7, "invert": True}),
    ("|R15|", "register", {"index": 15, "absolute": True}),
    ("-|R0|", "register", {"index": 0, "absolute": True, "negate": True}),
    ("|R20|.reuse", "register", {"index": 20, "absolute": True, "suffixes": ("reuse",)}),
    ("R8.reuse.H0_H0", "register", {"index": 8, "suffixes": ("reuse", "H0_H0")}),
    ("R2.64", "register", {"index": 2, "suffixes": ("64",)}),
    ("R9.X4", "register", {"index": 9, "suffixes": ("X4",)}),
    ("UR36", "uniform", {"index": 36}),
    ("URZ", "uniform", {"index": 255}),
    ("P0", "predicate", {"index": 0}),
    ("PT", "predicate", {"index": 7}),
    ("!PT", "predicate", {"index": 7, "invert": True}),
    ("!P6", "predicate", {"index": 6, "invert": True}),
    ("UP3", "uniform_predicate", {"index": 3}),
    ("!UPT", "uniform_predicate", {"index": 7, "invert": True}),
    ("0x1f", "immediate", {"value": 31}),
    ("-0x1", "immediate", {"value": -1}),
    ("16777216", "immediate", {"value": 16777216}),
    ("0.5", "float", {"value": 0.5}),
    ("-0.0625", "float", {"value": -0.0625}),
    ("1.175494350822287508e-38", "float", {"value": 2.0**-126}),
    ("2.14748364800000000000e+09", "float", {"value": 2.0**31}),
    ("+INF", "float", {"value": math.inf}),
    ("4.5e-41.H0", "float", {"value": 4.5e-41, "suffixes": ("H0",)}),
    ("-INF", "float", {"value": -math.inf}),
    ("B6", "barrier", {"index": 6}),
    ("SB5", "scoreboard", {"index": 5}),
    ("gsb0", "scoreboard", {"index": 0}),
    ("SR_TID.X", "special", {}),
    ("SR_CgaCtaId", "special", {}),
    ("SRZ", "special", {}),
    ("PR", "special", {}),
    ("2D", "shape", {}),
    ("ARRAY_CUBE", "shape", {}),
    ("{4,3,2,1}", "set", {}),
    ("`(.L_x_12)", "label", {}),
    ("`($_Z3recPi$_Z3fibi)", "label", {}),
    ("c[0x0][0x28]", "constant", {"bank": 0, "value": 0x28}),
    ("c[0x3][0x0]", "constant", {"bank": 3}),
    ("|c[0x0][0x178]|", "constant", {"bank": 0, "value": 0x178, "absolute": True}),
    ("-c[0x0][0x164]", "constant", {"bank": 0, "value": 0x164, "negate": True}),
    ("c[0x0][0x160].H0_H0", "constant", {"bank": 0, "value": 0x160, "suffixes": ("H0_H0",)}),
    ("c[0x0][-0x6880]", "constant", {"bank": 0, "value": 0x9780}),  # above half of a bank
    ("[0xc]", "memory", {"value": 12}),
]


@pytest.mark.parametrize("text, kind, fields", BY_HAND, ids=[text for text, _, _ in BY_HAND])
def test_by_hand(text: str, kind: str, fields: dict[str, object]) -> None:
    found = operand(text)
    expected = {
        "index": -1, "value": 0, "negate": False, "absolute": False, "invert": False, "suffixes": (), "terms": (),
        "bank": None,
    } | fields  # fmt: skip
    assert found.kind == kind
    assert {name: getattr(found, name) for name in expected} == expected


def test_a_nan_and_a_negative_zero_keep_what_they_are() -> None:
    assert math.isnan(float(operand("+QNAN").value))
    assert math.copysign(1, operand("-0").value) == -1
    assert operand("-0").kind == "float"


@pytest.mark.parametrize(
    "text, terms, value, bank",
    [
        ("[R27+-0x78]", ["R27"], -0x78, None),
        ("[R9.X4+0x190]", ["R9.X4"], 0x190, None),
        ("[R9+UR4+0x8]", ["R9", "UR4"], 8, None),
        ("[RZ.U32+UR4]", ["RZ.U32", "UR4"], 0, None),
        ("desc[UR4][R2.64+0x10]", ["R2.64"], 16, "UR4"),
        ("desc[UR36][R2.U32+UR8+-0x4]", ["R2.U32", "UR8"], -4, "UR36"),
        ("c[0x2][R0+0xc]", ["R0"], 12, 2),
        ("c[0x2][UR4+0xc]", ["UR4"], 12, 2),
        ("cx[UR4][0x20]", [], 32, "UR4"),
        ("gdesc[UR12]", ["UR12"], 0, None),
        ("tmem[UR4+0x2]", ["UR4"], 2, None),
    ],
)
def test_addresses(text: str, terms: list[str], value: int, bank: object) -> None:
    found = operand(text)
    assert [term.text for term in found.terms] == terms
    assert found.value == value
    assert (found.bank if isinstance(found.bank, int | None) else found.bank.text) == bank


def test_forms_seen_in_compiled_code() -> None:
    operands = [operand(text) for _, text in REAL]
    assert [(found.kind, written(found)) for found in operands] == REAL


@pytest.mark.parametrize(
    "text, guard, opcode, modifiers, operands",
    [
        ("@!P4 LDG.E.64.CONSTANT R6, desc[UR6][R6.64]", "!P4", "LDG", ("E", "64", "CONSTANT"), 2),
        ("@!UPT UIADD3 URZ, URZ, URZ, URZ", "!UPT", "UIADD3", (), 4),
        ("EXIT", None, "EXIT", (), 0),
        ("@P0 BRA P1, `(.L_x_3)", "P0", "BRA", (), 2),
        ("BRA.U !UP0, `(.L_x_3)", None, "BRA", ("U",), 2),
        ("RET.REL.NODEC R20 `(_Z2fpPfi)", None, "RET", ("REL", "NODEC"), 2),
        ("CALL.REL.NOINC R6 `(_Z2fpPfi)", None, "CALL", ("REL", "NOINC"), 2),
        ("DEPBAR.LE SB0, 0x1, {4,3}", None, "DEPBAR", ("LE",), 3),
        ("FADD R9, R4, +QNAN ", None, "FADD", (), 3),
        ("HFMA2.MMA R5, -RZ, RZ, 1.875, 0", None, "HFMA2", ("MMA",), 5),
        ("LOP3.LUT P0, RZ, R3, 0x1f, RZ, 0xc0, !PT", None, "LOP3", ("LUT",), 7),
    ],
)
def test_instructions(text: str, guard: str | None, opcode: str, modifiers: tuple[str, ...], operands: int) -> None:
    found_guard, found_opcode, found_modifiers, found = split_instruction(text)
    assert (found_guard.text if found_guard else None, found_opcode, found_modifiers) == (guard, opcode, modifiers)
    assert len(found) == operands
    assert all(one.kind != "other" for one in found)


def test_a_blank_between_bank_and_offset_changes_nothing() -> None:
    spaced, close = (split_instruction(f"HFMA2 R7, R2, c[0x0]{blank}[0x164], R7") for blank in (" ", ""))
    assert spaced == close
    assert [one.kind for one in spaced[3]] == ["register", "register", "constant", "register"]


@given(st.text(max_size=40))
def test_no_text_is_an_error(text: str) -> None:
    assert operand(text).text == text
    split_instruction(text)
