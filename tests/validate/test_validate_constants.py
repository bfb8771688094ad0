"""Numbers of the model that are of published launches: each follows from its row, and that row judges nothing."""

import pytest

from warpbound.headline.parameters import ATOMICS
from warpbound.machine import gpu
from warpbound.validate.corpus import Row, corpus
from warpbound.workload.records import HAND_OVER


def row(name: str, kernel: str) -> Row:
    (found,) = (one for one in corpus(name).rows if one.kernel == kernel)
    return found


@pytest.mark.parametrize("kernel", ["atomics", "atomics_of_four"])
def test_updates_of_one_address(kernel):
    """Nothing but additions to one address: what its rate says, and the launch."""
    found = row("reductions-elsewhere", kernel)
    assert found.kind == "calibration"
    steps = float(found.words["pieces"])
    assert steps / (found.seconds * gpu(found.gpu).value("boost_clock")) == pytest.approx(ATOMICS, rel=0.01)


def test_pieces_of_lines():
    """Every word that is written is a piece of a line of its own; SMs share them evenly."""
    found = row("transposes-elsewhere", "spread_stores")
    assert found.kind == "calibration"
    board = gpu(found.gpu)
    cycles = found.seconds * board.value("boost_clock") * board.value("sm_count") / 16384**2
    assert cycles == pytest.approx(HAND_OVER, rel=0.01)
