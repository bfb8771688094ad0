"""The numbers behind each figure, against hand arithmetic and the papers' own numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.figure_layers import at, points
from warpbound import gpu
from warpbound.machine import catalogue
from warpbound.models import hong_kim_2009, volkov_2016, x_model_2016
from warpbound.models.volkov_2016 import contention, mixes, one_warp
from warpbound.report import figures
from warpbound.report.figures.picture import Arrows, Band, Bars, Boxes, Curve, Picture, Points, Rule


def curve(picture: Picture, name: str) -> Curve:
    layer = picture.named(name)
    assert isinstance(layer, Curve)
    return layer


def rules(picture: Picture) -> dict[str, float]:
    return {layer.text: layer.at for layer in picture.layers if isinstance(layer, Rule)}


# ---------------------------------------------------------------- throughput, occupancy, latency


def test_throughput_has_every_bound_that_is_near_and_the_knee() -> None:
    warps = np.arange(1.0, 65.0)
    limits = volkov_2016.predict(volkov_2016.Inputs(warps, 800.0, {"dram": 20.0, "l2": 16.0, "fma": 1.0}))
    predicted = {"model": (warps, limits.rate)}
    picture = figures.throughput_against_occupancy(warps, limits, predicted, figures.Here(32, 0.04))
    assert at(picture.named("bound: latency"), 32) == pytest.approx(32 / 800)
    assert at(picture.named("bound: DRAM bandwidth"), 10) == pytest.approx(1 / 20)
    assert at(picture.named("bound: L2 bandwidth"), 10) == pytest.approx(1 / 16)
    with pytest.raises(KeyError):
        picture.named("bound: FMA pipe")  # twenty times above what is reached
    model = curve(picture, "model")
    assert at(model, 20) == pytest.approx(0.025)
    assert at(model, 40) == at(model, 64) == pytest.approx(0.05)
    assert points(picture, "this launch") == [(32, 0.04)]
    assert picture.y.title == "throughput, warp/cycle/SM"


def test_the_cusp_is_where_memory_and_issue_saturate_together() -> None:
    mix = mixes.Mix(1.0, 1.0, 400.0, 20.0, 0.1, 1.0, 1.0)
    picture = figures.warps_needed_against_intensity({"a machine": mix}, np.array([0.1, 9.0, 99.0]))
    line = curve(picture, "a machine")
    assert at(line, 0.1) == pytest.approx(0.1 * (400 + 20 * 0.1))
    assert at(line, 9.0) == pytest.approx(0.1 * (400 + 20 * 9))
    assert at(line, 99.0) == pytest.approx((400 + 20 * 99) / 100)
    assert points(picture, "cusp") == [(9.0, pytest.approx(58.0))]
    assert picture.x.scale == "log"


def test_latency_against_throughput_is_the_fitted_hyperbola() -> None:
    fitted = contention.Memory(300.0, (60.0,), (10.0,))
    picture = figures.latency_against_throughput({"board": fitted}, {"board": ([2.0, 9.0], [320.0, 900.0])})
    line = curve(picture, "board")
    x, y = np.asarray(line.x), np.asarray(line.y)
    np.testing.assert_allclose(y, 300 + 60 * x / (10 - x))
    assert x.max() < 10
    assert points(picture, "board, measured") == [(2.0, 320.0), (9.0, 900.0)]
    assert rules(picture) == {"ceiling of board": 10.0}


def test_roofs_meet_at_their_ridges_and_equal_traffic_shares_a_mark() -> None:
    roofs = figures.Roofs({"FP32": 6e13}, {"L2": 8e12, "DRAM, achievable": 4e12}, frozenset({"DRAM, achievable"}))
    spot = figures.Spot("kernel", {"DRAM": 100.0, "L2": 10.0, "L1": 10.0}, 2e13)
    picture = figures.roofline(roofs, [spot])
    for name, bandwidth in roofs.bandwidth.items():
        line = curve(picture, name)
        x, y = np.asarray(line.x), np.asarray(line.y)
        inside = np.isfinite(y)
        np.testing.assert_allclose(y[inside], bandwidth * x[inside])
        assert np.nanmax(y) == pytest.approx(6e13)
    assert np.nanmin(np.asarray(curve(picture, "FP32").y)) == np.nanmax(np.asarray(curve(picture, "FP32").y)) == 6e13
    marks = picture.named("kernel")
    assert isinstance(marks, Points)
    assert marks.texts == ("L2, L1", "DRAM")
    assert list(np.asarray(marks.x)) == [10.0, 100.0]
    widths = {layer.name: layer.style.width for layer in picture.layers if isinstance(layer, Curve) and layer.style}
    assert widths["DRAM, achievable"] < widths["L2"] == widths["FP32"]


def test_occupancy_steps_down_where_a_block_less_fits() -> None:
    panels = figures.occupancy_against_limits(gpu("h200"), figures.Block(256, 64, 0))
    by_threads, by_registers, by_shared = (curve(picture, "resident warps") for picture in panels.pictures)
    # 65536 registers: 256 threads of 64 registers take 16384, of 128 take 32768, of 32 take 8192
    assert [at(by_registers, r) for r in (32, 64, 128)] == [64, 32, 16]
    assert at(by_threads, 256) == 32
    # 227 KiB of shared memory for blocks, 1 KiB of each for the driver: 100 KiB leave room for two
    assert at(by_shared, 100) == 16
    assert [points(picture, "this kernel") for picture in panels.pictures] == [[(256, 32)], [(64, 32)], [(0, 32)]]


# ---------------------------------------------------------------- X-graphs

PLAIN = x_model_2016.Inputs(48.0, 1.0, 20.0, 6.0, 600.0, 0.1)  # the base of Figure 4
CACHED = x_model_2016.Inputs(105.0, 1.0, 128.0, 96.0, 600.0, 0.6, 10.0, 16384.0, 6.0, 819.2)


def supplied(x: x_model_2016.Inputs, k: float) -> float:
    """f(k), written out from Eq. 5."""
    hit = 0.0
    if float(x.cache_capacity) > 0:
        hit = 1 - (1 + float(x.cache_capacity) / (float(x.beta) * k)) ** (1 - float(x.alpha))
    beyond = max(float(x.latency), k / float(x.ms_throughput))
    return k / (hit * float(x.cache_latency) + (1 - hit) * beyond)


def demanded(x: x_model_2016.Inputs, k: float) -> float:
    return min(float(x.ilp) * (float(x.threads) - k), float(x.lanes)) / float(x.intensity)


@pytest.mark.parametrize("x", [PLAIN, CACHED], ids=["plain", "cached"])
def test_an_x_graph_has_both_curves_in_both_units(x: x_model_2016.Inputs) -> None:
    picture = figures.x_graph(x)
    for name, wanted in (("supply f(k)", supplied), ("demand g(x)/Z", demanded)):
        line = curve(picture, name)
        k, y = np.asarray(line.x)[1:], np.asarray(line.y)[1:]
        np.testing.assert_allclose(y, [wanted(x, value) for value in k], atol=1e-12)
    assert picture.right is not None
    assert picture.top is not None
    assert picture.y.span is not None
    assert picture.right.span == (0.0, pytest.approx(picture.y.span[1] * float(x.intensity)))
    assert picture.top.span == (float(x.threads), 0.0)


def test_the_state_of_figure_4_is_marked() -> None:
    picture = figures.x_graph(PLAIN)
    of_warps = figures.x_graph(PLAIN, each="warps")
    assert (picture.x.unit, of_warps.x.unit, of_warps.top.unit) == ("threads", "warps per SM", "warps per SM")
    assert "as many warps enter" in of_warps.caption
    assert points(picture, "stable intersection") == [(pytest.approx(600 * 48 / 620), pytest.approx(48 / 620))]
    assert rules(picture) == {"pi = M/E": 42.0, "plateau R": 0.1}  # delta would be 60 threads


def test_every_intersection_is_marked_with_its_stability() -> None:
    picture = figures.x_graph(CACHED)
    stable, unstable = points(picture, "stable intersection"), points(picture, "unstable intersection")
    assert len(stable) == 2
    assert len(unstable) == 1
    assert stable[0][0] < unstable[0][0] < stable[1][0]
    for k, rate in (*stable, *unstable):
        assert rate == pytest.approx(supplied(CACHED, k))
        assert rate == pytest.approx(demanded(CACHED, k))
    marks = rules(picture)
    assert marks["psi, cache peak"] == x_model_2016.shape.peak(CACHED)
    assert marks["valley"] == x_model_2016.shape.valley(CACHED)
    assert set(marks) == {"pi = M/E", "psi, cache peak", "valley", "plateau R"}
    assert marks["plateau R"] == 0.6
    for name, sign in (("psi, cache peak", 1), ("valley", -1)):
        near = [supplied(CACHED, marks[name] * scale) for scale in (0.99, 1.0, 1.01)]
        assert sign * near[1] == max(sign * value for value in near)


@pytest.mark.parametrize("name", ["4A", "4B", "4C", "4D", "4E", "4F", "8A", "8B", "8C"])
def test_an_operation_shows_before_and_after(name: str) -> None:
    changed = {
        "4A": {"ms_throughput": 0.9}, "4B": {"latency": 900.0}, "4C": {"lanes": 144.0}, "4D": {"intensity": 192.0},
        "4E": {"ilp": 1.5}, "4F": {"threads": 157.5}, "8A": {"alpha": 8.5}, "8B": {"cache_capacity": 24576.0},
        "8C": {"cache_latency": 15.0},
    }[name]  # fmt: skip
    picture = figures.operation(CACHED, name, 1.5)
    for x, word in ((CACHED, "before"), (replace(CACHED, **changed), "after")):
        supply = curve(picture, f"supply f(k) {word}")
        assert at(supply, 40.0) == pytest.approx(supplied(x, 40.0), rel=1e-3)
        assert at(curve(picture, f"demand g(x)/Z {word}"), 40.0) == pytest.approx(demanded(x, 40.0), rel=1e-3)
        ((k, rate),) = points(picture, f"reached {word}")
        assert rate == pytest.approx(supplied(x, k))
        assert rate == pytest.approx(demanded(x, k))


def test_there_are_nine_operations_and_all_are_improvements() -> None:
    panels = figures.nine_operations(CACHED)
    assert [picture.title[-4:] for picture in panels.pictures] == [
        "x1.5", ".667", "x1.5", "x1.5", "x1.5", "x1.5", "x1.5", "x1.5", ".667",
    ]  # fmt: skip


def test_an_architecture_saturates_at_delta_and_pi() -> None:
    k40 = figures.Machine("K40, SP", 6.0, 0.10702, 598.016)  # Table II: delta is 64 warps
    (picture,) = figures.architectures([k40]).pictures
    marks = rules(picture)
    assert marks["delta 64"] == pytest.approx(64.0, rel=1e-4)
    supply, computation = curve(picture, "memory f(k)"), curve(picture, "computation g(x)")
    assert at(supply, 32) == pytest.approx(0.10702 / 2, rel=1e-4)
    assert at(supply, 90) == pytest.approx(0.10702)
    assert picture.right is not None
    assert picture.right.span is not None
    assert picture.y.span is not None
    in_right_units = picture.right.span[1] / picture.y.span[1]
    most = float(np.asarray(supply.x).max())
    assert in_right_units * at(computation, most - 3) == pytest.approx(3.0)
    assert in_right_units * at(computation, most - 20) == pytest.approx(6.0)


def test_machines_of_the_catalogue_are_those_of_table_2() -> None:
    single, double = figures.machines_of(gpu("gtx570"))
    assert (single.name, double.name) == ("NVIDIA GeForce GTX 570, SP", "NVIDIA GeForce GTX 570, DP")
    assert single.lanes == 1.0  # 32 lanes
    assert single.ms_throughput == pytest.approx(0.05229679)  # 147 GB/s over 15 SMs at 1464 MHz, 128 bytes each
    assert double.ms_throughput == pytest.approx(0.05229679 / 2)
    assert figures.machines_of(gpu("gtx750ti"))[0].lanes == 4.0
    assert [one.name for one in figures.machines_of(gpu("8800gtx"))] == ["NVIDIA GeForce 8800 GTX, SP"]


@pytest.mark.parametrize("name", catalogue())
def test_every_board_has_its_architectural_x_graph(name: str) -> None:
    for picture in figures.architectures(figures.machines_of(gpu(name))).pictures:
        supply = np.asarray(curve(picture, "memory f(k)").y)
        assert supply.max() > 0
        assert np.isfinite(supply).all()


# ---------------------------------------------------------------- Hong & Kim, CampProf


def test_mwp_and_cwp_of_the_example_of_table_2() -> None:
    x = hong_kim_2009.Inputs(
        freq=1e9, mem_bandwidth=80e9, mem_latency=420.0, departure_uncoal=10.0, departure_coal=4.0,
        threads_per_block=128.0, blocks=80.0, active_sms=16.0, active_blocks=5.0, comp_insts=27.0,
        uncoal_mem_insts=6.0, coal_mem_insts=0.0, synch_insts=6.0, uncoal_per_mw=32.0, load_bytes=128.0,
    )  # fmt: skip
    picture = figures.mwp_and_cwp(x, np.arange(1.0, 33.0))
    assert at(picture.named("MWP"), 20) == pytest.approx(2.28, abs=0.005)
    assert at(picture.named("MWP at peak bandwidth"), 20) == pytest.approx(28.57, abs=0.07)
    assert at(picture.named("MWP"), 2) == 2.0
    assert at(picture.named("CWP"), 20) == 20.0
    assert at(picture.named("CWP"), 32) == 32.0
    assert rules(picture) == {"launch: N = 20": 20.0}
    fewer = replace(x, comp_insts=500.0)
    wide = figures.mwp_and_cwp(fewer, np.arange(1.0, 33.0))
    assert at(wide.named("CWP"), 32) == pytest.approx(1 + 6 * 730 / (4 * 506))


def test_camping_band_in_milliseconds() -> None:
    long = figures.camping_band([1, 2, 4], [1.0, 2.0, 4.0], [7.0, 14.0, 28.0], [2.0])
    assert long.y.unit == "s"
    assert long.named("application").y.tolist() == [2.0, 2.0, 2.0]
    picture = figures.camping_band([1, 2, 4], [1e-3, 2e-3, 4e-3], [7e-3, 14e-3, 28e-3], [2e-3])
    assert picture.y.unit == "ms"
    band = picture.named("between no camping and the worst")
    assert isinstance(band, Band)
    np.testing.assert_allclose(np.asarray(band.low), [1, 2, 4])
    np.testing.assert_allclose(np.asarray(band.high), [7, 14, 28])
    np.testing.assert_allclose(np.asarray(curve(picture, "application").y), [2, 2, 2])
    with pytest.raises(KeyError):
        figures.camping_band([1], [1.0], [2.0], []).named("application")


def test_partition_map_has_each_tile_once() -> None:
    row, column = np.indices((4, 8))
    picture = figures.partition_map(column % 8, row * 8 + column)
    boxes = [layer for layer in picture.layers if isinstance(layer, Boxes)]
    assert [box.name for box in boxes] == [f"partition {n}" for n in range(8)]
    assert boxes[3].texts == ("3", "11", "19", "27")
    assert sum(len(np.asarray(box.left)) for box in boxes) == 32


def test_queue_fills_the_partitions_one_step_after_the_other() -> None:
    picture = figures.queue_at_partitions(figures.in_order(steps=10, warps=8))
    busy = np.zeros(10, int)
    for layer in picture.layers:
        assert isinstance(layer, Boxes)
        here = np.round(np.asarray(layer.left) + 0.48).astype(int)
        assert len(set(here.tolist())) == len(here)  # one warp at a time on a partition
        busy[here] += 1
    assert busy.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8]


# ---------------------------------------------------------------- time


def test_latency_stack_puts_causes_end_to_end() -> None:
    picture = figures.latency_stack({"a": {"issue": 10.0, "dram": 30.0}, "b": {"issue": 5.0, "l2": 20.0}})
    bars = [layer for layer in picture.layers if isinstance(layer, Bars)]
    assert [bar.name for bar in bars] == ["issuing its own instructions", "waiting for DRAM", "waiting for L2"]
    ends = np.max([np.asarray(bar.start) + np.asarray(bar.length) for bar in bars], axis=0)
    assert ends.tolist() == [40.0, 25.0]
    assert [list(bar.start) for bar in bars] == [[0.0, 0.0], [10.0, 5.0], [40.0, 5.0]]  # type: ignore[arg-type]


def vector_add() -> list[one_warp.Instruction]:
    """Volkov's Listing 3.5 with the latencies of its section: 9 cycles, loads 301, three between issues."""
    make = one_warp.Instruction
    return [
        make("MOV R1", (), 3), make("S2R R3", (), 3), make("S2R R0", (), 3), make("IMAD R2", ((2, 9), (1, 9)), 3),
        make("ISCADD R3", ((3, 9),), 3), make("ISCADD R0", ((3, 9),), 3), make("LD R3", ((4, 9),), 3, loads=True),
        make("LD R0", ((5, 9),), 3, loads=True), make("ISCADD R2", ((3, 9),), 3),
        make("FADD R3", ((6, 301), (7, 301)), 3), make("ST [R2]", ((8, 9), (9, 9)), 3), make("EXIT", (), 3),
    ]  # fmt: skip


