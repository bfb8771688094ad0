"""Hints and findings on source lines."""

import pytest

from warpbound.editor.annotations import Answered, findings, hints, kernel_line
from warpbound.editor.server import moved
from warpbound.errors import InputError
from warpbound.result.refusal import refusal

pytestmark = pytest.mark.cuda

SOURCE = """// warpbound: --gpu h200
__global__ void strided(float *y, const float *x, int n) {
    __shared__ float tile[32][32];
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    tile[threadIdx.x % 32][threadIdx.x / 32] = x[i % n];
    __syncthreads();
    y[i % n] = tile[threadIdx.x % 32][threadIdx.x / 32 + 1];
}
"""
N = 1 << 18


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    import warpbound
    from warpbound.analysis.answer import analyze_kernel

    file = tmp_path_factory.mktemp("source") / "strided.cu"
    file.write_text(SOURCE)
    program = warpbound.compile(file, "h200")
    args = {"y": f"f32[{N}]:zeros", "x": f"f32[{N}]:rand", "n": N}
    launch = warpbound.launch(grid=128, block=256, args=args)
    return [Answered(1, analyze_kernel(program, "h200", launch))]


def test_lines_show_their_share_and_what_a_request_moves(answered):
    by_line = {hint.line: hint for hint in hints(answered, SOURCE)}
    assert "us, " in by_line[2].text
    assert by_line[2].text.endswith(" binds")
    assert by_line[5].text.startswith("long scoreboard ")
    assert "32 sectors per request" in by_line[5].text
    assert "32 wavefronts per request" in by_line[5].text
    assert "cycles of one warp alone" in by_line[5].details
    shares = [float(word) for hint in by_line.values() for word in hint.text.split() if word.isdigit()]
    assert max(shares) < 100


def test_shares_are_those_of_the_answer(answered):
    """The share of line 5 that waits for loads, from the lines of the answer."""
    entry = answered[0].entry
    row = next(row for row in entry.lines if row.line == 5)
    waited = sum(row.parts.get(level, 0.0) for level in ("l1", "l2", "dram"))
    share = 100 * waited / sum(row.cycles for row in entry.lines)
    (hint,) = (hint for hint in hints(answered, SOURCE) if hint.line == 5)
    assert hint.text.startswith(f"long scoreboard {share:.0f} %")


def test_wasteful_accesses_are_findings(answered):
    found = findings(answered, SOURCE)
    codes = {(finding.line, finding.code) for finding in found}
    assert codes == {(2, "bottleneck"), *((line, code) for line in (5, 7) for code in ("uncoalesced", "bank-conflict"))}
    (verdict,) = (finding for finding in found if finding.code == "bottleneck")
    assert verdict.line == 2
    assert "strided on h200: " in verdict.message
    assert "Best change" in verdict.message


def test_a_line_that_several_boards_share_names_them(answered):
    both = [answered[0], answered[0]]
    (hint,) = (hint for hint in hints(both, SOURCE) if hint.line == 2)
    assert hint.text.count("strided on h200: ") == 2


def test_errors_of_the_compiler_stand_on_their_lines():
    problem = InputError('k.cu does not compile: k.cu, line 2: y is.\n  k.cu(2): error: identifier "y" is undefined\n')
    (finding,) = findings([Answered(1, refusal(None, "h200", problem))], SOURCE)
    assert (finding.line, finding.severity, finding.message) == (2, "error", 'identifier "y" is undefined')


def test_what_has_no_answer_stands_on_the_comment_that_asks():
    (finding,) = findings([Answered(4, refusal(None, "", InputError("No such thing.", "Correct it.")))], SOURCE)
    assert (finding.line, finding.message) == (4, "No such thing. Correct it.")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("__global__ void f(int);\n\n__global__ void f(int n) {}", 3),
        ("template <class T>\n__global__\n__launch_bounds__(256)\nvoid f(T *x) {}", 4),
        ("__global__ void other() {}\nvoid f() {}", 0),
    ],
)
def test_the_line_of_a_kernel(text, line):
    assert kernel_line("f", text) == line


def test_lines_move_with_their_text():
    assert moved(["a", "b", "c"], ["new", "a", "c", "d"]) == {0: 1, 2: 2}
