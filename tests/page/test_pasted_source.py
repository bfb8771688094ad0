"""No spelling of #include makes the page read a file of the machine."""

from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.errors import InputError
from warpbound.page import bundled_headers as headers
from warpbound.page.pasted_source import check


def bundled(name: str) -> bool:
    return name in {"cuda_fp16.h", "cub/cub.cuh"}


def includes_by_macro(name: str) -> bool:
    return name == "cub/cub.cuh"


@pytest.mark.parametrize("text", [
    "__global__ void f(float *x) { x[0] = 1; }",
    "#include <cuda_fp16.h>\n#include \"cub/cub.cuh\"\n",
    "  #  include\t<cuda_fp16.h>  // of the compiler",
    "#inc\\\nlude <cuda_fp16.h>",
    "#pragma unroll\n#define include 3\n#if 1\n#endif",
    "a # b; // includes all",
    "#define JOIN(a, b) a##b\n#if defined(JOIN) && __CUDA_ARCH__ >= 800 // see f(x)\n#endif",
    "#define N 4\n#define SQUARE(x) ((x) * (x))\n#if N > 3 /* so (x) */ && (N < 9)\n#elif defined N\n#endif",
    "#if __has_builtin(__nanosleep)\n#endif",
    "x = #1;",
])  # fmt: skip
def test_taken(text: str) -> None:
    check(text, bundled, includes_by_macro)


@pytest.mark.parametrize("text", [
    '#include "/etc/passwd"',
    "#include </etc/passwd>",
    '#include "../secret.h"',
    '#include "cub/../../secret.h"',
    '#include "secret.h"',
    '%:include "/etc/passwd"',
    '??=include "/etc/passwd"',
    '#inc\\\nlude "/etc/passwd"',
    '#inc\\ \t\r\nlude "/etc/passwd"',
    '#inc??/\nlude "/etc/passwd"',
    '# /* \n */ include "/etc/passwd"',
    '/* */ #include "/etc/passwd"',
    'const char *s = R"(/*)";\n#include "/etc/passwd"\n// */',
    '#define WHERE "/etc/passwd"\n#include WHERE',
    '#include_next <cuda_fp16.h>',
    '#import "/etc/passwd"',
    '#embed "/etc/passwd"',
    '#line 1 "/etc/passwd"',
    '#if __has_include("/etc/passwd")\n#endif',
    '#if __has_\\\ninclude("/etc/passwd")\n#endif',
    '#\v\finclude "/etc/passwd"',
    '# 1 "/etc/passwd"\n',
    '%: 33 "/etc/passwd" 2\n',
    "#define W 1\n# 1 W",
    '#define J(a, b) a##b\n#if J(__has_, include)("/etc/passwd")\n#endif',
    '#define J(a, b) a##b\n#if 1 && J /* */ (__has_, include)("/etc/passwd")\n#endif',
    '#define J(a, b) a##b\n#define Q J(__has_, include)("/etc/passwd")\n#define R Q\n#if R\n#endif',
    '#define J(a, b) a##b\n#define Q "x" ? J/**/(__has_, include)("/etc/passwd") : 0\n#elif Q\n#endif',
    '#define $(a, b) a %:%: b\n#if $(__has_, include)("/etc/passwd")\n#endif',
    '#define Q /*\n*/ __has_ ## inclu ## de("/etc/passwd")\n#if Q\n#endif',
    '#define Q __has_ ## inclu ## de("/etc/passwd")\n%:if defined(X) || Q\n#endif',
    '#if HEADERS_JOIN(__has_, include)("/etc/passwd")\n#endif',
    "#include",
    "#include /* half */ <cuda_fp16.h>",
    "int x;\0",
    "x" * 1_000_001,
])  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(InputError):
        check(text, bundled, includes_by_macro)


@given(st.lists(st.sampled_from([" ", "\t", "\\\n", "\v", "/**/", "/*\n*/", "\\ \r\n"]), max_size=4), st.integers(1, 7))
def test_blanks_and_splices_hide_nothing(blanks: list[str], cut: int) -> None:
    gap = "".join(blanks)
    word = "include"[:cut] + "\\\n" + "include"[cut:]
    with pytest.raises(InputError):
        check(f'#{gap}{word}{gap}"/etc/passwd"', bundled, includes_by_macro)


def test_no_header_asks_with_a_macro_of_the_source() -> None:
    """A condition of the header would expand it."""
    for macro in ("VERSION 3", "OTHER JOIN(a, b)", "VERSION(x) ((x) + 1)"):
        check(
            f"#define {macro}\n#include <cuda_fp16.h>\n", bundled, includes_by_macro, lambda _: frozenset({"VERSION"})
        )
    for macro in ("VERSION a ## b", "VERSION JOIN(a, b)", "OTHER a ## b\n#define VERSION OTHER"):
        with pytest.raises(InputError, match="VERSION a macro"):
            check(
                f"#define {macro}\n#include <cuda_fp16.h>\n",
                bundled,
                includes_by_macro,
                lambda _: frozenset({"VERSION"}),
            )


@pytest.mark.parametrize(
    "piece",
    [
        "#/*",
        "#define a/*",
        "#if a/**/",
        "#define a b(",
        "#if a /* */",
        "#if $ ",
        "# 1 ",
        "#define a b\n",
        "#",
        "%:\\\n",
        "#include<",
        "# \t",
        "__has_",
        "\\\n",
    ],
)
def test_long_texts_take_linear_time(piece: str) -> None:
    text = piece * (999_999 // len(piece))
    before = process_time()
    with suppress(InputError):
        check(text, bundled, includes_by_macro)
    assert process_time() - before < 60  # seconds; a second reading of the rest at every piece would take hours


@pytest.mark.parametrize(
    "sets", ["#define X 1", "# undef X", "%:define X", "??=undef X", "#de\\\nfine X", "#\tdefine X"]
)
def test_macros_are_refused_beside_a_header_that_includes_by_macro(sets: str) -> None:
    check(f"{sets}\n#include <cuda_fp16.h>", bundled, includes_by_macro)
    check("#include <cub/cub.cuh>\nconstexpr int defined = 3; // define", bundled, includes_by_macro)
    for text in (f"{sets}\n#include <cub/cub.cuh>", f"#include <cub/cub.cuh>\n{sets}\n"):
        with pytest.raises(InputError, match=r"cub/cub.cuh includes files by macro"):
            check(text, bundled, includes_by_macro)


@pytest.mark.cuda
def test_what_conditions_of_the_compilers_headers_name() -> None:
    assert {"__CUDA_ARCH__", "__CUDA_FP16_H__"} <= headers.known("cuda_fp16.h")
    assert headers.known("cuda_fp16.h") < headers.known("cub/cub.cuh") | headers.known("cuda_fp16.h")


@pytest.mark.cuda
def test_which_of_the_compilers_headers_include_by_macro() -> None:
    plain = ("cuda_fp16.h", "cooperative_groups.h", "mma.h", "cuda/std/atomic", "cuda/pipeline", "cuda/ptx",
             "cub/block/block_reduce.cuh", "cmath")  # fmt: skip
    assert [name for name in plain if headers.includes_by_macro(name)] == []
    assert [name for name in plain if not headers.bundled(name)] == []
    for name in ("cub/cub.cuh", "cccl/thrust/universal_vector.h", "cccl/thrust/transform.h"):
        assert headers.bundled(name)
        assert headers.includes_by_macro(name), name
