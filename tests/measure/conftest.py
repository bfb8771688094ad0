"""One run of the whole suite on the fake GPU serves all tests of the extraction, which are broad for that."""

from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from support.fake_gpu import FakeGpu, cubins
from warpbound.machine import gpu
from warpbound.measure import case_timing, corpus
from warpbound.measure.board_profile import Summary, summarise
from warpbound.measure.runner import RawFile, RunRequest, run
from warpbound.measure.suite import MECHANISMS


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The run takes half a minute: what needs it is broad."""
    for item in items:
        if "fake_run" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.broad)


@pytest.fixture(scope="session")
def fake_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[FakeGpu, Path, dict[str, RawFile]]:
    """The device, the folder and the raw files of a quick run; the host's clock moves when it is looked at."""
    device, out = FakeGpu(wobble=0.001), tmp_path_factory.mktemp("measured")
    looked = count(step=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case_timing, "time", SimpleNamespace(monotonic=lambda: next(looked)))
        patch.setattr(corpus, "array", lambda fill: np.zeros(1, np.uint8))
        raws = run(device, cubins(), RunRequest(tuple(MECHANISMS), "quick", out), lambda _: None)
    return device, out, {raw.mechanism: raw for raw in raws}


@pytest.fixture(scope="session")
def summary(fake_run: tuple[FakeGpu, Path, dict[str, RawFile]]) -> Summary:
    """What the run says of the board."""
    return summarise(fake_run[2].values(), gpu("h200"))
