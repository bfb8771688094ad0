"""Changes tried for an agent, through a client of the protocol: structured fields, and differences that apply."""

import subprocess
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from support.mcp_client import asked
from warpbound.agents.tried_changes import Deadline

pytestmark = pytest.mark.cuda

COLUMNS = """__global__ void columns(float *out, const float *in, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * n + y] = 2.0f * in[x * n + y];
}
"""
N = 256
QUESTION = {
    "source": COLUMNS, "gpu": "h200", "grid": [N // 32, N // 8], "block": [32, 8],
    "args": {"out": f"f32[{N * N}]", "in": f"f32[{N * N}]:rand", "n": N},
}  # fmt: skip


@pytest.mark.broad
def test_the_first_change_applies_and_has_equal_results(tmp_path: Path) -> None:
    answer, analyzed, refused = asked(
        ("try_changes", {"question": QUESTION, "top": 20}),
        ("analyze", {"question": QUESTION}),
        ("try_changes", {"question": {**QUESTION, "grid": [], "block": []}}),
    )
    assert answer["time_us"] == analyzed["time_us"]
    assert "Trying changes needs a launch" in refused
    first = answer["changes"][0]
    assert (first["mechanism"], first["results"], first["error"]) == ("thread axes", "equal", None)
    assert first["gain"] == pytest.approx(answer["time_us"] / first["time_us"], rel=1e-3)
    assert first["gain_interval"][0] < first["gain"] < first["gain_interval"][1]
    assert first["cost"]["registers"] > 0
    assert first["page"].endswith("#thread-axes")
    assert first["option"] == "--block 8,32,1"
    file = tmp_path / "kernel.cu"
    file.write_text(COLUMNS)
    subprocess.run(["patch", "-p0"], input=first["diff"], text=True, cwd=tmp_path, check=True, capture_output=True)
    (again,) = asked(("analyze", {"question": {**QUESTION, "source": file.read_text(), "block": [8, 32]}}))
    assert again["time_us"] == pytest.approx(first["time_us"], rel=1e-6)


def test_no_change_is_begun_after_the_time() -> None:
    over, open_ended = Deadline(-1.0), Deadline(1000.0)
    steps = [("padding", "first"), ("unrolling", "second")]
    assert list(over(steps)) == []
    assert over.left == ["padding", "unrolling"]
    assert list(open_ended(steps)) == ["first", "second"]
