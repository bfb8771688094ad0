"""The HTML report: one valid file with everything in it, nothing of the input taken for markup."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import html5lib
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from markupsafe import Markup
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

import warpbound
from support.paths import ROOT
from support.results import record
from warpbound.analysis import Settings
from warpbound.cli import main
from warpbound.errors import InputError, WarpboundError
from warpbound.models import MODELS
from warpbound.report import html
from warpbound.report.charts import Bar
from warpbound.report.figures.listing import listing
from warpbound.report.html.elements import as_html
from warpbound.report.text import DETAILS, VIEWS
from warpbound.result.code import SassLine, SourceLine
from warpbound.result.refusal import Error, Refusal

LARGEST_B = 8_000_000
HOSTILE = '<script>alert("1")</script>&amp;"\''
SETTINGS = Settings(models=tuple(MODELS), views=html.VIEWS)


@pytest.fixture(scope="module")
def answered() -> dict[str, Any]:
    """saxpy executed on an H200, with all that the page shows."""
    program = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200")
    launch = warpbound.launch(ROOT / "examples" / "saxpy.toml")
    return warpbound.analysis.analyze(program, warpbound.gpu("h200"), launch, SETTINGS)


@pytest.fixture(scope="module")
def page(answered: dict[str, Any]) -> str:
    return html.page([record(answered)], "warpbound analyze examples/saxpy.cu")


def parsed(text: str) -> Any:
    """The document without Plotly's script, which takes seconds to read; raises for every error that HTML5 knows."""
    rest = text.replace(html.plotly_script(), "")
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(rest)


def words(tree: Any) -> str:
    """What is read, scripts and styles aside."""
    for parent in tree.iter():
        for child in list(parent):
            if child.tag in ("script", "style"):
                child.text = ""
    return re.sub(r"\s+", " ", "".join(tree.itertext()))


def in_order(text: str, *parts: str) -> bool:
    places = [text.index(part) for part in parts]
    return places == sorted(places)


@pytest.mark.cuda
def test_it_is_valid_html_of_less_than_eight_megabytes(page: str) -> None:
    assert len(page.encode()) < LARGEST_B
    assert parsed(page).tag == "html"
    script = html.plotly_script()
    assert page.count(script) == 1
    assert not re.search(r"</script|<!--|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", script, re.IGNORECASE)


@pytest.mark.cuda
def test_it_reads_from_the_verdict_down(page: str, answered: dict[str, Any]) -> None:
    text = words(parsed(page))
    titles = [VIEWS[name].title for name in DETAILS if VIEWS[name].has(record(answered))]
    assert all(title in text for title in titles)
    assert in_order(text, "saxpy on NVIDIA H200", "Verdict", "What to do first", "Why: one warp", "How far to trust")
    for whatif in answered["whatifs"]:
        assert whatif["change"] in text
    for note in answered["confidence"]["assumed"]:
        assert note.split("\n")[0] in text
    for model in MODELS:
        assert model in text


@pytest.mark.cuda
def test_every_figure_has_its_numbers_caption_and_source(page: str) -> None:
    tree = parsed(page)
    captions = ["".join(caption.itertext()) for caption in tree.iter("figcaption")]
    places = [one.get("data-figure") for one in tree.iter("div") if one.get("data-figure")]
    scripts = {one.get("id"): one.text for one in tree.iter("script") if one.get("type") == "application/json"}
    assert len(places) == len(captions) >= 6
    assert all(re.match(r"Figure \d+: .+Source: .+\.", caption, re.S) for caption in captions)
    for number in places:
        assert json.loads(scripts[f"data-{number}"])["data"]
    title_of = " ".join(captions)
    for title in ("Where the latency", "Throughput", "Occupancy on", "Roofline", "One warp", "X-graph", "Memory and"):
        assert title in title_of


