"""Every GPU that the contract names: its page, its occupancy, and an answer or a reason for a kernel."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from support.paths import ROOT
from warpbound.cli import main
from warpbound.machine import gpu, listed

SAXPY = str(ROOT / "examples" / "saxpy.cu")
CONTRACT = (  # noqa: SIM905
    "8800gtx fx5600 8800gt gtx280 c2050 gtx480 gtx570 gtx680 k20c k40 gtx750ti m2200 gtx980 gtx1080 p100 v100-pcie "
    "v100-sxm2 t4 rtx-2080-ti a100-pcie-40gb a100-sxm-40gb a100-sxm-80gb a40 rtx-3060-ti rtx-3080 rtx-3090 "
    "rtx-a4000 rtx-a6000 l4 l40 l40s rtx-4090 h100-pcie h100-sxm h200 gh200 b200 rtx-5090 rtx-pro-6000 "
    "rtx-3070 rtx-3060-laptop a10g gtx-1660-super rtx-5060-ti"
).split()


def said(*words: str) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, words)
    return done.exit_code, done.stdout


def answered(*words: str) -> Any:
    code, text = said(*words, "--format", "json")
    assert code == 0
    return json.loads(text)


@pytest.mark.parametrize("key", CONTRACT)
def test_every_name_has_its_page_and_its_occupancy(key: str) -> None:
    page = answered("gpus", key)
    assert page["name"] == key
    assert all(value["source"] and value["unit"] and value["how"] for value in page["parameters"].values())
    assert answered("occupancy", "--gpu", key, "--block", "128", "--registers", "16")["blocks_per_sm"] > 0


@pytest.fixture(scope="module")
def everywhere() -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = answered("analyze", SAXPY, "--gpu", "all")["results"]
    return results


@pytest.mark.cuda
def test_a_kernel_is_answered_or_refused_with_a_reason_on_every_board(everywhere: list[dict[str, Any]]) -> None:
    assert {entry["gpu"] for entry in everywhere} == set(CONTRACT)
    for entry in everywhere:
        if gpu(entry["gpu"]).arch < 60:
            assert "compute capability" in entry["error"]["reason"]
            assert "listing" in entry["error"]["hint"]
        else:
            assert entry["bottleneck"]
            assert entry["latency"]["cycles"] > 0


@pytest.mark.cuda
def test_stand_in_code_is_marked(everywhere: list[dict[str, Any]]) -> None:
    proxies = {entry["gpu"] for entry in everywhere if "error" not in entry and entry["confidence"]["proxy_isa"]}
    assert proxies == {board.key for board in listed("all") if 60 <= board.arch <= 70}
    code, text = said("analyze", SAXPY, "--gpu", "v100-pcie,t4")
    assert code == 0
    assert re.search(r"v100-pcie ~", text)
    assert re.search(r"t4 +-", text)
    assert "~ analyzed with code of sm_75" in " ".join(text.split())


@pytest.mark.cuda
def test_the_board_of_the_page_answers(tmp_path: Path) -> None:
    """docs/add-a-gpu.md followed to its end: a kernel analysed on a machine that is not listed."""
    page = (ROOT / "docs" / "add-a-gpu.md").read_text()
    (block,) = re.findall(r"```toml\n(name = .*?)```", page, re.S)
    (tmp_path / "l20.toml").write_text(block)
    file = str(tmp_path / "l20.toml")
    launch = str(ROOT / "examples" / "saxpy.toml")
    (here,) = answered("analyze", SAXPY, "--gpu", file, "--launch", launch)["results"]
    (there,) = answered("analyze", SAXPY, "--gpu", "l40", "--launch", launch)["results"]
    assert here["bottleneck"] == there["bottleneck"] == "dram"
    assert here["time_s"] == pytest.approx(there["time_s"], rel=0.05)  # the same chip, memory and pins
    assert any("NVIDIA L20" in note for note in here["confidence"]["assumed"])