def test_the_longest_path_of_figure_3_5_adds_up() -> None:
    program = vector_add()
    pairs = one_warp.dual_pairs(program)
    issue = one_warp.issue_times(program, pairs)
    assert issue[-1] + 201 == 544  # as printed
    edges = figures.edges_of(program, pairs)
    path = sorted(edge for edge in edges if edge.critical)
    assert path[0].start == 0
    assert path[-1].to == len(program) - 1
    assert sum(edge.cycles for edge in path) == issue[-1]
    assert all(one.to == other.start for one, other in zip(path, path[1:], strict=False))
    assert any(edge.cycles == 301 for edge in path)
    picture = figures.execution_graph([one.name for one in program], issue.tolist(), edges)
    arrows = [layer for layer in picture.layers if isinstance(layer, Arrows)]
    assert {layer.name: len(np.asarray(layer.x0)) for layer in arrows} == {
        "latency": len(edges) - len(path), "longest path": len(path),
    }  # fmt: skip
    longest = arrows[-1]
    assert list(np.asarray(longest.x1)) == [issue[edge.to] for edge in edges if edge.critical]


def test_timeline_has_a_row_per_warp_and_a_colour_per_kind() -> None:
    events = [(3, 0.0, 4.0, "issue"), (3, 4.0, 90.0, "memory"), (7, 4.0, 8.0, "issue")]
    picture = figures.timeline(events)
    issue, memory = (picture.named(kind) for kind in ("issue", "memory"))
    assert isinstance(issue, Boxes)
    assert isinstance(memory, Boxes)
    assert list(issue.left) == [0.0, 4.0]  # type: ignore[arg-type]
    assert list(memory.right) == [90.0]  # type: ignore[arg-type]
    assert (np.asarray(issue.bottom) + np.asarray(issue.top)).tolist() == [0.0, 2.0]
    assert picture.y.names == ("3", "7")
    assert picture.x.span == (0.0, 90.0)


