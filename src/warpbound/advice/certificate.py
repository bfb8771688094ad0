"""A certificate: the time below which no kernel that moves these bytes and does these operations can run.

Models   Each byte that the launch touches crosses the pins once, except as many as L2 holds: an earlier launch may
         have left these there; the floating-point operations run as multiply-adds on all SMs at the board's highest
         clock. Both at once.
Omits    Launching, latency, integer work, traffic of L2 and L1: all of these can only add time. Bytes are counted in
         executed blocks and extrapolated; twice the standard error is subtracted.
"""

from warpbound.analysis.case import Case
from warpbound.analysis.static import Work
from warpbound.model_inputs.roofline_2009 import peak
from warpbound.result.goal import CertificateFacts

SURE = 2.0  # standard errors of extrapolated counts that are taken off
OPERATIONS = {"fp16": "half-precision", "bf16": "bfloat16", "fp32": "FP32", "fp64": "FP64", "tensor": "tensor-core"}


def certificate(case: Case, work: Work) -> CertificateFacts:
    """The certificate of a launch whose blocks were executed; 0 s where nothing forbids any time."""
    warps, board = work.whole.warps or 0.0, case.gpu
    bytes_used, in_cache = _touched(work) * warps, board.get("l2_size") or 0.0
    from_dram = max(0.0, bytes_used - in_cache)
    memory_s = from_dram / board.value("dram_bandwidth")
    times = {
        kind: count * warps * _sure(work) / peak(board, kind, top_clock_hz(case), work.whole.tensor)
        for kind, count in work.whole.flop.items()
        if count > 0
    }
    kind = max(times, key=lambda name: times[name], default="")
    operations_s = times.get(kind, 0.0)
    if memory_s >= operations_s and memory_s > 0:
        rate = board.value("dram_bandwidth")
        why = (
            f"{_bytes(bytes_used)} are touched, of which L2 may hold {_bytes(min(in_cache, bytes_used))} already; "
            f"the other {_bytes(from_dram)} cross pins of {rate / 1e9:.0f} GB/s"
        )
    elif operations_s > 0:
        rate = peak(board, kind, top_clock_hz(case), work.whole.tensor)
        count = work.whole.flop[kind] * warps
        why = f"{count:.3g} {OPERATIONS[kind]} operations at {rate / 1e12:.3g} T/s, all SMs at the highest clock"
    else:
        why = f"the {_bytes(bytes_used)} that it touches fit L2, and it does no floating-point operations"
    count = work.whole.flop.get(kind, 0.0) * warps
    return CertificateFacts(
        time_s=max(memory_s, operations_s), why=why, needed_bytes=bytes_used, kept_bytes=min(in_cache, bytes_used),
        operations=count, memory_s=memory_s, operations_s=operations_s,
    )  # fmt: skip


def top_clock_hz(case: Case) -> float:
    """The highest clock that the board reaches; that of the answer where it is given higher."""
    board = case.gpu
    return max(board.get("highest_clock") or 0.0, board.value("boost_clock"), case.clock_hz)


def _touched(work: Work) -> float:
    """Bytes of a warp's share of all that is touched, less what extrapolation may have added."""
    return work.whole.memory.touched_bytes * _sure(work)


def _sure(work: Work) -> float:
    error = (work.sample.sampling_error if work.sample else None) or 0.0
    return max(0.0, 1.0 - SURE * error)


def _bytes(count: float) -> str:
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"
