"""The numbers behind the pictures of simulations."""

import numpy as np
import pytest

from warpbound.report import figures
from warpbound.report.figures.picture import Band, Boxes, Curve, Points
from warpbound.report.figures.simulated import LARGEST_RATIO, SMALLEST_RATIO
from warpbound.result.simulation import FamilyEvaluation, FamilyPoint, RatioRange
from warpbound.simulate import timelines
from warpbound.simulate.scenarios import SCENARIOS
from warpbound.simulate.warp_simulation import run

EVALUATED = FamilyEvaluation(
    machine="Kepler",
    alpha=[0.0, 1.0, 8.0],
    warps_per_sm=[],
    loads_per_cycle=[],
    ratios={
        "fair": RatioRange(least=[0.5, 0.9, 1.0], most=[9.0, 1.2, 1.1]),
        "wild": RatioRange(least=[1.0, -3.0, 0.001], most=[1.0, 50.0, 2.0]),
    },
    needed={"simulated": [40.0, np.nan, 64.0], "fair": [36.0, 40.0, 60.0]},
)


def spans(name: str) -> list[tuple[int, float, float, str]]:
    x = timelines.logged(SCENARIOS[name]().experiment)
    done = run(x)
    return list(timelines.spans(x, done, done.cycles))


@pytest.mark.parametrize("name", ["hong_kim_2009:fig-5b", "hong_kim_2009:fig-11b", "volkov_2016:listing-3.3"])
def test_spans_follow_each_other_from_the_start_of_a_warp_to_its_end(name: str) -> None:
    x = timelines.logged(SCENARIOS[name]().experiment)
    done = run(x)
    found = list(timelines.spans(x, done, done.cycles))
    for warp in {span[0] for span in found}:
        own = sorted(span[1:3] for span in found if span[0] == warp)
        assert own[0][0] == done.started[warp]
        assert own[-1][1] == done.ended[warp]
        assert all(end == begin for (_, end), (begin, _) in zip(own, own[1:], strict=False))


def test_spans_are_those_of_the_timeline_in_text() -> None:
    x = timelines.logged(SCENARIOS["hong_kim_2009:fig-5b"]().experiment)
    done = run(x)
    lines = [line for line in timelines.timeline(x, done, 66) if line.startswith("warp")]
    drawn = ["".join(mark * round(end - begin) for mark, begin, end in sorted(
        ((next(m for m, words in timelines.WORDS.items() if words == kind), begin, end)
         for warp, begin, end, kind in timelines.spans(x, done, done.cycles) if warp == number),
        key=lambda span: span[1],
    )) for number in range(4)]  # fmt: skip
    assert [line.split("|")[1] for line in lines] == drawn


def test_one_warp_of_the_simple_loop_waits_for_memory_as_long_as_the_notes_say() -> None:
    found = spans("interval_analysis:simple-loop")
    assert sum(end - begin for _, begin, end, kind in found if kind == "waits for memory") == 396
    # 400 cycles of latency, four of them to issue


def test_a_timeline_stops_where_it_is_told() -> None:
    x = timelines.logged(SCENARIOS["volkov_2016:fig-4.7-tiled"]().experiment)
    done = run(x)
    cut = list(timelines.spans(x, done, 25.0))
    assert max(end for _, _, end, _ in cut) == 25.0
    assert {kind for *_, kind in cut} <= set(timelines.WORDS.values())


def test_warps_in_time_have_one_colour_for_each_kind() -> None:
    picture = figures.warps_in_time(spans("hong_kim_2009:fig-5b"), "case 2")
    colours = {layer.name: layer.style.colour for layer in picture.layers if isinstance(layer, Boxes) and layer.style}
    assert colours == {
        "issues or computes": "blue", "waits for memory": "vermilion", "waits for something else": "green",
    }  # fmt: skip
    assert picture.y.names == ("0", "1", "2", "3")


def test_occupancy_is_a_staircase() -> None:
    picture = figures.occupancy_in_time({"a": (np.array([0.0, 5.0, 9.0]), np.array([4, 2, 0]))}, "a")
    (line,) = picture.layers
    assert isinstance(line, Curve)
    assert list(zip(np.asarray(line.x), np.asarray(line.y), strict=True)) == [(0, 4), (5, 4), (5, 2), (9, 2), (9, 0)]


def test_latencies_are_shares_of_all() -> None:
    spent = np.repeat([300.0, 400.0], [75, 25])
    (line,) = figures.latencies({"a": spent}, "t").layers
    assert isinstance(line, Curve)
    assert np.asarray(line.y)[::2].sum() == pytest.approx(100.0)
    assert np.asarray(line.y).max() == pytest.approx(75.0)


def test_the_family_shows_model_and_simulation_of_every_alpha() -> None:
    rows = [
        FamilyPoint(alpha=a, warps_per_sm=n, loads_per_cycle=n / 100, adds_per_cycle=0.0, model_loads_per_cycle=n / 90)
        for a in (8, 32) for n in (4, 8)
    ]  # fmt: skip
    picture = figures.family(rows, "t")
    model, marks = picture.named("min() model, alpha 32"), picture.named("simulated, alpha 32")
    assert isinstance(model, Curve)
    assert isinstance(marks, Points)
    assert list(model.y) == [4 / 90, 8 / 90]  # type: ignore[arg-type]
    assert list(marks.y) == [0.04, 0.08]  # type: ignore[arg-type]


def test_models_are_compared_from_alpha_one_and_wild_ones_end_at_the_edge() -> None:
    panels = figures.models_over_simulation(EVALUATED)
    assert [plot.title for plot in panels.pictures] == ["fair", "wild"]
    fair, wild = (plot.layers[0] for plot in panels.pictures)
    assert isinstance(fair, Band)
    assert isinstance(wild, Band)
    assert np.asarray(fair.x).tolist() == [1.0, 8.0]
    assert np.asarray(fair.high).tolist() == [1.2, 1.1]
    low, high = panels.pictures[1].y.span or (0, 0)
    assert low == pytest.approx(0.8 * SMALLEST_RATIO)
    assert high == pytest.approx(1.25 * LARGEST_RATIO)
    assert np.asarray(wild.low).tolist() == [low, low]
    assert np.asarray(wild.high).tolist() == [high, 2.0]


def test_needed_warps_keep_their_gaps() -> None:
    picture = figures.needed_warps(EVALUATED)
    line = picture.named("simulated")
    assert isinstance(line, Curve)
    assert np.asarray(line.x).tolist() == [0.5, 1.0, 8.0]
    assert np.isnan(np.asarray(line.y)).tolist() == [False, True, False]


def test_a_change_of_an_x_graph_may_be_any() -> None:
    from warpbound.models import x_model_2016

    before = x_model_2016.Inputs(48.0, 1.0, 20.0, 6.0, 600.0, 0.1)
    after = x_model_2016.Inputs(24.0, 1.0, 20.0, 6.0, 600.0, 0.1)
    picture = figures.changed(before, after, "half the threads", "a paper")
    reached = picture.named("reached after")
    assert isinstance(reached, Points)
    assert list(reached.x) == [pytest.approx(600 * 24 / 620)]  # type: ignore[arg-type]
    assert picture.source == "a paper"