@pytest.mark.cuda
def test_it_fetches_nothing(page: str) -> None:
    tree = parsed(page)
    fetched = [one.get(key) for one in tree.iter() for key in ("src", "href") if one.get(key)]
    assert [link for link in fetched if not link.startswith("#")] == []
    policies = [one.get("content") for one in tree.iter("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0].startswith("default-src 'none'")


@pytest.mark.cuda
def test_names_source_and_paths_are_escaped(answered: dict[str, Any]) -> None:
    entry = copy.deepcopy(answered)
    entry["kernel"] = entry["gpu_name"] = entry["program"]["source"] = HOSTILE
    entry["figures"]["roofline"]["compute"] = {HOSTILE: 1e13}
    entry["lines"][0]["text"] = entry["sass"][0]["text"] = HOSTILE
    entry["lines"][0]["line"] = entry["sass"][0]["line"]
    entry["whatifs"] = [{"change": HOSTILE, "speedup": 2.0, "why": HOSTILE}]
    entry["confidence"]["assumed"] = [HOSTILE]
    made = html.page([record(entry), Refusal(kernel=HOSTILE, gpu=HOSTILE, error=Error(HOSTILE, ""))], HOSTILE)
    tree = parsed(made)
    scripts = list(tree.iter("script"))
    figures = [one for one in tree.iter("div") if one.get("data-figure")]
    assert len(scripts) == len(figures) + 3  # their numbers, the dark colours, Plotly's and ours
    assert HOSTILE not in made
    assert words(tree).count(HOSTILE) >= 8


@pytest.mark.cuda
def test_answers_stand_side_by_side(answered: dict[str, Any]) -> None:
    other = copy.deepcopy(answered) | {"gpu": "l4", "gpu_name": "NVIDIA L4"}
    tree = parsed(html.page([record(answered), record(other)], "warpbound"))
    text = words(tree)
    assert in_order(text, "Comparison", "saxpy on NVIDIA H200", "saxpy on NVIDIA L4", "Why: one warp alone")
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    targets = [one.get("href")[1:] for one in tree.iter("a")]
    assert targets
    assert set(targets) <= set(ids)


def test_more_than_four_are_refused() -> None:
    with pytest.raises(InputError, match="up to 4 answers side by side; there are 5"):
        html.page([{}] * 5, "warpbound")
    done = CliRunner().invoke(main, ["analyze", "none.cu", "--gpu", "all", "--format", "html"])
    assert done.exit_code == 1
    assert "up to 4 answers side by side" in done.stderr
    assert done.stdout == ""


@pytest.mark.cuda
def test_the_command_writes_the_file_or_prints_it(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    asked = ["analyze", str(ROOT / "examples" / "saxpy.cu"), "--gpu", "h200", "--views", "verdict", "--format", "html"]
    assert CliRunner().invoke(main, [*asked, "-o", str(out)]).exit_code == 0
    printed = CliRunner().invoke(main, asked)
    assert printed.exit_code == 0
    assert "Plotly" in printed.stdout
    strip = re.compile(r"<footer>.*</footer>", re.S)
    assert strip.sub("", printed.stdout) == strip.sub("", out.read_text("utf-8"))
    text = words(parsed(printed.stdout))
    assert "Verdict" in text
    assert "Why: one warp alone" not in text


@pytest.mark.cuda
def test_without_a_launch_the_figures_that_need_one_are_left_out() -> None:
    program = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200")
    entry = warpbound.analysis.analyze(program, warpbound.gpu("h200"), None, SETTINGS)
    captions = [("".join(one.itertext())) for one in parsed(html.page([record(entry)], "")).iter("figcaption")]
    assert any("Throughput against occupancy" in caption for caption in captions)
    assert not any("Roofline" in caption or "X-graph" in caption for caption in captions)


@pytest.mark.cuda
def test_an_architecture_alone_is_shown_without_figures() -> None:
    program = warpbound.compile(ROOT / "examples" / "saxpy.cu", "sm_90")
    entry = warpbound.analysis.analyze(program, warpbound.gpu("sm_90"), None, SETTINGS)
    tree = parsed(html.page([record(entry)], ""))
    assert not list(tree.iter("figure"))
    assert "No time is predicted" in words(tree)


@pytest.mark.parametrize("module", ["jinja2", "plotly"])
def test_a_missing_extra_is_one_sentence(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(WarpboundError, match=r"pip install 'warpbound\[figures\]'"):
        html.needed(module)
    words = ["analyze", "gone.cu", "--gpu", "h200", "--format", "html"]  # told before any file is read
    assert "pip install 'warpbound[figures]'" in CliRunner().invoke(main, words).stderr


# ---------------------------------------------------------------- tables of the terminal as HTML


def test_tables_keep_heads_alignment_bars_and_styles() -> None:
    table = Table()
    table.add_column("name")
    table.add_column("share", justify="right")
    table.add_column("")
    table.add_row("a<b", "50 %", Bar(0.5), style="bold")
    made = as_html(Padding(Group(table, Text("a note", "dim")), 1))
    assert isinstance(made, Markup)
    assert '<th scope="col" class="words short">name</th><th scope="col" class="number">share</th><td></td>' in made
    assert '<tr class="bold"><td class="words short">a&lt;b</td><td class="number">50 %</td>' in made
    assert '<span class="bar" style="width:50%"></span>' in made
    assert '<p class="dim">a note</p>' in made


def test_words_keep_their_emphasis_and_lines() -> None:
    made = as_html(Text.assemble("plain ", ("strong", "bold"), " <i>\nnext"))
    assert made == '<p>plain <span class="bold">strong</span> &lt;i&gt;</p>\n<p>next</p>'


def test_what_is_not_known_is_shown_as_a_terminal_would() -> None:
    from rich.rule import Rule

    assert as_html(Rule("a & b")).startswith("<pre>")
    assert "a &amp; b" in as_html(Rule("a & b"))


# ---------------------------------------------------------------- annotated SASS


def test_a_listing_has_the_control_word_the_wait_and_the_source() -> None:
    word = {"stall": 4, "yield": False, "write_scoreboard": 0, "read_scoreboard": None, "wait": [1, 3], "reuse": 0}
    rows = [
        {"address": 0, "text": "@P0 LDG.E R2, [R4]", "pipe": "lsu", "control": word, "line": 7, "issue": 3.0,
         "waited": 0.0, "waits_for": None, "critical": True},
        {"address": 16, "text": "FADD R1, R2, R2", "pipe": "fma", "control": None, "line": 7, "issue": 400.5,
         "waited": 390.2, "waits_for": 0, "critical": False},
        {"address": 32, "text": "EXIT", "pipe": "cbu", "control": None, "line": None, "issue": None, "waited": None,
         "waits_for": None, "critical": False},
    ]  # fmt: skip
    source = SourceLine(file="k.cu", line=7, text="  y = x + x;", cycles=1.0, parts={})
    first, second, third = listing(msgspec.convert(rows, list[SassLine]), [source])
    assert (first.stall, first.write, first.read, first.wait, first.critical) == ("4", "0", "", "1 3", True)
    assert (first.source, second.source) == ("y = x + x;", "")
    assert (second.cycle, second.waits_for) == ("400", "390 cycles for LDG.E at 0000")
    assert (third.cycle, third.reached, third.line) == ("", False, "")


# ---------------------------------------------------------------- throughput against occupancy


@pytest.mark.cuda
def test_curves_have_one_figure_and_a_table_each(tmp_path: Path) -> None:
    out = tmp_path / "curve.html"
    source, launch = str(ROOT / "examples" / "saxpy.cu"), str(ROOT / "examples" / "saxpy.toml")
    asked = ["curve", source, "--launch", launch, "--gpu", "h200,l4", "--format", "html", "-o", str(out)]
    assert CliRunner().invoke(main, asked).exit_code == 0
    tree = parsed(out.read_text("utf-8"))
    assert len(list(tree.iter("figure"))) == 1
    tables = [[["".join(cell.itertext()) for cell in row] for row in table.iter("tr")] for table in tree.iter("table")]
    assert [table[0][:3] for table in tables] == [["warps", "blocks", "time"]] * 2
    assert [row[0] for row in tables[0][1:]] == ["8", "16", "24", "32", "40", "48", "56", "64"]
    drawn = json.loads(next(one.text for one in tree.iter("script") if one.get("id") == "data-1"))
    assert [trace["name"] for trace in drawn["data"]] == ["saxpy on h200", "saxpy on l4"]
    assert drawn["data"][0]["x"] == [8, 16, 24, 32, 40, 48, 56, 64]


# ---------------------------------------------------------------- execution graph, other pages


@pytest.mark.cuda
def test_the_graph_of_a_short_kernel_has_the_whole_longest_path(answered: dict[str, Any]) -> None:
    own = answered["figures"]["graph"]
    assert len(own["names"]) == own["of"]
    assert own["issue"] == sorted(own["issue"])
    path = [edge for edge in own["edges"] if edge[3]]
    assert all(one[1] == other[0] for one, other in zip(path, path[1:], strict=False))
    assert path[-1][1] == own["of"] - 1
    assert sum(edge[2] for edge in path) == pytest.approx(own["issue"][-1] - own["issue"][path[0][0]])
    starred = [row["text"] for row in answered["sass"] if row["critical"]]
    on_path = {own["names"][place] for edge in path for place in edge[:2]}
    assert on_path <= {text if len(text) <= 34 else f"{text[:31]}..." for text in starred}


@pytest.mark.cuda
def test_a_long_kernel_shows_where_it_waits_most() -> None:
    program = warpbound.compile(ROOT / "examples" / "matmul_tiled.cu", "h200")
    launch = warpbound.launch(ROOT / "examples" / "matmul_tiled.toml")
    entry = warpbound.analysis.analyze(program, warpbound.gpu("h200"), launch, SETTINGS)
    own = entry["figures"]["graph"]
    assert len(own["names"]) == 32 < own["of"]
    longest = max(event[1] - event[0] for event in entry["figures"]["timeline"] if event[2] != "issues")
    assert max(edge[2] for edge in own["edges"]) >= 0.9 * longest
    captions = ["".join(one.itertext()) for one in parsed(html.page([record(entry)], "")).iter("figcaption")]
    assert any(f"of {own['of']}" in caption and "waits longest" in caption for caption in captions)


@pytest.mark.cuda
@pytest.mark.parametrize("name, defines, space, costs", [
    ("transpose_naive", {}, "global", 32), ("transpose_tiled", {"PAD": 0}, "shared", 32), ("saxpy", {}, "global", 4),
])  # fmt: skip
def test_the_most_wasteful_request_is_mapped(name: str, defines: dict[str, int], space: str, costs: int) -> None:
    program = warpbound.compile(ROOT / "examples" / f"{name}.cu", "h200", defines=defines)
    launch = warpbound.launch(ROOT / "examples" / f"{name}.toml")
    entry = warpbound.analysis.analyze(program, warpbound.gpu("h200"), launch, SETTINGS)
    own = entry["figures"]["requests"][space]
    lanes = np.array(own["addresses"])
    assert len(lanes) == 32
    sectors, ways = len(np.unique(lanes // 32)), np.bincount(np.unique(lanes // 4) % 32).max()
    assert (sectors if space == "global" else ways) == costs
    row = next(row for row in entry["accesses"] if row["address"] == own["address"] and row["space"] == space)
    assert row["sectors" if space == "global" else "wavefronts"] == pytest.approx(costs, rel=0.05)
    captions = " ".join("".join(one.itertext()) for one in parsed(html.page([record(entry)], "")).iter("figcaption"))
    assert f"line {own['line']}: " in captions
    assert "of its first request" in captions


@pytest.mark.cuda
def test_all_warps_of_an_sm_are_simulated(answered: dict[str, Any]) -> None:
    found = answered["figures"]["warps"]
    warps = {span[0] for span in found}
    assert len(warps) == answered["occupancy"]["warps_per_sm"]
    assert {span[3] for span in found} == {"issues or computes", "waits for memory", "waits for something else"}
    last = max(span[2] for span in found)
    assert answered["latency"]["cycles"] < last <= 4000
    static = warpbound.analysis.analyze(
        warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200"), warpbound.gpu("h200"), None, SETTINGS
    )
    assert static["figures"]["warps"] == []
    assert static["figures"]["requests"] == {}


@pytest.mark.parametrize("asked, figures, said", [
    (["predict", "volkov-vector-add", "--gpu", "h200,sm_90"], 2, "is not a board"),
    (["simulate", "hong_kim_2009:fig-5"], 2, "0.5714 instructions per cycle"),
    (["simulate", "family", "--gpu", "gtx680", "--alpha", "8", "--warps", "4:8"], 1, "min() model"),
    (["reproduce", "volkov_2016:section-3.8"], 2, "Longest path"),
])  # fmt: skip
def test_other_answers_are_pages_too(asked: list[str], figures: int, said: str, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert CliRunner().invoke(main, [*asked, "--format", "html", "-o", str(out)]).exit_code == 0
    text = out.read_text("utf-8")
    assert len(text.encode()) < LARGEST_B
    tree = parsed(text)
    assert len(list(tree.iter("figure"))) == figures
    assert "Made by warpbound" in words(tree)
    assert said.lower() in words(tree).lower()
