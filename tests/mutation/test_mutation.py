"""The planting of faults itself: an unchanged source passes, a flipped sign is noticed, samples do not vary."""

import subprocess
import sys
from pathlib import Path

import pytest

from mutation.mutants import mutants, sample
from support.paths import MODELS

HERE = Path(__file__).parent
LITTLE = MODELS / "volkov_2016" / "little.py"


def trial(source: str) -> int:
    command = [sys.executable, str(HERE / "trial.py"), "warpbound.models.volkov_2016.little", "volkov_2016"]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode


def test_the_source_as_it_is_passes() -> None:
    assert trial(LITTLE.read_text("utf-8")) == 0


@pytest.mark.parametrize("change", ["divide becomes multiply", "multiply becomes divide"])
def test_a_wrong_operator_is_noticed(change: str) -> None:
    wrong = next(mutant for mutant in mutants(LITTLE) if mutant.change == change)
    assert trial(wrong.source) == 1


def test_every_mutant_differs_and_a_sample_is_the_same_each_time() -> None:
    found = mutants(LITTLE)
    assert len(found) > 10
    assert len({mutant.source for mutant in found}) == len(found)
    assert sample([LITTLE], 5) == sample([LITTLE], 5)
