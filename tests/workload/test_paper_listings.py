"""The papers' worked listings through the readers, the tables and the schedule: nothing is typed but their text."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.listing_schedule import block_of_warps, iteration, straight_line
from support.paths import GOLDEN, LISTINGS
from warpbound import analyze
from warpbound.isa.limits import limits
from warpbound.latency import memory_latency, waits
from warpbound.machine import Gpu, clock, gpu, override
from warpbound.model_inputs import x_model_2016 as adapted_x_model
from warpbound.model_inputs.launch_facts import LaunchFacts
from warpbound.model_inputs.resources import demand, issues
from warpbound.models import interval_analysis, x_model_2016
from warpbound.predict import Place, predict, saturating_warps
from warpbound.program import Program, compile_program, programs
from warpbound.program.cuda import Options
from warpbound.schedule import Schedule, Wait, schedule
from warpbound.workload import Workload
from warpbound.workload.files.lanes import pipe_cycles
from warpbound.workload.static import iterations, straight
from warpbound.workload.static_paths import whole

CASES = tomllib.loads((GOLDEN / "listings.toml").read_text())["case"]
WARP = 32


def read(source: Path | str, board: Gpu) -> Program:
    (found,) = programs(source, board, None, Options())
    return found


def timing(program: Program, board: Gpu) -> tuple[Wait, ...]:
    return waits(program.instructions, memory_latency(board, clock(board, "boost")))


def timed(program: Program, board: Gpu) -> Schedule:
    return schedule(whole(program), program.instructions, timing(program, board))


def marked(program: Program, pairs: list[int]) -> Program:
    ones = (replace(one, pairs=index in pairs) for index, one in enumerate(program.instructions))
    return replace(program, instructions=tuple(ones))


def threads(work: Workload, board: Gpu) -> float:
    """P, threads on the chip that use up DRAM's bandwidth."""
    return WARP * saturating_warps(work, board, clock(board, "boost"))["dram"] * board.value("sm_count")


def asked(case: dict[str, Any]) -> Any:
    """What the engine answers to a case."""
    board, path = override(gpu(case["gpu"]), case.get("set", {})), LISTINGS / f"{case['listing']}.sass"
    program = read(path, board)
    match case["ask"]:
        case "block":
            return [list(one.issue) for one in block_of_warps(path, board, case["ways"])]
        case "loop":
            return iteration(path, board).cycles
        case "loop_issue":
            return iteration(path, board).issue
        case "loop_branch":
            return iteration(path, board).issue[-1]
        case "P" | "P_branch":
            ((_, work),) = iterations(program, board.arch, timing(program, board))
            latency = iteration(path, board).issue[-1] if case["ask"] == "P_branch" else work.latency
            return threads(replace(work, latency=latency), board)
    found = timed(marked(program, case["pairs"]), board) if "pairs" in case else straight_line(path, board)
    return {"issue": found.issue, "cycles": found.cycles, "slots": found.issue_slots}[case["ask"]]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_golden(case: dict[str, Any]) -> None:
    got = asked(case)
    if case["ask"] == "block":
        assert got == case["expected"]
    else:
        np.testing.assert_allclose(got, case["expected"], rtol=case.get("rtol", 1e-9), atol=0)


# ---------------------------------------------------------------- vector add on Kepler, section 3.8


KEPLER = gpu("gtx680")
VECTOR_ADD = read(LISTINGS / "volkov_vector_add.sass", KEPLER)


def whole_warp(program: Program, board: Gpu) -> Workload:
    """One warp with the time that its block takes to be replaced."""
    work = straight(program, board.arch, timing(program, board))
    return replace(work, latency=work.latency + board.value("block_start") * clock(board, "boost"))


def test_pairs_of_the_vector_add() -> None:
    issue = timed(VECTOR_ADD, KEPLER).issue
    opcodes = [one.opcode for one in VECTOR_ADD.instructions]
    together = [(opcodes[i], opcodes[i + 1]) for i in range(11) if issue[i] == issue[i + 1]]
    assert together == [("MOV", "S2R"), ("ISCADD", "ISCADD"), ("LD", "ISCADD"), ("ST", "EXIT")]


