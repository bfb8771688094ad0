"""The catalogue: what the loader refuses and how, what every shipped board must satisfy."""

import math
import re

import pytest

from support.paths import GPUS
from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import limits
from warpbound.machine import (
    HOW,
    PARAMETERS,
    UNITS,
    catalogue,
    clock,
    gpu,
    load,
    override,
)

H200 = (GPUS / "h200.toml").read_text()


def changed(before, after, text=H200):
    assert text.count(before) >= 1, before
    return text.replace(before, after, 1)


def without(parameter, text=H200):
    return re.sub(rf"\[parameters\.{parameter}\].*?\n\n", "", text, flags=re.DOTALL)


def line_of(text, *words):
    """Where the test itself finds the last of the words, each below the one before."""
    lines = text.splitlines()
    at = -1
    for word in words:
        at = next(n for n in range(at + 1, len(lines)) if lines[n].startswith(word))
    return at + 1


REFUSED = {  # id: (text, words that lead to the line or None, the sentence, the way out)
    "not TOML": (changed("[sources]", "[sources"), None, "is not TOML: ", "Correct that line"),
    "no name": (changed("name = ", "title = "), ("title",), "title is not a known key", "Known are name"),
    "no capability": (
        changed('compute_capability = "9.0"\n', ""),
        None,
        "has no compute_capability",
        "as text",
    ),
    "unknown capability": (
        changed('"9.0"', '"9.5"'),
        ("compute_capability",),
        "Compute capability '9.5' is not known",
        "9.0",
    ),
    "capability as a number": (
        changed('"9.0"', "9.0"), ("compute_capability",), "compute_capability is 9.0", "as text",
    ),
    "unknown parameter": (
        changed("[parameters.l2_latency]", "[parameters.l2_latncy]"),
        ("[parameters.l2_latncy]",),
        "parameters.l2_latncy is not a known key",
        "Did you mean 'l2_latency'?",
    ),
    "unknown key": (
        changed('unit = "1"', 'unti = "1"'),
        ("[parameters.sm_count]", "unti"),
        "parameters.sm_count.unti is not a known key",
        "mean 'unit'?",
    ),
    "unit outside the list": (
        changed('unit = "GB/s"', 'unit = "Gb/s"'),
        ("[parameters.dram_bandwidth]", "unit"),
        "dram_bandwidth has the unit 'Gb/s', not a known unit",
        "Convert the value to GB/s or TB/s",
    ),
    "unit of another parameter": (
        changed('unit = "MHz"', 'unit = "us"'),
        ("[parameters.boost_clock]", "unit"),
        "boost_clock has the unit 'us', not allowed here",
        "MHz or GHz or Hz",
    ),
    "unit is no text": (
        changed('unit = "1"', "unit = 1"),
        ("[parameters.sm_count]", "unit"),
        "sm_count.unit is 1",
        "as text",
    ),
    "no source": (
        changed('source = "hmc-tech"\n', ""),
        ("[parameters.sm_count]",),
        "sm_count has no source",
        "source = ",
    ),
    "source not listed": (
        changed('source = "hmc-tech"', 'source = "hmc"'),
        ("[parameters.sm_count]", "source"),
        "sm_count cites 'hmc', which is not in [sources]",
        "Add it there",
    ),
    "source of another claim not listed": (
        changed('{ value = 8192, source = "saulelectric"', '{ value = 8192, source = "saul"'),
        ("[parameters.dram_bus]", "others"),
        "dram_bus cites 'saul'",
        "Add it there",
    ),
    "malformed claim": (
        changed("{ value = 8192, source", "{ value = 8192, whence"),
        ("[parameters.dram_bus]", "others"),
        "dram_bus.others is malformed",
        "{ value = ..., source = ... }",
    ),
    "unknown how": (
        changed('how = "published"', 'how = "guessed"'),
        ("[parameters.sm_count]", "how"),
        "sm_count.how is 'guessed'",
        "vendor, measured, published, assumed",
    ),
    "assumed without a note": (
        changed('how = "published"\nnote = "grade: aggregator"', 'how = "assumed"'),
        ("[parameters.sm_count]", "how"),
        "sm_count is assumed but has no note",
        "Name the relative",
    ),
    "infinite": (
        changed("value = 132", "value = inf"),
        ("[parameters.sm_count]", "value"),
        "sm_count.value is inf",
        "finite number above zero",
    ),
    "not a number": (
        changed("value = 132", "value = nan"),
        ("[parameters.sm_count]", "value"),
        "value is nan",
        "above zero",
    ),
    "zero": (
        changed("value = 132", "value = 0"),
        ("[parameters.sm_count]", "value"),
        "value is 0",
        "above zero",
    ),
    "negative": (
        changed("value = 132", "value = -1"),
        ("[parameters.sm_count]", "value"),
        "value is -1",
        "above zero",
    ),
    "text for a number": (
        changed("value = 132", 'value = "132"'),
        ("[parameters.sm_count]", "value"),
        "value is '132'",
        "above zero",
    ),
    "truth for a number": (
        changed("value = 132", "value = true"),
        ("[parameters.sm_count]", "value"),
        "value is True",
        "above zero",
    ),
    "required parameter missing": (
        without("launch_cost"),
        None,
        "lacks the required parameter launch_cost (time of one empty kernel",
        "Add [parameters.launch_cost]",
    ),
}


