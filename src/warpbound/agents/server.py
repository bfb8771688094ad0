"""The server of the Model Context Protocol: `warpbound mcp`, over standard input and output.

Source   SDK `mcp` 2.3 (extra `agents`): tools are functions with typed arguments; a TypedDict is structured content.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from warpbound.agents import tasks
from warpbound.agents.claims import Verdict
from warpbound.agents.explanations import Explanation, explain
from warpbound.agents.questions import Question
from warpbound.agents.result_checks import DEFAULT_TOLERANCE, Checked
from warpbound.agents.short_answers import Change, Short
from warpbound.agents.tried_changes import TriedChanges, try_changes
from warpbound.errors import MissingTool, WarpboundError, install
from warpbound.limited_process import LimitedProcess
from warpbound.quick_dataclasses import dataclass

if TYPE_CHECKING:
    from mcp.server import MCPServer

T = TypeVar("T")

INSTRUCTIONS = """warpbound predicts the time of CUDA kernels from their source, without a GPU.
Ask `analyze` first: it returns the time with its interval, what binds, and the next step with its expected gain.
Ask `try_changes` for changes that are compiled, executed to equal results and printed as differences.
Change the kernel, ask `compare`; ask `run_and_check` before you trust a change.
`source` is a path or CUDA C++ text. `args` maps parameter names to numbers or text such as "f32[4096,4096]:randn".
Times are predictions: a gain is decided only where `decided` is true."""
TIME_LIMIT_S = 60.0
TRYING = 0.6  # share of the limit after which no further change is begun


@dataclass(frozen=True)
class Kernels:
    kernels: list[tasks.Kernel]


@dataclass(frozen=True)
class Changes:
    changes: list[Change]


@dataclass(frozen=True)
class Ranking:
    tunings: list[tasks.Ranked]


@dataclass(frozen=True)
class Checks:
    arrays: list[Checked]


class Worker:
    """The process that answers; its refusal becomes an error of the tool, in one sentence."""

    def __init__(self, limit_s: float) -> None:
        self._process = LimitedProcess(limit_s)

    async def answer(self, task: Callable[..., T], *arguments: object) -> T:
        """The task's value. Raises ToolError for what it refuses and for what takes too long."""
        from mcp.server.mcpserver.exceptions import ToolError

        try:
            return await self._process.answer(task, *arguments)
        except WarpboundError as problem:
            raise ToolError(str(problem)) from None


def server(limit_s: float = TIME_LIMIT_S) -> Any:
    """The server with its tools. limit_s : of one answer. Raises MissingTool where the SDK is not installed."""
    try:
        from mcp.server import MCPServer
    except ImportError as missing:
        raise MissingTool("The server needs the SDK of the Model Context Protocol.", install("agents")) from missing

    tools = MCPServer("warpbound", instructions=INSTRUCTIONS)
    worker = Worker(limit_s)

    @tools.tool()
    async def analyze(question: Question) -> Short:
        """Time of a launch, what binds, the next step with its gain. Without grid and block: the code alone."""
        return await worker.answer(tasks.analyze, question)

    @tools.tool()
    async def compile(question: Question) -> Kernels:  # noqa: A001  (the tool's name)
        """Registers, spills, shared memory, instructions and parameters of every kernel of a source."""
        return Kernels(kernels=await worker.answer(tasks.compile_kernels, question))

    @tools.tool()
    async def compare(before: Question, after: Question) -> tasks.Comparison:
        """Two versions, or one on two boards: the gain, and whether it is larger than the error of the predictions."""
        return await worker.answer(tasks.compare, before, after)

    @tools.tool()
    async def explain_counter(name: str) -> Explanation:
        """What a counter (ours or Nsight Compute's), a stall reason, a resource or a parameter of a board is."""
        return await worker.answer(explain, name)

    @tools.tool()
    async def run_and_check(
        question: Question, references: dict[str, str], tolerance: float = DEFAULT_TOLERANCE
    ) -> Checks:
        """Execute the launch without a GPU; compare arrays with NumPy expressions of the arguments before it, such as
        {"y": "a * x + y"}."""
        return Checks(arrays=await worker.answer(tasks.check_values, question, references, tolerance))

    @tools.tool()
    async def check_claim(
        gpu: str, rate: float, unit: str, arithmetic: str = "fp32", question: Question | None = None
    ) -> Verdict:
        """Whether a rate (GB/s, TB/s, GFLOP/s, TFLOP/s) can be reached on a board, and by this kernel."""
        return await worker.answer(tasks.check_claim, gpu, rate, unit, arithmetic, question)

    _add_changes(tools, worker, limit_s)
    return tools


def _add_changes(tools: "MCPServer[Any]", worker: Worker, limit_s: float) -> None:
    """The tools that change the kernel, its macros or the board."""

    @tools.tool()
    async def what_if(question: Question) -> Changes:
        """Every change that the model can try, with its speed-up. `parameters` of the question change the board."""
        return Changes(changes=await worker.answer(tasks.what_if, question))

    @tools.tool(name="try_changes")
    async def tried(question: Question, top: int = 10) -> TriedChanges:
        """Variants of the kernel (padding, exchanged axes, hoisting, wider accesses, unrolling, options, block sizes),
        compiled and predicted; the faster ones executed beside the original. Each with gain, interval, cost, unified
        diff, and whether its results are equal. A launch with all arguments is needed."""
        return await worker.answer(try_changes, question, top, TRYING * limit_s)

    @tools.tool()
    async def rank(question: Question, space: tasks.Space, top: int = 10) -> Ranking:
        """The fastest combinations of macros, whose grid and block are expressions of them."""
        return Ranking(tunings=await worker.answer(tasks.rank_tunings, question, space, top))
