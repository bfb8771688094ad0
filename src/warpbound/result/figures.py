"""The numbers behind the figures of an answer."""

from typing import Any

import msgspec


class BlockResources(msgspec.Struct, frozen=True):
    """Threads of a block, registers of a thread, shared memory of a block in bytes, its columns of tensor memory."""

    threads: int
    registers: int
    shared_bytes: int
    tensor_columns: int = 0


class ThroughputCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds and predictions over the warps of an SM, in `unit`.

    limits : resource -> rate at each of warps_per_sm. predicted : model -> (warps per SM, rate). here : warps per SM.
    """

    unit: str
    warps_per_sm: list[float]
    limits: dict[str, list[float]]
    predicted: dict[str, tuple[list[float], list[float]]]
    here: float


class RooflinePlot(msgspec.Struct, frozen=True, kw_only=True):
    """Peaks in flop/s, bandwidths in B/s, flop per byte at each level and the flop/s predicted.

    achievable : the bandwidths that are what memory delivers, not what a data sheet says.
    """

    compute: dict[str, float]
    bandwidth: dict[str, float]
    achievable: list[str]
    intensity: dict[str, float]
    flops: float


class ExecutionGraph(msgspec.Struct, frozen=True, kw_only=True):
    """Instructions that one warp issues in a row, from number `first` of `of`.

    issue : cycle of each. edges : (from, to, cycles, whether on the critical path), places in that row.
    """

    names: list[str]
    issue: list[float]
    edges: list[tuple[int, int, float, bool]]
    first: int
    of: int


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a memory instruction; addresses : bytes, of the lanes from the first on."""

    address: int
    line: int | None
    opcode: str
    bytes_per_lane: int
    addresses: list[int]


class FigureData(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of each figure; None where they are not known.

    limits : limits of the GPU that differ from its architecture's. timeline : (start, end, what) of one warp.
    requests : memory space -> a request of its most wasteful instruction. warps : (warp, start, end, what) of an SM.
    inputs : model -> its symbols.
    """

    block: BlockResources
    limits: dict[str, Any]
    curve: ThroughputCurve | None
    roofline: RooflinePlot | None
    timeline: list[tuple[float, float, str]]
    graph: ExecutionGraph
    requests: dict[str, Request]
    warps: list[tuple[int, float, float, str]]
    inputs: dict[str, dict[str, float] | None]


class SimulationFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of the figures of a simulated kernel.

    warps : (warp, start, end, what); resident : cycles, and the warps from there on; latencies : cycles of each
    transaction; at : resident warps, and warps per 1000 cycles once the first wave is over.
    """

    curve: ThroughputCurve | None
    warps: list[tuple[int, float, float, str]]
    resident: tuple[list[float], list[float]]
    latencies: list[float]
    at: tuple[float, float]