@pytest.mark.parametrize("text, words, sentence, way_out", REFUSED.values(), ids=REFUSED)
def test_loader_refuses(text, words, sentence, way_out):
    with pytest.raises(InputError) as refusal:
        load(text, "h200", "mine.toml")
    assert sentence in refusal.value.reason
    assert way_out in refusal.value.hint
    assert refusal.value.reason.startswith("mine.toml")
    assert "\n" not in str(refusal.value)
    if words:
        assert refusal.value.reason.startswith(f"mine.toml:{line_of(text, *words)}: ")


def test_a_bare_value_is_refused():
    count = "[parameters.sm_count]"
    text = without("tdp", H200 + "\n").replace(count, f"[parameters]\ntdp = 700\n{count}")
    with pytest.raises(InputError, match=r"mine.toml:\d+: tdp is a value, not a table. Write .* .parameters.tdp."):
        load(text, "h200", "mine.toml")


def test_older_architectures_need_no_caches():
    text = changed('"9.0"', '"1.3"')
    for cache in ("l2_size", "l2_bandwidth", "l2_latency", "l1_latency", "l1_bandwidth"):
        text = without(cache, text)
    assert load(text, "old", "old.toml").board
    with pytest.raises(InputError, match="lacks the required parameter l2_size"):
        load(text.replace('"1.3"', '"2.0"'), "old", "old.toml")


# --- every shipped board --------------------------------------------------------------------------


def test_catalogue_lists_every_file():
    assert catalogue() == tuple(sorted(path.stem for path in GPUS.glob("*.toml")))
    assert {"v100-pcie", "a100-sxm-80gb", "h100-pcie", "h200", "rtx-4090"} <= set(catalogue())


@pytest.mark.parametrize("key", catalogue())
def test_board_is_complete_and_every_value_has_a_source(key):
    board = gpu(key)
    assert board.key == key
    assert board.board
    limits(board.compute_capability)
    for name, quantity in board.parameters.items():
        assert quantity.source.strip(), name
        assert quantity.how in HOW, name
        assert quantity.unit in PARAMETERS[name].units, name
        assert quantity.how != "assumed" or len(quantity.note) > 10, name
        assert all(claim.source.strip() for claim in quantity.others), name


@pytest.mark.parametrize("key", catalogue())
def test_every_listed_source_is_cited(key):
    text = (GPUS / f"{key}.toml").read_text()
    head, body = text.split("[sources]")
    listed, *_ = body.split("[parameters", 1)
    for source in re.findall(r"^([\w-]+) = ", listed, flags=re.MULTILINE):
        assert f'source = "{source}"' in text, source


@pytest.mark.parametrize("key", catalogue())
def test_board_is_consistent_with_itself(key):
    board = gpu(key)
    get = board.get
    pins = board.value("dram_bandwidth")
    if get("dram_bus") and get("dram_data_rate"):
        assert get("dram_bus") * get("dram_data_rate") / 8 == pytest.approx(pins, rel=0.01)
    assert 0.5 * pins < board.value("dram_achievable_bandwidth") <= pins
    assert (get("base_clock") or 0) <= board.value("boost_clock")
    assert board.value("sm_count") == int(board.value("sm_count"))
    levels = ("shared", "l1", "l2", "l2_far", "dram")
    known = [get(f"{level}_latency") for level in levels if get(f"{level}_latency")]
    assert known == sorted(known)
    on_chip = [get(name) for name in ("dram_bandwidth", "l2_bandwidth") if get(name)]
    if get("l1_bandwidth"):
        on_chip.append(get("l1_bandwidth") * board.value("sm_count") * board.value("boost_clock"))
    assert on_chip == sorted(on_chip)
    assert 100e-9 < board.value("dram_latency") / board.value("latency_clock") < 1000e-9
    assert 0.5e-6 < board.value("launch_cost") < 20e-6
    assert 50e-9 < board.value("block_start") < 1000e-9


# The vendor's printed dense peaks, TFLOP/s at the clock in MHz; recomputed from FMA/cycle/SM.
PEAKS = [
    ("v100-pcie", "tensor_fp16", 1370, 112),
    ("a100-sxm-80gb", "tensor_fp16", 1410, 312),
    ("a100-sxm-80gb", "tensor_tf32", 1410, 156),
    ("a100-sxm-80gb", "tensor_fp64", 1410, 19.5),
    ("h100-pcie", "tensor_bf16", 1619, 756),
    ("h200", "tensor_fp16", 1830, 989),
    ("h200", "tensor_fp8", 1830, 1979),
    ("rtx-4090", "tensor_fp16", 2520, 165.2),
    ("rtx-4090", "tensor_fp16_acc16", 2520, 330.3),
]


