"""Every parameter of the catalogue is given by a mechanism or has a reason why not; the docs say which."""

from pathlib import Path

import pytest

from support import measured_parameters
from support.fake_gpu import FACTS, FakeGpu
from support.paths import ROOT
from warpbound.machine import PARAMETERS, gpu
from warpbound.measure.board_profile import facts_as_parameters, summarise
from warpbound.measure.runner import RawFile
from warpbound.measure.suite import MECHANISMS

PAGE = ROOT / "docs" / "measuring.md"
HIDDEN = {"departure_delay_coalesced"}  # on the fake GPU bandwidth binds before it does: not found rather than guessed


def test_every_parameter_is_measured_or_has_a_reason() -> None:
    for name, parameter in PARAMETERS.items():
        assert parameter.measured_by or measured_parameters.why_not(parameter), name
        assert not (parameter.measured_by and parameter.not_measured), name
        assert set(parameter.measured_by) <= {measured_parameters.DRIVER, *MECHANISMS}, name


def test_what_a_run_gives_is_what_is_said(fake_run: tuple[FakeGpu, Path, dict[str, RawFile]]) -> None:
    found = summarise(fake_run[2].values(), gpu("h200")).estimates
    by_driver = facts_as_parameters(FACTS)
    given_by = {name: parameter.measured_by for name, parameter in PARAMETERS.items() if parameter.measured_by}
    for name, given in given_by.items():
        if name in HIDDEN:
            assert name not in found
        elif given == (measured_parameters.DRIVER,):
            assert name in by_driver
        else:
            ours = [mechanism for mechanism in given if mechanism in dict(found[name])]
            assert [mechanism for mechanism, _ in found[name]] == ours
    assert set(found) | set(by_driver) == set(given_by) - HIDDEN


@pytest.mark.parametrize("line", tuple(measured_parameters.table()))
def test_the_page_has_the_table(line: str) -> None:
    assert line in PAGE.read_text("utf-8").splitlines()
