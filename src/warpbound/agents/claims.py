"""Whether a claimed rate is possible, given the pins and pipes of the board and the kernel's own traffic.

Source   the board's DRAM bandwidth is that of its pins, as the catalogue states; its peak per type is that of the
         roofline's adapter. Rates of caches and shared memory are not judged.
"""

from warpbound import machine
from warpbound.errors import CommandError
from warpbound.machine import Gpu, clock
from warpbound.model_inputs.roofline_2009 import peak
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult

UNITS = {"GB/s": 1e9, "TB/s": 1e12, "GFLOP/s": 1e9, "TFLOP/s": 1e12}
TYPES = ("fp16", "bf16", "fp32", "fp64", "tensor")
TOLERANCE = 0.01  # relative tolerance of a bound, for clocks and rounding


@dataclass(frozen=True)
class Verdict:
    """possible is null if the claim is below the board's bound but above the rate predicted for the kernel."""

    possible: bool | None
    reason: str
    board_bound: float
    kernel_bound: float | None
    unit: str


def check(gpu: str, rate: float, unit: str, type_: str = "fp32", answer: KernelResult | None = None) -> Verdict:
    """Judge `rate` on the board, and by the kernel's own predicted launch where an answer is given.

    unit : GB/s or TB/s of DRAM, GFLOP/s or TFLOP/s of `type_`. CommandError for other words and for rates that are not
    positive.
    """
    if unit not in UNITS:
        raise CommandError(f"'{unit}' is not a unit of a rate here.", f"Give one of {', '.join(UNITS)}.")
    if type_ not in TYPES:
        raise CommandError(f"'{type_}' is not a type of arithmetic here.", f"Give one of {', '.join(TYPES)}.")
    if not 0 < rate < float("inf"):
        raise CommandError(f"The rate is {rate}.", "Give a positive number.")
    board = machine.gpu(gpu)
    limit = _bound(board, unit, type_) / UNITS[unit]
    own = None if answer is None else _kernel_rate(answer, unit, type_)
    of_kernel = None if own is None else own / UNITS[unit]
    what = "memory" if unit.endswith("B/s") else type_
    if rate > limit * (1 + TOLERANCE):
        reason = f"{rate:g} {unit} on a board of {limit:.4g} {unit} of {what}: not possible"
        reason += "" if of_kernel is None else f"; by this kernel at most {of_kernel:.4g} {unit}"
        return Verdict(possible=False, reason=reason + ".", board_bound=limit, kernel_bound=of_kernel, unit=unit)
    if of_kernel is not None and rate > of_kernel * (1 + TOLERANCE):
        reason = f"the board could ({limit:.4g} {unit}); this kernel, as predicted, {of_kernel:.4g} {unit} at most."
        return Verdict(possible=None, reason=reason, board_bound=limit, kernel_bound=of_kernel, unit=unit)
    reason = f"{rate:g} {unit} is {100 * rate / limit:.0f} % of the board's {limit:.4g} {unit} of {what}."
    return Verdict(possible=True, reason=reason, board_bound=limit, kernel_bound=of_kernel, unit=unit)


def _bound(board: Gpu, unit: str, type_: str) -> float:
    """The most that the board can do, in B/s or flop/s."""
    if unit.endswith("B/s"):
        return board.value("dram_bandwidth")
    return peak(board, type_, clock(board, "boost"), {})


def _kernel_rate(answer: KernelResult, unit: str, type_: str) -> float | None:
    """The kernel's rate at the least time of its interval, in B/s or flop/s; None where no time is predicted."""
    if answer.time_interval_s is None:
        return None
    least = answer.time_interval_s[0]
    if unit.endswith("B/s"):
        memory = answer.memory
        return ((memory.dram_bytes_read or 0) + (memory.dram_bytes_written or 0)) / least
    return (getattr(answer.flop, type_) or 0) / least