def test_latency_and_throughput_of_the_vector_add() -> None:
    work, hertz = whole_warp(VECTOR_ADD, KEPLER), 1.124e9
    found = predict(work, Place(KEPLER, hertz, 1.0, KEPLER.value("sm_count")))
    assert work.latency == pytest.approx(544, abs=1e-3)
    assert found.cycles["issue"] == 8 / 4                       # 0.5 warps per cycle and SM
    assert 1 / found.cycles["dram"] == pytest.approx(0.0446, rel=1e-3)
    assert 1 / found.cycles["dram"] == pytest.approx(0.0445, rel=3e-3)  # as printed, from a rounded 17.1 B/cycle
    assert found.warps_needed == pytest.approx(24.26, rel=1e-3)
    gbytes = 3 * 128 * KEPLER.value("sm_count") * hertz / 1e9
    assert gbytes * found.rate == pytest.approx(6.35, abs=5e-3)  # of one warp, hence the slope
    assert gbytes / found.cycles["dram"] == pytest.approx(154, rel=1e-9)


@pytest.mark.parametrize("gap, pair, cycles", [(3.0, None, 550), (0.0, 0.0, 538)])
def test_without_pairs_or_without_distance(gap: float, pair: float | None, cycles: float) -> None:
    memory = memory_latency(KEPLER, 1.124e9)
    assert memory.timing is not None
    keys = {"gap": (gap,)} | ({} if pair is None else {"pair": (pair,)})
    found = waits(VECTOR_ADD.instructions, replace(memory, timing=replace(memory.timing, cycles=keys)))
    assert schedule(whole(VECTOR_ADD), VECTOR_ADD.instructions, found).cycles + 201 == cycles


def test_core_bound_of_the_vector_add() -> None:
    """9 instructions on 48 cores per scheduler; the product at the rate of the guide. The thesis counts 7 issues."""
    found = demand(whole_warp(VECTOR_ADD, KEPLER), KEPLER, 1.124e9)["fma"]
    assert found == pytest.approx((8 * WARP / 48 + 4) / 4, rel=1e-4)
    core = [one.opcode not in ("LD", "ST") for one in VECTOR_ADD.instructions]
    issue = timed(VECTOR_ADD, KEPLER).issue
    by_cycle = [sum(own for own, t in zip(core, issue, strict=True) if t == cycle) for cycle in sorted(set(issue))]
    assert (by_cycle.count(1), by_cycle.count(2)) == (5, 2)


def test_instructions_issued_together() -> None:
    """E of the X-model, from the pairs of the listing."""
    slots = timed(VECTOR_ADD, KEPLER).issue_slots
    block = x_model_2016.extraction.Block(insts=12.0, issue_groups=float(slots), off_chip_insts=3.0, iterations=1.0)
    assert x_model_2016.extraction.ilp((block,)) == 1.5
    work = whole_warp(VECTOR_ADD, KEPLER)
    launched = LaunchFacts(work, KEPLER, 1.124e9, 301.0, 64.0, 8.0, None, None, None)
    assert adapted_x_model.known(launched)["ilp"] == 1.5
    alone = replace(work, issue_slots=None)  # without pairs: instructions over the cycles that wait for no memory
    computing = 544 - work.parts["dram"]
    assert adapted_x_model.known(replace(launched, work=alone))["ilp"] == pytest.approx(12 / computing, rel=1e-6)


# ---------------------------------------------------------------- the worksheet of section 3.6

MAXWELL = gpu("gtx980")
BYTES_PER_CYCLE = 10.4


def worksheet() -> Program:
    """The mixture of Table 3.2 as a listing: five of the CUDA core instructions go with one of the SFU."""
    lines = ["FADD R1, R1, R1"] * 95
    lines += [line for i in range(5) for line in ("{ FADD R1, R1, R1", f"MUFU.RSQ R{10 + i}, R2 }}")]
    lines += ["LDS R3, [R4]"] * 20 + ["LD R5, [R6]"] * 10
    return read("\n".join(lines), MAXWELL)


def test_a_geforce_has_fewer_fp64_lanes_than_the_tesla_of_its_architecture() -> None:
    text = "\tcode for sm_20\n\t\tFunction : k\n/*0000*/ DFMA R2, R4, R6, R2;\n/*0008*/ EXIT;\n"
    use = {
        name: {one["resource"]: one["cycles_per_warp"] for one in analyze(compile_program(text, name), name)["bounds"]}
        for name in ("c2050", "gtx480")
    }
    assert use["gtx480"]["fp64"] == 4 * use["c2050"]["fp64"] == 8


