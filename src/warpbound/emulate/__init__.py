"""Program and Launch to results and Trace: SASS executed on NumPy.

arrays = run(program, launch)                  the whole grid: arrays by parameter name
trace  = trace(program, launch, [0, 1, 7])     some blocks, with all that they did
"""

from warpbound.emulate.block_execution import run
from warpbound.emulate.trace import Accesses, Trace
from warpbound.emulate.traced_blocks import trace

__all__ = ["Accesses", "Trace", "run", "trace"]