@pytest.mark.parametrize("key, parameter, megahertz, teraflops", PEAKS)
def test_tensor_rates_give_the_vendor_s_peaks(key, parameter, megahertz, teraflops):
    board = gpu(key)
    peak = 2 * board.value(parameter) * board.value("sm_count") * clock(board, megahertz)
    assert peak == pytest.approx(teraflops * 1e12, rel=0.005)


def test_launch_cost_of_the_a100_is_what_its_small_kernels_took():
    """16 bytes per element: 6015 elements at 36 GB/s on 256 threads per block in the raw data."""
    assert gpu("a100-sxm-80gb").value("launch_cost") == pytest.approx(16 * 6015 / 36e9, rel=0.02)


def test_parameter_table_is_closed():
    for name, parameter in PARAMETERS.items():
        assert parameter.units, name
        assert set(parameter.units) <= set(UNITS), name
        assert parameter.meaning, name
    assert all(math.isfinite(factor) and factor > 0 for factor in UNITS.values())
    used = {unit for parameter in PARAMETERS.values() for unit in parameter.units}
    assert set(UNITS) == used


# --- values ---------------------------------------------------------------------------------------


def test_values_come_in_base_units():
    h200 = gpu("h200")
    assert h200.value("dram_bandwidth") == 4.8e12
    assert h200.value("l2_size") == 50 * 2**20
    assert h200.value("boost_clock") == 1.98e9
    assert h200.value("block_start") == pytest.approx(115e-9)
    assert h200.value("launch_cost") == pytest.approx(2.52e-6)
    assert h200.value("dram_data_rate") == 6.25e9
    assert h200.parameters["dram_bandwidth"].value == 4800
    assert "dram_latency" in h200.assumed
    with pytest.raises(CommandError, match="'l2_latncy' is not known. Did you mean l2_latency"):
        h200.value("l2_latncy")
    with pytest.raises(CommandError, match="'%' is not known. Known are sm_count"):
        h200.get("%")


def test_override():
    h200 = gpu("h200")
    slower = override(h200, {"dram_bandwidth": 3000.0, "base_clock": 1000})
    assert slower.value("dram_bandwidth") == 3e12
    assert slower.value("base_clock") == 1e9
    quantity = slower.parameters["dram_bandwidth"]
    assert (quantity.source, quantity.how, quantity.unit) == ("command line", "assumed", "GB/s")
    assert quantity.others[0].value == 4800
    assert "dram_bandwidth" in slower.assumed
    assert h200.value("dram_bandwidth") == 4.8e12
    assert slower != h200
    with pytest.raises(CommandError, match="'dram_bandwith' is not known. Did you mean dram_bandwidth"):
        override(h200, {"dram_bandwith": 3000})
    for bad in (0, -1, math.nan, math.inf):
        with pytest.raises(CommandError, match="dram_bandwidth = .* is out of range. Give a positive number"):
            override(h200, {"dram_bandwidth": bad})


def test_a_faster_memory_carries_its_other_rates_along():
    a100 = gpu("a100-sxm-80gb")
    rates = ("dram_bandwidth", "dram_achievable_bandwidth", "dram_read_capacity", "dram_write_capacity")

    def ratios(settings):
        changed = override(a100, settings)
        return [pytest.approx(changed.value(name) / a100.value(name)) for name in rates]

    pins, best = (a100.parameters[name].value for name in rates[:2])
    assert ratios({"dram_bandwidth": pins / 2}) == [0.5, 0.5, 0.5, 0.5]
    assert ratios({"dram_achievable_bandwidth": best / 4}) == [1, 0.25, 0.25, 0.25]
    assert ratios({"dram_bandwidth": 2 * pins, "dram_achievable_bandwidth": 3 * best}) == [2, 3, 3, 3]
    assert ratios({"dram_data_rate": 2 * a100.parameters["dram_data_rate"].value}) == [2, 2, 2, 2]
    assert ratios({"dram_read_capacity": a100.parameters["dram_read_capacity"].value / 2}) == [1, 1, 0.5, 1]


def test_override_can_make_a_board_of_an_architecture():
    needed = {name: 100.0 for name, parameter in PARAMETERS.items() if parameter.required_from}
    assert override(gpu("sm_87"), needed).board


def test_clock():
    a100 = gpu("a100-sxm-80gb")
    assert clock(a100, "boost") == 1.41e9
    assert clock(a100, "base") == 1.275e9
    assert clock(a100, "sustained") == 1.41e9
    assert clock(override(a100, {"highest_clock": 1500}), "sustained") == 1.5e9
    assert clock(a100, 1095) == clock(a100, "1095") == 1.095e9
    with pytest.raises(CommandError, match="'fast' is not known. Give sustained, base, boost or a number of MHz"):
        clock(a100, "fast")
    for cannot_be in ("-5", "0", "inf", "1e+30"):
        with pytest.raises(CommandError, match=re.escape(f"A clock of {cannot_be} MHz is out of range")):
            clock(a100, cannot_be)
    with pytest.raises(InputError, match="NVIDIA H200 has no value for base_clock"):
        clock(gpu("h200"), "base")