def test_worksheet() -> None:
    program = worksheet()
    board = override(MAXWELL, {"dram_achievable_bandwidth": BYTES_PER_CYCLE * 16 * 1.266})
    work = straight(program, board.arch, timing(program, board))
    assert (work.warp_instructions, work.issue_slots) == (135, 130)
    work = work.with_memory(  # ten two-way conflicts, five accesses with stride 2, which double their bytes
        shared_wavefronts_load=30.0, shared_conflict_wavefronts=10.0, dram_bytes_read=15 * 128.0,
        l1_wavefronts=15.0, ideal_sectors=40.0,
    )  # fmt: skip
    found = demand(work, board, 1.266e9)
    assert found["fma"] == 25
    assert found["xu"] == 5
    assert found["shared"] == 30
    assert issues(work, board) == 145
    assert found["issue"] == 36.25
    assert found["dram"] == pytest.approx(184.615, rel=1e-5)
    assert found["dram"] == pytest.approx(184.5, rel=7e-4)  # as printed, from rounded cycles per instruction
    assert 1 / max(found.values()) == pytest.approx(0.00542, rel=1e-3)


# ---------------------------------------------------------------- matrix times vector, interval notes


def matrix_vector(rows: int, columns: int) -> str:
    """The code that the notes expect of the compiler for K_0, in full."""
    loads = [f"LDG.E R{8 + c}, [R2+{4 * c:#x}]" for c in range(columns)]
    out = 8 + columns
    sums = [
        f"FFMA R{out + r}, R{8 + c}, c[0x3][{4 + 32 * r + 4 * c:#x}], {f'R{out + r}' if c else 'RZ'}"
        for c in range(columns)
        for r in range(rows)
    ]
    return "\n".join([*loads, *sums, *(f"STG.E [R4+{4 * r:#x}], R{out + r}" for r in range(rows))])


@pytest.mark.parametrize(
    "board, rows, columns, cycles",
    [
        ("interval-cc52", 16, 16, 720),   # 400 + 256 + 64
        ("interval-cc75", 16, 16, 976),   # 400 + 512 + 64
        ("interval-cc52", 4, 16, 512),    # dependent products 4 apart wait 6: the notes' condition should read M >= L_F
        ("interval-cc52", 16, 4, 528),
        ("interval-cc52", 16, 128, 2624), # the loads alone take 512: the notes' condition should read L_M >= 4 N
    ],
)  # fmt: skip
def test_load_compute_store(board: str, rows: int, columns: int, cycles: float) -> None:
    machine = gpu(board)
    found = timed(read(matrix_vector(rows, columns), machine), machine)
    kernel = interval_analysis.mxv.Kernel(
        rows=float(rows), columns=float(columns), load_latency=400.0, fp_latency=machine.value("alu_latency"),
        fma_cycles=2.0 if machine.arch == 75 else 1.0,
    )  # fmt: skip
    assert found.cycles == cycles == interval_analysis.mxv.load_compute_store(kernel)


def load_and_compute(rows: int, columns: int) -> str:
    """The code of K_1, not rearranged: each load is waited for and used before the next."""
    lines = []
    for c in range(columns):
        lines.append(f"LDG.E R8, [R2+{4 * c:#x}]")
        lines += [f"FFMA R{9 + r}, R8, c[0x3][{4 * c:#x}], {f'R{9 + r}' if c else 'RZ'}" for r in range(rows)]
    return "\n".join([*lines, *(f"STG.E [R4+{4 * r:#x}], R{9 + r}" for r in range(rows))])


@pytest.mark.parametrize("store, cycles", [(1.0, 3872), (4.0, 3920)])
def test_load_compute_repeated_store(store: float, cycles: float) -> None:
    """One load in eight comes from DRAM, the others from L2; stores take one cycle there, elsewhere four."""
    board = gpu("interval-cc61")
    program = read(load_and_compute(16, 16), board)
    loads = [index for index, one in enumerate(program.instructions) if one.opcode == "LDG"]
    from_dram = set(loads[::8])
    found = waits(
        program.instructions,
        memory_latency(board, clock(board, "boost")),
        lambda index: {"dram": 1.0} if index in from_dram else {"l2": 1.0},
    )
    stored = [
        replace(wait, gaps=(store,)) if one.opcode == "STG" else wait
        for one, wait in zip(program.instructions, found, strict=True)
    ]
    done = schedule(whole(program), program.instructions, stored)
    assert done.cycles == cycles
    kernel = interval_analysis.mxv.Kernel(16.0, 16.0, 400.0, 6.0, 200.0, store_cycles=store)
    assert interval_analysis.mxv.load_compute_repeated_store(kernel) == cycles


