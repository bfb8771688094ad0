"""Static mode says what the code alone tells of its memory accesses, and what it had to assume."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from support.paths import EXAMPLES
from support.sass_listing import kernel
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.static import _focus, addresses_known, static_work
from warpbound.cli import main
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.workload.static import COALESCED, assumed_coalesced


def answered(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["analyze", *words, "--gpu", "a100-sxm-80gb", "--format", "json"])
    assert done.exit_code == 0, done.output
    (entry,) = json.loads(done.stdout)["results"]
    return dict(entry)


def example(name: str) -> dict[str, Any]:
    return answered(str(EXAMPLES / f"{name}.cu"))


def notes(entry: dict[str, Any]) -> str:
    return " ".join(entry["confidence"]["assumed"])


@pytest.mark.cuda
def test_a_strided_store_is_seen_without_a_launch() -> None:
    entry = example("transpose_naive")
    assert entry["mode"] == "static"
    spread = {row["text"].split()[0].split(".")[0]: row["sectors"] for row in entry["accesses"]}
    assert spread["STG"] == 32
    assert entry["whatifs"][0]["change"] == "coalesced global accesses"
    assert "blocks of 32 x 8 threads" in notes(entry)
    assert "coalesced" not in notes(entry)


@pytest.mark.cuda
def test_padding_removes_conflicts_and_a_broadcast_is_no_conflict() -> None:
    padded = example("transpose_tiled")
    assert {row["wavefronts"] for row in padded["accesses"] if row["space"] == "shared"} == {1.0}
    tiled = example("matmul_tiled")
    wide = [row for row in tiled["accesses"] if row["text"].startswith("LDS.128")]
    assert wide
    assert {(row["wavefronts"], row["stride_bytes"]) for row in wide} == {(2.0, 0)}


@pytest.mark.cuda
def test_lanes_of_a_narrow_block_stand_as_far_apart_as_in_its_rows(tmp_path: Path) -> None:
    """Rows of 16 lanes that read down a column of a tile: 64 bytes apart, and back at the start of each row."""
    source = tmp_path / "column.cu"
    source.write_text("""__global__ void column(float* out) {
        __shared__ float tile[16][16];
        tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
        __syncthreads();
        float2 pair = *(float2*)&tile[threadIdx.x][2];
        out[threadIdx.y * 16 + threadIdx.x] = pair.x + pair.y;
    }""")
    rows = answered(str(source), "--grid", "1", "--block", "16,16")["accesses"]
    (row,) = (row for row in rows if row["text"].startswith("LDS"))
    assert (row["stride_bytes"], row["row_stride_bytes"], row["wavefronts"]) == (None, 64, 16)
    done = CliRunner().invoke(main, ["analyze", str(source), "--gpu", "h200", "--grid", "1", "--block", "16,16",
                                     "--views", "accesses"])  # fmt: skip
    assert "lanes are 64 B apart" in " ".join(done.output.split())


@pytest.mark.cuda
def test_what_depends_on_data_is_assumed_and_named() -> None:
    entry = example("spmv_csr")
    unknown = [row for row in entry["accesses"] if row["depends_on"]]
    assert unknown
    assert all(row["sectors"] is None and "data loaded at line 15" in row["depends_on"] for row in unknown)
    total = len(entry["accesses"])
    assert f"{len(unknown)} of {total} accesses count as coalesced" in notes(entry)


@pytest.mark.cuda
def test_scalars_of_the_launch_are_used() -> None:
    """A row of 1001 floats may begin anywhere; one of unknown length is taken as aligned."""
    board = gpu("h200")
    (program,) = programs(EXAMPLES / "transpose_naive.cu", board, None, Options())
    shape = {"grid": (32, 32), "block": (32, 8)}

    def stores(**sizes: int) -> set[float]:
        case = case_of(program, board, launch(**shape, args=sizes), DEFAULT)
        known = addresses_known(case)
        return {known[key].sectors for key in known if program.instructions[key[0]].opcode == "LDG"}

    assert stores() == {4.0}
    assert stores(width=1024, height=1024) == {4.0}
    assert stores(width=1001, height=1001) == {4.875}


@pytest.mark.cuda
def test_an_architecture_without_a_board_has_its_accesses() -> None:
    done = CliRunner().invoke(
        main, ["analyze", str(EXAMPLES / "transpose_naive.cu"), "--gpu", "sm_87", "--format", "json"]
    )
    (entry,) = json.loads(done.stdout)["results"]
    assert entry["bottleneck"] is None
    assert {row["sectors"] for row in entry["accesses"]} == {4.0, 32.0}
    assert "address arithmetic" in notes(entry)


@pytest.mark.cuda
def test_the_report_shows_the_table() -> None:
    words = ["analyze", str(EXAMPLES / "spmv_csr.cu"), "--gpu", "h200", "--views", "accesses"]
    said = " ".join(CliRunner(env={"COLUMNS": "80"}).invoke(main, words).output.split())
    assert "misaligned" in said
    assert "counts as coalesced: the address depends on" in said
    assert "one address for all lanes" in said


@pytest.mark.cuda
@pytest.mark.broad
def test_an_executed_launch_shows_what_was_counted() -> None:
    name = str(EXAMPLES / "spmv_csr")
    entry = answered(f"{name}.cu", "--launch", f"{name}.toml")
    assert entry["mode"] == "dynamic"
    gathers = [row for row in entry["accesses"] if row["depends_on"]]
    assert gathers
    assert all(20 < row["sectors"] <= 32 and row["ideal_sectors"] <= 4 for row in gathers)
    requests = entry["memory"]["global_load_requests"] + entry["memory"]["global_store_requests"]
    total = entry["memory"]["l1_sectors_load"] + entry["memory"]["l1_sectors_store"]
    spread = [row["sectors"] for row in entry["accesses"]]
    assert min(spread) <= total / requests <= max(spread)


@pytest.mark.cuda
@pytest.mark.parametrize("name", ["transpose_naive", "matmul_tiled", "saxpy", "softmax"])
def test_code_and_execution_agree_where_all_threads_take_part(name: str) -> None:
    source, launch_file = str(EXAMPLES / f"{name}.cu"), str(EXAMPLES / f"{name}.toml")
    counted = {row["address"]: row for row in answered(source, "--launch", launch_file)["accesses"]}
    block = {"transpose_naive": "32,8", "matmul_tiled": "32,32"}.get(name, "256")
    told = {row["address"]: row for row in answered(source, "--grid", "64,64", "--block", block)["accesses"]}
    both = counted.keys() & told.keys()
    assert both
    for address in both:
        if counted[address]["ideal_sectors"] == told[address]["ideal_sectors"]:
            assert counted[address]["sectors"] == pytest.approx(told[address]["sectors"])
            assert counted[address]["stride_bytes"] is not None


def listing(text: str) -> Program:
    rows = [row.strip() for row in text.strip().splitlines()]
    return kernel("\n".join(row if row.endswith(":") else f"B------:R-:W-:-:S01  {row}" for row in rows))


def test_nothing_known_is_said_in_one_sentence() -> None:
    program = listing("LDS R0, [R1]\nEXIT")
    assert assumed_coalesced(program.instructions, {}) == (COALESCED,)
    assert assumed_coalesced(listing("EXIT").instructions, {}) == ()


# ------------------------------------------------------------------------------ what the verdict is about


def body(count: int) -> str:
    return "\n".join(["FFMA R4, R4, R5, R6"] * count)


def nest(outer: int, inner: int) -> Program:
    return listing(f"""
        .L_outer:
        {body(outer)}
        .L_inner:
        {body(inner)}
        @P0 BRA `(.L_inner)
        @P1 BRA `(.L_outer)
        EXIT
    """)


@pytest.mark.parametrize(
    "outer, inner, depth", [(4, 20, 2), (20, 20, 2), (60, 20, 2), (100, 20, 1), (30, 2, 1), (8, 2, 2)]
)
def test_the_verdict_is_about_the_loop_whose_own_body_weighs_most(outer: int, inner: int, depth: int) -> None:
    """An inner loop is taken to run four times per iteration of the outer one."""
    work = static_work(case_of(nest(outer, inner), gpu("rtx-4090"), None, DEFAULT))
    (chosen,) = [piece.loop.depth for piece in work.loops() if piece.work is work.focus]
    assert chosen == depth


def test_what_takes_too_long_is_left_out_with_a_sentence_and_the_rest_is_answered() -> None:
    program, board = nest(3, 5), gpu("rtx-4090")
    hurried = static_work(case_of(program, board, None, replace(DEFAULT, patience_s=0.0)))
    patient = static_work(case_of(program, board, None, DEFAULT))
    assert (len(patient.loops()), len(hurried.loops())) == (2, 1)
    assert "stopped after 0 s" in hurried.notes[0]
    assert "Loops left out: 1." in hurried.notes[0]
    assert not any("stopped" in note for note in patient.notes)
    assert hurried.whole.warp_instructions == patient.whole.warp_instructions
    assert hurried.loops()[0].work == patient.loops()[0].work


def test_the_kernels_of_a_file_share_the_time() -> None:
    program, board = nest(3, 5), gpu("rtx-4090")
    late = static_work(case_of(program, board, None, replace(DEFAULT, ends_s=time.thread_time())))
    early = static_work(case_of(program, board, None, replace(DEFAULT, patience_s=0.0, ends_s=time.thread_time() + 60)))
    assert "stopped after 30 s" in late.notes[0]
    assert "Loops left out: 1." in late.notes[0]
    assert not any("stopped" in note for note in early.notes)


def test_without_a_loop_the_verdict_is_about_the_whole_kernel() -> None:
    whole = object()
    assert _focus(whole, ()) is whole  # type: ignore[arg-type, comparison-overlap]


@pytest.mark.cuda
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.cu")), ids=lambda path: path.stem)
def test_most_accesses_of_the_examples_are_known(path: Path) -> None:
    """All but those whose index is loaded or computed in floating point."""
    for program in programs(path, gpu("h200"), None, Options()):
        known = addresses_known(case_of(program, gpu("h200"), None, DEFAULT))
        reasons = {access.depends_on for access in known.values() if access.depends_on}
        expected = {"spmv_csr": "data loaded", "histogram": "data loaded", "pointer_chase": "`LOP3`"}.get(path.stem)
        assert all(expected and reason.startswith(expected) for reason in reasons), reasons
