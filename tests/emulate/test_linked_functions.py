"""Functions that a linker leaves in sections of their own are executed and timed with the kernel that calls them."""

import numpy as np
import pytest

from warpbound import emulate, machine
from warpbound.kernel_launch import launch
from warpbound.program.ptx import from_ptx

pytestmark = pytest.mark.cuda
BOARDS = {80: "a100-sxm-80gb", 90: "h200", 120: "rtx-5090"}
DIVISION = """
.version 8.7
.target sm_{arch}
.address_size 64
.visible .func (.param .b64 q) divided(.param .b64 a, .param .b64 b)
{{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    div.s64 %rd3, %rd1, %rd2;
    st.param.b64 [q], %rd3;
    ret;
}}
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 out)
{{
    .reg .b64 %rd<12>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [out];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8;
    add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4; add.u64 %rd7, %rd3, %rd4;
    ld.global.u64 %rd8, [%rd5]; ld.global.u64 %rd9, [%rd6];
    {{
        .param .b64 a; .param .b64 b; .param .b64 q;
        st.param.b64 [a], %rd8; st.param.b64 [b], %rd9;
        call.uni (q), divided, (a, b);
        ld.param.b64 %rd10, [q];
    }}
    rem.s64 %rd11, %rd8, %rd9;
    add.s64 %rd10, %rd10, %rd11;
    st.global.u64 [%rd7], %rd10;
    ret;
}}
"""


@pytest.mark.parametrize("arch", list(BOARDS))
def test_calls_within_calls_return_to_where_they_came_from(arch):
    """A function of the program calls the compiler's division; the kernel calls both."""
    (program,) = from_ptx(DIVISION.format(arch=arch), "division.ptx", machine.gpu(BOARDS[arch]))
    assert len(program.functions) >= 2
    assert program.assumed == ()
    random = np.random.default_rng(arch)
    x = random.integers(-(1 << 60), 1 << 60, 64)
    y = random.integers(1, 1 << 40, 64) * random.choice([-1, 1], 64)
    arrays = emulate.run(program, launch(grid=1, block=64, args={"x": x, "y": y, "out": np.zeros(64, np.int64)}))
    quotient = np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))
    assert np.array_equal(arrays["out"], quotient + (x - quotient * y))
