"""Settings of an analysis: clock, caches, models and views."""

from warpbound.quick_dataclasses import dataclass

SUSTAINED = "sustained"  # the clock that the board holds under this load; boost where its power is not known


@dataclass(frozen=True)
class Settings:
    """Settings: SM clock ("sustained", "base", "boost" or MHz), caches at the start of the launch ("warm", "cold",
    "dirty": L2 was overwritten, so the launch writes back others' lines, or "flushed", as Nsight Compute does: in these
    two, written data that L2 holds at the end stay there), models to show beside the answer, views that will be shown
    ("sass" alone needs more than the rest); processor time of the sampled blocks, None for the usual limit, and what
    their accesses outside arrays do ("refuse": no answer, "pass": read 0) and their assertions that fail ("refuse",
    "pass": the thread ends).

    power_limit_W : replaces the board's own, for the sustained clock. ends_s : processor time of this thread at
    which the analysis of code without a launch stops, shared by the kernels of a file; None: `patience_s` later.
    """

    clock: str | float = SUSTAINED
    cache: str = "warm"
    models: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    patience_s: float | None = None
    out_of_bounds: str = "refuse"
    failed_assertions: str = "refuse"
    power_limit_W: float | None = None
    ends_s: float | None = None


DEFAULT = Settings()
STATIC_PATIENCE_S = 30.0  # processor time of one thread for an analysis of the code alone


def static_patience(settings: Settings) -> float:
    """Seconds of processor time for the code of a kernel, or of all kernels of a file."""
    return STATIC_PATIENCE_S if settings.patience_s is None else settings.patience_s
