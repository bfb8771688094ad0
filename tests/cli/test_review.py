"""Snapshots of examples: planted regressions are caught, neutral edits are silent; so with the action and the hook."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from support.paths import EXAMPLES, ROOT
from warpbound.cli import main
from warpbound.report.document import schema

pytestmark = pytest.mark.cuda

GATE = "5"
# Example, what is replaced, by what.
REGRESSIONS = {
    "bank conflicts": ("transpose_tiled.cu", "#define PAD 1", "#define PAD 0"),
    "uncoalesced": ("saxpy.cu", "int i = blockIdx.x * blockDim.x + threadIdx.x;",
                    "int i = (blockIdx.x * blockDim.x + threadIdx.x) * 33 & (16777216 - 1);"),
    "double precision": ("nbody.cu", "inverse * inverse * inverse", "inverse * inverse * inverse * 1.1"),
    "no unrolling": ("nbody.cu", "#pragma unroll 8", "#pragma unroll 1"),
    "a barrier per step": ("nbody.cu", "ax += strength * dx;", "__syncthreads(); ax += strength * dx;"),
    "a second pass": ("vector_add.cu", "c[i] = a[i] + b[i];", "c[i] = a[i] + b[i] + a[(i + 8388608) & 16777215];"),
    "too few blocks": ("reduction.toml", "grid = [1056, 1, 1]", "grid = [132, 1, 1]"),
    "exact exponential": ("softmax.cu", "__expf(row[i] - largest)", "exp((double)(row[i] - largest))"),
    "spills": ("nbody.cu", "__global__ void nbody", "__global__ void __maxnreg__(24) nbody"),
    "smaller blocks": ("saxpy.toml", "grid = [65536, 1, 1]\nblock = [256, 1, 1]",
                       "grid = [524288, 1, 1]\nblock = [32, 1, 1]"),
}  # fmt: skip
NEUTRAL = {
    "comment": ("saxpy.cu", "    if (i < n)", "    // the last block is not full\n    if (i < n)"),
    "block comment": ("saxpy.cu", "int i =", "/* element */ int i ="),
    "empty lines": ("saxpy.cu", "    if (i < n)", "\n\n    if (i < n)"),
    "rename a variable": ("vector_add.cu", r"\bi\b", "index"),
    "rename the kernel": ("saxpy.cu", r"\bsaxpy\b", "axpy"),
    "rename a parameter": ("vector_add.cu", r"\bb\b", "other"),
    "braces": ("saxpy.cu", "        y[i] = a * x[i] + y[i];", "    { y[i] = a * x[i] + y[i]; }"),
    "early return": ("saxpy.cu", "    if (i < n)\n        y[i]", "    if (i >= n)\n        return;\n    y[i]"),
    "operand order": ("vector_add.cu", "a[i] + b[i]", "b[i] + a[i]"),
    "a temporary": ("vector_add.cu", "        c[i] = a[i] + b[i];", "    { float sum = a[i] + b[i]; c[i] = sum; }"),
    "const": ("saxpy.cu", "    int i =", "    const int i ="),
    "unsigned block index": ("vector_add.cu", "blockIdx.x * blockDim.x", "(int)(blockIdx.x * blockDim.x)"),
    "fmaf": ("saxpy.cu", "a * x[i] + y[i]", "fmaf(a, x[i], y[i])"),
    "compound assignment": ("saxpy.cu", "y[i] = a * x[i] + y[i]", "y[i] += a * x[i]"),
    "post-increment": ("nbody.cu", "++k", "k++"),
    "brackets": ("nbody.cu", "dx * dx + dy * dy + dz * dz", "((dx * dx + dy * dy) + dz * dz)"),
    "a macro for a number": ("reduction.cu", "int lane = threadIdx.x % 32;",
                             "#define WIDE 32\n    int lane = threadIdx.x % WIDE;"),
    "a function": ("vector_add.cu", "__global__ void vector_add",
                   "__device__ float twice(float x) { return x + x; }\n__global__ void vector_add"),
    "static": ("reduction.cu", "__inline__ __device__", "static __forceinline__ __device__"),
    "shift for a division": ("reduction.cu", "distance /= 2", "distance >>= 1"),
}  # fmt: skip
USUAL = {"bank conflicts", "smaller blocks", "rename the kernel", "fmaf", "a temporary"}


def cases(edits: dict[str, tuple[str, str, str]]) -> list[object]:
    return [pytest.param(name, marks=() if name in USUAL else pytest.mark.broad) for name in edits]


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, list(words))


def edited(folder: Path, edit: tuple[str, str, str]) -> Path:
    """A snapshot of the example in the folder, which then has the edit."""
    name, old, new = edit
    stem = Path(name).stem
    for ending in (".cu", ".toml"):
        shutil.copy(EXAMPLES / f"{stem}{ending}", folder)
    kept = folder / "perf.json"
    assert run("snapshot", f"{stem}.cu", "--gpu", "h200", "-o", str(kept)).exit_code == 0
    text = (folder / name).read_text()
    changed = re.sub(old, new, text) if "\\" in old else text.replace(old, new)
    assert changed != text
    (folder / name).write_text(changed)
    launch = folder / f"{stem}.toml"
    if "\\b" in old:  # the launch file names what is renamed
        own = old.removeprefix(r"\b").removesuffix(r"\b")
        launch.write_text(launch.read_text().replace(f'"{own}"', f'"{new}"'))
    return kept


def valid(name: str, answer: dict[str, object]) -> None:
    """By the published schema, which does not take everything."""
    validator = Draft202012Validator(schema(name))
    validator.validate(answer)
    assert not validator.is_valid({**answer, "kernels": [{}]})
    assert not validator.is_valid({**answer, "schema_version": "2"})


@pytest.mark.parametrize("name", ["snapshot", "diff"])
def test_the_schemas_have_examples(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    for example in schema(name)["examples"]:
        valid(name, example)


@pytest.mark.parametrize("name", cases(REGRESSIONS))
def test_a_planted_regression_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = edited(tmp_path, REGRESSIONS[name])
    done = run("diff", str(kept), "--fail-above", GATE, "--format", "json")
    assert done.exit_code == 1, done.stdout
    whole = json.loads(done.stdout)
    (kernel,) = whole["kernels"]
    assert (kernel["direction"], kernel["significant"], kernel["fails"]) == ("slower", True, True)
    valid("diff", whole)
    valid("snapshot", json.loads(kept.read_text()))
    assert kernel["after"]["time_s"] > 1.05 * kernel["before"]["time_s"]


@pytest.mark.parametrize("name", cases(NEUTRAL))
def test_a_neutral_edit_is_silent(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = edited(tmp_path, NEUTRAL[name])
    done = run("diff", str(kept), "--fail-above", "0", "--format", "json")
    assert done.exit_code == 0, done.stdout
    (kernel,) = json.loads(done.stdout)["kernels"]
    assert (kernel["direction"], kernel["significant"]) == ("same", False)


@pytest.mark.broad
def test_a_review_in_a_repository(tmp_path: Path) -> None:
    """The action's steps and the hook's entry, in a git history: silent before the regression, failing after it."""
    yaml = pytest.importorskip("yaml")
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }  # fmt: skip

    def shell(command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-ec", command], cwd=tmp_path, env=environment | more, capture_output=True, text=True
        )

    for ending in (".cu", ".toml"):
        shutil.copy(EXAMPLES / f"transpose_tiled{ending}", tmp_path)
    assert (
        shell(
            "git init -q . && warpbound snapshot transpose_tiled.cu -o perf.json && git add -A && git commit -qm a"
        ).returncode
        == 0
    )
    (step,) = [
        step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"] if step["name"] == "Compare"
    ]
    inputs = {
        "SNAPSHOT": "perf.json",
        "FAIL_ABOVE": GATE,
        "SARIF": "w.sarif",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "s.md"),
    }
    assert set(step["env"]) == {"SNAPSHOT", "FAIL_ABOVE", "SARIF"}
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (tmp_path / ".git" / "hooks" / "pre-commit").write_text(
        f"#!/bin/sh\nexec {hook['entry']} {' '.join(hook['args'])}\n"
    )
    (tmp_path / ".git" / "hooks" / "pre-commit").chmod(0o755)

    assert shell(step["run"], **inputs).returncode == 0
    source = tmp_path / "transpose_tiled.cu"
    source.write_text("// a comment\n" + source.read_text())
    assert shell("git commit -qam comment").returncode == 0
    source.write_text(source.read_text().replace("#define PAD 1", "#define PAD 0"))
    done = shell(step["run"], **inputs)
    assert done.returncode == 1, done.stderr
    assert "The gate at 5 % fails." in done.stdout
    assert "slower" in (tmp_path / "s.md").read_text()
    (found,) = json.loads((tmp_path / "w.sarif").read_text())["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "transpose_tiled.cu"
    assert shell("git commit -qam slower").returncode == 1
    assert shell("warpbound diff perf.json --update && git commit -qam accepted").returncode == 0


def test_two_snapshots_and_static_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLES / "saxpy.cu", tmp_path)
    assert run("snapshot", "saxpy.cu", "--gpu", "h200,l4", "-o", "a.json").exit_code == 0
    kept = json.loads(Path("a.json").read_text())
    assert [(one["gpu"], one["mode"], one["time_s"]) for one in kept["kernels"]] == [
        ("h200", "static", None),
        ("l4", "static", None),
    ]
    assert kept["questions"][0]["options"] == {"gpus": "h200,l4"}
    Path("saxpy.cu").write_text("__global__ void saxpy(int n { }")
    assert run("snapshot", "saxpy.cu", "--gpu", "h200", "-o", "b.json").exit_code == 0
    done = run("diff", "a.json", "b.json", "--fail-above", "5")
    assert done.exit_code == 1
    assert "broken" in done.stdout
    assert run("diff", "a.json", "a.json", "--fail-above", "0").exit_code == 0


def test_what_is_no_snapshot(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert "is not a snapshot" in run("diff", str(tmp_path / "x.json")).stderr
    assert run("diff", str(tmp_path / "x.json")).exit_code == 1
    assert run("diff", str(tmp_path / "nope.json")).exit_code == 1
    assert run("diff", "a", "b", "--update").exit_code == 2
    assert run("snapshot", "-").exit_code == 2
