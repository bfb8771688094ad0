"""Public reports, where a folder of them is at hand: WARPBOUND_NSIGHT_REPORTS names it."""

import os
from pathlib import Path

import pytest

from support.paths import ROOT
from warpbound.errors import WarpboundError
from warpbound.nsight.answers import comparisons
from warpbound.nsight.argument_file import read_arguments
from warpbound.nsight.error_table import errors
from warpbound.nsight.launch_case import launch_case
from warpbound.nsight.report_file import ProfiledLaunch, read_report
from warpbound.nsight.selection import Selection

FOLDER = os.environ.get("WARPBOUND_NSIGHT_REPORTS", "")
REPORTS = sorted(Path(FOLDER).rglob("*.ncu-rep")) if FOLDER else []
ARGUMENTS = ROOT / "docs" / "accuracy" / "nsight-arguments.toml"

pytestmark = [pytest.mark.cuda, pytest.mark.skipif(not REPORTS, reason="WARPBOUND_NSIGHT_REPORTS names no reports")]


def refusal_of(launch: ProfiledLaunch) -> WarpboundError | None:
    try:
        launch_case(launch)
    except WarpboundError as refused:
        return refused
    return None


@pytest.mark.broad
@pytest.mark.parametrize("path", REPORTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_launch_has_a_case_or_a_sentence(path: Path) -> None:
    for launch in read_report(path).launches:
        refused = refusal_of(launch)
        assert refused is None or "\n" not in str(refused)


@pytest.mark.full
def test_errors_stay_where_they_are() -> None:
    choice = Selection(file=read_arguments(ARGUMENTS))
    rows = {row.name: row for row in errors(comparisons(REPORTS, choice, lambda steps: (step for _, step in steps)))}
    assert rows["smsp__inst_executed.sum"].share >= 0.95
    assert rows["lts__t_sectors_srcunit_tex.sum"].share >= 0.80
    assert rows["dram__bytes.sum"].share >= 0.75
    assert rows["gpu__time_duration.sum"].median <= 0.15
    assert rows["gpu__time_duration.sum"].p90 <= 0.35
