"""Settings of an analysis: clock, caches, models and views."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Settings: SM clock ("base", "boost" or MHz), caches at the start of the launch ("warm" or "cold"),
    models to show beside the answer, views that will be shown ("sass" alone needs more than the rest)."""

    clock: str | float = "boost"
    cache: str = "warm"
    models: tuple[str, ...] = ()
    views: tuple[str, ...] = ()


DEFAULT = Settings()
