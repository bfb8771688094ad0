"""Pasted code in its own process: no file of the machine shows, what does not end is ended, answers are the API's."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import warpbound
from support.breadth import some_of
from support.paths import ROOT
from warpbound.errors import InputError
from warpbound.page.worker import names_local_file
from warpbound.page.worker_messages import Question
from warpbound.page.worker_pool import WorkerPool
from warpbound.program.nvrtc import header_folders
from warpbound.result.plain import plain

pytestmark = pytest.mark.cuda
PATIENT_S, IMPATIENT_S = 600.0, 4.0  # a busy machine is no fault of a sound kernel; what has no end outlasts any limit
SHORT_S = 1.0  # for what a quick machine ends, too: by the steps that the emulator takes at most, or for want of memory
KERNEL = "__global__ void f(float *x) { x[threadIdx.x] = 1.0f; }\n"


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(PATIENT_S)
    yield made
    made.close()


@pytest.fixture
def impatient() -> Iterator[WorkerPool]:
    made = WorkerPool(IMPATIENT_S)
    yield made
    made.close()


def answers_others(pool: WorkerPool) -> bool:
    """With all the time that a busy machine may need for it."""
    pool._seconds = PATIENT_S
    return bool(plain(pool.ask(Question("", KERNEL, "h200")).entry)["kernel"] == "f")


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("secret") / "secret.h"
    path.write_text("the_secret_of_this_machine is here\n")
    return path


@pytest.mark.parametrize(
    "line",
    some_of(
        [
            '#include "{path}"',
            "#include <{path}>",
            '#include "../../../../../../../../{path}"',
            '#define NAME "{path}"\n#include NAME',
            '#inc\\\nlude "{path}"',
            '%:include "{path}"',
            '??=include "{path}"',
            '#/**/include "{path}"',
            '# /* \n */ include "{path}"',
            '#include_next "{path}"',
            '#import "{path}"',
            '#embed "{path}"',
            '#if __has_include("{path}")\n#error it is there\n#endif',
            '#if __has_embed("{path}")\n#error it is there\n#endif',
            '#line 1 "{path}"\nthis is an error',
            '# 1 "{path}"\nthis is an error',
            '#define JOIN(a, b) a##b\n#if JOIN(__has_, include)("{path}")\n#error it is there\n#endif',
            "#include <cuda_fp16.h/../../../../../../{path}>",
            'R"(\n)" /* " */ \n#include "{path}"',
            "#define QUOTE(x) #x\n#include QUOTE({path})",
            "#include __FILE__",
            '#line 1 "{path}"\n#include __FILE__',
            "#include <cccl/thrust/detail/config/device_system.h>\n#define thrust {path}>\n"
            "#include <cccl/thrust/universal_vector.h>",
            "#include <cccl/thrust/detail/config/device_system.h>\n#undef __THRUST_DEVICE_SYSTEM_ROOT\n"
            "#define __THRUST_DEVICE_SYSTEM_ROOT {path}>\n#include <cccl/thrust/universal_vector.h>",
        ],
        usual=9,
    ),
)
def test_no_line_of_another_file_shows(pool: WorkerPool, secret: Path, line: str) -> None:
    answer = pool.ask(Question("", line.replace("{path}", str(secret)) + "\n" + KERNEL, "h200"))
    assert answer.reason
    assert "the_secret" not in answer.reason + answer.hint
    assert "it is there" not in answer.reason


@pytest.mark.parametrize(
    "line",
    some_of(
        [
            'import "{path}";',
            "import <{path}>;",
            'export import "{path}";',
            '#pragma include "{path}"',
            '#pragma GCC dependency "{path}"',
            '_Pragma("include \\"{path}\\"")',
            '#pragma push_macro("{path}")',
            '#ident "{path}"',
            "#assert file({path})",
            "#error",
            '__device__ void h() { asm(".include \\"{path}\\""); }',
            '__device__ void h() { asm volatile(".file 1 \\"{path}\\"\\n\\t.loc 1 1 0"); }',
            'asm(".incbin \\"{path}\\"");',
            "static_assert(false, __FILE__);",
            '# 1 "{path}"\nthis is an error',
            "}} }} #",
        ],
        usual=5,
    ),
)
def test_no_other_way_to_a_file_either(pool: WorkerPool, secret: Path, line: str) -> None:
    """Taken or not, an answer holds nothing of the file: neither in an error nor among the lines shown."""
    answer = pool.ask(Question("", line.replace("{path}", str(secret)) + "\n" + KERNEL, "h200"))
    assert "the_secret" not in repr(answer)
    assert answer.reason or plain(answer.entry)["kernel"] == "f"


@pytest.mark.parametrize(
    "directive", ['.include "{path}"', '.file 1 "{path}"', '.pragma "{path}";', ".extern .func x;\n{path}"]
)
def test_pasted_ptx_reads_no_file(pool: WorkerPool, secret: Path, directive: str) -> None:
    ptx = ".version 8.0\n.target sm_90\n.address_size 64\n" + directive.replace("{path}", str(secret))
    ptx += "\n.visible .entry f() { ret; }\n"
    assert "the_secret" not in repr(pool.ask(Question("", ptx, "h200")))


@pytest.mark.parametrize(
    "greedy",
    [
        "#define A0 x[0]++;\n"
        + "".join(f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 16))
        + "__global__ void g(int *x) { A15 }",
        "template <int... I> struct L {}; template <int N, int... I> struct M : M<N - 1, N, I...> {}; "
        "template <int... I> struct M<0, I...> { using type = L<I...>; }; __device__ M<100000>::type y;",
        "constexpr int spin() { int n = 0; for (;;) n ^= 1; return n; } __device__ int y[spin()];",
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f() { .reg .b32 %r<2000000000>; ret; }\n",
        "struct S { char all[1L << 40]; }; __device__ S s = {}; __global__ void g(char *x) { x[0] = s.all[x[1]]; }",
    ],
    ids=["macros", "templates", "constexpr", "PTX", "array"],
)
def test_greedy_sources_end_and_harm_nobody(impatient: WorkerPool, greedy: str) -> None:
    """Refused, ended by the clock, or even answered: which of them depends on the machine."""
    with suppress(InputError):
        answer = impatient.ask(Question("", greedy, "h200"))
        assert answer.reason or plain(answer.entry)["kernel"]
    assert answers_others(impatient)


@pytest.mark.parametrize(
    "kernel", ['f<1>\n#include "/etc/passwd"', "f);\nx", 'f<sizeof("a")>', "#x", "f" * 300, "f;g", "f\\"]
)
def test_a_kernels_name_carries_no_code(pool: WorkerPool, kernel: str) -> None:
    assert "not the name of a kernel" in pool.ask(Question("", KERNEL, "h200", kernel=kernel)).reason


def test_a_message_about_another_file_is_not_told(secret: Path, tmp_path: Path) -> None:
    """Should the compiler be led to one after all."""
    link = tmp_path / "link.h"
    link.symlink_to(secret)
    for path in (secret, link, Path(f"/proc/self/root{secret}")):
        assert names_local_file(f"{path}(1): error: identifier is undefined")
        assert names_local_file(f"<input> does not compile: {path}, line 1: identifier is undefined")
    assert not names_local_file("<input>(3): error: expected a ;")
    with header_folders() as places:
        own = next(Path(place) / "cuda_fp16.h" for place in places if (Path(place) / "cuda_fp16.h").is_file())
    assert not names_local_file(f"{own}(51): error: expected a ;")


def test_endless_errors_are_cut_short(pool: WorkerPool) -> None:
    shouting = "".join(f"int x{n} = y{n} + {'z' * 200};\n" for n in range(4000))
    answer = pool.ask(Question("", shouting, "h200"))
    assert answer.reason
    assert len(answer.reason) + len(answer.hint) < 20_000


def test_arguments_read_no_file(pool: WorkerPool) -> None:
    asked = Question("", KERNEL, "h200", grid="1", block="32", args="x=@/etc/passwd")
    assert "reads no file" in pool.ask(asked).reason


@pytest.mark.parametrize("example", ["../saxpy", "/etc/passwd", "saxpy.cu", ""])
def test_examples_are_those_of_the_list(pool: WorkerPool, example: str) -> None:
    assert pool.ask(Question(example, "", "h200")).reason


def test_a_compilation_that_does_not_end_is_ended(impatient: WorkerPool) -> None:
    doubling = "template <int N, long M> struct S { static const long v = S<N - 1, 2 * M>::v "
    doubling += "+ S<N - 1, 2 * M + 1>::v; };\n"
    doubling += "template <long M> struct S<0, M> { static const long v = M; };\n"
    endless = doubling + "__global__ void g(long *x) { x[0] = S<40, 1>::v; }\n"
    impatient._seconds = SHORT_S
    with pytest.raises(InputError, match="takes longer"):
        impatient.ask(Question("", endless, "h200"))
    assert answers_others(impatient)


def test_a_kernel_that_does_not_end_is_ended(impatient: WorkerPool) -> None:
    spins = "__global__ void f(volatile int *x, int n) { for (long i = 0; i < 1L << 60; i++) x[i & 31] = x[n]; }\n"
    impatient._seconds = SHORT_S
    with pytest.raises(InputError, match="takes longer"):
        impatient.ask(Question("", spins, "h200", grid="64", block="1024", args="x=i32[64]:zeros\nn=0"))


def test_arrays_beyond_the_memory_are_refused(pool: WorkerPool) -> None:
    large = Question("", KERNEL, "h200", grid="1", block="32", args="x=f32[2000000000]:randn")
    reason = pool.ask(large).reason
    assert "not available" in reason or "cannot be allocated" in reason
    assert plain(pool.ask(Question("", KERNEL, "h200")).entry)["kernel"] == "f"


def test_a_worker_is_confined() -> None:
    """The system itself bounds its memory, its files and its core dumps."""
    script = (
        "import resource; from warpbound.page.worker import confine; confine()\n"
        "print(*(resource.getrlimit(getattr(resource, 'RLIMIT_' + name)) for name in ('AS', 'FSIZE', 'CORE')))\n"
        "try: bytearray(7 << 30)\nexcept MemoryError: print('refused')"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    wanted = (6 << 30, resource.RLIMIT_AS), (64 << 20, resource.RLIMIT_FSIZE), (0, resource.RLIMIT_CORE)
    already = ((most, resource.getrlimit(kind)[1]) for most, kind in wanted)
    limits = [most if hard == resource.RLIM_INFINITY else min(most, hard) for most, hard in already]
    assert said.splitlines() == [" ".join(f"({limit}, {limit})" for limit in limits), "refused"]


def test_another_number_of_the_board_gives_what_the_api_gives(pool: WorkerPool) -> None:
    program = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200")
    launch = warpbound.launch(ROOT / "examples" / "saxpy.toml")
    for settings in ({}, {"dram_latency": 900.0}, {"dram_achievable_bandwidth": 2000.0, "sm_count": 100.0}):
        board = warpbound.machine.override(warpbound.gpu("h200"), settings)
        expected = warpbound.analyze(program, board, launch)
        found = plain(pool.ask(Question("saxpy", "", "h200", tuple(settings.items()))).entry)
        for key in ("time_s", "time_interval_s", "bottleneck", "warps_needed", "occupancy", "memory", "whatifs"):
            assert found[key] == pytest.approx(expected[key]) if key == "time_s" else found[key] == expected[key]


def test_two_sources_do_not_disturb_each_other(pool: WorkerPool) -> None:
    other = KERNEL.replace("f(", "g(").replace("1.0f", "2.0f * x[3]")
    first = pool.ask(Question("", KERNEL, "h200"))
    second = pool.ask(Question("", other, "h200"))
    assert (plain(first.entry)["kernel"], plain(second.entry)["kernel"]) == ("f", "g")
    assert pool.ask(Question("", KERNEL, "h200")) == first
