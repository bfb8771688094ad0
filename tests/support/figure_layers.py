"""The numbers that a picture draws."""

from typing import Any

import numpy as np

from warpbound.report.figures.picture import (
    Drawable,
    Panels,
    Picture,
    Points,
)


def at(layer: Any, x: float) -> float:
    """The value of a curve at x, linear between its points."""
    return float(np.interp(x, np.asarray(layer.x), np.asarray(layer.y)))


def points(picture: Picture, name: str) -> list[tuple[float, float]]:
    layer = picture.named(name)
    assert isinstance(layer, Points)
    return list(zip(np.asarray(layer.x).tolist(), np.asarray(layer.y).tolist(), strict=True))




def plots(picture: Drawable) -> tuple[Picture, ...]:
    return picture.pictures if isinstance(picture, Panels) else (picture,)
