"""The papers' tables and figures: every recorded verdict holds, and a change of any number is noticed."""

import ast
import html
import math
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.paths import ROOT
from support.reproduced_items import item_called, run
from warpbound.models import volkov_2016
from warpbound.report.figures import recorded as picture_of
from warpbound.reproduce import Item, Reproduction, Verdict, changes, items, pages, recorded, reproduced, write
from warpbound.reproduce.reproduction import Printed, compared, half_unit, number

LONGEST = "volkov_2016:figs-6.1-6.2"  # a quarter of a minute; `make tables` has it, too
LONG = (
    "hong_kim_2009:simulated", "hong_kim_2009:fig-14", "campprof_2011:fig-7", "campprof_2011:fig-9",
    "campprof_2011:fig-8", "campprof_2011:fig-10", "volkov_2016:simulated", "volkov_2016:section-7.9-simulated",
    "interval_analysis:simulated",
)  # seconds each
MARKS = dict.fromkeys(LONG, pytest.mark.broad) | {LONGEST: pytest.mark.full}
ITEMS = [pytest.param(item, id=item.key, marks=MARKS.get(item.key, ())) for item in items()]
AGREE = (Verdict.AGREES, Verdict.DIGITS, Verdict.ROUGHLY, Verdict.READ)
SMALL = 3  # significant digits from which a literal in the code may be a number of the paper


@cache
def outcome(key: str) -> Reproduction:
    """Computed once for all tests that only look at it."""
    return reproduced(item_called(key))


# ---------------------------------------------------------------- every item


@pytest.mark.parametrize("item", ITEMS)
def test_what_was_recorded_still_holds(item: Item) -> None:
    found = outcome(item.key)
    assert found.rows
    assert changes([found], recorded()) == []


@pytest.mark.parametrize("item", ITEMS)
def test_every_row_has_its_reason(item: Item) -> None:
    rows = outcome(item.key).rows
    for row in rows:
        if row.verdict in (Verdict.DIFFERS, Verdict.CONTRADICTS):
            assert row.reading, f"{row.what} differs and nothing is said of it"
        if row.reading:
            assert row.verdict not in AGREE, f"{row.what} agrees: {row.reading!r} is out of date"
        assert row.unit
    if any(row.verdict is Verdict.STANDS_IN for row in rows):
        assert item.stand_in


@pytest.mark.parametrize("item", ITEMS)
def test_every_item_says_where_it_is_from(item: Item) -> None:
    places = ("table", "figure", "section", "listing", "example", "comparison")
    assert any(word in item.where.lower() for word in places)
    assert item.title
    names = {row.what for row in outcome(item.key).rows}
    assert set(item.printed) <= names
    assert item.units.keys() <= names | {name.rpartition(": ")[2] for name in names}


def code_of(item: Item) -> list[ast.stmt]:
    """The item's functions and whatever of their module they use, directly or not."""
    source = Path(str(files("warpbound.reproduce") / item.paper / f"{item.module.rpartition('.')[2]}.py"))
    parts: dict[str, ast.stmt] = {}
    for node in ast.parse(source.read_text()).body:
        names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        targets = node.targets if isinstance(node, ast.Assign) else []
        names += [x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name)]
        parts |= dict.fromkeys(names, node)
    reached, waiting = set(), {item.function, f"{item.function}_figures"} & parts.keys()
    while waiting:
        reached |= waiting
        used = {x.id for name in waiting for x in ast.walk(parts[name]) if isinstance(x, ast.Name)}
        waiting = used & parts.keys() - reached
    return [parts[name] for name in reached]


@pytest.mark.parametrize("item", ITEMS)
def test_no_number_of_the_paper_is_in_the_code(item: Item) -> None:
    literals = {
        float(node.value)
        for part in code_of(item)
        for node in ast.walk(part)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    }
    assert item.function in {part.name for part in code_of(item) if isinstance(part, ast.FunctionDef)}
    printed = [paper.value for paper in item.printed.values() if paper.value and number(paper.value) is not None]
    telling = {number(text) for text in printed if len(text.strip("-0.").replace(".", "")) >= SMALL}
    assert not literals & telling


@pytest.mark.parametrize("item", ITEMS)
def test_figures_are_whole(item: Item) -> None:
    for figure in outcome(item.key).figures:
        assert figure.source
        assert figure.x.label
        assert figure.y.unit
        assert {figure.x.scale, figure.y.scale} <= {"linear", "log"}
        names = [series.name for series in figure.series]
        assert len(names) == len(set(names)) > 0
        for series in figure.series:
            assert series.x.shape == series.y.shape
            assert series.x.ndim == 1
            assert np.isfinite(series.x[~np.isnan(series.y)]).all()
        assert any(np.isfinite(series.y).any() for series in figure.series)
        assert len(picture_of(figure).layers) == len(figure.series)