# ---------------------------------------------------------------- one access


def sector_count(addresses: list[int], width: int = 4) -> int:
    picture = figures.sector_map(np.array(addresses, np.uint64), width)
    moved = picture.layers[0]
    assert isinstance(moved, Boxes)
    return len(np.asarray(moved.left))


def test_sector_maps_of_the_usual_strides() -> None:
    assert sector_count([4 * lane for lane in range(32)]) == 4
    assert sector_count([4 * lane + 16 for lane in range(32)]) == 5
    assert sector_count([8 * lane for lane in range(32)]) == 8
    assert sector_count([128 * lane for lane in range(32)]) == 32
    assert sector_count([64] * 32) == 1
    picture = figures.sector_map(np.arange(32, dtype=np.uint64) * 4 + 16, 4)
    assert "32 lanes access 128 different bytes; 160 are moved in 5 sectors, of which 80 % are used" in picture.caption
    moved = picture.named("moved")
    assert isinstance(moved, Boxes)
    assert moved.texts == ("0-3", "4-11", "12-19", "20-27", "28-31")


@given(st.lists(st.integers(0, 4000), min_size=1, max_size=32), st.sampled_from([1, 2, 4, 8, 16]))
def test_sector_maps_count_distinct_sectors(words: list[int], width: int) -> None:
    addresses = [word * width for word in words]
    assert sector_count(addresses, width) == len({address // 32 for address in addresses})


@pytest.mark.parametrize("stride, wavefronts", [(1, 1), (2, 2), (3, 1), (4, 4), (32, 32), (33, 1), (0, 1)])
def test_bank_maps_are_as_high_as_the_wavefronts(stride: int, wavefronts: int) -> None:
    picture = figures.bank_map(np.arange(32, dtype=np.uint64) * 4 * stride)
    assert len(picture.layers) == wavefronts
    boxes = [layer for layer in picture.layers if isinstance(layer, Boxes)]
    assert sum(len(np.asarray(box.left)) for box in boxes) == (1 if stride == 0 else 32)
    for box in boxes:
        columns = np.round(np.asarray(box.left) + 0.46).tolist()
        assert len(set(columns)) == len(columns)
