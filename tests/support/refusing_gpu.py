"""A GPU whose driver refuses launches."""

from collections.abc import Sequence

import numpy as np

from support.fake_gpu import FakeGpu
from warpbound.errors import InputError
from warpbound.measure.device import Geometry


class Refusing(FakeGpu):
    """Refuses the launches of some kernels; after too many, all of them."""

    refused = ("store_one",)

    def launch(self, kernel: str, geometry: Geometry, args: Sequence[np.generic]) -> None:
        if kernel in self.refused:
            raise InputError("the driver's cuLaunchKernel failed.", "Sorry.")
        super().launch(kernel, geometry, args)