def test_keys_are_unique_and_nothing_else_is_recorded() -> None:
    keys = [item.key for item in items()]
    assert len(keys) == len(set(keys))
    assert set(recorded()) == set(keys)


# ---------------------------------------------------------------- judging


@pytest.mark.parametrize(
    "printed, ours, verdict",
    [
        ("2.28", 2.28125, Verdict.DIGITS),
        ("2.28", 2.2851, Verdict.DIFFERS),
        ("2.28", 2.28, Verdict.AGREES),
        ("24", 24.0, Verdict.AGREES),
        ("24", 24.5, Verdict.DIGITS),
        ("24", 24.6, Verdict.DIFFERS),
        ("-12", -11.69, Verdict.DIGITS),
        ("-12", 12.0, Verdict.DIFFERS),
        ("3845e1", 38449.2, Verdict.DIGITS),
        ("3845e1", 38456.0, Verdict.DIFFERS),
        ("about 100", 109.0, Verdict.ROUGHLY),
        ("about 100", 111.0, Verdict.DIFFERS),
        ("0", 0.0, Verdict.AGREES),
        ("yes", "yes", Verdict.AGREES),
        ("yes", "no", Verdict.DIFFERS),
        (None, 3.0, Verdict.UNPRINTED),
    ],
)
def test_verdicts(printed: str | None, ours: float | str, verdict: Verdict) -> None:
    assert compared("x", "1", Printed(printed), ours).verdict is verdict


def test_what_the_paper_says_of_itself_counts_only_where_numbers_differ() -> None:
    torn = Printed("40", contradiction="12 elsewhere", reading="12 is adopted")
    assert compared("x", "1", torn, 11.7).verdict is Verdict.CONTRADICTS
    assert compared("x", "1", torn, 11.7).reading == "12 elsewhere; 12 is adopted"
    assert compared("x", "1", torn, 40.0).verdict is Verdict.AGREES
    assert compared("x", "1", Printed("40", from_measurement=True), 40.0).verdict is Verdict.STANDS_IN
    assert compared("x", "1", Printed("40", from_measurement=True), 44.0).difference == pytest.approx(0.1)


def test_a_value_that_is_not_printed_never_agrees_as_printed() -> None:
    said = Printed("35", from_reading=True)
    assert compared("x", "1", said, 35.0).verdict is Verdict.READ
    assert compared("x", "1", said, 36.0).verdict is Verdict.DIFFERS
    assert compared("x", "1", replace(said, from_measurement=True), 35.0).verdict is Verdict.STANDS_IN


@pytest.mark.parametrize("key, what", [
    ("interval_analysis:mxv-lcs", "L, 4 x 16"), ("interval_analysis:mxv-lcs", "L, 16 x 128"),
    ("volkov_2016:section-7.1", "time of few warps"), ("volkov_2016:section-7.2", "alpha 0, latency at 24 warps"),
    ("hong_kim_2009:figs-5-8", "Case 5"), ("volkov_2016:sections-7.3-7.4", "Fermi: Zhang and Owens, most over"),
])  # fmt: skip
def test_what_follows_from_words_is_marked(key: str, what: str) -> None:
    (row,) = (row for row in outcome(key).rows if row.what == what)
    assert row.read
    assert f"({row.printed})" in " ".join(run(key).stdout.split())


@pytest.mark.parametrize("printed, ours", [("yes", 1.0), ("1.0", "yes")])
def test_words_and_numbers_do_not_compare(printed: str, ours: float | str) -> None:
    with pytest.raises(ValueError, match="not of one kind"):
        compared("x", "1", Printed(printed), ours)


@given(st.integers(-10**6, 10**6), st.integers(0, 6), st.floats(-1, 1))
def test_a_printed_number_stands_for_what_rounds_to_it(units: int, places: int, offset: float) -> None:
    text = f"{units / 10**places:.{places}f}"
    value, half = number(text), half_unit(text)
    assert value is not None
    assert half == pytest.approx(0.5 / 10**places)
    ours = value + 1.98 * half * offset
    agrees = compared("x", "1", Printed(text), ours).verdict in AGREE
    if abs(abs(ours - value) - half) > 1e-6 * max(half, abs(value)):
        assert agrees == (abs(ours - value) < half)


# ---------------------------------------------------------------- a changed number


def test_a_changed_number_ends_with_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("volkov_2016:fig-4.5").exit_code == 0
    right = volkov_2016.mixes.cusp_intensity
    monkeypatch.setattr(volkov_2016.mixes, "cusp_intensity", lambda x: np.multiply(right(x), 1.001))
    done = run("volkov_2016:fig-4.5")
    assert done.exit_code == 1
    assert "Changed: volkov_2016:fig-4.5, Kepler: cusp, alpha" in " ".join(done.stdout.split())
    assert "--record" in done.stderr


