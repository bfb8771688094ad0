"""Banks: closed forms per rule set, measured counters of an A100, and invariants."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.handmade_traces import program
from warpbound.emulate.trace import accesses_of
from warpbound.memory.banks import atomic_wavefronts, l1_wavefronts, narrow_cycles, tag_bank, wavefronts
from warpbound.memory.requests import global_cost
from warpbound.time_model.parameter_uncertainty import L1_LOOKUPS

LANE = np.arange(32, dtype=np.uint64)
ALL = np.ones((1, 32), bool)


def fronts(addresses, width, arch, bank_bytes=4, active=ALL):
    addresses = np.asarray(addresses, np.uint64).reshape(1, 32)
    result = wavefronts(addresses, active, width, arch, bank_bytes)
    return int(result.actual[0]), int(result.ideal[0])


@pytest.mark.parametrize("arch", [20, 52, 70, 75, 80, 90, 120])
def test_stride_in_words(arch):
    # stride s meets 32 / gcd(s, 32) banks; stride 0 is one word for all
    found = {stride: fronts(LANE * np.uint64(4 * stride), 4, arch) for stride in range(65)}
    assert found == {stride: (math.gcd(stride, 32) if stride else 1, 1) for stride in range(65)}


def test_broadcast_and_multicast():
    assert fronts(LANE % np.uint64(2) * np.uint64(128), 4, 80) == (2, 1)  # two words of bank 0
    assert fronts(LANE // np.uint64(4) * np.uint64(4), 4, 80) == (1, 1)  # 8 words, 4 lanes each
    assert fronts(LANE // np.uint64(2) * np.uint64(2), 2, 80) == (1, 1)  # halves of words
    assert fronts(LANE, 1, 80) == (1, 1)  # bytes: 8 words


def test_columns_of_a_tile_and_its_padding():
    assert fronts(LANE * np.uint64(128), 4, 80) == (32, 1)  # tile[lane][0] of a 32 x 32 tile
    assert fronts(LANE * np.uint64(132), 4, 80) == (1, 1)  # rows padded by a word


@pytest.mark.parametrize("arch", [20, 80])
def test_wide_words_go_in_parts(arch):
    quarters = 4
    assert fronts(LANE * np.uint64(8), 8, arch) == (2, 2)  # half-warp: 16 x 2 words, 32 banks
    assert fronts(LANE * np.uint64(16), 8, arch) == (4, 2)  # half-warp spans 64 words: every bank used twice
    assert fronts(LANE * np.uint64(16), 16, arch) == (quarters, quarters)
    assert fronts(LANE * np.uint64(32), 16, arch) == (2 * quarters, quarters)


def test_parts_that_repeat_addresses_share_a_wavefront():
    pairs = LANE // np.uint64(2)
    assert fronts(pairs * np.uint64(8), 8, 80) == (1, 1)  # 16 doubles, neighbours equal: 32 words, once
    assert fronts(pairs * np.uint64(8), 8, 20) == (2, 2)  # 2.x does not merge
    assert fronts(LANE * np.uint64(0), 8, 80) == (1, 1)
    assert fronts(LANE * np.uint64(0), 16, 80) == (2, 2)  # quarters merge within their half only
    by_two = LANE // np.uint64(4) * np.uint64(2) + LANE % np.uint64(2)
    assert fronts(by_two * np.uint64(8), 8, 80) == (1, 1)  # equal at distance 2
    by_four = LANE // np.uint64(8) * np.uint64(4) + LANE % np.uint64(4)
    assert fronts(by_four * np.uint64(8), 8, 80) == (2, 2)  # equal at distance 4: no


def test_idle_parts_cost_nothing():
    first_half = (np.arange(32) < 16)[None]
    assert fronts(LANE * np.uint64(8), 8, 80, active=first_half) == (1, 1)
    first_8 = (np.arange(32) < 8)[None]
    assert fronts(LANE * np.uint64(16), 16, 80, active=first_8) == (1, 1)  # one 8 x 8 matrix of 16-bit words
    assert fronts(LANE, 4, 80, active=np.zeros((1, 32), bool)) == (0, 0)


@pytest.mark.parametrize(
    "addresses, width, expected",
    [
        (LANE * np.uint64(4), 4, (2, 2)),  # 16 banks per half-warp
        (LANE * np.uint64(8), 4, (4, 2)),  # stride 2: two lanes per bank
        (LANE * np.uint64(12), 4, (2, 2)),  # odd strides are free
        (LANE * np.uint64(64), 4, (32, 2)),  # stride 16: all in one bank
        (LANE * np.uint64(0), 4, (2, 2)),  # broadcast
        # two words of bank 0, 8 lanes each: a step for each broadcast word
        (LANE % np.uint64(2) * np.uint64(64), 4, (4, 2)),
        # words 0 and 1, 8 lanes each: word 0 for its 8 lanes with one lane of bank 1, then word 1's other 7
        (LANE % np.uint64(2) * np.uint64(4), 4, (4, 2)),
        # bytes: 4 words, 4 lanes each; one word goes whole, the others lose a lane per step: 4 steps
        (LANE % np.uint64(16), 1, (8, 2)),
        (LANE * np.uint64(8), 8, (8, 4)),  # doubles are two requests, each of stride 2
        (LANE * np.uint64(16), 16, (32, 8)),  # four requests of stride 4
    ],
)
def test_half_warps_of_1_x(addresses, width, expected):
    assert fronts(addresses, width, 13) == expected
    assert fronts(addresses, width, 10) == expected


def test_modes_of_3_x():
    doubles, floats = LANE * np.uint64(8), LANE * np.uint64(4)
    assert fronts(doubles, 8, 35, 8) == (1, 1)  # 32 banks of 8 bytes
    assert fronts(doubles, 8, 35, 4) == (1, 1)  # words i and i + 32 share a row
    assert fronts(floats, 4, 35, 8) == (1, 1)
    assert fronts(floats * np.uint64(2), 4, 35, 8) == (1, 1)  # stride 2: 32 rows in 32 banks
    assert fronts(floats * np.uint64(2), 4, 35, 4) == (1, 1)  # stride 2: 64 words, one row of each bank
    assert fronts(floats * np.uint64(32), 4, 35, 4) == (16, 1)  # one bank, 32 words in 16 rows
    assert fronts(floats * np.uint64(32), 4, 35, 8) == (16, 1)  # 128 B = 16 banks apart: 2 banks of 16
    assert fronts(LANE * np.uint64(16), 16, 35, 8) == (2, 2)


def test_tag_bank_folds_all_digits():
    lines = np.array([0, 1, 2, 3, 4, 5, 0b110110, 4**20], np.uint64)
    # base-4 digits: 0; 1; 2; 3; 1,0 -> 1; 1,1 -> 0; 3,1,2 -> 3^1^2 = 0; a 1 in digit 20
    assert tag_bank(lines).tolist() == [0, 1, 2, 3, 1, 0, 0, 1]


def test_l1_stages_of_simple_loads():
    def stages(addresses, width):
        result = l1_wavefronts(np.asarray(addresses, np.uint64).reshape(1, 32), ALL, width)
        return int(result.data[0]), int(result.tag[0]), int(result.cycles[0])

    assert stages(LANE * np.uint64(4), 4) == (1, 1, 1)
    assert stages(LANE * np.uint64(0), 8) == (2, 1, 2)  # halves of a 64-bit load never merge here
    assert stages(LANE * np.uint64(16), 16) == (4, 1, 4)  # 4 lines in 4 tag banks
    # 16 lines 0..15: digits (a, b), bank a ^ b: each bank 4 times
    assert stages(LANE // np.uint64(2) * np.uint64(128), 4) == (16, 4, 16)


@pytest.mark.parametrize(
    "addresses, width, cycles",
    [
        (np.uint64(4) * LANE, 4, 2), (np.uint64(16) * LANE, 16, 8), (np.uint64(0) * LANE, 4, 1),
        (np.uint64(0) * LANE, 16, 4), (LANE // np.uint64(2) * np.uint64(16), 16, 4),
    ],
    ids=["words", "fours", "one word", "one four", "pairs of lanes"],
)
def test_a_path_of_64_bytes_hands_equal_words_over_once(addresses, width, cycles):
    """Lanes that read the same four words pass them once: 4 wavefronts instead of 512 bytes at 64 a cycle."""
    accesses = accesses_of(np.zeros(1, np.int32), np.zeros(1, np.int32), addresses[None], ALL)
    load = program({4: "LDG.E", 16: "LDG.E.128"}[width])
    cost = global_cost(accesses, load.instructions)
    assert int(cost.wavefronts[0] + cost.narrow[0]) == cycles
    assert float(narrow_cycles(0.0, 0.0)) == 0  # no lane asks


OFFSETS = (0, 4, 8, 12, 20, 16, 24, 28)  # elements; the eight loads of one pass of the loop


def benchmark_accesses(kind, kernel, argument):
    """Addresses of all loads of one pass: 32 warps x 8 loads, shape (256, 32); base at a 2 MiB page."""
    width = 4 if kind == "float" else 8
    thread = np.arange(1024)
    if kernel == "stride":
        element = thread % 64 * argument
    else:
        element = thread % argument % 64 + thread // argument % 32 * 4098 + 4098
    elements = element[None, :] + np.array(OFFSETS)[:, None]
    return (elements * width).reshape(-1, 32).astype(np.uint64), width


def counted():
    text = (Path(__file__).parent / "data" / "gpu_strides_a100.csv").read_text()
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def test_the_doubt_about_lines_is_how_far_the_counters_are():
    apart = []
    for row in counted():
        addr, width = benchmark_accesses(row["type"], row["kernel"], int(row["argument"]))
        tags = float(row["tag_wavefronts"])
        if tags > 1.05 * float(row["data_wavefronts"]):
            apart.append(l1_wavefronts(addr, np.ones(addr.shape, bool), width).tag.mean() / tags - 1.0)
    assert len(apart) == 110
    assert np.sqrt(np.mean(np.square(apart))) == pytest.approx(L1_LOOKUPS, abs=0.005)


def test_counters_of_an_a100():
    rows = counted()
    within = {"data_wavefronts": 0, "tag_wavefronts": 0, "cycles": 0}
    for row in rows:
        addr, width = benchmark_accesses(row["type"], row["kernel"], int(row["argument"]))
        found = l1_wavefronts(addr, np.ones(addr.shape, bool), width)
        predicted = {
            "data_wavefronts": found.data.mean(),
            "tag_wavefronts": found.tag.mean(),
            "cycles": found.cycles.mean(),
        }
        for name, value in predicted.items():
            within[name] += abs(value / float(row[name]) - 1) <= 0.1
    assert len(rows) == 144
    assert within["data_wavefronts"] == 144
    assert within["tag_wavefronts"] >= 141
    assert within["cycles"] >= 141


LANES = st.lists(st.integers(0, 1 << 12), min_size=32, max_size=32)
MASK = st.lists(st.booleans(), min_size=32, max_size=32)


@given(LANES, MASK, st.permutations(range(32)))
def test_invariants_of_32_bit_words(words, on, order):
    addr, active = np.array([words], np.uint64) * np.uint64(4), np.array([on])
    actual, ideal = fronts(addr, 4, 80, active=active)
    assert fronts(addr[:, order], 4, 80, active=active[:, order]) == (actual, ideal)
    distinct = len({w for w, a in zip(words, on, strict=True) if a})
    assert math.ceil(distinct / 32) <= actual <= distinct
    assert ideal == bool(distinct)
    old, _ = fronts(addr, 4, 13, active=active)
    assert actual <= old <= 32


@given(LANES, MASK, st.sampled_from([8, 16]), st.sampled_from([13, 20, 35, 80]))
def test_conflicts_only_add(words, on, width, arch):
    addr, active = np.array([words], np.uint64) * np.uint64(width), np.array([on])
    actual, ideal = fronts(addr, width, arch, active=active)
    assert ideal <= actual <= 64


@pytest.mark.parametrize("arch", [75, 90])
@pytest.mark.parametrize("width", [4, 8])
def test_lanes_of_atomics_on_one_word_follow_one_another(arch, width):
    """As many wavefronts as lanes in the fullest bank, or as a load of the same addresses has, if these are more."""
    random = np.random.default_rng(5)
    addresses = random.integers(0, 40, (400, 32)).astype(np.uint64) * np.uint64(width)
    active = random.random((400, 32)) < 0.7
    lanes = [np.bincount(row[on] // 4 % 32, minlength=32).max() for row, on in zip(addresses, active, strict=True)]
    found, plain = atomic_wavefronts(addresses, active, width, arch), wavefronts(addresses, active, width, arch)
    assert found.actual.tolist() == np.maximum(lanes, plain.actual).tolist()
    assert found.ideal.tolist() == plain.ideal.tolist()
