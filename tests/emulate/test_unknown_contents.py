"""Variables and arrays that a kernel reads and nobody gave: named, and no time where they decide."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from warpbound import emulate
from warpbound.cli import main
from warpbound.emulate.unknown_contents import unknown_symbols
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

HEAD = """__constant__ int n; __constant__ int lengths[64]; __constant__ float w[16];
__constant__ float set[4] = {1, 2}; __device__ int limit; __device__ unsigned ticket; __device__ int table[8] = {3, 4};
__global__ void k(const int* a, float* y) { int i = threadIdx.x + blockIdx.x * blockDim.x; float s = 0;"""
BODIES = {  # name -> body, variables that are missed, whether they decide
    "a trip count": ("for (int j = 0; j < n; j++) s += a[j]; y[i] = s; }", ["n"], True),
    "lengths": ("for (int j = 0; j < lengths[blockIdx.x % 64]; j++) s += a[j]; y[i] = s; }", ["lengths"], True),
    "weights": ("for (int j = 0; j < 16; j++) s += a[j] * w[j]; y[i] = s; }", ["w"], False),
    "weights at an index": ("y[i] = w[i % 16]; }", ["w"], False),
    "two": ("if (i < n) y[i] = w[i % 16]; }", ["n", "w"], True),
    "initialised": ("y[i] = set[i % 4] + table[i % 8]; }", [], False),
    "a device variable": ("for (int j = 0; j < limit; j++) s += a[j]; y[i] = s; }", ["limit"], True),
    "a counter": ("if (atomicAdd(&ticket, 1) < 9) y[i] = 1; }", [], False),
    "written before": ("if (i == 0) limit = 5; if (limit > 3) y[i] = 1; }", [], False),
    "a division": ("y[i] = a[i] / w[i % 16]; }", ["w"], False),
}  # fmt: skip


@pytest.mark.parametrize("arch", [75, 90, 120])
@pytest.mark.parametrize("name", BODIES)
def test_variables_that_nobody_gave(name, arch):
    body, missed, decide = BODIES[name]
    program = compile_program(HEAD + body, f"sm_{arch}")
    found = unknown_symbols(program, launch(grid=4, block=64, args={"a": "i32[256]:ones", "y": "f32[256]"}))
    values = {"lengths": "@FILE.npy", "w": "@FILE.npy"}
    shortest = sorted(each.option.partition(",")[0] for each in found)
    assert shortest == [f"--const {each}={values.get(each, 'VALUE')}" for each in missed]
    assert any(each.refusal(program, each.readers) for each in found) == decide


TWO_KERNELS = """__constant__ float w[16], v[16]; __device__ float bias, scale; __device__ float* last;
__global__ void first(float* y) { y[threadIdx.x] = w[threadIdx.x % 16] + bias; }
__global__ void second(float* y) { y[threadIdx.x] = v[threadIdx.x % 16] * scale; }
__global__ void neither(float* y) { y[threadIdx.x] = 1; last = &bias; }"""


@pytest.mark.parametrize("arch", [75, 90])
def test_each_kernel_of_a_file_misses_only_the_variables_that_it_reads(arch):
    missed = {}
    for name in ("first", "second", "neither"):
        program = compile_program(TWO_KERNELS, f"sm_{arch}", kernel=name)
        lacking = unknown_symbols(program, launch(grid=1, block=32, args={"y": "f32[32]"}))
        missed[name] = sorted(each.option.partition("=")[0].removeprefix("--const ") for each in lacking)
    assert missed == {"first": ["bias", "w"], "second": ["scale", "v"], "neither": []}


def test_a_variable_that_is_given_is_not_missed():
    program = compile_program(HEAD + BODIES["two"][0], "sm_89")
    given = launch(grid=4, block=64, args={"a": "i32[256]", "y": "f32[256]"}, constants={"n": 7, "w": "f32[16]:ones"})
    assert unknown_symbols(program, given) == ()


@pytest.mark.parametrize("given, missed", [("i32[64]", 1), ("i32[64]:ones", 0)])
def test_an_array_in_constant_memory_needs_contents_not_only_a_shape(given, missed):
    program = compile_program(HEAD + BODIES["lengths"][0], "sm_89")
    by_shape = launch(grid=4, block=64, args={"a": "i32[256]", "y": "f32[256]"}, constants={"lengths": given})
    assert len(unknown_symbols(program, by_shape)) == missed


ARRAYS = {
    "for (int j = 0; j < a[i]; j++) s += 1; y[i] = s; }": True,
    "if (a[i]) y[i] = 1; }": True,
    "int j = a[i]; if (a[j] == 3) return; y[i] = 2; }": True,
    "y[i] = a[i]; }": False,
    "y[i] = y[i] / (float)a[i]; }": False,
    "y[i] = sqrtf(y[i]); }": False,
}


@pytest.mark.parametrize("body", ARRAYS)
def test_unknown_arrays_that_decide(body):
    program = compile_program(HEAD + body, "sm_89")
    trace = emulate.trace(program, launch(grid=4, block=64, args={"a": "i32[256]", "y": "f32[256]:ones"}), [0, 3])
    assert bool(trace.ungiven) == ARRAYS[body]
    known = launch(grid=4, block=64, args={"a": np.ones(256, np.int32), "y": "f32[256]:ones"})
    assert emulate.trace(program, known, [0, 3]).ungiven == ()


def answer(tmp_path, name, *words):
    file = tmp_path / "k.cu"
    file.write_text(HEAD + BODIES[name][0])
    arguments = ["--arg", "a=i32[12800]:ones", "--arg", "y=f32[12800]"]
    options = ["--gpu", "h200", "--grid", "100", "--block", "128", *arguments]
    done = CliRunner().invoke(main, ["analyze", str(file), *options, *words, "--format", "json"])
    return done.exit_code, json.loads(done.stdout)["results"][0] if done.exit_code == 0 else done.stderr


def test_no_time_without_a_trip_count_and_one_with_it(tmp_path):
    code, without = answer(tmp_path, "a trip count")
    assert (code, without["time_s"], without["mode"]) == (0, None, "static")
    assert without["not_executed"].endswith("which is not given: give it by --const n=VALUE")
    _, short = answer(tmp_path, "a trip count", "--const", "n=3")
    _, long = answer(tmp_path, "a trip count", "--const", "n=3000")
    assert long["instructions"]["warp_instructions"] > 100 * short["instructions"]["warp_instructions"]
    assert long["time_s"] > 5 * short["time_s"]


def test_weights_that_decide_nothing_are_named(tmp_path):
    _, found = answer(tmp_path, "weights")
    assert found["time_s"] > 0
    assert sum("'w' is read" in note for note in found["confidence"]["assumed"]) == 1
    _, given = answer(tmp_path, "weights", "--const", "w=f32[16]:ones")
    assert not any("'w'" in note for note in given["confidence"]["assumed"])


@pytest.mark.parametrize(
    "words, reason", [
        (("--const", "m=3"), "the code has no symbol 'm'"),
        (("--const", "n"), "is not of the form NAME=VALUE"),
        (("--const", "n=1", "--const", "n=2"), "--const n was given twice"),
        (("--const", "w=f32[64]:ones"), "the symbol has 64"),
        (("--const", "w=3"), "one number does not fill it. Give its contents: --const w=@FILE.npy"),
    ],
)  # fmt: skip
def test_wrong_constants_are_refused(tmp_path, words, reason):
    code, said = answer(tmp_path, "weights", *words)
    assert code in (1, 2)
    assert reason in " ".join(said.split())
