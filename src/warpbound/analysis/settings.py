"""Settings of an analysis: clock, caches, models and views."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Settings: SM clock ("base", "boost" or MHz), caches at the start of the launch ("warm" or "cold"),
    models to show beside the answer, views that will be shown ("sass" alone needs more than the rest);
    processor time of the sampled blocks, None for the usual limit, and what their accesses outside arrays do ("refuse":
    no answer, "pass": read 0)."""

    clock: str | float = "boost"
    cache: str = "warm"
    models: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    patience_s: float | None = None
    out_of_bounds: str = "refuse"


DEFAULT = Settings()
