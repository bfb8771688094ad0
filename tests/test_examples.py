"""The examples through the whole road: every architecture compiles them, no opcode is unknown, launches answered."""

from pathlib import Path

import jsonschema
import pytest

import warpbound
from support.breadth import some_of
from support.paths import ROOT
from warpbound.analysis.sweeps.curve import curve
from warpbound.isa.opcodes import opcode_facts
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.report.document import document, schema

SOURCES = sorted((ROOT / "examples").glob("*.cu"))
ARCHITECTURES = some_of(("sm_90", "sm_120", "sm_75", "sm_80", "sm_86", "sm_89", "sm_100"), 2, 1)
QUICK = ("saxpy", "reduction", "transpose_naive", "transpose_tiled", "mandelbrot", "histogram")
BINDS = {  # what may bind on an H200; saxpy with every slot filled stands between latency and DRAM
    "saxpy": {"latency", "dram"},
    "transpose_naive": {"l1", "l2"},
    "transpose_tiled": {"latency", "dram"},
    "mandelbrot": {"issue"},
    "histogram": {"shared"},
}

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]


def program(source: Path, gpu: str) -> warpbound.Program:
    """The kernel that the launch file beside the source is about, with its defines."""
    asked = warpbound.launch(source.with_suffix(".toml"))
    options = Options(defines=tuple(asked.defines.items()), include=asked.include, extra=asked.options)
    (found,) = programs(source, warpbound.gpu(gpu), asked.kernel, options)
    return found


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_no_opcode_is_unknown_on_any_architecture(source: Path, arch: str) -> None:
    unknown = {
        instruction.mnemonic
        for instruction in program(source, arch).instructions
        if not opcode_facts(instruction.opcode, instruction.modifiers, warpbound.gpu(arch).arch).is_known
    }
    assert not unknown


BROAD = ("a100-sxm-80gb", "rtx-4090")


@pytest.mark.parametrize("gpu", ["v100-pcie", "h200", *(pytest.param(gpu, marks=pytest.mark.broad) for gpu in BROAD)])
@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_static_answers_fit_the_schema_and_guess_nothing(source: Path, gpu: str) -> None:
    entry = warpbound.analyze(program(source, gpu), gpu)
    jsonschema.validate(document("test", [entry]), schema("analyze"))
    assert entry["mode"] == "static"
    assert entry["time_s"] is None
    assert entry["instructions"]["warp_instructions"] is None
    assert sum(entry["latency"]["parts"].values()) == pytest.approx(entry["latency"]["cycles"])
    assert entry["confidence"]["proxy_isa"] == ("sm_75" if gpu == "v100-pcie" else None)


@pytest.mark.parametrize("name", QUICK)
def test_a_launch_is_executed_and_timed(name: str) -> None:
    source = ROOT / "examples" / f"{name}.cu"
    entry = warpbound.analyze(program(source, "h200"), "h200", warpbound.launch(source.with_suffix(".toml")))
    jsonschema.validate(document("test", [entry]), schema("analyze"))
    assert entry["mode"] == "dynamic"
    assert entry["bottleneck"] in BINDS.get(name, {entry["bottleneck"]})
    low, high = entry["time_interval_s"]
    assert low <= entry["time_s"] <= high
    assert entry["time_s"] > entry["models"]["roofline_2009"]["time_s"]
    assert entry["time_s"] >= entry["models"]["volkov_2016"]["time_s"] * 0.98
    assert 0.3 < max(bound["utilization"] for bound in entry["bounds"]) <= 1.0
    assert entry["bounds"][0]["resource"] == entry["bottleneck"]


def test_counts_of_saxpy_by_hand() -> None:
    # 2^24 elements, one a thread: 524288 warps, each 2 loads and 1 store of 128 bytes (4 sectors), one FMA a lane.
    source = ROOT / "examples" / "saxpy.cu"
    entry = warpbound.analyze(program(source, "h200"), "h200", warpbound.launch(source.with_suffix(".toml")))
    memory = entry["memory"]
    assert memory["global_load_requests"] == pytest.approx(2 * 524288)
    assert memory["global_store_requests"] == pytest.approx(524288)
    assert memory["l1_sectors_load"] == pytest.approx(8 * 524288)
    assert memory["dram_bytes_written"] == pytest.approx(4 * 2**24, rel=0.01)
    assert entry["flop"]["fp32"] == pytest.approx(2 * 2**24)


def test_more_warps_never_slow_the_curve_down() -> None:
    source = ROOT / "examples" / "saxpy.cu"
    found = curve(program(source, "h200"), "h200", warpbound.launch(source.with_suffix(".toml")))
    assert found.warps_per_sm == [8, 16, 24, 32, 40, 48, 56, 64]
    assert found.time_s == sorted(found.time_s, reverse=True)
    assert found.bottleneck[0] == "latency"
    gains = [rate / warps for rate, warps in zip(found.warp_throughput_per_s, found.warps_per_sm, strict=True)]
    assert gains == sorted(gains, reverse=True)  # each further warp buys less: saturation is gradual
    assert found.gbytes_per_s[-1] < warpbound.gpu("h200").value("dram_bandwidth") / 1e9
