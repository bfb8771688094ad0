"""Dumps of `cuobjdump -sass`: the same kernels as from the cubin, the machine's among several architectures.

data/sums.txt   cuobjdump 13.5 -sass -res-usage of this kernel, built by nvcc 13.0 for sm_80 and sm_90a;
                the NOPs that fill up each function are cut out

__global__ void sums(const float* values, float* total, int count)
{
    __shared__ float part[64];
    float sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += 64) sum += values[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) total[0] = part[0] + part[63];
}
"""

import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from support.compiled_examples import ARCHITECTURES, EXAMPLES, build
from support.fatbin_images import DATA
from warpbound import InputError, WarpboundError
from warpbound.machine import gpu
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.machine_code import from_cubin
from warpbound.program.nvdisasm import disassemble
from warpbound.program.nvdisasm_listing import read_listing
from warpbound.program.source_files import Source, programs

pytestmark = pytest.mark.cuda

DUMPS = 1500
SUMS = DATA / "sums.txt"
SWITCH = """__global__ void turns(float* x, int n) {
  float v = x[threadIdx.x];
  switch (n) {
    case 0: v = sinf(v); break; case 1: v += 3; break; case 2: v = sqrtf(v); break; case 3: v = v / x[3]; break;
    case 4: v = v * x[9]; break; case 5: v = -v; break; case 6: v = expf(v); break; case 7: v = v * v; break;
  }
  x[threadIdx.x] = v;
}"""


def kernels(source: Source, name: str) -> list[Program]:
    return list(programs(source, gpu(name), None, Options()))


def dumped(listing: str, arch: int, variant: str = "") -> str:
    """What nvdisasm prints as cuobjdump prints it: functions by name, addresses for labels, nothing else."""
    rows = ["", "Fatbin elf code:", "================", f"arch = sm_{arch}{variant}", "code version = [1,8]", ""]
    rows += [f"\tcode for sm_{arch}{variant}"]
    labels = {section.name: section.labels for section in read_listing(listing, "x").sections}
    own: dict[str, int] = {}
    for line in listing.splitlines():
        if found := re.match(r'\s*\.section\s+"?\.text\.([^",]+)', line):
            own = labels[found[1]]
            rows += [f"\t\tFunction : {found[1]}", f'\t.headerflags\t@"EF_CUDA_SM{arch}"']
        elif re.match(r"\s*/\*", line) and ".byte" not in line and own:
            for label in re.findall(r"`\(([^)]+)\)", line):
                line = line.replace(f"`({label})", hex(own[label]))
            rows.append(re.sub(r'\s*\(\*".*?"\*\)', " ", line))
    return "\n".join(rows) + "\n\t\t..........\n\n"


def comparable(one: Instruction) -> object:
    """All of an instruction but the text of jumps and the places in the source. In words, as no NaN equals another."""
    operands = [("", x.index, x.value) if x.kind == "label" else repr(x) for x in one.operands if x.kind != "targets"]
    return one.address, one.mnemonic, one.guard, operands, one.control, one.encoding


def loops(program: Program) -> list[tuple[int, int]]:
    return sorted((program.flow.blocks[one.header].first, one.depth) for one in program.flow.loops)


def reached(program: Program) -> set[int]:
    return {i for b in program.flow.reachable for i in range(program.flow.blocks[b].first, program.flow.blocks[b].last)}


# ---------------------------------------------------------------- the same as from the cubin


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path, arch: int) -> None:
    cubin = build(path, arch).cubin
    whole = {one.name: one for one in from_cubin(cubin, "x")}
    read = {one.name: one for one in kernels(dumped(disassemble(cubin, "x"), arch), f"sm_{arch}")}
    assert read.keys() == whole.keys()
    for name, program in read.items():
        assert [*map(comparable, program.instructions)] == [*map(comparable, whole[name].instructions)]
        assert loops(program) == loops(whole[name])
        assert reached(program) == reached(whole[name])
        assert program.functions == whole[name].functions


@pytest.mark.parametrize("arch", [80, 120])
def test_jumps_through_a_table_reach_all_code(arch: int) -> None:
    cubin = compile_cuda(SWITCH, "x", arch, Options()).cubin
    (whole,), (read,) = from_cubin(cubin, "x"), kernels(dumped(disassemble(cubin, "x"), arch), f"sm_{arch}")
    assert any(one.opcode.startswith("BRX") for one in read.instructions)
    assert reached(whole) <= reached(read)
    assert any("targets of jumps through a table are not printed" in note for note in read.assumed)


# ---------------------------------------------------------------- what cuobjdump printed


