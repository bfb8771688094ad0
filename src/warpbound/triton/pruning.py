"""Configurations of `triton.autotune` that a prediction drops before anything is launched."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import FrameType
from typing import Any

from warpbound import machine
from warpbound.errors import CommandError, WarpboundError
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.triton.launching import Grid, record

_LAUNCHER = ("grid", "warmup")  # what Triton's launcher adds to a kernel's own arguments


@dataclass(frozen=True)
class Dropped:
    """A configuration that is not tried, and why; time_s and bottleneck are None where there is no prediction."""

    config: Any
    reason: str
    time_s: float | None = None
    bottleneck: str | None = None


@dataclass(frozen=True)
class Kept:
    """A configuration that is tried, with its prediction."""

    config: Any
    time_s: float
    bottleneck: str | None


@dataclass
class Pruner(Mapping[str, Any]):
    """A value for `prune_configs_by`. After a tuning, `kept` and `dropped` tell what became of each configuration.

    kept : fastest first.
    """

    gpu: Gpu
    top_k: int | None
    keep_within: float | None
    grid: Grid | None
    kernel: Any = None
    kept: list[Kept] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)

    def __getitem__(self, key: str) -> Any:
        return {"early_config_prune": self.prune}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("early_config_prune",))

    def __len__(self) -> int:
        return 1

    def prune(self, configs: Sequence[Any], arguments: Mapping[str, Any], **others: Any) -> list[Any]:
        """The configurations to try, fastest first; all of them where none could be predicted.

        configs, arguments, others : as `triton.autotune` gives them to `early_config_prune`.
        """
        kernel = self.kernel or _kernel_of_caller()
        grid = others.get("grid", self.grid)
        if grid is None:
            hint = "Launch the kernel as kernel[grid](...), or give pruner(grid=)."
            raise CommandError("The pruner knows no grid.", hint)
        own = {name: value for name, value in others.items() if name not in _LAUNCHER}
        answers = []
        self.dropped.clear()
        for config in configs:
            try:
                answer = record(kernel, (), {**arguments, **own, **config.all_kwargs()}, grid, self.gpu)
            except WarpboundError as problem:
                self.dropped.append(Dropped(config, problem.reason))
                continue
            if answer.time_s is None:
                self.dropped.append(Dropped(config, answer.not_executed or "its trip counts are unknown"))
            else:
                answers.append(Kept(config, answer.time_s, answer.bottleneck))
        answers.sort(key=lambda answer_kept: answer_kept.time_s)
        self.kept[:] = self._within_limits(answers)
        return [answer_kept.config for answer_kept in self.kept] or list(configs)

    def _within_limits(self, answers: list[Kept]) -> list[Kept]:
        """The fastest configurations within `top_k` and `keep_within`; the others are noted as dropped."""
        survivors = []
        for rank, answer in enumerate(answers):
            slower = answer.time_s / answers[0].time_s
            reason = ""
            if self.top_k is not None and rank >= self.top_k:
                reason = f"rank {rank + 1} of {len(answers)}: predicted {slower:.2f} times the best"
            elif self.keep_within is not None and slower > 1 + self.keep_within:
                reason = f"predicted {slower:.2f} times the best, more than {1 + self.keep_within:.2f}"
            if reason:
                self.dropped.append(Dropped(answer.config, reason, answer.time_s, answer.bottleneck))
            else:
                survivors.append(answer)
        return survivors


def pruner(
    gpu: str | Path | Gpu,
    top_k: int | None = None,
    keep_within: float | None = None,
    grid: Grid | None = None,
    kernel: Any = None,
) -> Pruner:
    """`@triton.autotune(configs, key, prune_configs_by=pruner(gpu="h200", top_k=5))` times five configurations only.

    top_k : how many configurations at most. keep_within : those predicted within this fraction of the best (0.1: 10 %).
    grid : where the tuner is called without one. kernel : by default the one under the decorator.
    CommandError where neither top_k nor keep_within is given, or one of them is out of range.
    """
    if top_k is None and keep_within is None:
        raise CommandError("The pruner has neither top_k nor keep_within.", "Give one of them, or both.")
    if top_k is not None and top_k < 1:
        raise CommandError(f"top_k is {top_k}.", "Keep at least one configuration.")
    if keep_within is not None and keep_within < 0:
        raise CommandError(f"keep_within is {keep_within}.", "Give a fraction, such as 0.1.")
    return Pruner(machine.gpu(gpu), top_k, keep_within, grid, kernel)


def _kernel_of_caller() -> Any:
    """The kernel of the autotuner that called: Triton gives its functions the arguments, but not the kernel."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        tuner = frame.f_locals.get("self")
        if tuner is not None and type(tuner).__name__ == "Autotuner":
            return tuner.fn
        frame = frame.f_back
    raise CommandError("The pruner was not called by triton.autotune.", "Give the kernel: pruner(kernel=...).")
