"""A GPU that is none: it answers every kernel of the suite from parameters that the test knows.

Loads under load, the synthetic family, instructions and their mixes run on the project's simulator of an SM; what that
does not know (caches over size, other SMs, launches) is worked out from a formula.
"""

from support.fake_gpu import code as fake_code  # noqa: F401  (each adds its answers)
from support.fake_gpu import memory as fake_memory  # noqa: F401
from support.fake_gpu import streams as fake_streams  # noqa: F401
from support.fake_gpu.device import ANSWERS, FACTS, FakeGpu, Truth, cubins

__all__ = ["ANSWERS", "FACTS", "FakeGpu", "Truth", "cubins"]
