"""Every parameter that an answer takes can be set, on every board, from where it stands."""

from dataclasses import fields

import numpy as np
import pytest

from support.breadth import some_of
from warpbound import machine
from warpbound.analysis.pipelines import engine_parameters
from warpbound.board_parameters import LANES, LATENCIES, PARAMETERS, UNITS
from warpbound.isa.latency_classes import architecture_latency
from warpbound.latency import memory_latency
from warpbound.machine import Gpu
from warpbound.memory.hierarchy import facts
from warpbound.page.sliders import gpu_controls, set_gpu_controls
from warpbound.power import power_parameters
from warpbound.time_model.parameter_fallbacks import parameter_fallbacks
from warpbound.time_model.parameters import FITTED, Parameters, fitted_parameters
from warpbound.workload import Memory
from warpbound.workload.files.lanes import alu_latency, issue_rate, pipe_cycles, stretch

BOARDS = machine.catalogue()
SOME_BOARDS = some_of(sorted(BOARDS, key=lambda name: BOARDS.index(name) % 5), 10, 0)  # every fifth first
KINDS = {"required", "none", "relatives", "model", *PARAMETERS}  # of fallbacks, besides tables of isa/


def known_of(board: Gpu) -> list[float]:
    """What the time model takes of a board."""
    values = fitted_parameters(board).values
    return [float(getattr(values, one.name)) for one in fields(Parameters)]


def taken(board: Gpu) -> list[float]:
    """All that models take of it: headline, waits of a warp, widths, what a board says of its memory and caches."""
    memory, held, power = memory_latency(board, 1.4e9), facts(board, 4, 16384), power_parameters(board)
    asked = ("l2_bandwidth", "dram_achievable_bandwidth", "dram_bandwidth", "sm_count", "boost_clock", "launch_cost")
    return [
        *known_of(board), memory.l1, memory.l2, memory.dram, memory.shared, memory.wavefront,
        *memory.tensor.values(),
        *(architecture_latency(name, board.arch) * memory.longer.get(name, 1.0) for name in LATENCIES),
        *(cycles for row in (memory.timing.cycles.values() if memory.timing else ()) for cycles in row),
        board.get("miss_registers") or 32.0 * board.limits.max_warps_per_sm,
        Memory(store_pieces=1e3).l1_cycles(90, 128.0, board.get("store_piece_cost")),
        held.l1_bytes, held.l2_bytes, held.lead_reach, *(board.get(name) or 0.0 for name in asked),
        *(pipe_cycles(board, pipe) for pipe in LANES), issue_rate(board), alu_latency(board),
        *([number or 0.0 for number in vars(power).values()] if power else []), *engine_parameters(board),
    ]  # fmt: skip


def test_every_parameter_names_a_fallback_that_exists() -> None:
    """A board must give it, no prediction needs it, or its fallback gives a value on at least one board."""
    with_value = {name for key in BOARDS for name in parameter_fallbacks(machine.gpu(key))}
    everywhere = {name for name in PARAMETERS if all(name in machine.gpu(key).parameters for key in BOARDS)}
    for name, parameter in PARAMETERS.items():
        assert parameter.fallback in KINDS or parameter.fallback.startswith("isa/"), name
        assert (parameter.fallback == "required") <= (parameter.required_from is not None), name
        assert (name in with_value) <= (parameter.fallback not in ("required", "none")), name
        assert name in with_value | everywhere or parameter.fallback in ("required", "none"), name


@pytest.mark.parametrize("key", BOARDS)
def test_every_number_that_the_headline_takes_has_a_slider_where_it_stands(key: str) -> None:
    board = machine.gpu(key)
    controls = {one.key.removeprefix("gpu."): one for one in gpu_controls(board)}
    values = fitted_parameters(board).values
    assert set(FITTED) <= set(controls)
    for name in FITTED:
        unit = board.parameters[name].unit if name in board.parameters else PARAMETERS[name].units[0]
        assert controls[name].value * UNITS[unit] == pytest.approx(getattr(values, name), rel=0.006), name
        if name not in board.parameters:
            assert controls[name].origin.startswith("from "), name
        elif board.parameters[name].how == "assumed":
            assert controls[name].origin == "assumed"
    assert len({one.title for one in controls.values()}) == len(controls)


@pytest.mark.parametrize("key", SOME_BOARDS)
def test_what_is_taken_instead_can_be_set_and_changes_nothing_by_itself(key: str) -> None:
    """Setting a stand-in to its own value leaves every number that a model takes; setting another changes one."""
    board = machine.gpu(key)
    before = taken(board)
    quiet = {name for name in PARAMETERS if PARAMETERS[name].fallback in PARAMETERS}  # absent from `taken`
    for name, one in parameter_fallbacks(board).items():
        same = machine.override(board, {name: one.value})
        assert same.parameters[name].unit == one.unit or name in quiet, name
        np.testing.assert_allclose(taken(same), before, rtol=1e-12, err_msg=name)
        if name not in quiet:
            assert taken(machine.override(board, {name: 0.5 * one.value})) != before, name


@pytest.mark.parametrize("key", SOME_BOARDS)
def test_every_slider_of_a_board_can_be_set(key: str) -> None:
    board = machine.gpu(key)
    for one in gpu_controls(board):
        name = one.key.removeprefix("gpu.")
        changed = machine.override(board, {name: 2.0 * one.value})
        assert changed.parameters[name].value == 2.0 * one.value
        stands = {each.key: each.value for each in set_gpu_controls(changed, board, {one.key: 2.0 * one.value})}
        assert stands[one.key] == one.value
        for follower in PARAMETERS[name].carries:
            if follower in FITTED and follower not in board.parameters:
                at = stands[f"gpu.{follower}"] * UNITS[PARAMETERS[follower].units[0]]
                assert at == pytest.approx(getattr(fitted_parameters(changed).values, follower)), follower


def test_widths_slow_a_pipe_in_proportion() -> None:
    for board in (machine.gpu("h200"), machine.gpu("gtx480")):
        lanes = parameter_fallbacks(board)["fma_lanes"].value
        half = machine.override(board, {"fma_lanes": lanes / 2})
        assert stretch(half, "fma") == pytest.approx(2.0)
        assert pipe_cycles(half, "fma") == pytest.approx(2 * pipe_cycles(board, "fma"))
        assert stretch(half, "lsu") == 1.0
    old = machine.override(machine.gpu("gtx480"), {"fma_lanes": 8.0})
    assert pipe_cycles(old, "alu") == pipe_cycles(old, "fma") == 32 * old.limits.sub_cores / 8  # one kind of cores
