"""Why a counter differs from its prediction, where that is known."""

from warpbound.nsight.clocks import duration_s
from warpbound.nsight.counters import DRAM, DRAM_READ, DRAM_WRITTEN, DURATION, has_ecc
from warpbound.nsight.launch_case import LaunchCase
from warpbound.result.kernel import KernelResult

CLOSE = 0.1  # smaller differences need no explanation
SHORT_S = 10e-6
FEW_B = 64 * 1024
STRETCHED = (
    "the pass that gives the time took {stretch:.2f} times as long as the pass that counts cycles; by the cycles the "
    "launch took {seconds:.4g} us"
)
SHORT = "below 10 us the start and the end of the launch are most of the time"
CHECK_BITS = (
    "device memory keeps the check bits of ECC among the data: an eighth more is predicted, but sectors that are "
    "used out of order are checked more often"
)
FETCHED = (
    "most of so few bytes are instructions, constants and data that the driver left in L2; a typical number of them "
    "is predicted"
)
STAYS = (
    "written data that L2 still holds at the end have not reached device memory, data of others that the launch pushed "
    "out have: both are estimates"
)


def explanation(name: str, value: float, ratio: float | None, x: LaunchCase, result: KernelResult) -> str | None:
    """A sentence for a counter whose prediction is off; None where it is close or nothing is known."""
    if ratio is not None and abs(ratio - 1.0) <= CLOSE:
        return None
    if name == DURATION:
        return _time(ratio, x)
    traffic = result.memory.dram_bytes_read
    if name in (DRAM_READ, DRAM, DRAM_WRITTEN) and traffic is not None:
        if ratio is not None and ratio < 1.0 and value < FEW_B:
            return FETCHED
        if has_ecc(x.profile, x.gpu) and ratio is not None and ratio < 1.0:
            return CHECK_BITS
        if name != DRAM_READ:
            return STAYS
    return None


def _time(ratio: float | None, x: LaunchCase) -> str | None:
    time_s = duration_s(x.profile)
    if ratio is None or time_s is None:
        return None
    if x.clocks.stretch > 1.0 and ratio < 1.0:
        return STRETCHED.format(stretch=x.clocks.stretch, seconds=time_s / x.clocks.stretch * 1e6)
    return SHORT if time_s < SHORT_S else None
