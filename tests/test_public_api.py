"""What other programs may rely on: the names of the Python interface, their parameters, and a cheap import."""

import inspect
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import warpbound

REQUIRED: Any = inspect.Parameter.empty
SIGNATURES: dict[str, dict[str, Any]] = {  # function -> parameter -> default, in the order of the contract
    "gpu": {},
    "compile": {
        "source": REQUIRED, "gpu": REQUIRED, "kernel": None, "defines": {}, "options": [], "include": [],
    },
    "analyze": {"program": REQUIRED, "gpu": REQUIRED, "launch": None},
    "occupancy": {
        "gpu": REQUIRED,
        "threads_per_block": REQUIRED,
        "registers_per_thread": REQUIRED,
        "shared_bytes_per_block": REQUIRED,
        "carveout": None,
    },
}  # fmt: skip
PACKAGES = ("cute_dsl", "cutile", "kernel_tuner", "models", "numba_cuda", "triton", "warp_lang")
LAZY = ("numpy", "click", "rich", "msgspec", "cuda", "elftools", "tree_sitter")
FUNCTIONS = ("analyze", "compile", "gpu", "launch", "occupancy", "run")
EMULATES = hasattr(import_module("warpbound.emulate"), "run")


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_are_those_of_the_contract(name: str) -> None:
    parameters = list(inspect.signature(getattr(warpbound, name)).parameters.values())
    for (word, default), parameter in zip(SIGNATURES[name].items(), parameters, strict=False):
        assert parameter.name == word
        assert parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if default is REQUIRED or default is None:
            assert parameter.default is default
        else:  # an empty container; None or () may stand for it
            assert not parameter.default
    assert len(parameters) >= len(SIGNATURES[name])
    assert all(extra.default is not REQUIRED for extra in parameters[max(1, len(SIGNATURES[name])) :])


def test_a_gpu_comes_by_name_by_path_or_as_itself(tmp_path: Any) -> None:
    board = warpbound.gpu("h200")
    assert isinstance(board, warpbound.Gpu)
    assert warpbound.gpu(board) is board
    with pytest.raises(warpbound.WarpboundError):
        warpbound.gpu(tmp_path / "absent.toml")


def test_a_launch_comes_from_values() -> None:
    made = warpbound.launch(
        grid=4, block=(32, 2), smem=0, args={"n": 3, "x": np.ones(3, np.float32), 2: 1.5}, constants={}
    )
    assert isinstance(made, warpbound.Launch)
    assert (made.grid, made.block, made.smem) == ((4, 1, 1), (32, 2, 1), 0)


def test_a_launch_comes_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "one.toml"
    path.write_text("grid = [4, 1, 1]\nblock = [64, 1, 1]\n")
    assert warpbound.launch(path) == warpbound.launch(str(path))
    assert warpbound.launch(path).block == (64, 1, 1)


def test_residency_has_its_four_facts_and_broadcasts() -> None:
    one = warpbound.occupancy("h200", 256, 32, 0)
    assert (one.blocks_per_sm, one.warps_per_sm, one.limiters) == (8, 64, ("warps", "registers"))
    assert one.next_step == ()
    sweep = warpbound.occupancy(warpbound.gpu("h200"), np.array([[64], [256]]), np.array([32, 64, 128]), 0)
    assert sweep.warps_per_sm.shape == (2, 3)


def test_models_are_reached_by_their_names() -> None:
    for name in ("hong_kim_2009", "roofline_2009", "volkov_2016"):
        module = getattr(warpbound.models, name)
        assert {"Inputs", "predict"} <= set(dir(module))


@pytest.mark.skipif(not EMULATES, reason="the emulator is not there yet")
def test_run_takes_a_program_and_a_launch() -> None:
    run: Any = warpbound.run
    assert list(inspect.signature(run).parameters)[:2] == ["program", "launch"]


