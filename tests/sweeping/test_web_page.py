"""The view of a sweep: which points are on the front, and what the page says for what a form asks."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("dash")

from support.sweep_rows import rows
from warpbound.page.app import application
from warpbound.page.further_page import FurtherPage
from warpbound.sweeping import storage, web_page
from warpbound.sweeping.parameter_plane import MOST_DRAWN, Choice, picture, plane

PORT = 8050
HERE = {"Host": f"127.0.0.1:{PORT}"}
DRAM = "dram_bandwidth times"


def table():
    """Two boards of one kernel whose time falls with DRAM's bandwidth, and a kernel without an answer."""
    points = [("<b>.cu", 1 + step / 10, 1.0, 2.0, 2.0 / (1 + step / 10)) for step in range(11)]
    slower = [(name, dram, l2, own, 1.5 * time) for name, dram, l2, own, time in points]
    gpus = ["h200"] * 11 + ["l40s"] * 11 + ["h200"]
    return rows(*points, *slower, ("none.cu", 1.0, 1.0, np.nan, np.nan), gpu=gpus)


def written(file):
    storage.arrow().parquet.write_table(table(), file)


def test_the_front_of_time_and_bandwidth_is_the_faster_board():
    found = plane(table(), Choice("<b>.cu", "a", x="time_s", y=DRAM))
    assert {gpu: points.shape for gpu, points in found.boards.items()} == {"h200": (2, 11), "l40s": (2, 11)}
    assert [point.gpu for point in found.front] == ["h200"] * 11
    np.testing.assert_allclose(found.front_at[0] / 1e6, 2.0 / found.front_at[1])
    assert (np.diff(found.front_at[0]) > 0).all()
    assert (np.diff(found.front_at[1]) < 0).all()
    assert {point.gpu for point in plane(table(), Choice("<b>.cu", "a", "l40s", y=DRAM)).front} == {"l40s"}


def test_a_kernel_without_answers_has_an_empty_figure_and_a_sentence(tmp_path):
    found = plane(table(), Choice("none.cu", "a"))
    assert (found.front, found.boards, found.unknown) == ([], {}, 1)
    written(tmp_path / "plan.parquet")
    assert "No answer: 1 point of this choice." in web_page.page(tmp_path / "plan.parquet", {"kernel": "none.cu, a"})


def test_of_many_points_so_many_are_drawn_and_the_caption_says_so():
    count = 3 * MOST_DRAWN
    times = np.linspace(1.0, 2.0, count)
    many = rows(*(("a.cu", 1.0, 1.0, 1.0, time) for time in times))
    drawn = picture(plane(many, Choice("a.cu", "a")))
    assert len(drawn.named("h200").x) == MOST_DRAWN
    assert f"{count} points, of which {MOST_DRAWN} are drawn" in drawn.caption


@pytest.fixture
def asked(tmp_path):
    """A function that asks the server of a sweep's page for an address; the results are written by the test."""
    file = tmp_path / "plan.parquet"
    further = FurtherPage("sweep", lambda words: web_page.page(file, words), web_page.SCRIPT)
    client = application(PORT, SimpleNamespace(), further).server.test_client()

    def ask(address):
        return client.get(address, headers=HERE, base_url=f"http://127.0.0.1:{PORT}")

    return ask


def test_the_page_has_what_the_form_asked(asked, tmp_path):
    written(tmp_path / "plan.parquet")
    answer = asked("/sweep?kernel=%3Cb%3E.cu, a&gpu=l40s&x=time_s&y=dram_bandwidth times&target=1.25")
    text = answer.get_data(as_text=True)
    assert answer.status_code == 200
    assert "<b>" not in text  # a name of a file is no HTML
    chosen = re.findall(r'<option value="([^"]*)" selected>', text)
    assert chosen == ["&lt;b&gt;.cu, a", "l40s", "time_s", DRAM, "1.25"]
    assert "Least changes of a board that make the kernels 1.25x as fast" in text
    assert "23 points, 1 without an answer" in text
    assert asked("/sweep?kernel=gone&x=gone&gpu=gone&target=9").status_code == 200
    assert asked("/sweep.js").get_data(as_text=True) == web_page.SCRIPT


def test_without_results_the_page_says_how_to_make_them(asked):
    answer = asked("/sweep")
    assert answer.status_code == 404
    assert "warpbound sweep PLAN.toml" in answer.get_data(as_text=True)


def test_a_running_sweep_is_shown_as_far_as_it_is(tmp_path):
    file = tmp_path / "plan.parquet"
    storage.parts_folder(file).mkdir()
    whole = table()
    storage.write_part(file, "b", whole.slice(0, 11))
    storage.write_part(file, "a", whole.slice(11))
    assert storage.so_far(file).equals(whole)
    assert "23 points" in web_page.page(file, {})
