"""Pictures of reproduced figures: shown as they are asked for; samples of the committed gallery are up to date."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from support.paths import ROOT
from support.reproduced_items import run
from warpbound.report.figures.picture import Arrows, Boxes, Panels, Picture
from warpbound.reproduce import Item, Reproduction, chosen, items, reproduced
from warpbound.reproduce.gallery import ItemPictures, pictures, section
from warpbound.reproduce.item import figures_in
from warpbound.reproduce.pictures import PaperPicture, drawn_by, has_pictures
from warpbound.reproduce.pictures import pictures as pictures_of

PAGE, FOLDER = ROOT / "docs" / "gallery.md", ROOT / "docs" / "gallery"
SAMPLES = (
    "hong_kim_2009:fig-21", "hong_kim_2009:figs-22-23", "volkov_2016:figs-2.1-2.2", "volkov_2016:section-3.8",
    "volkov_2016:fig-4.5", "volkov_2016:fig-6.3", "campprof_2011:fig-8", "interval_analysis:simple-loop",
    "x_model_2016:fig-4", "x_model_2016:fig-9", "x_model_2016:table-2",
)  # fmt: skip
LARGEST_B, ALL_B = 60_000, 3_000_000
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
HALF_A_PIXEL = 0.5


def drawn(item: Item) -> ItemPictures:
    one = reproduced(item)
    return ItemPictures(one, pictures_of(one))


def shown(key: str) -> dict[str, PaperPicture]:
    item = chosen(key)[0]
    return {one.picture.title: one for one in pictures_of(Reproduction(item, (), ()))}


# ---------------------------------------------------------------- the committed gallery


@pytest.mark.parametrize("key", SAMPLES)
def test_samples_of_the_gallery_are_up_to_date(key: str) -> None:
    """The words and shapes are the same, and every number is to half a pixel; else write the page again."""
    found = drawn(chosen(key)[0])
    assert section(found, FOLDER.name) in PAGE.read_text("utf-8")
    for name, text in pictures([found]).items():
        kept = (FOLDER / name).read_text("utf-8")
        assert NUMBER.sub("0", kept) == NUMBER.sub("0", text), name
        now, then = (np.array(NUMBER.findall(one), float) for one in (text, kept))
        np.testing.assert_allclose(now, then, atol=HALF_A_PIXEL, err_msg=name)


@pytest.mark.full
def test_the_whole_gallery_is_up_to_date() -> None:
    found = [drawn(item) for item in items() if has_pictures(item)]
    made = pictures(found)
    assert set(made) == {path.name for path in FOLDER.iterdir()}
    assert all(section(one, FOLDER.name) in PAGE.read_text("utf-8") for one in found)


def test_every_figure_of_the_gallery_is_small_and_shown_once() -> None:
    files = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert max(files.values()) < LARGEST_B
    assert sum(files.values()) < ALL_B
    linked = re.findall(r"\(gallery/([^)]+)\)", PAGE.read_text("utf-8"))
    assert sorted(linked) == sorted(files)


def test_every_item_with_pictures_is_in_the_gallery() -> None:
    said = set(re.findall(r"^`(\w+:[^`]+)`: ", PAGE.read_text("utf-8"), re.M))
    assert said == {item.key for item in items() if has_pictures(item)}
    about_figures = {item.key for item in items() if "igure" in item.where}
    without = {"hong_kim_2009:table-2", "hong_kim_2009:table-7"}
    assert about_figures - said == without  # code in figures


# ---------------------------------------------------------------- what is asked for


@pytest.mark.parametrize("words, numbers", [
    ("section 3.8, Figures 3.5 and 3.6", {"3.5", "3.6"}),
    ("sections 3.1 and 3.2, Figures 5 to 8, Equations 1 to 4 and 22 to 24", {"5", "6", "7", "8"}),
    ("Figures 7.11 to 7.13", {"7.11", "7.12", "7.13"}),
    ("Figures 3.2, 3.3 and 4.7, section 3.8, Figures 5.1, 5.2, 5.4 and 6.5, Table 6.6",
     {"3.2", "3.3", "4.7", "5.1", "5.2", "5.4", "6.5"}),
    ("CampProf, Figure 9a: simulated", {"9a"}),
    ("Table 4.3", set()),
])  # fmt: skip
def test_figure_numbers_are_read_from_words(words: str, numbers: set[str]) -> None:
    assert figures_in(words) == numbers


def test_a_figure_is_found_by_its_number() -> None:
    assert [item.name for item in chosen("volkov_2016:fig-3.5")] == ["section-3.8"]
    assert [item.name for item in chosen("volkov_2016:fig-4.5")] == ["fig-4.5"]
    assert [item.name for item in chosen("hong_kim_2009:fig-7")] == ["figs-5-8", "simulated"]


DRAWN = [item for item in items() if has_pictures(item) and item.name != "section-7.9-simulated"]
UNDRAWN = {
    "hong_kim_2009": {"27": "a flow graph", "29": "code"},
}


@cache
def names_of(paper: str) -> tuple[str, ...]:
    """Of all pictures of a paper; items that simulate for long have theirs in the gallery."""
    return tuple(re.findall(rf"^!\[([^:]+): .*\(gallery/{paper}-", PAGE.read_text("utf-8"), re.M))


@pytest.mark.parametrize("paper", sorted({item.paper for item in DRAWN}))
def test_a_name_of_a_figure_shows_that_figure(paper: str) -> None:
    """Each picture is one figure, and each figure that an item with pictures names is drawn, or known not to be."""
    drawn: set[str] = set()
    for name in names_of(paper):
        number = {part.rstrip("abc") for part in figures_in(name)}
        assert len(number) <= 1, f"{paper}: the name of one figure would show {name}"
        drawn |= number
    wanted = {number for item in DRAWN if item.paper == paper for number in figures_in(item.where)}
    assert wanted - drawn == set(UNDRAWN.get(paper, {}))


@pytest.mark.parametrize("key, figure", [
    ("hong_kim_2009:fig-31", "Figure 31"), ("hong_kim_2009:fig-20", "Figure 20"), ("hong_kim_2009:fig-9", "Figure 9b"),
    ("volkov_2016:fig-7.6", "Figure 7.6"), ("volkov_2016:fig-4.13", "Figure 4.13"),
])  # fmt: skip
def test_one_figure_of_several_is_shown_alone(key: str, figure: str, tmp_path: Path) -> None:
    out = tmp_path / "one.md"
    assert run(key, "--show", "-o", str(out)).exit_code == 0
    assert {name for name in re.findall(r"^!\[([^:]+): ", out.read_text("utf-8"), re.M)} == {figure}


def test_a_figure_is_written_as_svg_alone_or_numbered(tmp_path: Path) -> None:
    one = run("volkov_2016:fig-3.5", "--show", "-o", str(tmp_path / "graph.svg"))
    assert one.exit_code == 0
    assert "1 picture: " in one.stdout
    assert "Execution graph" in (tmp_path / "graph.svg").read_text("utf-8")
    assert run("volkov_2016:section-3.8", "--show", "-o", str(tmp_path / "both.svg")).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"graph.svg", "both-1.svg", "both-2.svg"}


def test_without_a_display_it_says_where_the_page_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = run("volkov_2016:fig-4.5", "--show")
    assert done.exit_code == 0
    (path,) = tmp_path.rglob("*.html")
    assert str(path) in done.stdout
    assert opened == []
    assert "Figure 4.5: Warps needed" in path.read_text("utf-8")
    monkeypatch.setenv("DISPLAY", ":0")
    assert run("volkov_2016:fig-4.5", "--show").exit_code == 0
    assert len(opened) == 1
    assert opened[0].startswith("file://")


def test_a_page_of_markdown_has_its_pictures_beside_it(tmp_path: Path) -> None:
    assert run("x_model_2016:fig-9", "--show", "-o", str(tmp_path / "nine.md")).exit_code == 0
    links = re.findall(r"\]\((nine/[^)]+)\)", (tmp_path / "nine.md").read_text("utf-8"))
    assert len(links) == 3
    assert all((tmp_path / link).exists() for link in links)


@pytest.mark.parametrize("words, said", [
    (("hong_kim_2009:table-2", "--show"), "has numbers but no picture"),
    (("volkov_2016:fig-4.5", "--show", "-o", "x.png"), "--show writes .html, .svg, .md, not x.png. For PNG"),
    (("--show",), "Nothing is named to show"),
    (("volkov_2016:fig-99", "--show"), "no item and no figure 'fig-99'"),
    (("hong_kim_2009:fig-27", "--show"), "fig-27 is not drawn here; hong_kim_2009:fig-28 has its numbers"),
    (("volkov_2016:fig-4.5", "--show", "-o", "/proc/none/x.svg"), "cannot be written"),
])  # fmt: skip
def test_what_cannot_be_shown_is_one_sentence(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.exit_code in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------- data of the pictures that are more than series


def boxes(picture: Picture) -> dict[str, Boxes]:
    return {layer.name: layer for layer in picture.layers if isinstance(layer, Boxes)}


def test_the_cases_of_hong_and_kim_end_when_their_figures_say() -> None:
    plots = [plot for panels in shown("hong_kim_2009:figs-5-8").values() for plot in panels.picture.pictures]
    assert [float(np.max(boxes(plot)["waits for memory"].right)) for plot in plots] == [14, 14, 11, 11, 35, 4, 5]
    assert [len(plot.y.names) for plot in plots] == [8, 4, 8, 4, 8, 1, 2]


def test_warps_do_one_thing_at_a_time_from_start_to_end() -> None:
    (panels,) = shown("volkov_2016:fig-4.7").values()
    assert isinstance(panels.picture, Panels)
    for plot in panels.picture.pictures:
        for row in range(6):
            spans = sorted(
                (left, right)
                for box in boxes(plot).values()
                for left, right, low in zip(box.left, box.right, np.asarray(box.bottom), strict=True)  # type: ignore[arg-type]
                if low == row - 0.4
            )
            assert all(end == begin for (_, end), (begin, _) in pairwise(spans))


def test_the_longest_path_of_vector_add_is_as_long_as_printed() -> None:
    graph = shown("volkov_2016:section-3.8")["Execution graph of one warp"]
    assert graph.figure == "Figure 3.5"
    assert isinstance(graph.picture, Picture)
    path = graph.picture.named("longest path")
    assert isinstance(path, Arrows)
    assert float(np.max(np.asarray(path.x1))) + 201 == 544


def test_written_rows_of_the_transpose_lie_in_one_partition_and_on_diagonals_in_all() -> None:
    (maps,) = shown("campprof_2011:fig-8").values()
    assert isinstance(maps.picture, Panels)
    touched = {plot.title: len([name for name in boxes(plot) if name]) for plot in maps.picture.pictures}
    assert touched == {"coalesced: read": 8, "coalesced: written": 1, "diagonal: read": 8, "diagonal: written": 8}


def test_items_drawn_by_hand_name_the_figure_that_each_picture_is() -> None:
    for item in items():
        if drawn_by(item) and item.name != "simulated" and item.paper != "campprof_2011":
            numbers = figures_in(item.where)
            for one in shown(item.key).values():
                named = {part.rstrip("abc") for part in figures_in(one.figure)}
                assert named <= numbers or not named, (item.key, one.figure)