def one_row(columns: int) -> str:
    """mxv_o_per_thd: a chain of products."""
    loads = [f"LDG.E R{8 + c}, [R2+{4 * c:#x}]" for c in range(columns)]
    sums = [f"FFMA R6, R{8 + c}, c[0x3][{4 * c:#x}], {'R6' if c else 'RZ'}" for c in range(columns)]
    return "\n".join([*loads, *sums, "STG.E [R4], R6"])


def test_one_row_per_thread() -> None:
    """497 with a store of one cycle, as printed; 500 with the four that stores take elsewhere in the notes."""
    board = gpu("interval-cc61")
    found = timed(read(one_row(16), board), board)
    assert (found.issue[-1] + 1, found.cycles) == (497, 500)


STORE_CYCLES = [(1.0, 672), (2.0, 688), (4.0, 720)]  # formula and solutions, "correct store", analysis


@pytest.mark.parametrize("store, cycles", STORE_CYCLES)
def test_three_readings_of_the_stores(store: float, cycles: float) -> None:
    board = gpu("interval-cc61")
    program = read(matrix_vector(16, 16), board)
    found = [
        replace(wait, gaps=(store,)) if one.opcode == "STG" else wait
        for one, wait in zip(program.instructions, timing(program, board), strict=True)
    ]
    assert schedule(whole(program), program.instructions, found).cycles == cycles


SOLUTIONS = [  # board's SMs, GHz, GB/s; ns of 672 cycles, P, threads per SM
    ("gtx1080", {"sm_count": 20, "dram_achievable_bandwidth": 320.3}, 388.4, 971.9, 48.6),
    ("k20c", {"sm_count": 13, "boost_clock": 710, "dram_achievable_bandwidth": 208.0}, 946.5, 1538, 118),
]


@pytest.mark.parametrize("name, values, ns, on_chip, per_sm", SOLUTIONS, ids=[row[0] for row in SOLUTIONS])
def test_solutions(name: str, values: dict[str, float], ns: float, on_chip: float, per_sm: float) -> None:
    """The notes take the same latencies for both; a GTX 1080 is their CC 6.1 device."""
    board = override(gpu("interval-cc61"), values)
    hertz = clock(board, "boost")
    work = replace(whole_warp(read(matrix_vector(16, 16), board), board), latency=672.0)
    assert 672 / hertz * 1e9 == pytest.approx(ns, abs=0.05)
    assert threads(work, board) == pytest.approx(on_chip, rel=4e-4)
    assert threads(work, board) / board.value("sm_count") == pytest.approx(per_sm, abs=0.35)


@pytest.mark.parametrize("memory_lanes, per_sm", [(64.0, 268.8), (None, 224.0)])
def test_threads_that_use_up_issue(memory_lanes: float | None, per_sm: float) -> None:
    """Q with the 64 load/store lanes of the solutions, and with the 32 of the slides, which the CC 6.1 device has."""
    board = gpu("interval-cc61")
    work = whole_warp(read(matrix_vector(16, 16), board), board)
    schedulers = limits(board.compute_capability).sub_cores
    lanes = {pipe: WARP * schedulers / pipe_cycles(board, pipe) for pipe in ("fma", "lsu")}
    lanes["lsu"] = memory_lanes or lanes["lsu"]
    assert (work.by_pipe["fma"], work.by_pipe["lsu"], lanes["fma"]) == (256, 32, 128)
    insts = {pipe: work.by_pipe[pipe] for pipe in lanes}
    assert interval_analysis.enough_threads_per_sm(672.0, insts, lanes) == pytest.approx(per_sm)


def test_use_of_dispatch_and_data_on_gp104() -> None:
    board = gpu("interval-cc61")
    work = whole_warp(read("LD.E R2, [R2]\nFADD R7, R2, 1\nST.E [R4], R7", board), board)
    lanes = {pipe: WARP * 4 / pipe_cycles(board, pipe) * board.value("sm_count") for pipe in ("fma", "lsu")}
    assert lanes == {"fma": 2560, "lsu": 640}
    use = float(interval_analysis.issue_time({pipe: work.by_pipe[pipe] for pipe in lanes}, lanes))
    assert use == pytest.approx(2 / 640 + 1 / 2560)
    assert (work.memory.dram_bytes_read + work.memory.dram_bytes_written) / WARP == 8
    sectors = work.memory.l2_sectors_read + work.memory.l2_sectors_written
    assert interval_analysis.sector_bytes(sectors) == 8  # coalesced; the slide's 2 x 32 B are a sector for each thread
