"""Every model of the papers on judged rows: what is kept, what comes next, and the table by hand."""

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from warpbound.cli import main
from warpbound.errors import InputError
from warpbound.models import MODELS
from warpbound.validate.corpus import corpus, shipped
from warpbound.validate.judged_row import Result
from warpbound.validate.paper_page import CLAIMS, by_mechanism, table
from warpbound.validate.paper_rows import PaperRow, append, kept, key_of, missing, score
from warpbound.validate.validation_data import stored

RESULTS = {key_of(r): r for r in stored().results}
KEPT = kept()


def cells(lines) -> dict[str, list[str]]:
    return {row[0].strip("*"): row[1:] for row in (line.strip("| ").split(" | ") for line in list(lines)[2:])}


def test_every_judged_row_was_scored_with_every_model_that_gives_a_time():
    assert {row.key for row in KEPT} == {key for key, r in RESULTS.items() if r.kind == "judged"}
    assert set(MODELS) - {"valley_2009"} <= {name for row in KEPT for name in row.seconds} <= set(MODELS)
    assert set(CLAIMS) <= set(MODELS)


def test_rows_are_judged_ones_and_models_of_the_corpora_say_the_same():
    for row in KEPT:
        result = RESULTS[row.key]
        assert result.kind == "judged"
        for model in ("roofline_2009", "volkov_2016"):
            before = result.seconds[model]
            assert row.seconds.get(model) == (None if before is None else pytest.approx(before, rel=2e-3))


def test_a_row_scored_anew_is_as_it_was_kept():
    measured = corpus("chains")
    old = next(row for row in KEPT if (row.corpus, row.gpu) == ("chains", "gtx680"))
    named = {(row.kernel, row.label(measured.shared)): row for row in measured.rows if row.gpu == "gtx680"}
    assert score(measured, named[old.kernel, old.label]).seconds == pytest.approx(old.seconds, rel=2e-3)


def test_a_pass_goes_on_where_it_was_stopped(tmp_path):
    place, corpora = tmp_path / "rows", [corpus("chains"), corpus("norms")]
    everything = missing(corpora, (), 3, ())
    groups = {(measured.name, row.gpu) for measured, row in everything}
    assert len({(measured.name, row.gpu) for measured, row in everything[: len(groups)]}) == len(groups)
    for measured, row in everything[:2]:
        append(PaperRow(measured.name, row.gpu, row.kernel, row.label(measured.shared), {"volkov_2016": 1.0}), place)
    assert missing(corpora, (), 3, kept(place)) == everything[2:]
    assert {row.gpu for _, row in missing(corpora, ("gtx680",), 3, ())} == {"gtx680"}
    place.write_text("no row\n")
    with pytest.raises(InputError, match="Remove the line"):
        kept(place)


def test_the_tables_by_hand():
    """Measured 1 and 2 s on one board: a model at 1.1 and 2.1 s, one at half of the first, one that is silent."""
    one = Result("a", "k", "x", "1", "judged", 1.0, {"warpbound": 1.0}, binds="dram")
    two = msgspec.structs.replace(one, label="2", measured=2.0, seconds={"warpbound": 2.2}, binds="l2")
    times = {"1": {"volkov_2016": 1.1, "sim_2012": 0.5}, "2": {"volkov_2016": 2.1}, "3": {"sim_2012": 9.0}}
    rows = [PaperRow("a", "x", "k", label, seconds) for label, seconds in times.items()]
    found = cells(table(rows, [one, two]))
    assert found["warpbound"][:4] == ["2", "1", "5.0", "5.0"]
    assert found["volkov_2016"][:7] == ["2", "1", "7.5", "7.5", "9.5", "100", "1.00"]
    assert found["sim_2012"][:4] == ["1", "1", "50.0", "50.0"]
    assert found["valley_2009"][:2] == ["0", "0"]
    assert cells(by_mechanism(rows, [one, two]))["sim_2012"] == ["50.0", "-"]


def test_warpbound_is_the_most_accurate_of_sixteen():
    found = cells(table(KEPT, list(RESULTS.values())))
    assert next(iter(found)) == "warpbound"
    assert len(found) == len(MODELS) + 1
    assert np.all(np.diff([float(row[3]) for row in found.values() if row[0] != "0"]) >= 0)


def test_the_command_prints_the_page_without_running_what_is_kept():
    printed = CliRunner().invoke(main, ["validate", "chains", "--papers", "1"])
    assert printed.exit_code == 0, printed.output
    assert "| **warpbound** |" in printed.output
    assert set(shipped()) >= {row.corpus for row in KEPT}
