"""The command line on the papers' listings and on PTX to be counted: what it prints, and what it refuses."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.paths import LISTINGS
from warpbound.cli import main

TILED = str(LISTINGS / "hong_kim_tiled.ptx")


def ask(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, list(words))
    return done.exit_code, done.stdout, done.stderr


def entry(name: str, board: str) -> dict:  # type: ignore[type-arg]
    code, out, _ = ask("analyze", str(LISTINGS / f"{name}.sass"), "--gpu", board, "--format", "json", "--views", "sass")
    assert code == 0
    return json.loads(out)["results"][0]  # type: ignore[no-any-return]


def test_vector_add_on_kepler() -> None:
    found = entry("volkov_vector_add", "gtx680")
    assert found["mode"] == "static"
    assert found["latency"]["cycles"] == pytest.approx(544, abs=0.01)
    assert found["bottleneck"] == "dram"
    assert found["program"]["mix"] == {"fma": 9, "lsu": 3}
    assert found["warps_needed"] == pytest.approx(24.26, abs=0.01)
    assert [row["issue"] for row in found["sass"]] == [0, 0, 3, 12, 21, 21, 30, 33, 33, 334, 343, 343]
    assert found["confidence"]["unknown_opcodes"] == []


def test_loop_of_the_interval_notes() -> None:
    (loop,) = entry("interval_actual_loop", "interval-cc52")["loops"]
    assert loop["latency_cycles"] == 417
    assert loop["P"] == pytest.approx(4415.6, abs=0.1)


SHARED = """
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   STS [R0.X4], R0 ;
        /*0020*/                   EXIT ;
"""


@pytest.mark.parametrize(
    ("code", "options", "words"),
    [(SHARED, (), "At most 48 of 48 warps are resident"), (SHARED, ("--smem", "49152"), "16 of 48 warps"),
     (SHARED.replace("STS", "STL"), (), "48 of 48 warps")],
)  # fmt: skip
def test_a_listing_that_uses_shared_memory_has_at_most_an_occupancy(code, options, words, tmp_path) -> None:
    file = tmp_path / "k.sass"
    file.write_text(code)
    launch = ("--gpu", "rtx-4090", "--grid", "999", "--block", "256", *options)
    status, out, _ = ask("analyze", str(file), *launch)
    assert status == 0
    assert words in " ".join(out.split())
    assert ("At most" in out) == words.startswith("At most")
    assert ("--smem gives the bytes" in " ".join(out.split())) == (not options)
    (found,) = json.loads(ask("analyze", str(file), *launch, "--format", "json")[1])["results"]
    assert found["occupancy"]["not_told"] == ["shared"] * words.startswith("At most")


BOARDS = ("8800gtx", "gtx280", "c2050", "gtx570", "k20c", "gtx750ti", "m2200", "gtx980", "p100")


@pytest.mark.parametrize("board", BOARDS)
def test_every_early_board_answers(board: str) -> None:
    found = entry("interval_simple_loop", board)
    assert found["latency"]["cycles"] > 300
    assert any("by the table of" in note for note in found["confidence"]["assumed"])


def test_early_code_is_not_executed() -> None:
    """Its constants and special registers are laid out otherwise, although some opcodes have the same names."""
    path = str(LISTINGS / "interval_actual_loop.sass")
    code, out, _ = ask("analyze", path, "--gpu", "gtx1080", "--grid", "64", "--block", "256", "--format", "json")
    (found,) = json.loads(out)["results"]
    assert (code, found["mode"], found["time_s"]) == (0, "static", None)
    assert "only code for sm_70 and later is executed, not for sm_61" in found["not_executed"]


def test_figure_3_6() -> None:
    """min(6.35 n, 154) GB/s of the thesis' vector add, by occupancy."""
    path = str(LISTINGS / "volkov_vector_add.sass")
    words = ("--gpu", "gtx680", "--grid", "65536", "--block", "128", "--format", "json")
    code, out, _ = ask("curve", path, *words)
    (found,) = json.loads(out)["results"]
    assert code == 0
    assert len(found["warps_per_sm"]) > 10
    for warps, rate in zip(found["warps_per_sm"], found["gbytes_per_s"], strict=True):
        assert rate == pytest.approx(min(6.34729 * warps, 154), rel=1e-4)


def test_counts() -> None:
    code, out, _ = ask("count", TILED, "--trips", "$OUTERLOOP=3", "--uncoalesced", "all", "--format", "json")
    (found,) = json.loads(out)
    assert code == 0
    assert found["in_loops"] == {
        "computation": 27, "coalesced_memory": 0, "uncoalesced_memory": 6, "synchronisation": 6,
    }  # fmt: skip
    assert found["total"]["uncoalesced_memory"] == 7


def test_counts_as_a_workload(tmp_path: Path) -> None:
    code, out, _ = ask("count", TILED, "--trips", "$OUTERLOOP=3", "--uncoalesced", "6", "--format", "toml")
    assert code == 0
    written = tomllib.loads(out)
    assert written["counts"] == {"per": "warp", "instructions": 34, "barriers": 6}
    assert [(one["count"], one["sectors"]) for one in written["access"]] == [(4, 4), (3, 32)]
    path = tmp_path / "w.toml"
    path.write_text(out.replace("[launch]", "[launch]\nblocks = 80\nthreads_per_block = 128\nblocks_per_sm = 5\n#"))
    code, out, _ = ask("predict", str(path), "--gpu", "hong-kim-example", "--format", "json")
    assert code == 0
    assert json.loads(out)["results"][0]["models"]["hong_kim_2009"]["time_s"] > 0


@pytest.mark.parametrize(
    "words, code, said",
    [
        (("--trips", "3"), 2, "--trips 3 is not of the form LABEL=NUMBER"),
        (("--trips", "x=many"), 2, "--trips x=many is not of the form LABEL=NUMBER"),
        (("--trips", "x=3"), 1, "has no loop at x"),
        (("--uncoalesced", "six"), 2, "--uncoalesced six is not a list of lines"),
        (("--uncoalesced", "1"), 1, "line 1 is no access"),
    ],
)
def test_what_cannot_be_counted(words: tuple[str, ...], code: int, said: str) -> None:
    found, out, err = ask("count", TILED, *words)
    assert (found, out) == (code, "")
    assert err.startswith("warpbound: ")
    assert said in err
    assert err.count("\n") == 1


def test_other_files_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(int* a) { a[0] = 1; }\n")
    assert "line 1: `__global__" in ask("count", str(source))[2]
    assert "cannot be read" in ask("count", str(tmp_path / "none.ptx"))[2]
    code, _, err = ask("analyze", TILED, "--gpu", "fx5600")
    assert code == 1
    assert "warpbound count" in err
