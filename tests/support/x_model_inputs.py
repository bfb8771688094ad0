"""Inputs of the X-model."""

import dataclasses
from typing import Any

from warpbound.models import x_model_2016 as xm


def thrashing(**changed: Any) -> xm.Inputs:
    """The paper's Figures 7 and 9 with numbers of ours, since it prints none."""
    return dataclasses.replace(
        xm.Inputs(105.0, 1.0, 128.0, 96.0, 600.0, 0.6, 10.0, 16384.0, 6.0, 819.2), **changed
    )
