"""Kernel Tuner: a strategy that measures configurations in the order of their predicted times, and a restriction.

tune_kernel(..., strategy=Strategy(gpu="a100-sxm-80gb"))
tune_kernel(..., restrictions=fits(gpu="a100-sxm-80gb", shared_bytes=lambda p: 4 * p["tile"] ** 2))

Source   kernel_tuner 1.5 (extra `tuner`): `strategy=` takes any object with `tune`; parameters, block and grid are
         macros of the kernel.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from msgspec import UnsetType

from warpbound import machine
from warpbound.analysis import answer_cache
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.sweeps.ranking import Ranking, ranked
from warpbound.analysis.sweeps.tunings import Tuning
from warpbound.errors import CommandError, InputError, MissingTool, WarpboundError, install
from warpbound.kernel_launch import Launch, launch
from warpbound.machine import Gpu
from warpbound.program.cuda import Options
from warpbound.quick_dataclasses import dataclass
from warpbound.residency import occupancy
from warpbound.result.kernel import KernelResult

Config = tuple[Any, ...]  # a value for each tunable parameter, in the order of `tune_params`
Bytes = Callable[[Mapping[str, Any]], int]  # from the parameters by name

_BEST = 8  # configurations whose neighbours are predicted next, if not all can be predicted
_LEAST_REGISTERS = 16  # per thread; no kernel of interest takes fewer


@dataclass(frozen=True)
class Predicted:
    """What is predicted of a configuration: a time, or the reason why there is none."""

    config: Config
    time_s: float | None
    bottleneck: str | None = None
    reason: str = ""


class Strategy:
    """Measures configurations from the fastest predicted one on, until Kernel Tuner's budget is spent.

    gpu : the board. predictions : how many configurations of a larger space are predicted: a random sample, then
    neighbours of the best. constants : contents of `__constant__` and `__device__` symbols, which Kernel Tuner does not
    pass on. smem : dynamic shared memory of a block in bytes, from the parameters. options : of the compiler. seed : of
    the sample. processes : by default one per processor.

    After a tuning `predicted` has every prediction, the fastest first. Those without a time have the reason and are not
    measured.
    """

    def __init__(  # noqa: PLR0913  (the signature is the public one)
        self, gpu: str | Path | Gpu, predictions: int = 256, constants: Mapping[str, Any] | None = None,
        smem: Bytes | None = None, options: Sequence[str] = (), seed: int = 0, processes: int | None = None,
        settings: Settings = DEFAULT,
    ) -> None:  # fmt: skip
        if predictions < 1:
            raise CommandError(f"predictions is {predictions}.", "Predict at least one configuration.")
        self.gpu, self.predictions, self.seed = machine.gpu(gpu), predictions, seed
        self.smem = smem or (lambda parameters: 0)
        self.constants, self.options = dict(constants or {}), tuple(options)
        self.processes, self.settings = processes, settings
        self.predicted: list[Predicted] = []

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> list[dict[str, Any]]:
        """Called by Kernel Tuner: the results of the measured configurations."""
        try:
            from kernel_tuner.strategies.common import CostFunc
            from kernel_tuner.util import StopCriterionReached
        except ImportError as missing:
            raise MissingTool("This strategy needs Kernel Tuner.", install("tuner")) from missing

        measure = CostFunc(searchspace, tuning_options, runner, snap=False)
        try:
            for config in self.order(searchspace, runner):
                measure(config)
        except StopCriterionReached:
            pass
        return list(measure.results)

    def order(self, searchspace: Any, runner: Any) -> list[Config]:
        """The configurations in the order in which they are worth measuring; those not predicted come last."""
        draw = Random(self.seed)
        every = [tuple(config) for config in searchspace.list]
        draw.shuffle(every)
        first = every if len(every) <= self.predictions else every[: max(1, self.predictions // 2)]
        self.predicted = self._predictions(first, searchspace, runner)
        while len(self.predicted) < min(self.predictions, len(every)):
            answered_configs = {entry.config for entry in self.predicted}
            near = [config for config in self._neighbours(searchspace) if config not in answered_configs]
            more = near or [config for config in every if config not in answered_configs]
            self.predicted += self._predictions(more[: self.predictions - len(answered_configs)], searchspace, runner)
        self.predicted.sort(key=lambda entry: float("inf") if entry.time_s is None else entry.time_s)
        answered_configs = {entry.config for entry in self.predicted}
        with_time = [entry.config for entry in self.predicted if entry.time_s is not None]
        return with_time + [config for config in every if config not in answered_configs]

    def _neighbours(self, searchspace: Any) -> Iterable[Config]:
        """Configurations that differ in one parameter from one of the best."""
        by_time = sorted((entry for entry in self.predicted if entry.time_s), key=lambda entry: entry.time_s or 0.0)
        near = (searchspace.get_neighbors(entry.config, neighbor_method="Hamming") for entry in by_time[:_BEST])
        return dict.fromkeys(tuple(config) for configs in near for config in configs)

    def _predictions(self, configs: Sequence[Config], searchspace: Any, runner: Any) -> list[Predicted]:
        names = list(searchspace.tune_params)
        source, kernel = runner.kernel_source, runner.kernel_options
        tunings = tuple(self._tuning(dict(zip(names, config, strict=True)), kernel) for config in configs)
        by_name = {tuning.name: config for tuning, config in zip(tunings, configs, strict=True)}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kernel.cu"
            file.write_text(source.get_kernel_string(), encoding="utf-8")
            here = Path(source.kernel_sources[0]).parent if _is_file(source.kernel_sources[0]) else Path()
            options = Options((("kernel_tuner", "1"),), (here,), self.options)
            ranking = Ranking(
                file, self.gpu, kernel.kernel_name, options, self.settings, tunings, answer_cache.time_to_rank
            )
            try:
                answers = ranked(ranking, self.processes)
            except WarpboundError as problem:  # none of them has a time
                return [Predicted(config, None, reason=problem.reason) for config in configs]
        return [
            Predicted(by_name[_name(answer.defines)], answer.time_s, answer.bottleneck)
            if isinstance(answer, KernelResult)
            else Predicted(by_name[_name(answer.defines)], None, reason=answer.error.reason)
            for answer in answers
        ]

    def _tuning(self, parameters: Mapping[str, Any], kernel: Any) -> Tuning:
        """One configuration as macros and a launch, as Kernel Tuner would make them."""
        from kernel_tuner.util import default_block_size_names, setup_block_and_grid

        names = kernel.block_size_names or default_block_size_names
        divisors = kernel.grid_div_x, kernel.grid_div_y, kernel.grid_div_z
        block, grid = setup_block_and_grid(kernel.problem_size, divisors, parameters, names)
        macros = {f"grid_size_{axis}": str(size) for axis, size in zip("xyz", grid, strict=False)}
        macros |= {name: str(size) for name, size in zip(names, block, strict=False)}
        macros |= {name: str(int(value) if isinstance(value, bool) else value) for name, value in parameters.items()}
        return Tuning(macros, self._launch(grid, block, self.smem(parameters), kernel.arguments))

    def _launch(
        self, grid: Sequence[int], block: Sequence[int], smem: int, arguments: Sequence[Any] | None
    ) -> Launch | WarpboundError:
        whole = [int(size) for size in grid]
        threads = [int(size) for size in block]
        contents = dict(enumerate(arguments or ()))
        try:
            return launch(grid=whole, block=threads, smem=int(smem), args=contents, constants=self.constants)
        except WarpboundError as problem:
            return problem


def fits(
    gpu: str | Path | Gpu,
    shared_bytes: Bytes | None = None,
    registers: Callable[[Mapping[str, Any]], int] | None = None,
    block_size_names: Sequence[str] = ("block_size_x", "block_size_y", "block_size_z"),
) -> Callable[[Mapping[str, Any]], bool]:
    """A restriction: whether a block of a configuration fits an SM of the board; nothing is compiled.

    shared_bytes, registers : of a block and of a thread, from the parameters; the least possible where not given.
    """
    board = machine.gpu(gpu)

    def restriction(parameters: Mapping[str, Any]) -> bool:
        threads = 1
        for name in block_size_names:
            threads *= int(parameters.get(name, 1))
        needs = registers(parameters) if registers else _LEAST_REGISTERS
        try:
            return bool(occupancy(board, threads, needs, shared_bytes(parameters) if shared_bytes else 0).blocks_per_sm)
        except (CommandError, InputError):
            return False

    return restriction


def _is_file(source: object) -> bool:
    return isinstance(source, str) and len(source) < 4096 and "\n" not in source and Path(source).is_file()


def _name(macros: Mapping[str, str] | UnsetType) -> str:
    return Tuning({} if isinstance(macros, UnsetType) else macros, WarpboundError("")).name