def test_errors_have_one_base() -> None:
    for error in (warpbound.InputError, warpbound.CommandError, warpbound.MissingTool):
        assert issubclass(error, warpbound.WarpboundError)
    assert str(warpbound.InputError("It is broken.", "Correct it.")) == "It is broken. Correct it."


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = warpbound.absent


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_module_has_the_name_of_a_function(name: str) -> None:
    """Importing `warpbound.gpu` as a module would put it in place of the function."""
    assert find_spec(f"warpbound.{name}") is None


def test_importing_everything_leaves_the_functions_in_place() -> None:
    code = (
        "import pkgutil, warpbound\n"
        "from importlib import import_module\n"
        "for module in pkgutil.walk_packages(warpbound.__path__, 'warpbound.'):\n"
        "    import_module(module.name)\n"
        f"print(*(name for name in warpbound.__all__ if name not in {PACKAGES}"
        " and type(getattr(warpbound, name)).__name__ == 'module'))"
    )
    assert _python(code) == ""


def test_the_import_brings_no_other_package() -> None:
    assert _python(f"import sys, warpbound\nprint(*(name for name in {LAZY!r} if name in sys.modules))") == ""


def _python(code: str) -> str:
    """What a fresh interpreter prints for `code`."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("source", "more", "said"),
    [
        (3, {}, "The source is of type int"),
        ("__global__ void k() {}", {"defines": ["A=1"]}, "defines is"),
        ("__global__ void k() {}", {"options": "-G"}, "Give a list: ..-G.."),
        ("__global__ void k() {}", {"include": "headers"}, "Give a list: ..headers.."),
        ("x", {"kernel": 3}, "kernel is 3"),
        ("x", {"options": [3]}, r"options is \[3\]"),
        ("x", {"include": 3}, "include is 3"),
    ],
)
def test_compile_refuses_values_of_another_kind(source: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(warpbound.CommandError, match=said):
        warpbound.compile(source, "h200", **more)


@pytest.mark.cuda
def test_a_macro_that_is_true_is_one() -> None:
    text = "#if YES != 1 || NO != 0\n#error wrong\n#endif\n__global__ void k() {}"
    assert warpbound.compile(text, "h200", defines={"YES": True, "NO": False}).title == "k"


@pytest.fixture(scope="module")
def twice() -> Any:
    return warpbound.compile(TWICE, "sm_90")


TWICE = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }'
ONE = warpbound.launch(grid=1, block=32, args={"x": np.ones(32, np.float32)})


@pytest.mark.cuda
@pytest.mark.parametrize("board", ["v100-pcie", "t4", "a100-sxm-80gb", "rtx-5090", "gtx680", "sm_80"])
@pytest.mark.parametrize("launch", [None, ONE])
def test_code_of_another_architecture_is_not_moved(twice: Any, board: str, launch: Any) -> None:
    with pytest.raises(warpbound.InputError, match="is code for sm_90; .* cannot run it"):
        warpbound.analyze(twice, board, launch)


@pytest.mark.cuda
def test_a_stand_in_stands_only_for_what_no_compiler_makes() -> None:
    code = warpbound.compile(TWICE, "gtx1080")
    assert warpbound.analyze(code, "p100")["confidence"]["proxy_isa"] == "sm_75"
    with pytest.raises(warpbound.InputError, match="cannot run it"):
        warpbound.analyze(code, "h200")


@pytest.mark.cuda
@pytest.mark.parametrize("unknown", [None, 3, "twice"])
def test_values_of_another_kind_are_refused(twice: Any, unknown: Any) -> None:
    with pytest.raises(warpbound.CommandError, match="The program is of type"):
        warpbound.analyze(unknown, "h200")
    with pytest.raises(warpbound.CommandError, match="The program is of type"):
        warpbound.run(unknown, ONE)
    with pytest.raises(warpbound.CommandError, match="The launch is of type"):
        warpbound.run(twice, unknown)
    with pytest.raises(warpbound.CommandError, match="The launch is of type dict"):
        warpbound.analyze(twice, "h200", {"grid": 1})  # type: ignore[arg-type]
