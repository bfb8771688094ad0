"""`analyze FILE.py:KERNEL`: the examples in Triton, their values, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

import warpbound.triton as front
from support.command_line import ANSWERED, COMMAND, FAILED, ask
from support.paths import ROOT
from warpbound.python_files import FileKernel, file_kernel, loaded

pytestmark = pytest.mark.cuda
EXAMPLES = ROOT / "examples" / "triton"


def words_of(name: str) -> tuple[str, ...]:
    return ("analyze", f"{EXAMPLES / name}.py:{name}", "--launch", str(EXAMPLES / f"{name}.toml"))


def example(name: str):
    return loaded(FileKernel(EXAMPLES / f"{name}.py", name))[0]


def test_a_kernel_with_its_launch_file() -> None:
    """64 of the 8192 rows."""
    answer = ask(*words_of("softmax"), "--grid", "64", "--format", "json")
    assert answer.code == ANSWERED, answer.err
    (result,) = json.loads(answer.out)["results"]
    assert (result["kernel"], result["gpu"], result["mode"]) == ("softmax", "h200", "dynamic")
    assert (result["launch"]["grid"], result["launch"]["block"]) == ([64, 1, 1], [256, 1, 1])
    assert result["memory"]["l2_sectors_read"] == 64 * 4000 * 4 / 32


def test_a_kernel_with_options_alone(tmp_path: Path) -> None:
    sizes = ("--arg", "out=f32[8,100]", "--arg", "x=f32[8,100]:rand", "--arg", "columns=100", "--define", "BLOCK=128")
    words = ("analyze", f"{EXAMPLES}/softmax.py:softmax", "--gpu", "a100,t4", "--grid", "8", *sizes, "--format", "json")
    answer = ask(*words)
    assert answer.code == ANSWERED, answer.err
    assert [each["launch"]["block"] for each in json.loads(answer.out)["results"]] == [[128, 1, 1]] * 2
    text = ask(*words[:-2], "--gpu", "t4", "--block", "64", "-o", str(tmp_path / "text"))
    assert (text.code, "block 64" in (tmp_path / "text").read_text()) == (ANSWERED, True)


def test_the_softmax_equals_numpys() -> None:
    x = np.random.default_rng(2).standard_normal((8, 100), dtype=np.float32)
    arrays = front.run(example("softmax"), np.zeros_like(x), x, 100, grid=(8,), gpu="h200", BLOCK=128)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(arrays["out"], powers / powers.sum(axis=1, keepdims=True), rtol=2e-6)


def test_the_product_equals_numpys() -> None:
    """Three rows of tiles: the second strip has one row."""
    numbers = np.random.default_rng(2)
    a, b = (numbers.standard_normal(shape).astype(np.float16) for shape in ((96, 64), (64, 64)))
    tiles = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 32, "STRIP": 2}
    c = np.zeros((96, 64), np.float16)
    arrays = front.run(example("matmul"), a, b, c, 96, 64, 64, grid=(6,), gpu="a100-sxm-80gb", **tiles)
    np.testing.assert_allclose(arrays["c"], a.astype(np.float32) @ b.astype(np.float32), rtol=2e-3, atol=2e-3)


@pytest.mark.full
def test_the_product_is_answered_as_its_line_in_the_examples_has_it() -> None:
    (result,) = json.loads(ask(*words_of("matmul"), "--format", "json").out)["results"]
    assert result["bottleneck"] == "shared"
    assert result["flop"]["tensor"] == 2 * 4096**3
    assert result["occupancy"]["blocks_per_sm"] == 1


def test_only_a_file_and_a_name_are_a_kernel() -> None:
    assert file_kernel("a/b.py:c") == FileKernel(Path("a/b.py"), "c")
    for word in ("a.cu", "a.py", "a.py:", "a.py:b c", ":c"):
        assert file_kernel(word) is None


def test_refusals(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    launch = ("--grid", "1", "--gpu", "h200")
    for words, code, sentence in (
        ((f"{EXAMPLES}/softmax.py:other", *launch), FAILED, "It has: softmax."),
        ((f"{EXAMPLES}/absent.py:softmax", *launch), FAILED, "is not a file"),
        ((f"{broken}:softmax", *launch), FAILED, "No module named 'nothing_of_that_name'"),
        ((f"{EXAMPLES}/softmax.py:softmax", "--gpu", "h200"), COMMAND, "needs a launch"),
        ((f"{EXAMPLES}/softmax.py:softmax", *launch), COMMAND, "has no value for"),
        ((f"{EXAMPLES}/softmax.py:softmax", "kernel.cu", *launch), COMMAND, "one after the other"),
    ):
        refused = ask("analyze", *words)
        assert (refused.code, sentence in refused.err) == (code, True), refused.err
