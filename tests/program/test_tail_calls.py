"""Calls that never return are branches; functions that return are called."""

import pytest

from support.compiled_examples import ARCHITECTURES
from warpbound.program.nvdisasm_listing import read_listing
from warpbound.program.source_files import compile_program
from warpbound.program.tail_calls import tail_calls_as_branches

LISTING = """\t.target\tsm_80
\t.section\t.text.k,"ax",@progbits
.text.k:
        /*0000*/                   ISETP.LE.U32.AND P0, PT, R0, R4, PT ;
        /*0010*/              @P0 CALL.REL.NOINC `(.L_out) ;
        /*0020*/                   BRA `(.text.k) ;
.L_out:
        /*0030*/                   IADD3 R1, R1, 0x1, RZ ;
        /*0040*/                   {last} ;
"""
DIVIDING = """\t.target\tsm_80
\t.section\t.text.k,"ax",@progbits
.text.k:
        /*0000*/                   CALL.REL.NOINC `(.L_divide) ;
        /*0010*/              @P0 CALL.REL.NOINC `(.L_out) ;
        /*0020*/                   BRA `(.text.k) ;
.L_out:
        /*0030*/                   CALL.REL.NOINC `(.L_divide) ;
        /*0040*/                   EXIT ;
.L_divide:
        /*0050*/              @P1 CALL.REL.NOINC `(.L_divide) ;
        /*0060*/                   RET.REL.NODEC R20 `(.text.k) ;
"""
LOOP = """extern "C" __global__ void k(const float* x, float* y, int n) {
    __shared__ float tile[64];
    float s = 0;
    for (int t = 0; t <= blockIdx.x; t++) {
        tile[threadIdx.x] = x[t * 64 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) s += tile[j];
        __syncthreads();
    }
    y[blockIdx.x * 64 + threadIdx.x] = s;
}"""
FUNCTION = """__device__ __noinline__ float f(float x, int n) { for (int i = 0; i < n; i++) x = x * x + i; return x; }
extern "C" __global__ void k(float* y, int n) { y[threadIdx.x] = f(y[threadIdx.x], n) + f(2.0f, n + 1); }"""


def opcodes(last):
    (section,) = read_listing(LISTING.replace("{last}", last), "k.sass").sections
    return [instruction.opcode for instruction in tail_calls_as_branches(section.instructions)]


def test_a_call_to_where_threads_end_is_a_branch():
    assert opcodes("EXIT") == ["ISETP", "BRA", "BRA", "IADD3", "EXIT"]


@pytest.mark.parametrize("last", ["RET.REL.NODEC R20 `(.text.k)", "BRX R2 -0x30", "@P1 EXIT"])
def test_a_call_that_may_return_stays_one(last):
    assert opcodes(last)[1] == "CALL"


def test_a_loop_with_a_division_is_left_by_a_branch():
    (section,) = read_listing(DIVIDING, "k.sass").sections
    found = [x.opcode for x in tail_calls_as_branches(section.instructions)]
    assert found == ["CALL", "BRA", "BRA", "CALL", "EXIT", "CALL", "RET"]


def test_the_text_stays():
    (section,) = read_listing(LISTING.replace("{last}", "EXIT"), "k.sass").sections
    assert "CALL.REL.NOINC" in tail_calls_as_branches(section.instructions)[1].text


@pytest.mark.cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_compiled_loops_have_no_calls_and_functions_have(arch):
    assert not any(x.opcode == "CALL" for x in compile_program(LOOP, f"sm_{arch}").instructions)
    assert any(x.opcode == "CALL" for x in compile_program(FUNCTION, f"sm_{arch}").instructions)
