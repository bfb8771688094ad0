"""The subject of a view: a compiled kernel, a paper's workload, or sliders alone; on one GPU with the numbers set."""

from warpbound import machine
from warpbound.board_parameters import LARGEST
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.model_inputs.answers import LaunchFacts
from warpbound.model_inputs.partition_benchmarks import Benchmarks, shipped_boards
from warpbound.page.state import State
from warpbound.page.worker_messages import CampingRun
from warpbound.predict import active_sms
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures import Block
from warpbound.result.figures import FigureData
from warpbound.result.kernel import KernelResult
from warpbound.result.workload import WorkloadResult
from warpbound.workload import Workload

GPU = "gpu."  # what the names of a board's numbers begin with among the values of a State
ARGUMENTS = "launch.arg."  # and those of scalar arguments
TINY = 1e-30  # smallest number besides 0 that can be set, because sums leave 1e-13 over; LARGEST is the largest
PARTITION = "old."  # prefix of numbers of the board whose memory partitions are used if the chosen board has none
BARE_BLOCK = Block(threads=256, registers=32, shared_bytes=0)
WITH_PARTITIONS = "gtx280"  # used if the chosen board has no benchmarked partitions


@dataclass(frozen=True)
class Change:
    """A number set by hand. own : its value unless set. views : the views that it affects."""

    key: str
    label: str
    unit: str
    value: float
    own: float
    views: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """`L2 latency 300 cycle (273)`."""
        return f"{' '.join(filter(None, [self.label, f'{self.value:.6g}', self.unit]))} ({self.own:.6g})"


@dataclass(frozen=True)
class Subject:
    """facts, focus, entry : None without a known launch or known work. launch : the requested one.

    estimated : whether waits, residency or waves were scaled instead of analysed anew. imagined : whether numbers of
    the kernel are set by hand (see page.work_overrides). changes : numbers set by hand that the entry follows.
    notes : what is not followed while a slider moves. old : the board with memory partitions; camped : the launch on
    them, or why there is none; runs : its micro-benchmarks, None for those that are shipped; waits : whether they
    are being run; asked for by one view.
    """

    name: str
    gpu: Gpu
    block: Block
    facts: LaunchFacts | None = None
    focus: Workload | None = None
    entry: KernelResult | WorkloadResult | None = None
    fitting: int = 0
    launch: Launch | None = None
    estimated: bool = False
    overridden: bool = False
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    partition_board: Gpu | None = None
    camping_run: CampingRun | str = ""
    runs: Benchmarks | None = None
    waits: bool = False

    @property
    def compiled(self) -> bool:
        """Whether the subject is a compiled kernel."""
        return self.kernel is not None

    @property
    def kernel(self) -> KernelResult | None:
        """The answer for a compiled kernel."""
        return self.entry if isinstance(self.entry, KernelResult) else None

    @property
    def figures(self) -> FigureData | None:
        """The numbers behind the figures of a compiled kernel."""
        return (self.kernel.figures or None) if self.kernel else None

    @property
    def written(self) -> bool:
        """Whether it is a paper's workload."""
        return isinstance(self.entry, WorkloadResult)

    @property
    def static_shared(self) -> int:
        """Static shared memory of a block in bytes: all but the launch's dynamic part."""
        return self.block.shared_bytes - (self.launch.smem if self.launch else 0)


def refuse_impossible(state: State) -> None:
    """An address may hold any number: InputError for those that no machine or kernel has.

    0 is none of them: a kernel may read nothing, and models divide by it quietly. An argument may be below 0.
    """
    for key, value in state.values:
        size = abs(value) if key.startswith(ARGUMENTS) else value
        if size != 0.0 and not TINY <= size <= LARGEST:
            raise InputError(
                f"{key.partition('.')[2]} = {value:g} is out of range.",
                f"Set it to 0 or from {TINY:g} to {LARGEST:g}.",
            )


def catalogued(name: str) -> str:
    """The name, checked: InputError unless the catalogue has the board; an address cannot name a file."""
    if name not in machine.catalogue():
        raise InputError(f"The page knows no GPU {name!r}.", f"There are {', '.join(machine.catalogue())}.")
    return name


def values_of_group(state: State, prefix: str) -> tuple[tuple[str, float], ...]:
    """The numbers of a group that are set by hand, by name, in a fixed order."""
    return tuple(sorted((key.removeprefix(prefix), value) for key, value in state.values if key.startswith(prefix)))


def set_board(state: State) -> Gpu:
    """The board with the numbers as set. Raises InputError or CommandError."""
    board = machine.gpu(catalogued(state.gpu))
    settings = dict(values_of_group(state, GPU))
    return machine.override(board, settings) if settings else board


def partition_board_key(name: str) -> str:
    """The board whose memory partitions kernels are run on: the board itself if they are known."""
    key = machine.gpu(catalogued(name)).key
    return key if key in shipped_boards() else WITH_PARTITIONS


def partition_prefix(name: str) -> str:
    """Prefix of the names of that board's numbers."""
    return GPU if partition_board_key(name) == machine.gpu(name).key else PARTITION


def partition_settings(state: State) -> tuple[tuple[str, float], ...]:
    """The partition board's numbers that are set by hand."""
    return values_of_group(state, partition_prefix(catalogued(state.gpu)))


def set_partition_board(state: State) -> Gpu:
    """That board with the numbers as set. Raises InputError or CommandError."""
    board, settings = machine.gpu(partition_board_key(state.gpu)), dict(partition_settings(state))
    return machine.override(board, settings) if settings else board


def busy_sms(x: LaunchFacts) -> float:
    """SMs that have work, as bounds count them."""
    return active_sms(x.blocks, x.gpu.value("sm_count")) if x.blocks else x.gpu.value("sm_count")
