"""What is carried to a machine with a GPU: sources that stand alone, and a script that any shell reads."""

import os
import subprocess
from pathlib import Path

from support.paths import ROOT
from warpbound.measure.cubin_build import _self_contained
from warpbound.measure.suite import units


def test_written_sources_have_their_macros() -> None:
    tuned = units("corpus")["corpus_transpose_TILE32_ROWS8_PAD0"]
    lines = _self_contained(tuned).splitlines()
    assert {"#define TILE 32", "#define ROWS 8", "#define PAD 0"} <= set(lines[: len(tuned.defines)])
    assert _self_contained(units("launch")["launch"]) == units("launch")["launch"].text


def test_the_script_is_one_that_bash_reads() -> None:
    done = subprocess.run(["bash", "-n", str(ROOT / "tools" / "on_the_gpu.sh")], capture_output=True, check=False)  # noqa: S607
    assert done.returncode == 0, done.stderr


def test_the_script_goes_on_behind_a_deadly_case_and_takes_older_code(tmp_path: Path) -> None:
    """With a stand-in for Python that fails twice: the first time for the code, the second time for a case."""
    carry, out = tmp_path / "carry", tmp_path / "out"
    (carry / "venv" / "bin").mkdir(parents=True)
    (carry / "code12").mkdir()
    fake = carry / "venv" / "bin" / "python"
    fake.write_text(
        "#!/bin/bash\n"
        '[ "$1" = -c ] && exit 0\n'
        f'echo "$@" >> "{tmp_path}/asked"\n'
        f'case $(wc -l < "{tmp_path}/asked") in\n'
        '1) echo "the driver refuses the machine code of x" >&2; exit 1 ;;\n'
        '2) echo "Nothing runs on the GPU any more in this process." >&2; exit 1 ;;\n'
        "esac\n",
        "utf-8",
    )
    fake.chmod(0o755)
    script = ["bash", str(ROOT / "tools" / "on_the_gpu.sh"), str(carry), str(out), "quick"]
    done = subprocess.run(script, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text("utf-8").splitlines()
    assert len(asked) == 3
    assert f"--cubins {carry}/code --within" in asked[0]
    assert all(f"--cubins {carry}/code12 --within" in line for line in asked[1:])


def test_all_steps_of_the_script_share_one_limit(tmp_path: Path) -> None:
    """The stand-in for Python writes down what it is asked; the last step's time is kept while the one before runs."""
    carry, out = tmp_path / "carry", tmp_path / "out"
    (carry / "venv" / "bin").mkdir(parents=True)
    fake = carry / "venv" / "bin" / "python"
    fake.write_text(f'#!/bin/bash\n[ "$1" = -c ] || echo "$@" >> "{tmp_path}/asked"\n', "utf-8")
    fake.chmod(0o755)
    script = ["bash", str(ROOT / "tools" / "on_the_gpu.sh"), str(carry), str(out)]
    done = subprocess.run(script, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    quick, full, counters = (tmp_path / "asked").read_text("utf-8").splitlines()
    first, second = (int(line.partition("--within ")[2]) for line in (quick, full))
    assert 420 <= first <= 540  # a busy machine may have taken two minutes of it
    assert 330 <= second <= first - 90
    assert "--counters" in counters
    late = subprocess.run(
        [*script, "quick"], capture_output=True, text=True, cwd=ROOT, check=False, env={**os.environ, "WITHIN": "30"}
    )
    assert late.returncode == 1  # no time for it
    assert len((tmp_path / "asked").read_text("utf-8").splitlines()) == 3
