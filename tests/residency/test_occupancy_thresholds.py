"""What one register less would buy, whole sweeps, and lists of GPUs."""

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from warpbound.cli import main
from warpbound.cli.catalogue import numbers
from warpbound.errors import CommandError
from warpbound.isa.limits import compute_capabilities, limits
from warpbound.machine import catalogue, gpu, listed
from warpbound.occupancy_thresholds import BlockRequest, ladder
from warpbound.residency import occupancy


def blocks(asked: BlockRequest, **change: int) -> int:
    values = {"threads": asked.threads, "registers": asked.registers, "shared": asked.shared} | change
    return occupancy(asked.gpu, values["threads"], values["registers"], values["shared"], asked.carveout).blocks_per_sm


@st.composite
def launches(draw: st.DrawFn) -> BlockRequest:
    capability = draw(st.sampled_from(compute_capabilities()))
    rules = limits(capability)
    return BlockRequest(
        gpu("sm_" + capability.replace(".", "")),
        draw(st.integers(1, rules.max_threads_per_block)),
        draw(st.integers(1, rules.max_registers_per_thread)),
        draw(st.integers(0, rules.max_shared_per_block)),
    )


@given(launches())
def test_every_rung_of_registers_is_a_threshold(asked: BlockRequest) -> None:
    rungs = ladder(asked, "registers")
    most = limits(asked.gpu.compute_capability).max_registers_per_thread
    for rung in rungs:
        assert blocks(asked, registers=rung.at_most) == rung.blocks_per_sm
        if rung.at_most < most:
            assert blocks(asked, registers=rung.at_most + 1) < rung.blocks_per_sm
    assert [rung.blocks_per_sm for rung in rungs] == sorted((r.blocks_per_sm for r in rungs), reverse=True)
    here = [rung for rung in rungs if rung.now]
    assert [rung.blocks_per_sm for rung in here] == ([blocks(asked)] if blocks(asked) else [])


@given(launches())
def test_every_rung_of_shared_memory_is_a_threshold(asked: BlockRequest) -> None:
    rungs = ladder(asked, "shared")
    most = limits(asked.gpu.compute_capability).max_shared_per_block
    for rung in rungs:
        assert blocks(asked, shared=rung.at_most) == rung.blocks_per_sm
        if rung.at_most < most:
            assert blocks(asked, shared=rung.at_most + 1) != rung.blocks_per_sm
    here = [rung for rung in rungs if rung.now]
    assert [rung.blocks_per_sm for rung in here] == ([blocks(asked)] if blocks(asked) else [])


@given(launches())
def test_block_sizes_come_with_most_warps_first(asked: BlockRequest) -> None:
    rungs = ladder(asked, "threads")
    assert [rung.warps_per_sm for rung in rungs] == sorted((r.warps_per_sm for r in rungs), reverse=True)
    for rung in rungs[:3]:
        found = occupancy(asked.gpu, rung.at_most, asked.registers, asked.shared)
        assert (found.blocks_per_sm, found.warps_per_sm) == (rung.blocks_per_sm, rung.warps_per_sm)
        assert found.limiters == rung.limiters
    assert sum(rung.now for rung in rungs) == (1 if blocks(asked) else 0)


def test_one_register_less_worked_by_hand() -> None:
    """2.0: 32768 registers, units of 64 a warp. 8 warps of 21 registers: 32 x 21 = 672 -> 704; 46 warps, 5 blocks.

    20 registers: 640 a warp, 51 warps, 6 blocks: all 48 warps.
    """
    rungs = ladder(BlockRequest(gpu("sm_20"), 256, 21, 0), "registers")
    best, now = rungs[:2]
    assert (best.at_most, best.blocks_per_sm, best.warps_per_sm) == (20, 6, 48)
    assert (now.blocks_per_sm, now.warps_per_sm, now.now) == (5, 40, True)
    assert now.at_most == 24  # 768 a warp: 42 warps


def test_one_register_less_on_the_first_machines() -> None:
    """1.3: 16384 registers by blocks in units of 512. 256 threads x 17 = 4352 -> 4608: 3 blocks; 16: 4 blocks."""
    rungs = ladder(BlockRequest(gpu("gtx280"), 256, 17, 0), "registers")
    assert [(rung.at_most, rung.blocks_per_sm) for rung in rungs] == [(16, 4), (20, 3), (32, 2), (64, 1)]
    assert [rung.now for rung in rungs] == [False, True, False, False]


def test_admissible_warps_of_campprof() -> None:
    """1.2 and 1.3: 1 to 16 and the even numbers from 18 to 32 (CampProf, section 2).

    By the rules it states itself (8 blocks of at most 16 warps) 21, 25 and 27 are possible too.
    """
    reachable = set()
    for warps in range(1, 17):
        most = occupancy("gtx280", 32 * warps, 0, 0).blocks_per_sm
        reachable |= {count * warps for count in range(1, most + 1)}
    published = {*range(1, 17), *range(18, 33, 2)}
    assert published < reachable
    assert reachable - published == {21, 25, 27}


# ------------------------------------------------------------------------------------- the command


def ask(*words: str) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["occupancy", *words])
    return done.exit_code, done.output


