"""No measured launch is faster than its certificate."""

import pytest

from support.paths import ROOT
from warpbound.advice.certificate import certificate
from warpbound.analysis.answer import work_of
from warpbound.errors import MissingTool, WarpboundError
from warpbound.validate.corpus import corpus, shipped
from warpbound.validate.row_prediction import row_case

pytestmark = pytest.mark.cuda
EVERY = 120  # judged rows, of which one is judged in the second stage


def rows() -> list[tuple[str, int]]:
    answer = []
    for name in shipped():
        measured = corpus(name)
        if not (measured.shared.workload or measured.shared.measured.between or measured.shared.measured.fastest_of):
            answer += [(name, number) for number, row in enumerate(measured.rows) if row.kind == "judged"]
    return answer


def least_and_measured(name: str, number: int) -> tuple[float, float]:
    """Certificate and measured time of a row, s; 0 where its kernel is not executed. Raises MissingTool without the
    compiler of the row."""
    measured = corpus(name)
    row = measured.rows[number]
    try:
        case = row_case(measured, row)
        return certificate(case, work_of(case)).time_s, row.seconds
    except MissingTool:
        raise
    except WarpboundError:
        return 0.0, row.seconds


@pytest.mark.parametrize(("name", "number"), [("streams", 57), ("reductions", 4), *[
    pytest.param(*row, marks=pytest.mark.broad) for row in rows()[::EVERY]]])  # fmt: skip
def test_no_sampled_launch_beats_its_certificate(name: str, number: int) -> None:
    try:
        least_s, measured_s = least_and_measured(name, number)
    except MissingTool as missing:  # an older NVRTC of the extra `validate`
        pytest.skip(str(missing))
    assert least_s <= measured_s


@pytest.mark.full
def test_no_launch_beats_its_certificate() -> None:
    times, not_compiled = {}, 0
    for row in rows():
        try:
            times[row] = least_and_measured(*row)
        except MissingTool:  # an older NVRTC of the extra `validate`
            not_compiled += 1
    assert [row for row, (least_s, measured_s) in times.items() if least_s > measured_s] == []
    ratios = [measured_s / least_s for least_s, measured_s in times.values() if least_s > 0]
    page = " ".join((ROOT / "docs/advice.md").read_text().split())
    assert f"None of the {len(ratios) + not_compiled} measured launches that have a certificate beats it" in page
    assert f"the nearest takes {min(ratios):.2f} times" in page
