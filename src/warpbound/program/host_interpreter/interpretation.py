"""An interpretation of host code: the budget, launches as they are met, branches that are tried for their launches."""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from warpbound.program.host_interpreter.source_model import FunctionSource, SourceModel
from warpbound.program.host_interpreter.state import Host, OutOfBudget, ProgramEnds
from warpbound.program.host_interpreter.syntax import descendants, text_of
from warpbound.program.host_interpreter.values import Cell
from warpbound.quick_dataclasses import dataclass

STATEMENTS = 60_000  # statements that are executed from one starting point
PATIENCE_S = 30.0  # of one thread's processor time, for a file with all its starting points
BETWEEN_LOOKS = 64  # statements, at the clock
LAUNCH_CALLS = frozenset({
    "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC",
})  # fmt: skip


@dataclass(frozen=True)
class Site:
    """A place in the source that launches a kernel. key : its syntax node, and that of the macro around it."""

    key: tuple[int, int]
    file: str
    line: int
    function: str
    form: str  # "<<<>>>" or the name of the API function
    kernel: str
    grid: str
    block: str
    smem: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Observation:
    """A launch found by the interpretation. is_reached : whether the program reaches it without arguments."""

    kernel: Any
    grid: Any
    block: Any
    smem: Any
    arguments: tuple[Any, ...]
    is_reached: bool


class Interpretation(Host):
    """The state of the host code, with the records of the search for launches."""

    def __init__(self, model: SourceModel, words: Sequence[str], device: Mapping[str, int]) -> None:
        """words : arguments of the program. device : fields of cudaDeviceProp that are known."""
        super().__init__(model)
        self.words = tuple(words)
        self.device = device
        self.passes: dict[int, int] = {}  # of loops, by node
        self.launches: dict[Site, list[Observation]] = {}
        self.symbols: dict[str, str] = {}  # __constant__ and __device__ variables that the host writes: text
        self.is_exploring = False
        self._left = STATEMENTS
        self._ends_s = time.thread_time() + PATIENCE_S
        self._below: dict[int, frozenset[int]] = {}  # launches below a node, by their nodes
        self._in_function = _launches_by_function(model)

    @abstractmethod
    def constructed(self, kind: str, arguments: list[Any]) -> Any:
        """A variable of a type made of constructor arguments."""

    @abstractmethod
    def place_of(self, node: Any) -> Cell | None:
        """The variable that an expression names."""

    @abstractmethod
    def line_of(self, node: Any) -> int:
        """The line of a node, or of the macro that it comes from."""

    @abstractmethod
    def observed(self, kernel: Any, sizes: Sequence[Any], arguments: Sequence[Any]) -> Observation:
        """A launch as it is now."""

    @abstractmethod
    def enumerate(self, node: Any) -> None:
        """Declare the constants of an enum."""

    def spend(self) -> None:
        """Count a statement. Raises OutOfBudget."""
        self._left -= 1
        if self._left < 0 or self._left % BETWEEN_LOOKS == 0 and self.is_out_of_time():
            raise OutOfBudget

    def is_out_of_time(self) -> bool:
        """Whether the file has taken all its time, so that no other starting point is tried."""
        return time.thread_time() > self._ends_s

    def refill(self) -> None:
        """Begin a new budget, for another starting point."""
        self._left = STATEMENTS
        self.passes.clear()

    def unmet_below(self, node: Any) -> bool:
        """Whether a launch below the node, or in a function that is called there, was not found yet."""
        if node.id not in self._below:
            own, names = _launches_and_calls(node)
            self._below[node.id] = own.union(*(self._in_function.get(name, frozenset()) for name in names))
        return bool(self._below[node.id] - {site.key[0] for site in self.launches})

    def launches_in(self, name: str) -> bool:
        """Whether a function of that name launches kernels, itself or through others."""
        return bool(self._in_function.get(name))

    def explore(self, node: Any, run: Callable[[], str]) -> None:
        """Execute what the program does not reach without arguments, for its launches alone."""
        if node is None or not self.unmet_below(node):
            return
        with self._exploring(), self.tried():
            try:
                run()
            except ProgramEnds:
                return

    @contextmanager
    def _exploring(self) -> Iterator[None]:
        before, self.is_exploring = self.is_exploring, True
        try:
            yield
        finally:
            self.is_exploring = before

    def unmet_roots(self) -> Iterator[FunctionSource]:
        """Host functions with launches that were not found yet; those that no other function calls come first."""
        sources = [source for many in self.model.functions.values() for source in many if source.body is not None]
        hosts = [source for source in sources if not source.is_kernel and not _is_device(source)]
        callees = {
            callee(call) for source in hosts for call in descendants(source.body, frozenset({"call_expression"}))
        }
        for source in sorted(hosts, key=lambda source: source.name in callees):
            if self.unmet_below(source.body):
                yield source


def _launches_by_function(model: SourceModel) -> dict[str, frozenset[int]]:
    """The nodes of the launches that host functions of each name do, themselves or through others."""
    own: dict[str, frozenset[int]] = {}
    calls: dict[str, frozenset[str]] = {}
    for name, sources in model.functions.items():
        pairs = [
            _launches_and_calls(source.body) for source in sources if source.body is not None and not source.is_kernel
        ]
        own[name] = frozenset().union(*(launches for launches, _ in pairs))
        calls[name] = frozenset().union(*(names for _, names in pairs)) & model.functions.keys()
    while True:
        wider = {name: launches.union(*(own.get(other, frozenset()) for other in calls[name]))
                 for name, launches in own.items()}  # fmt: skip
        if wider == own:
            return own
        own = wider


def _launches_and_calls(node: Any) -> tuple[frozenset[int], frozenset[str]]:
    """The nodes of launches below a node, and the names that are called there."""
    calls = [(call, callee(call)) for call in descendants(node, frozenset({"call_expression"}))]
    return frozenset(call.id for call, _ in calls if is_launch(call)), frozenset(name for _, name in calls)


def _is_device(source: FunctionSource) -> bool:
    head = text_of(source.node).partition("{")[0]
    return "__device__" in head and "__host__" not in head


def is_launch(call: Any) -> bool:
    """Whether a call expression launches a kernel."""
    return any(child.type == "kernel_call_syntax" for child in call.children) or callee(call) in LAUNCH_CALLS


def callee(call: Any) -> str:
    """The plain name of the function that a call expression calls."""
    function = call.child_by_field_name("function")
    if function is None:
        return ""
    if function.type == "field_expression":
        function = function.child_by_field_name("field")
    return text_of(function).partition("<")[0].rpartition("::")[2].strip()
