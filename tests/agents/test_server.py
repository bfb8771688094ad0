"""The server through a client of the protocol, in process and over standard input and output."""

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("mcp")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from support.mcp_client import asked

pytestmark = pytest.mark.cuda

SAXPY = """
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
N = 1 << 16
QUESTION = {
    "source": SAXPY, "gpu": "h200", "grid": [N // 256], "block": [256],
    "args": {"n": N, "a": 2.0, "x": f"f32[{N}]:rand", "y": f"f32[{N}]:rand"},
}  # fmt: skip
STRIDED = {**QUESTION, "source": SAXPY.replace("x[i]", "x[i * 9 % n]")}


def test_a_session_of_an_agent():
    calls = [
        ("compile", {"question": QUESTION}),
        ("analyze", {"question": QUESTION}),
        ("what_if", {"question": QUESTION}),
        ("compare", {"before": STRIDED, "after": QUESTION}),
        ("run_and_check", {"question": QUESTION, "references": {"y": "np.float32(a) * x + y", "x": "x + 1"}}),
        ("check_claim", {"gpu": "rtx-4090", "rate": 3530, "unit": "GB/s", "question": {**QUESTION, "gpu": "rtx-4090"}}),
    ]
    compiled, answer, changes, comparison, checks, claim = asked(*calls)
    assert compiled["kernels"][0]["parameters"] == ["n", "a", "x", "y"]
    assert answer["time_us"] > 0
    assert answer["interval_us"][0] <= answer["time_us"] <= answer["interval_us"][1]
    assert answer["next_step"] == changes["changes"][0]
    assert comparison["gain"] > 1
    assert comparison["decided"]
    assert comparison["after"]["time_us"] == answer["time_us"]
    right, wrong = checks["arrays"]
    assert (right["array"], right["right"], right["wrong"]) == ("y", True, 0)
    assert (wrong["array"], wrong["right"], wrong["wrong"]) == ("x", False, N)
    assert wrong["worst"]["reference"] - wrong["worst"]["kernel"] == pytest.approx(1)
    assert claim["possible"] is False
    assert "not possible; by this kernel at most" in claim["reason"]
    assert claim["board_bound"] == pytest.approx(1008, rel=0.01)


def test_tunings_are_ranked(tmp_path):
    file = tmp_path / "saxpy.cu"
    file.write_text(SAXPY.replace("blockDim.x", "THREADS"))
    question = {**QUESTION, "source": str(file)}
    space = {"macros": {"THREADS": [32, 256]}, "grid": f"{N}/THREADS", "block": "THREADS"}
    (answer,) = asked(("rank", {"question": question, "space": space}))
    times = [tuning["time_us"] for tuning in answer["tunings"]]
    assert times == sorted(times)
    assert {tuning["macros"]["THREADS"] for tuning in answer["tunings"]} == {"32", "256"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("lts__t_sectors_op_read.sum", "counter"),
        ("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "stall reason"),
        ("dram", "resource"),
        ("dram_latency", "parameter of a board"),
    ],
)
def test_names_are_explained(name, kind):
    (answer,) = asked(("explain_counter", {"name": name}))
    assert answer["kind"] == kind
    assert len(answer["meaning"]) > 5


def test_mistakes_are_one_sentence():
    calls = [
        ("analyze", {"question": {**QUESTION, "gpu": "h2000"}}),
        ("analyze", {"question": {**QUESTION, "block": []}}),
        ("explain_counter", {"name": "lts__t_sectors_op_reed.sum"}),
        ("run_and_check", {"question": QUESTION, "references": {"z": "x"}}),
        ("check_claim", {"gpu": "h200", "rate": 1.0, "unit": "apples"}),
    ]
    answers = asked(*calls)
    expected = ("h2000", "needs grid and block", "Did you mean", "no array 'z'", "not a unit")
    for text, words in zip(answers, expected, strict=True):
        assert words in text
        assert "Traceback" not in text


def test_what_takes_too_long_is_ended_and_the_next_answer_comes():
    endless = SAXPY.replace("if (i < n)", "for (int k = 0; k < 100000000; k++)\n        if (i < n)")
    calls = [("run_and_check", {"question": {**QUESTION, "source": endless}, "references": {"y": "y"}})]
    (text,) = asked(*calls, limit_s=3.0)
    assert "within 3 s" in text


@pytest.mark.broad
def test_the_command_answers_over_standard_input_and_output():
    async def session():
        command = StdioServerParameters(command=sys.executable, args=["-m", "warpbound", "mcp"], env=dict(os.environ))
        async with Client(stdio_client(command)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            result = await client.call_tool("explain_counter", {"name": "dram"})
            return tools, result.structured_content

    with ThreadPoolExecutor(1) as apart:
        tools, answer = apart.submit(asyncio.run, session()).result()
    assert set(tools) == {
        "analyze", "compile", "compare", "what_if", "rank", "explain_counter", "run_and_check", "check_claim",
        "try_changes",
    }  # fmt: skip
    assert all(tool.output_schema and tool.description for tool in tools.values())
    assert answer["kind"] == "resource"
