"""Numbers of the model that are of published launches: each follows from its row, and that row judges nothing."""

import pytest

from warpbound.analysis.atomic_contention import FLOAT_STEPS, SECTOR_STEPS
from warpbound.machine import gpu
from warpbound.memory.counters import HAND_OVER
from warpbound.time_model.parameters import ATOMIC_RATE
from warpbound.validate.corpus import Row, corpus


def row(name: str, kernel: str) -> Row:
    (found,) = (one for one in corpus(name).rows if one.kernel == kernel)
    return found


def steps_per_cycle(found: Row, steps: float) -> float:
    return steps / (found.seconds * gpu(found.gpu).value("boost_clock"))


@pytest.mark.parametrize("kernel", ["atomics", "atomics_of_four"])
def test_floats_added_at_one_address(kernel):
    """Nothing but additions of floats: what its rate says, and the launch."""
    found = row("reductions-elsewhere", kernel)
    assert found.kind == "calibration"
    assert steps_per_cycle(found, FLOAT_STEPS * float(found.words["pieces"])) == pytest.approx(ATOMIC_RATE, rel=0.02)


ZEROS = [one for one in corpus("counts-of-zeros").rows if one.words["words"] == "67108864"]


@pytest.mark.parametrize("found", [one for one in ZEROS if one.kernel == "in_global"])
def test_integers_added_at_one_address(found):
    assert (found.kind == "calibration") == (found.gpu == "rtx-3080")
    assert steps_per_cycle(found, float(found.words["words"])) == pytest.approx(ATOMIC_RATE, rel=0.02)


@pytest.mark.parametrize("found", [x for x in ZEROS if x.kernel == "in_shared" and int(x.words["threads"]) <= 256])
def test_whole_lines_of_integers(found):
    """Each block adds to 16 lines of four sectors, all blocks to the same."""
    blocks = float(found.words["words"]) / float(found.words["threads"])
    assert steps_per_cycle(found, 4 * SECTOR_STEPS * blocks) == pytest.approx(ATOMIC_RATE, rel=0.02)


def test_pieces_of_lines():
    """Every word that is written is a piece of a line of its own; SMs share them evenly."""
    found = row("transposes-elsewhere", "spread_stores")
    assert found.kind == "calibration"
    board = gpu(found.gpu)
    cycles = found.seconds * board.value("boost_clock") * board.value("sm_count") / 16384**2
    assert cycles == pytest.approx(HAND_OVER, rel=0.01)