def test_a_changed_verdict_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    right = volkov_2016.little.concurrency
    doubled = "warpbound.reproduce.volkov_2016.chapters_2_and_3.concurrency"
    monkeypatch.setattr(doubled, lambda latency, throughput: 2 * right(latency, throughput))
    done = run("volkov_2016:table-3.1", "--format", "json")
    assert done.exit_code == 1
    (entry,) = msgspec.json.decode(done.stdout)["results"]
    assert any('"agrees" was recorded, now "differs"' in change for change in entry["changes"])


@pytest.mark.parametrize("item", ITEMS)
def test_every_recorded_number_would_be_missed(item: Item) -> None:
    """Moved by a little more than the record allows, each number is a change; so is a row that comes or goes."""
    found, record = outcome(item.key), recorded()
    for what, (verdict, value) in record[item.key].items():
        other = "another" if isinstance(value, str) else value * (1 + 3 * item.spread) + (value == 0)
        if isinstance(value, float) and math.isnan(value):
            continue
        moved = {**record, item.key: {**record[item.key], what: [verdict, other]}}
        assert [change.what for change in changes([found], moved)] == [what]
    rest = dict(list(record[item.key].items())[1:])
    assert len(changes([found], {**record, item.key: rest})) == 1
    assert len(changes([found], {**record, item.key: {**record[item.key], "new": ["agrees", 1.0]}})) == 1


def test_recording_writes_what_was_found_and_keeps_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "reproduce"
    place.mkdir()
    monkeypatch.setattr("warpbound.reproduce.record.files", lambda package: place)
    item = items()[0]
    kept = {"other:item": {"x": ["agrees", 1.0], "word": ["agrees", "yes"]}}
    path = write([reproduced(item)], kept)
    again = recorded()
    assert path.parent == place
    assert again["other:item"] == kept["other:item"]
    assert changes([reproduced(item)], again) == []


# ---------------------------------------------------------------- the command


def test_the_list_names_every_item() -> None:
    done = run("--format", "json")
    listed = msgspec.json.decode(done.stdout)["results"]
    assert [entry["item"] for entry in listed] == [item.key for item in items()]
    text = run().stdout
    assert all(item.name in text for item in items())


def test_json_has_rows_and_figures() -> None:
    done = run("volkov_2016:fig-4.5", "--format", "json")
    document = msgspec.json.decode(done.stdout)
    (entry,) = document["results"]
    row = next(row for row in entry["rows"] if row["what"] == "Maxwell: cusp of the formula, alpha")
    assert row == {
        "what": "Maxwell: cusp of the formula, alpha", "unit": "1", "printed": "49",
        "ours": pytest.approx(49.14, rel=1e-5), "difference": pytest.approx(0.14 / 49, rel=1e-2),
        "verdict": "agrees to the printed digits", "reading": None, "read": False,
    }  # fmt: skip
    (figure,) = entry["figures"]
    assert [series["name"] for series in figure["series"]] == ["G80", "GT200", "Fermi", "Kepler", "Maxwell"]
    assert figure["x"]["scale"] == "log"


def test_csv_has_the_points_of_the_figures(tmp_path: Path) -> None:
    out = tmp_path / "cusp.csv"
    assert run("volkov_2016:fig-4.5", "--format", "csv", "-o", str(out)).exit_code == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "item,figure,series,x,x_unit,y,y_unit"
    (figure,) = outcome("volkov_2016:fig-4.5").figures
    assert len(lines) == 1 + sum(len(series.x) for series in figure.series)


def test_html_opens_offline_with_tables_and_figures(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("plotly")
    out = tmp_path / "x.html"
    assert run("x_model_2016:fig-9", "--format", "html", "-o", str(out)).exit_code == 0
    text = out.read_text(encoding="utf-8")
    one = outcome("x_model_2016:fig-9")
    assert one.item.title in text
    assert all(html.escape(row.what, quote=True).replace("&#x27;", "&#39;") in text for row in one.rows)
    assert text.count('type="application/json"') == len(one.figures) + text.count('id="dark"')
    assert "Content-Security-Policy" in text
    assert "<script src" not in text


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["volkov"], 2, "No paper is called 'volkov'"),
        (["volkov_2016:fig-99"], 2, "has no item and no figure 'fig-99'"),
        (["volkov_2016:fig-4.5", "--format", "markdown"], 2, "prints the list only"),
        (["--format", "csv"], 2, "Name an item"),
        (["hong_kim_2009:table-3", "--format", "csv"], 1, "None of these items is a figure"),
    ],
)
def test_what_cannot_be_asked(words: list[str], code: int, said: str) -> None:
    done = run(*words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr


def test_the_page_of_items_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reproduce.md").read_text() == pages.markdown(items(), recorded())


def test_a_value_that_nothing_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    item = item_called("volkov_2016:table-3.1")
    extra = replace(item, printed={**item.printed, "lost": Printed("1")})
    with pytest.raises(ValueError, match="nothing answers lost"):
        reproduced(extra)