@pytest.mark.parametrize("name, arch, features", [("a40", 80, ""), ("sm_80", 80, ""), ("h200", 90, "a")])
def test_the_code_of_the_machine(name: str, arch: int, features: str) -> None:
    (found,) = kernels(SUMS, name)
    assert (found.title, found.arch, found.features) == ("sums", arch, features)
    assert (found.registers, found.shared_bytes, found.local_bytes) == (10, 256, 0)
    assert len(found.flow.loops) == 1
    assert all(one.control for one in found.instructions)
    assert found.assumed == ("barriers are not in a listing: none assumed",)


def test_resources_that_are_not_printed_are_said() -> None:
    text = re.sub(r"Resource usage:(?s:.*?)\n\n", "\n", SUMS.read_text())
    (found,) = kernels(text, "a40")
    assert found.shared_bytes == 0
    assert found.assumed[0] == (
        "shared memory and barriers are not in a listing: none assumed; --smem gives the bytes of a block"
    )
    assert found.assumed[1].startswith("registers counted from the listing: at least ")


def test_without_encodings() -> None:
    text = re.sub(r"/\* 0x[0-9a-f]{16} \*/", "", SUMS.read_text())
    (found,) = kernels(text, "a40")
    assert all(one.control is None for one in found.instructions)
    assert len(found.flow.loops) == 1
    assert any("no control words" in note for note in found.assumed)


def test_a_pasted_function_without_its_head() -> None:
    text = SUMS.read_text()
    (found,) = kernels(text[text.index("\t\tFunction") : text.index("..........")], "a40")
    assert (found.title, found.arch) == ("sums", 80)


def test_several_files_in_one_dump() -> None:
    text = SUMS.read_text()
    assert [one.title for one in kernels(text + text.replace("_Z4sums", "_Z4more"), "h200")] == ["sums", "more"]


def test_device_functions_are_no_kernels() -> None:
    text = "\tcode for sm_80\n\t\tFunction : f\n/*0000*/ RET.ABS.NODEC R20 0x0 ;\n\t\tFunction : k\n/*0000*/ EXIT ;\n"
    assert [one.name for one in kernels(text, "sm_80")] == ["k"]
    assert [one.name for one in kernels(text.replace("EXIT", "NOP"), "sm_80")] == ["f", "k"]


def test_an_encoding_that_lost_its_instruction() -> None:
    high = "/* 0x000fea0003800000 */"
    text = f"\tcode for sm_80\n\t\tFunction : k\n/*0000*/ EXIT ; /* 0x000000000000794d */\n\t\tFunction : f\n{high}\n"
    (found,) = kernels(text, "sm_80")
    assert found.instructions[0].control is None


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "old, new, name, said",
    [
        ("", "", "t4", "is code for sm_80, sm_90a; Tesla T4 is sm_75 and cannot run it. Choose another --gpu"),
        ("", "", "sm_100", "is code for sm_80, sm_90a; .* is sm_100 and cannot run it"),
        (r"/\*0020\*/[^\n]*\n[^\n]*\n", "", "a40", r"line \d+: address 0x30 where 0x20 was due"),
        (r"\tcode for[^\n]*|\t\.target[^\n]*|EF_CUDA_SM\d+", "", "a40", "does not say which architecture"),
        ("code for sm_80", "code for sm_61", "sm_61", r"line \d+: address 0x10 where 0x8 was due"),
        (r" +/\*[^\n]*\n", "", "a40", "no instruction found"),
    ],
)
def test_what_cannot_be_answered(old: str, new: str, name: str, said: str) -> None:
    text = re.sub(old, new, SUMS.read_text()) if old else SUMS.read_text()
    text += "/* */"
    with pytest.raises(InputError, match=said) as refused:
        kernels(text, name)
    assert "\n" not in str(refused.value)


def test_damaged_dumps() -> None:
    source, lines = random.Random(9), SUMS.read_text().splitlines()
    for _ in range(DUMPS):
        some = list(lines)
        for _ in range(source.choice((1, 3, 20))):
            at, other = source.randrange(len(some)), source.randrange(len(some))
            match source.randrange(4):
                case 0:
                    some[at], some[other] = some[other], some[at]
                case 1:
                    del some[at]
                case 2:
                    some[at] = some[at][: source.randrange(len(some[at]) + 1)]
                case _:
                    some[at] = "".join(source.choice((x, x, x, chr(source.randrange(32, 300)))) for x in some[at])
        with suppress(WarpboundError):
            for program in kernels("\tcode for sm_80\n\t\tFunction : k\n" + "\n".join(some), "a40"):
                assert program.flow.blocks