def answered(*words: str) -> Any:
    code, said = ask(*words, "--format", "json")
    assert code == 0, said
    return json.loads(said)


def test_one_launch_shows_what_a_change_would_buy() -> None:
    code, said = ask("--gpu", "h200", "--block", "256", "--registers", "40", "--smem", "8192")
    assert code == 0
    assert max(map(len, said.splitlines())) <= 80
    flat = " ".join(said.split())
    assert "6 blocks per SM, 48 of 64 warps (75 %) on NVIDIA H200, limited by registers." in flat
    assert "32 8 64 100 %" in flat
    assert "40 < 6 48 75 %" in flat
    entry = answered("--gpu", "h200", "--block", "256", "--registers", "40", "--smem", "8192")
    assert [rung["at_most"] for rung in entry["ladders"]["registers"]][:2] == [32, 40]
    assert entry["blocks_per_sm"] == 6


def test_many_limiters_take_another_line_and_cut_no_column() -> None:
    _, said = ask("--gpu", "sm_87", "--block", "256", "--registers", "40")
    assert "\u2026" not in said
    assert "shared bytes per block, at most" in said
    assert [line.split()[-1] for line in said.splitlines() if "26880 <" in line] == ["registers,"]


def test_a_sweep_equals_its_launches() -> None:
    rows = answered("--gpu", "sm_87,gtx480", "--block", "64:512:64", "--registers", "20,32", "--smem", "0,9000")
    assert len(rows) == 2 * 8 * 2 * 2
    for row in rows[::5]:
        one = occupancy(row["gpu"], row["block"], row["registers"], row["smem"])
        assert (row["blocks_per_sm"], row["warps_per_sm"]) == (one.blocks_per_sm, one.warps_per_sm)
        assert tuple(row["limiters"]) == one.limiters


def test_all_gpus_answer_or_say_why_not() -> None:
    rows = answered("--gpu", "all", "--block", "256", "--registers", "126")
    assert {row["gpu"] for row in rows} == {board.key for board in listed("all")}
    refused = {row["gpu"] for row in rows if "error" in row}
    assert refused == {board.key for board in listed("all") if board.arch < 35}
    code, said = ask("--gpu", "all", "--block", "256", "--registers", "126")
    assert code == 0
    assert "has no such large blocks or so many registers" in said
    assert max(map(len, said.splitlines())) <= 80


def test_what_a_gpu_cannot_have_is_left_out_of_a_sweep() -> None:
    rows = answered("--gpu", "gtx280,k40", "--block", "256,1024", "--registers", "16")
    assert [(row["gpu"], row.get("block")) for row in rows] == [
        ("gtx280", 256), ("gtx280", None), ("k40", 256), ("k40", 1024),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("--gpu", "gtx280", "--block", "1024", "--registers", "16"),
        ("--gpu", "gtx280", "--block", "1024,768", "--registers", "16"),
        ("--gpu", "gtx280,fx5600", "--block", "1024", "--registers", "16"),
        ("--gpu", "h200", "--block", "x", "--registers", "16"),
        ("--gpu", "h200", "--block", "64:32", "--registers", "16"),
        ("--gpu", "h200", "--block", "1:2:3:4", "--registers", "16"),
        ("--gpu", "h200", "--block", "1:2:0", "--registers", "16"),
        ("--gpu", "h200", "--block", "", "--registers", "16"),
        ("--gpu", "h200", "--block", "1:99999999999", "--registers", "16"),
        ("--gpu", "h200", "--block", "1:1024", "--registers", "1:255"),
        ("--gpu", ",", "--block", "64", "--registers", "16"),
        ("--block", "64", "--registers", "16"),
        ("--gpu", "h200", "--block", "64", "--registers", "-1"),
        ("--gpu", "h200", "--block", "64,128", "--registers", "16", "--carveout", "9999"),
    ],
)
def test_wrong_words_end_with_2(words: tuple[str, ...]) -> None:
    code, said = ask(*words)
    assert code == 2, said
    assert said.startswith("warpbound: ")


def test_ranges_have_both_ends() -> None:
    assert numbers("--block", "64:256:64") == (64, 128, 192, 256)
    assert numbers("--block", "7") == (7,)
    assert numbers("--block", "3:5,4,9") == (3, 4, 5, 9)
    with pytest.raises(CommandError):
        numbers("--block", "٣")


def test_all_are_the_boards_that_exist_from_old_to_new() -> None:
    boards = listed("all")
    assert [board.arch for board in boards] == sorted(board.arch for board in boards)
    made_up = {key for key in catalogue() if gpu(key).hypothetical}
    assert made_up == {"hong-kim-example", "huang-synthetic", "interval-cc52", "interval-cc61", "interval-cc75"}
    assert {board.key for board in boards} == set(catalogue()) - made_up
    assert [board.key for board in listed("h200, sm_87")] == ["h200", "sm_87"]


def test_a_block_that_does_not_fit_has_no_rung_of_now() -> None:
    asked = BlockRequest(gpu("sm_13"), 512, 60, 0)
    assert blocks(asked) == 0
    assert not any(rung.now for rung in ladder(asked, "registers"))
    assert np.all([rung.blocks_per_sm > 0 for rung in ladder(asked, "threads")])
