"""Wrong input through the real command line: the exit code, one clear sentence, nothing else."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import ANSWERED, COMMAND, FAILED, LAUNCH, SAXPY, ask, assert_refused
from support.paths import ROOT
from warpbound.machine import gpu
from warpbound.program import nvdisasm
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.nvdisasm import disassemble
from warpbound.program.source_files import programs

pytestmark = pytest.mark.cuda


@pytest.fixture(scope="module")
def cubin() -> bytes:
    return compile_cuda(Path(SAXPY).read_text(), "saxpy.cu", 90, Options()).cubin


@pytest.fixture(scope="module")
def listing(cubin: bytes) -> str:
    return disassemble(cubin, "saxpy")


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()  # a repository's root: includers are looked for in it alone

    def make(name: str, contents: str | bytes) -> str:
        (tmp_path / name).write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return name

    return make


def test_a_missing_file() -> None:
    assert_refused(ask("analyze", "nope.cu", "--gpu", "h200"), FAILED, "nope.cu cannot be read (No such file", "path")


def test_a_folder(tmp_path: Path) -> None:
    assert_refused(ask("analyze", str(tmp_path), "--gpu", "h200"), FAILED, f"{tmp_path} is a folder", "Give a file")


@pytest.mark.parametrize("contents", [b"", b" \n\t\n"])
def test_an_empty_file(write, contents: bytes) -> None:  # type: ignore[no-untyped-def]
    assert_refused(ask("analyze", write("k.cu", contents), "--gpu", "h200"), FAILED, "k.cu is empty")


def test_empty_standard_input() -> None:
    assert_refused(ask("analyze", "-", "--gpu", "h200"), FAILED, "is empty")


@pytest.mark.parametrize(
    ("name", "reason", "way_out"),
    [("k.toml", "is a launch file", "--launch"), ("k.py", "is a Python file", "k.py:KERNEL")],
)
def test_a_file_of_another_kind_is_named(write, name: str, reason: str, way_out: str) -> None:  # type: ignore[no-untyped-def]
    assert_refused(ask("analyze", write(name, "# text"), "--gpu", "h200"), FAILED, reason, way_out)


def test_standard_input_twice() -> None:
    assert_refused(ask("analyze", "-", "-", "--gpu", "h200", stdin=b"x"), COMMAND, "given twice")


def test_a_file_of_100_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "big.cu"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    assert_refused(ask("analyze", str(path), "--gpu", "h200"), FAILED, "big.cu is larger than 64 MB", "Give")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_an_endless_file() -> None:
    assert_refused(ask("analyze", "/dev/zero", "--gpu", "h200"), FAILED, "/dev/zero is larger than")


def test_junk(write) -> None:  # type: ignore[no-untyped-def]
    junk = random.Random(1).randbytes(5000)
    for name in ("junk.cu", "junk.cubin", "junk.sass", "junk.txt"):
        assert_refused(ask("analyze", write(name, junk), "--gpu", "h200"), FAILED, name, "neither text nor a cubin")


def test_text_that_is_no_cuda(write) -> None:  # type: ignore[no-untyped-def]
    assert_refused(ask("analyze", write("k.txt", "hello there\n"), "--gpu", "h200"), FAILED, "k.txt: there is no")


def test_ptx_and_fat_binaries(write) -> None:  # type: ignore[no-untyped-def]
    ptx = ".version 8.5\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n"
    assert_refused(ask("analyze", write("k.ptx", ptx), "--gpu", "h200"), FAILED, "k.ptx is PTX for sm_100")
    fat = b"\x50\xed\x55\xba" + b"\0" * 100
    assert_refused(ask("analyze", write("k.fatbin", fat), "--gpu", "h200"), FAILED, "fat binary", "cuobjdump")


def test_a_host_program() -> None:
    said = ask("analyze", sys.executable, "--gpu", "h200")
    assert_refused(said, FAILED, "not for an NVIDIA GPU") if Path(sys.executable).stat().st_size < 64 << 20 else None


@pytest.mark.parametrize("out", ["/nowhere/at/all.json", "."])
def test_an_output_that_cannot_be_written(write, out: str) -> None:  # type: ignore[no-untyped-def]
    for form in ("text", "json"):
        said = ask("analyze", SAXPY, "--gpu", "h200", "--format", form, "-o", out)
        assert_refused(said, FAILED, f"{out} cannot be written", "-o")


def test_a_name_that_looks_like_an_option(write) -> None:  # type: ignore[no-untyped-def]
    sound = write("-x.cu", "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n")
    wrong = write("-y.cu", "int i\n__global__ void k() {}\n")
    said = ask("analyze", "--gpu", "h200", "--views", "accesses", "--", sound)
    assert (said.code, said.err) == (ANSWERED, "")
    assert "STG 4 B" in said.out
    assert_refused(ask("analyze", "--gpu", "h200", "--", wrong), FAILED, "-y.cu does not compile: ./-y.cu, line 2")


def test_a_syntax_error_names_the_users_line(write) -> None:  # type: ignore[no-untyped-def]
    text = "#include <vector>\nstd::vector<int> v;\n\n__global__ void k(float* x) {\n  x[0] = ;\n}\nint main() {}\n"
    said = ask("analyze", write("wrong.cu", text), "--gpu", "h200")
    assert_refused(said, FAILED, "wrong.cu does not compile: wrong.cu, line 5: expected an expression.", "x[0] = ;")
    first, *rest = said.err.splitlines()
    assert first.endswith("expected an expression.")
    assert any("wrong.cu(5)" in line for line in rest)


def test_an_unknown_name_among_several_errors(write) -> None:  # type: ignore[no-untyped-def]
    text = "__global__ void k(float* x) {\n  x[0] = foo(1);\n  y[0] = 2;\n}\n"
    said = ask("analyze", write("wrong.cu", text), "--gpu", "h200")
    assert_refused(said, FAILED, 'line 2: identifier "foo" is undefined (the first of 2 errors)')


def test_what_the_compiler_says_of_an_option_is_said_once() -> None:
    said = ask("analyze", SAXPY, "--gpu", "h200", "--nvrtc", "--nonsense")
    assert_refused(said, FAILED, "unrecognized option --nonsense")
    assert said.err.count("--nonsense") == 1
    assert said.err.count("\n") == 1


def test_a_missing_header(write) -> None:  # type: ignore[no-untyped-def]
    text = '#include "mine.h"\n__global__ void k(Mine* x) { x->y = 1; }\n'
    said = ask("analyze", write("k.cu", text), "--gpu", "h200")
    assert_refused(said, FAILED, "line 1, includes <mine.h>, which is nowhere", "-I FOLDER")


def test_errors_of_device_code_are_not_hidden_by_host_headers(write) -> None:  # type: ignore[no-untyped-def]
    text = "#include <iostream>\n#include <opencv2/opencv.hpp>\n__global__ void k(float* x) { x[0] = foo; y[0] = 1; }\n"
    said = ask("analyze", write("k.cu", text), "--gpu", "h200")
    assert_refused(said, FAILED, 'k.cu, line 3: identifier "foo" is undefined', "left out: <opencv2/opencv.hpp>;")


def test_a_launch_from_device_code(write) -> None:  # type: ignore[no-untyped-def]
    text = "__global__ void a(int* x) { x[0] = 1; }\n__global__ void b(int* x) { a<<<1, 1>>>(x); }\n"
    said = ask("analyze", write("k.cu", text), "--gpu", "h200")
    assert_refused(said, FAILED, "k.cu, line 2: a kernel is launched from device code, which is not analysed.")
    assert said.err.count("\n") == 1


def test_no_kernel(write) -> None:  # type: ignore[no-untyped-def]
    said = ask("analyze", write("k.cu", "int main() { return 0; }\n"), "--gpu", "h200")
    assert_refused(said, FAILED, "k.cu: there is no __global__ function in it.")


def test_a_template_that_nothing_instantiates(write) -> None:  # type: ignore[no-untyped-def]
    text = "template <class T> __global__ void scale(T* x) { x[0] = 1; }\n"
    said = ask("analyze", write("k.cu", text), "--gpu", "h200")
    assert said.code == 0, said
    assert "Nothing here instantiates this template; scale<float> is an example, --kernel" in said.out


def test_a_kernel_that_cannot_be_parsed_at_all(write) -> None:  # type: ignore[no-untyped-def]
    for text in ("__global__ void k( {\n", "__global__\n", "__global__ void k() {\n  if (\n}\nint main() {}\n"):
        assert_refused(ask("analyze", write("k.cu", text), "--gpu", "h200"), FAILED, "k.cu does not compile: ")


TWO = "__global__ void first(int* x) { x[0] = 1; }\n__global__ void second(int* x) { x[0] = 2; }\n"


def test_two_kernels_with_a_grid_and_none_named(write) -> None:  # type: ignore[no-untyped-def]
    said = ask("analyze", write("two.cu", TWO), "--gpu", "h200", *LAUNCH)
    assert_refused(said, FAILED, "two.cu holds 2 kernels", "first", "second", "--kernel")


def test_two_kernels_without_a_launch_are_both_answered(write) -> None:  # type: ignore[no-untyped-def]
    said = ask("analyze", write("two.cu", TWO), "--gpu", "h200")
    assert said.code == ANSWERED
    assert "first" in said.out
    assert "second" in said.out


def test_an_unknown_kernel() -> None:
    assert_refused(ask("analyze", SAXPY, "--gpu", "h200", "--kernel", "daxpy"), FAILED, "no kernel `daxpy`", "saxpy.")
    assert_refused(ask("analyze", SAXPY, "--gpu", "h200", "--kernel", "saxpy<float>"), FAILED, "no kernel")


def test_a_truncated_cubin(write, cubin: bytes) -> None:  # type: ignore[no-untyped-def]
    lengths = {4, 5, 16, 63, 64, 65, 200, len(cubin) // 2, len(cubin) - 1, *range(100, len(cubin), len(cubin) // 15)}
    for length in sorted(lengths):
        assert_refused(ask("analyze", write("cut.cubin", cubin[:length]), "--gpu", "h200"), FAILED, "cut.cubin")


def test_a_cubin_of_another_architecture(write, cubin: bytes) -> None:  # type: ignore[no-untyped-def]
    path = write("k.cubin", cubin)
    for board in ("a100-sxm-80gb", "rtx-4090", "b200", "v100-pcie"):
        assert_refused(ask("analyze", path, "--gpu", board), FAILED, "k.cubin is code for sm_90", "cannot run it")


def test_a_cubin_of_an_earlier_minor_architecture_runs(write) -> None:  # type: ignore[no-untyped-def]
    image = compile_cuda(Path(SAXPY).read_text(), "saxpy.cu", 80, Options()).cubin
    assert ask("analyze", write("k.cubin", image), "--gpu", "rtx-4090").code == ANSWERED
    own = compile_cuda(Path(SAXPY).read_text(), "saxpy.cu", 89, Options()).cubin
    assert_refused(ask("analyze", write("k.cubin", own), "--gpu", "a100-sxm-80gb"), FAILED, "sm_89", "sm_80")


def test_several_gpus_of_which_one_can_run_it(write, cubin: bytes) -> None:  # type: ignore[no-untyped-def]
    said = ask("analyze", write("k.cubin", cubin), "--gpu", "a100-sxm-80gb,h200", "--format", "json")
    assert said.code == ANSWERED
    assert "cannot run it" in said.out


def test_an_unknown_opcode_is_answered_and_marked(write, listing: str) -> None:  # type: ignore[no-untyped-def]
    said = ask("analyze", write("k.sass", listing.replace("FFMA", "FROB")), "--gpu", "h200", "--format", "json")
    assert said.code == ANSWERED
    assert "FROB" in said.out.partition("unknown_opcodes")[2].partition("]")[0]
    assert "FROB" in ask("analyze", "k.sass", "--gpu", "h200").out


def test_forms_of_a_listing(write, cubin: bytes, listing: str) -> None:  # type: ignore[no-untyped-def]
    Path("k.cubin").write_bytes(cubin)

    def printed(*options: str) -> str:
        command = [str(nvdisasm.find()), *options, "k.cubin"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    forms = {
        "crlf": listing.replace("\n", "\r\n"),
        "whole": printed("-hex"),
        "no_encodings": printed("-c"),
        "plain": printed(),
    }
    count = len(programs(listing, gpu("h200"), None, Options())[0].instructions)
    for name, text in forms.items():
        said = ask("analyze", write(f"{name}.sass", text), "--gpu", "h200", "--format", "json")
        assert said.code == ANSWERED, (name, said)
        assert ("no control words" in said.out) == (name in ("no_encodings", "plain"))
        (found,) = programs(text, gpu("h200"), None, Options())
        assert len(found.instructions) == count
    assert ask("analyze", "-", "--gpu", "h200", stdin=listing.encode()).code == ANSWERED
    assert ask("analyze", "-", "--gpu", "h200", stdin=cubin).code == ANSWERED
    assert ask("analyze", "-", "--gpu", "h200", stdin=Path(SAXPY).read_bytes()).code == ANSWERED
    assert ask("analyze", "-", "--gpu", "h200", stdin=listing.encode("utf-16")).code == ANSWERED


def test_a_listing_with_lines_lost(write, listing: str) -> None:  # type: ignore[no-untyped-def]
    lines = listing.splitlines()
    gone = next(i for i, line in enumerate(lines) if "/*0040*/" in line)
    left = lines[:gone] + lines[gone + 2 :]
    after = 1 + next(i for i, line in enumerate(left) if "/*0050*/" in line)
    said = ask("analyze", write("k.sass", "\n".join(left)), "--gpu", "h200")
    assert_refused(said, FAILED, f"k.sass, line {after}: address 0x50 where 0x40 was due", "print it again")


def test_a_listing_without_its_head(write, listing: str) -> None:  # type: ignore[no-untyped-def]
    bare = "\n".join(line for line in listing.splitlines() if ".section" not in line)
    assert_refused(ask("analyze", write("k.sass", bare), "--gpu", "h200"), FAILED, "outside any .text section")
    blind = "\n".join(line for line in listing.splitlines() if ".target" not in line)
    assert_refused(ask("analyze", write("k.sass", blind), "--gpu", "h200"), FAILED, "which architecture", ".target")


def test_a_listing_of_an_architecture_before_volta(write) -> None:  # type: ignore[no-untyped-def]
    text = '\t.target\tsm_61\n\t.section\t.text.k,"ax",@progbits\n        /*0008*/  MOV R1, c[0x0][0x20] ;\n'
    done = ask("analyze", write("k.sass", text), "--gpu", "h200")
    assert_refused(done, FAILED, "code for sm_61; NVIDIA H200 is sm_90")
    assert ask("analyze", write("k.sass", text), "--gpu", "gtx1080").code == ANSWERED


def test_values_that_nobody_means(tmp_path) -> None:  # type: ignore[no-untyped-def]
    nowhere = str(tmp_path / "nodir")
    refused = [
        (("-I", nowhere), FAILED, f"-I {nowhere}: there is no such folder"),
        (("--clock", "1e9"), COMMAND, "A clock of 1e+09 MHz is out of range"),
        (("--gpu", ""), COMMAND, "--gpu '' names no GPU"),
        (("--set", "dram_bandwidth=1e-9"), COMMAND, "is out of range: NVIDIA H200 has 4800 GB/s. Give at least 0.0048"),
        (("--set", "fma_lanes=1e-9"), COMMAND, "fma_lanes = 1e-09 is out of range. Give a positive number, from 0.001"),
        (("--set", "clock_step=1e-9"), COMMAND, "is out of range: the model has 15 MHz. Give at least 1.5e-05"),
        (("--set", "l2_write_cost=1e-9"), COMMAND, "l2_write_cost = 1e-09 is out of range: NVIDIA "),
    ]
    for words, code, sentence in refused:
        assert_refused(ask("analyze", SAXPY, "--gpu", "h200", *words), code, sentence)
    missing = str(tmp_path / "nofile.cu")
    assert_refused(ask("analyze", missing), FAILED, f"{missing} cannot be read (No such file or directory)")


def test_an_unknown_gpu() -> None:
    said = ask("analyze", SAXPY, "--gpu", "h201")
    assert_refused(said, COMMAND, "'h201' is not in the catalogue", "Did you mean h200")
    assert_refused(ask("analyze", SAXPY, "--gpu", "h200,h201"), COMMAND, "'h201'")
    assert_refused(ask("gpus", "h201"), COMMAND, "h200")
    assert_refused(ask("analyze", SAXPY, "--gpu", "sm_99"), COMMAND, "9.9")
    assert_refused(ask("analyze", SAXPY, "--gpu", ","), COMMAND, "names no GPU")
    assert_refused(ask("analyze", SAXPY), COMMAND, "No GPU given")


def test_a_gpu_file_with_a_wrong_unit(write) -> None:  # type: ignore[no-untyped-def]
    text = (ROOT / "src" / "warpbound" / "gpus" / "h200.toml").read_text()
    line = 1 + text[: text.index('unit = "MHz"')].count("\n")
    path = write("mine.toml", text.replace('unit = "MHz"', 'unit = "furlong"', 1))
    assert_refused(ask("analyze", SAXPY, "--gpu", path), FAILED, f"mine.toml:{line}:", "'furlong'", "MHz")


@pytest.mark.parametrize(
    "line, option, fragment",
    [
        ("block = 2048", ("--block", "2048"), "block 2048x1x1 has 2048 threads"),
        ("cluster = 32", ("--cluster", "32"), "cluster 32x1x1 has 32 blocks"),
        ("smem = 232449", ("--smem", "232449"), "dynamic shared memory is 232449 bytes"),
        ('gpu = "nothing"', ("--gpu", "nothing"), "GPU 'nothing' is not in the catalogue"),
    ],
)
def test_who_is_to_blame_for_a_launch(write, line, option, fragment) -> None:  # type: ignore[no-untyped-def]
    """What a launch file says wrongly is no fault of the command line; what an option says on top of it is."""
    sizes = "" if line.startswith("block") else "block = 32\n"
    wrong = write("wrong.toml", f"grid = 32\n{sizes}{line}\nargs = []\n")
    board = () if line.startswith("gpu") else ("--gpu", "h200")
    file = ("--launch", wrong)
    assert_refused(ask("analyze", SAXPY, *board, *file), FAILED, f"launch file 'wrong.toml': {fragment}")
    right = write("right.toml", "grid = 32\nblock = 32\nargs = []\n")
    assert_refused(ask("analyze", SAXPY, *board, "--launch", right, *option), COMMAND, f"warpbound: {fragment}")
    mended = {"--cluster": "1", "--smem": "0", "--block": "32", "--gpu": "h200"}[option[0]]
    assert "any GPU" not in ask("analyze", SAXPY, *board, *file, option[0], mended).err


def test_a_gpu_file_that_is_no_toml(write) -> None:  # type: ignore[no-untyped-def]
    assert_refused(ask("analyze", SAXPY, "--gpu", write("mine.toml", "name = \n")), FAILED, "mine.toml is not TOML")
    assert_refused(ask("analyze", SAXPY, "--gpu", "gone.toml"), FAILED, "gone.toml cannot be read")


def test_a_block_of_2000_threads() -> None:
    said = ask("analyze", SAXPY, "--gpu", "h200", "--grid", "1", "--block", "2000")
    assert_refused(said, COMMAND, "2000 threads", "1024")


def test_a_block_larger_than_the_kernels_own_bound(write) -> None:  # type: ignore[no-untyped-def]
    text = "__global__ void __launch_bounds__(128) k(float* x) { x[threadIdx.x] = 1; }\n"
    said = ask("analyze", write("k.cu", text), "--gpu", "h200", "--grid", "1", "--block", "256")
    assert_refused(said, FAILED, "128", "256")


def test_clusters_on_a_machine_without_them() -> None:
    said = ask("analyze", SAXPY, "--gpu", "a40", "--grid", "4", "--block", "32", "--cluster", "2")
    assert_refused(said, FAILED, "NVIDIA A40: compute capability 8.6 has no clusters")
    assert ask("analyze", SAXPY, "--gpu", "h200", "--grid", "4", "--block", "32", "--cluster", "2").code == ANSWERED


@pytest.mark.parametrize(
    "words, fragments",
    [
        (("--grid", "99999999999", "--block", "32"), ("--grid 99999999999x1x1 is out of range",)),
        (("--set", "sm_count=1.5"), ("sm_count = 1.5 is not", "whole number")),
        (("--clock", "-5"), ("A clock of -5 MHz is out of range", "boost")),
        (("--clock", "1e30"), ("A clock of 1e+30 MHz is out of range", "boost")),
        (("--grid", "1", "--block", "32", "--arg", "n=1", "--arg", "n=2"), ("--arg n was given twice",)),
        (("--launch", SAXPY.replace(".cu", ".toml"), "--arg", "2=1", "--arg", "2=2"), ("--arg 2 was given twice",)),
    ],
)
def test_numbers_that_cannot_be(words: tuple[str, ...], fragments: tuple[str, ...]) -> None:
    assert_refused(ask("analyze", SAXPY, "--gpu", "h200", *words), COMMAND, *fragments)


@pytest.mark.parametrize("contents", [b"", b"no array\n", b"\x93NUMP"])
def test_a_file_that_is_no_array(write, contents: bytes) -> None:  # type: ignore[no-untyped-def]
    said = ask("analyze", SAXPY, "--gpu", "h200", *LAUNCH, "--arg", f"x=@{write('x.npy', contents)}")
    assert_refused(said, FAILED, "x.npy", "not an array that numpy.save wrote")
    assert "allow_pickle" not in said.err


def test_a_key_of_a_launch_file_of_another_type(write) -> None:  # type: ignore[no-untyped-def]
    path = write("launch.toml", 'grid = 1\nblock = 32\n[[args]]\nname = "n"\ndtype = "i32"\nvalue = "512"\n')
    said = ask("analyze", SAXPY, "--gpu", "h200", "--launch", path)
    assert_refused(said, FAILED, "args[0].value is wrong", "got a text")
    assert "null" not in said.err


@pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
@pytest.mark.parametrize("settings", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
@pytest.mark.parametrize("name", [b"bad\xff.cu", "ké.cu".encode()])
def test_a_name_that_the_terminals_encoding_does_not_hold(
    tmp_path: Path, name: bytes, settings: dict[str, str]
) -> None:
    folder = os.fsencode(tmp_path) + "/ü".encode()
    os.mkdir(folder)
    path = folder + b"/" + name
    with open(path, "wb") as file:
        file.write(Path(SAXPY).read_bytes())
    command = [sys.executable, "-m", "warpbound", "analyze", path, "--gpu", "h200", "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, **settings})
    assert done.returncode == ANSWERED, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["program"]["source"] == path.decode(errors="replace")
