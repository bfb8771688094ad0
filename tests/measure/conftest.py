"""One run of the whole suite on the fake GPU serves all tests of the extraction."""

from pathlib import Path

import numpy as np
import pytest
from fake_gpu import FakeGpu, cubins

from warpbound.measure import corpus
from warpbound.measure.runner import Order, Raw, run
from warpbound.measure.suite import MECHANISMS


@pytest.fixture(scope="session")
def fake_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[FakeGpu, Path, dict[str, Raw]]:
    """The device, the folder and the raw files of a quick run."""
    device, out = FakeGpu(wobble=0.001), tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "array", lambda fill: np.zeros(1, np.uint8))
        raws = run(device, cubins(), Order(tuple(MECHANISMS), "quick", out), lambda _: None)
    return device, out, {raw.mechanism: raw for raw in raws}
