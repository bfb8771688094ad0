"""`warpbound launches`: launch files that `analyze` takes, and what is left to fill in."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.paths import EXAMPLES
from warpbound.cli import main

pytestmark = pytest.mark.cuda

TWO = """
template <int B> __global__ void fill(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = B; }
__global__ void scale(float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    fill<8><<<1, 64>>>(d, 64);
    scale<<<(n + 255) / 256, 256>>>(d, 2.0f, n);
}
"""


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "400"}).invoke(main, ["launches", *words])


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "two.cu"
    path.write_text(TWO)
    return path


def test_a_launch_file_of_an_example_equals_the_written_one(tmp_path: Path) -> None:
    done = run(str(EXAMPLES / "histogram.cu"), "-o", str(tmp_path / "h.toml"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "complete" in done.stderr
    got = tomllib.loads((tmp_path / "h.toml").read_text())
    written = tomllib.loads((EXAMPLES / "histogram.toml").read_text())
    assert [got[key] for key in ("kernel", "grid", "block")] == [written[key] for key in ("kernel", "grid", "block")]
    data, result, words = got["args"]
    assert (data["dtype"], data["shape"], data["fill"]) == ("u8", [4 * 16777216], "rand")
    assert (result["dtype"], result["shape"], result["fill"]) == ("u32", [256], "zeros")
    assert words["value"] == 16777216


def test_what_is_left_is_marked_and_examples_fill_it(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "l.toml"
    done = run(str(program), "--kernel", "scale", "-o", str(out))
    assert done.exit_code == 0, done.stderr
    text = out.read_text()
    assert len(re.findall("TO FILL IN", text)) == 3  # grid, elements of x, n
    assert "atoi(argv[1])" in text
    assert "grid" not in tomllib.loads(text)
    assert run(str(program), "--kernel", "scale", "--examples", "-o", str(out)).exit_code == 0
    taken = tomllib.loads(out.read_text())
    assert (taken["grid"], taken["args"][0]["shape"], taken["args"][2]["value"]) == ([4, 1, 1], [1024], 1024)


def test_examples_fit_their_types(tmp_path: Path) -> None:
    (tmp_path / "b.cu").write_text(
        "__global__ void k(int *x, char c, unsigned char u, bool b, float f) { *x = c + u + b + f; }\n"
        "void go(int *x, char c, unsigned char u, bool b, float f) { k<<<1, 1>>>(x, c, u, b, f); }\n"
    )
    assert run(str(tmp_path / "b.cu"), "--examples", "-o", str(tmp_path / "b.toml")).exit_code == 0
    arguments = tomllib.loads((tmp_path / "b.toml").read_text())["args"]
    assert [argument["value"] for argument in arguments[1:]] == [127, 255, True, 1.0]


def test_an_example_is_no_larger_than_memory(tmp_path: Path) -> None:
    (tmp_path / "b.cu").write_text(
        "__global__ void k(float *x) {}\n"
        "void go(size_t n) { float *x; cudaMalloc(&x, n * n * n * n * 4); k<<<1, 1>>>(x); }\n"
    )
    assert run(str(tmp_path / "b.cu"), "--examples", "-o", str(tmp_path / "b.toml")).exit_code == 0
    assert tomllib.loads((tmp_path / "b.toml").read_text())["args"][0]["shape"] == [1 << 26]


def test_arguments_of_the_program_fill_it_too(program: Path, tmp_path: Path) -> None:
    done = run(str(program), "-o", str(tmp_path / "l.toml"), "--gpu", "h200", "--", "5000")
    assert done.exit_code == 0, done.stderr
    names = sorted(path.name for path in tmp_path.glob("*.toml"))
    assert names == ["l-fill_8.toml", "l-scale.toml"]
    scale = tomllib.loads((tmp_path / "l-scale.toml").read_text())
    assert (scale["gpu"], scale["grid"], scale["args"][0]["shape"]) == ("h200", [20, 1, 1], [5000])
    answer = CliRunner().invoke(
        main, ["analyze", str(program), "--launch", str(tmp_path / "l-scale.toml"), "--format", "json"]
    )
    assert json.loads(answer.stdout)["results"][0]["time_s"] > 0


def test_text_and_json_agree(program: Path) -> None:
    answer = json.loads(run(str(program), "--format", "json").stdout)
    assert [launch["kernel"] for launch in answer["launches"]] == ["fill<8>", "scale"]
    assert answer["launches"][1]["needed"] == ["grid ((atoi(argv[1]) + 255) / 256, 1, 1)", "elements of x", "n (int)"]
    text = run(str(program)).stdout
    for launch in answer["launches"]:
        assert f"{launch['kernel']}   {program}".split("/")[0] in text
        assert all(part in text for part in launch["grid"]["parts"])


def test_refusals(program: Path, tmp_path: Path) -> None:
    assert "no launch in line 1" in run(str(program), "--line", "1").stderr
    assert run(str(program), "--line", "1").exit_code == 1
    assert run(str(tmp_path / "nope.cu")).exit_code == 1
    assert run(str(program), "--format", "json", "-o", "x").exit_code == 2
    (tmp_path / "none.cu").write_text("int main() {}\n")
    assert "has no host code that launches a kernel" in run(str(tmp_path / "none.cu")).stdout
    assert run(str(tmp_path / "none.cu"), "-o", "x.toml").exit_code == 1


def analyzed(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "400"}).invoke(main, ["analyze", *words])


def test_analyze_says_what_the_host_code_knows(program: Path, tmp_path: Path) -> None:
    done = analyzed(str(EXAMPLES / "histogram.cu"), "--gpu", "h200", "--format", "json")
    entry = json.loads(done.stdout)["results"][0]
    assert (entry["mode"], entry["time_s"]) == ("static", None)
    assert entry["host_launch"]["needed"] == []
    words = shlex.split(entry["host_launch"]["command"])[2:-1]
    assert run(*words, str(tmp_path / "launch.toml")).exit_code == 0
    timed = analyzed(str(EXAMPLES / "histogram.cu"), "--launch", str(tmp_path / "launch.toml"), "--gpu", "h200",
                     "--format", "json")  # fmt: skip
    answer = json.loads(timed.stdout)["results"][0]
    assert answer["time_s"] > 0
    assert "host_launch" not in answer
    text = analyzed(str(program), "--gpu", "h200", "--kernel", "scale").stdout
    needed = "gives all but grid ((atoi(argv[1]) + 255) / 256, 1, 1); elements of x; n (int)"
    assert f"The host code, line 9, {needed}: warpbound launches" in text


def test_analyze_without_host_code_says_nothing_of_it() -> None:
    entry = json.loads(analyzed(str(EXAMPLES / "saxpy.cu"), "--gpu", "h200", "--format", "json").stdout)["results"][0]
    assert "host_launch" not in entry
