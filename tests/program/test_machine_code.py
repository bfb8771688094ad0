"""Every example: what we decode against the bytes of the code section and against nvdisasm's other printer."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from support.compiled_examples import ARCHITECTURES, EXAMPLES, Built, build
from support.elf_bytes import sections, words
from support.operand_text import same, split
from warpbound.disk_cache import cached, digest
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.nvdisasm import find, version

pytestmark = pytest.mark.cuda


def independent(cubin: bytes) -> dict[str, list[dict[str, Any]]]:
    """nvdisasm's JSON of a cubin: instructions by function, in order."""

    def run() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "k.cubin")
            path.write_bytes(cubin)
            return subprocess.run([str(find()), "-json", str(path)], capture_output=True, check=True).stdout

    _, functions = json.loads(cached(digest("test json", version(), cubin), run))
    return {one["function-name"]: one["sass-instructions"] for one in functions}


def bits(word: int, low: int, count: int) -> int:
    return word >> low & (1 << count) - 1


def assert_control(one: Instruction, word: int) -> None:
    control = one.control
    assert control is not None, one.text
    assert control.stall == bits(word, 105, 4), one.text
    assert control.yields == (bits(word, 109, 1) == 0), one.text
    assert (7 if control.write_scoreboard is None else control.write_scoreboard) == bits(word, 110, 3), one.text
    assert (7 if control.read_scoreboard is None else control.read_scoreboard) == bits(word, 113, 3), one.text
    assert sum(1 << board for board in control.wait) == bits(word, 116, 6), one.text
    assert control.reuse == bits(word, 122, 4), one.text


def assert_text(one: Instruction, printed: dict[str, Any]) -> None:
    assert one.mnemonic == printed["opcode"], one.text
    predicate, operands = printed.get("predicate", ""), split(printed.get("operands", ""))
    if predicate and not predicate.startswith("@"):  # P2R: nvdisasm takes its second operand for the predicate
        operands.insert(1, predicate)
        predicate = ""
    assert predicate == ("@" + one.guard.text if one.guard else ""), one.text
    ours = [x for x in one.operands if x.kind != "targets"]
    assert len(ours) == len(operands), (one.text, operands)
    for mine, theirs in zip(ours, operands, strict=True):
        assert same(mine, theirs), (one.text, mine, theirs)


def compare(program: Program, made: Built, functions: dict[str, list[dict[str, Any]]]) -> int:
    code = words(sections(made.cubin)[f".text.{program.name}"])
    printed = functions[program.name]
    assert len(program.instructions) == len(code) == len(printed)
    for i, (one, word, theirs) in enumerate(zip(program.instructions, code, printed, strict=True)):
        assert one.address == 16 * i
        assert one.encoding == (word & (1 << 64) - 1, word >> 64)
        assert_control(one, word)
        assert_text(one, theirs)
    return len(code)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_instructions_agree_with_the_code_and_with_the_other_printer(path: Path, arch: int) -> None:
    made = build(path, arch)
    functions = independent(made.cubin)
    assert sum(compare(program, made, functions) for program in made.programs) > 0


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_operand_has_a_kind_and_every_guard_is_a_predicate(path: Path, arch: int) -> None:
    for program in build(path, arch).programs:
        for one in program.instructions:
            assert all(x.kind != "other" for x in one.operands for x in (x, *x.terms)), one.text
            assert one.guard is None or one.guard.kind in ("predicate", "uniform_predicate"), one.text
