"""How many blocks one SM holds at once, what limits them, and the smallest change that admits more.

Source   NVIDIA cuda_occupancy.h, CUDA 13 (3.x to 12.x) and CUDA 7.0 (1.x and 2.x); a test compares
         the two block by block. Numbers per architecture: isa/limits.toml.
Omits    Clusters, preemption and MPS slices, partitioned global caching of 5.2 to 6.2 (off by default).
"""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from warpbound import machine
from warpbound.errors import CommandError
from warpbound.isa.limits import Limits
from warpbound.quick_dataclasses import dataclass

IntArray = NDArray[np.int64]
Count = int | IntArray  # a scalar or an array of any shape

UNLIMITED = 2**31 - 1  # a resource that is not used admits this many blocks
_BARRIERS_PER_BLOCK = 16  # PTX ISA, bar: barriers 0 to 15
_TENSOR_COLUMNS = 512  # of an SM; PTX ISA, tensor memory


@dataclass(frozen=True)
class Step:
    """One change of one launch or kernel property, and what an SM then holds."""

    change: str  # threads | registers | shared | carveout
    from_: int  # threads per block, registers per thread, bytes per block, KiB per SM
    to: int
    blocks_per_sm: int
    warps_per_sm: int

    @property
    def sentence(self) -> str:
        words = {
            "threads": "threads per block",
            "registers": "registers per thread",
            "shared": "bytes of shared memory per block",
            "carveout": "KiB of shared-memory carve-out",
        }
        blocks = "1 block" if self.blocks_per_sm == 1 else f"{self.blocks_per_sm} blocks"
        return (
            f"{self.to} {words[self.change]} instead of {self.from_} "
            f"would let an SM hold {blocks} ({self.warps_per_sm} warp{'s' * (self.warps_per_sm != 1)})."
        )


@dataclass(frozen=True)
class _Request:
    """What one block asks of an SM; every count an int64 array, all broadcastable."""

    limits: Limits
    threads: IntArray
    registers: IntArray  # per thread
    shared: IntArray  # B per block, without the driver's reserve
    carveout: IntArray  # B per SM, one of the supported sizes
    barriers: IntArray  # named barriers per block; 0: not counted
    columns: IntArray  # of tensor memory per block; 0: none
    grid_blocks: IntArray | None = None
    sm_count: int = 1


@dataclass(frozen=True)
class Residency:
    """What one SM holds of one launch.

    block_limits : limiter -> blocks per SM it alone would admit (UNLIMITED: not used)
    limiters     : all that bind, in the order of result.quantities; "grid" also when the grid is exactly one wave
    ruled_out    : changes of a Step that the code rules out
    """

    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limiters: tuple[str, ...]
    block_limits: Mapping[str, int] = field(hash=False)
    _request: _Request = field(repr=False, compare=False)
    ruled_out: frozenset[str] = frozenset()

    @property
    def occupancy(self) -> float:
        """Resident warps as a fraction of what the SM can hold."""
        return self.warps_per_sm / self.max_warps_per_sm

    @property
    def fitting_blocks_per_sm(self) -> int:
        """Blocks that would fit if the grid had enough of them."""
        return min(count for limiter, count in self.block_limits.items() if limiter != "grid")

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return int(self._request.threads)

    def with_more(self, registers: int, shared_bytes: int = 0) -> "Residency | None":
        """The same launch with more registers per thread and shared memory per block; None where no block fits then."""
        x, most = self._request, self._request.limits.max_registers_per_thread
        sum_ = np.maximum(0, x.registers + registers)
        shared = np.maximum(0, x.shared + shared_bytes)
        then = _one(replace(x, registers=np.minimum(sum_, most), shared=shared))
        return then if sum_ <= most and then.blocks_per_sm > 0 else None

    def with_threads(self, threads: int) -> "Residency":
        """As many threads in the whole grid, in blocks of another size."""
        x = self._request
        grid = None if x.grid_blocks is None else -(-x.grid_blocks * x.threads // threads)
        return _one(replace(x, threads=np.asarray(threads), grid_blocks=grid))

    @cached_property
    def next_step(self) -> tuple[Step, ...]:
        """Per property, the smallest change that admits more; properties that cannot help are absent.

        Registers, shared memory and carve-out: one more resident block. Block size: more resident
        warps, among multiples of the warp, with as many threads in the whole grid as before. None where
    the grid binds: all its blocks are resident.
        """
        if "grid" in self.limiters:
            return ()
        searches = (_other_block_size, _fewer_registers, _less_shared, _larger_carveout)
        steps = (search(self) for search in searches)
        return tuple(step for step in steps if step is not None and step.change not in self.ruled_out)


@dataclass(frozen=True)
class ResidencySweep:
    """The same for arrays of launches; every array has the broadcast shape.

    limiters and next_step are object arrays of tuples; `binds` states the same as a mask per limiter.
    """

    blocks_per_sm: IntArray
    warps_per_sm: IntArray
    max_warps_per_sm: int
    block_limits: Mapping[str, IntArray]
    binds: Mapping[str, NDArray[np.bool_]]
    _request: _Request = field(repr=False, compare=False)

    @property
    def occupancy(self) -> NDArray[np.float64]:
        return self.warps_per_sm / self.max_warps_per_sm

    @cached_property
    def limiters(self) -> NDArray[np.object_]:
        return self._tuples(lambda i: tuple(name for name, mask in self.binds.items() if mask[i]))

    @cached_property
    def next_step(self) -> NDArray[np.object_]:
        return self._tuples(lambda i: self.at(i).next_step)

    def at(self, index: Any) -> Residency:
        """One launch of the sweep."""
        shape = self.blocks_per_sm.shape
        limits = {
            name: np.broadcast_to(value, shape)[index]
            for name, value in vars(self._request).items()
            if isinstance(value, np.ndarray)
        }
        return _one(replace(self._request, **limits))

    def _tuples(self, of: Any) -> NDArray[np.object_]:
        out = np.empty(self.blocks_per_sm.shape, dtype=object)
        for index in np.ndindex(out.shape):
            out[index] = of(index)
        return out


@overload
def occupancy(  # type: ignore[overload-overlap]
    gpu: machine.Gpu | str | Path,
    threads_per_block: int,
    registers_per_thread: int,
    shared_bytes_per_block: int,
    carveout: float | None = None,
    *,
    barriers: int = 0,
    tensor_columns: int = 0,
    grid_blocks: int | None = None,
) -> Residency: ...
@overload
def occupancy(
    gpu: machine.Gpu | str | Path,
    threads_per_block: Count,
    registers_per_thread: Count,
    shared_bytes_per_block: Count,
    carveout: float | NDArray[Any] | None = None,
    *,
    barriers: Count = 0,
    tensor_columns: Count = 0,
    grid_blocks: Count | None = None,
) -> ResidencySweep: ...
def occupancy(  # noqa: PLR0913  (the published signature, and two rare facts by keyword)
    gpu: machine.Gpu | str | Path,
    threads_per_block: Count,
    registers_per_thread: Count,
    shared_bytes_per_block: Count,
    carveout: float | NDArray[Any] | None = None,
    *,
    barriers: Count = 0,
    tensor_columns: Count = 0,
    grid_blocks: Count | None = None,
) -> Residency | ResidencySweep:
    """Resident blocks of one SM: `Residency` for scalars, `ResidencySweep` if any argument is an array.

    shared_bytes_per_block : static and dynamic together, without the driver's reserve (added here)
    carveout               : KiB of shared memory per SM, raised to the next supported size; None: the largest
    barriers               : named barriers a block uses; they limit from compute capability 9.0 on
    tensor_columns         : columns of tensor memory a block allocates; another block waits until there are as many
    grid_blocks            : blocks of the whole launch, to tell when the grid is too small to fill the SMs

    A block that cannot be launched because registers or shared memory do not suffice gives 0 blocks; one that is
    illegal by itself (threads, registers per thread, carve-out out of range) raises CommandError.
    """
    board = machine.gpu(gpu)
    rules = board.limits
    kind = f"for compute capability {board.compute_capability}"
    request = _Request(
        rules,
        _whole("threads per block", threads_per_block, (1, rules.max_threads_per_block), kind),
        _whole("registers per thread", registers_per_thread, (0, rules.max_registers_per_thread), kind),
        _whole("bytes of shared memory per block", shared_bytes_per_block, (0, UNLIMITED), kind),
        _carveout(rules, carveout),
        _whole("barriers per block", barriers, (0, _BARRIERS_PER_BLOCK), kind),
        _whole("columns of tensor memory", tensor_columns, (0, _TENSOR_COLUMNS), kind),
    )
    if grid_blocks is not None:
        blocks = _whole("blocks in the grid", grid_blocks, (1, 2**50), kind)
        request = replace(request, grid_blocks=blocks, sm_count=int(board.value("sm_count")))
    shapes = [v.shape for v in vars(request).values() if isinstance(v, np.ndarray)]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError as problem:
        pairs = ", ".join(str(shape) for shape in shapes if shape)
        raise CommandError(f"Arrays of shapes {pairs} do not go together.", "Give shapes that broadcast.") from problem
    return _sweep(request, shape) if shape else _one(request)


def _one(request: _Request) -> Residency:
    counts = {name: int(count) for name, count in _block_limits(request).items()}
    blocks = min(counts.values())
    return Residency(
        blocks,
        blocks * int(_warps(request)),
        request.limits.max_warps_per_sm,
        tuple(name for name, count in counts.items() if count == blocks),
        counts,
        request,
    )


def _sweep(request: _Request, shape: tuple[int, ...]) -> ResidencySweep:
    counts = {name: np.broadcast_to(count, shape) for name, count in _block_limits(request).items()}
    blocks = np.min(np.stack(list(counts.values())), axis=0)
    binds = {name: count == blocks for name, count in counts.items()}
    warps = blocks * _warps(request)
    return ResidencySweep(blocks, warps, request.limits.max_warps_per_sm, counts, binds, request)


def _block_limits(x: _Request) -> dict[str, IntArray]:
    """Limiter -> blocks per SM that it alone admits."""
    warps = _up(_warps(x), x.limits.warp_unit)
    counts = {
        "warps": x.limits.max_warps_per_sm // warps,
        "blocks": np.asarray(x.limits.max_blocks_per_sm),
        "registers": _register_limit(x, warps),
        "shared": _shared_limit(x),
    }
    if x.limits.barriers_per_sm is not None:
        counts["barriers"] = _divide(np.asarray(x.limits.barriers_per_sm), x.barriers)
    if np.any(x.columns):
        counts["tensor memory"] = _divide(np.asarray(_TENSOR_COLUMNS), x.columns)
    if x.grid_blocks is not None:
        counts["grid"] = -(-x.grid_blocks // x.sm_count)
    return counts


def _register_limit(x: _Request, warps: IntArray) -> IntArray:
    rules = x.limits
    unit = rules.register_unit * np.where(np.isin(x.registers, rules.doubled_register_units), 2, 1)
    if rules.registers_allocated_per == "block":  # 1.x
        return _divide(np.asarray(rules.registers_per_sm), _up(x.registers * rules.warp_size * warps, unit))
    per_warp = _up(x.registers * rules.warp_size, unit)
    # Each sub-core has its own registers; a launch is checked as if its warps filled all sub-cores evenly.
    fitting_warps = _divide(np.asarray(rules.registers_per_sm // rules.sub_cores), per_warp) * rules.sub_cores
    refused = per_warp * _up(warps, rules.launch_check_warps) > rules.max_registers_per_block
    return np.where(per_warp == 0, UNLIMITED, np.where(refused, 0, fitting_warps // warps))


def _shared_limit(x: _Request) -> IntArray:
    rules = x.limits
    allocated = _up(x.shared + rules.reserved_shared_per_block, rules.shared_unit)
    # A block larger than the carve-out gets more: the next size from 7.0 on, the largest one before.
    supported = 1024 * np.asarray(rules.carveouts_KiB)
    next_size = supported[np.minimum(np.searchsorted(supported, allocated), len(supported) - 1)]
    larger = next_size if rules.arch >= 70 else supported[-1]
    pool = np.where(allocated <= x.carveout, x.carveout, larger)
    refused = allocated > rules.max_shared_per_block + rules.reserved_shared_per_block
    return np.where(refused, 0, _divide(pool, allocated))


def _other_block_size(now: Residency) -> Step | None:
    x = now._request
    size = x.limits.warp_size
    values = np.arange(size, x.limits.max_threads_per_block + 1, size)
    grid = None if x.grid_blocks is None else -(-x.grid_blocks * x.threads // values)
    then = _sweep(replace(x, threads=values, grid_blocks=grid), values.shape)
    better = np.flatnonzero(then.warps_per_sm > now.warps_per_sm)
    if not better.size:
        return None
    distance = abs(values[better] - x.threads)
    nearest = better[np.lexsort((-then.warps_per_sm[better], distance))[0]]
    return _step("threads", int(x.threads), values, then, nearest)


def _fewer_registers(now: Residency) -> Step | None:
    before = int(now._request.registers)
    values = np.arange(before - 1, 0, -1)
    return _first_better(now, "registers", before, values, replace(now._request, registers=values))


def _less_shared(now: Residency) -> Step | None:
    x = now._request
    reserve, unit = x.limits.reserved_shared_per_block, x.limits.shared_unit
    values = np.arange(0, int(x.shared) + reserve, unit)[::-1] - reserve  # the most bytes of each allocation
    values = values[values >= 0]
    return _first_better(now, "shared", int(x.shared), values, replace(x, shared=values))


def _larger_carveout(now: Residency) -> Step | None:
    supported = 1024 * np.asarray(now._request.limits.carveouts_KiB)
    values = supported[supported > now._request.carveout]
    before = int(now._request.carveout) // 1024
    return _first_better(now, "carveout", before, values // 1024, replace(now._request, carveout=values))


def _first_better(
    now: Residency, change: str, before: int, values: IntArray, request: _Request
) -> Step | None:
    then = _sweep(request, values.shape)
    better = np.flatnonzero(then.blocks_per_sm > now.blocks_per_sm)
    return _step(change, before, values, then, better[0]) if better.size else None


def _step(change: str, before: int, values: IntArray, then: ResidencySweep, i: Any) -> Step:
    return Step(change, before, int(values[i]), int(then.blocks_per_sm[i]), int(then.warps_per_sm[i]))


def _carveout(rules: Limits, carveout: float | NDArray[Any] | None) -> IntArray:
    """The supported size, B, that is requested or the next above it."""
    supported = np.asarray(rules.carveouts_KiB)
    requested = np.asarray(supported[-1] if carveout is None else carveout)
    if requested.dtype.kind not in "iuf" or not np.all((requested >= 0) & (requested <= supported[-1])):
        raise CommandError(
            f"Compute capability {rules.compute_capability} has no carve-out of {carveout} KiB.",
            f"Give {', '.join(map(str, supported))} KiB.",
        )
    return np.asarray(1024 * supported[np.searchsorted(supported, requested)])


def _whole(what: str, value: Count, span: tuple[int, int], where: str) -> IntArray:
    counts = np.asarray(value)
    if counts.dtype.kind not in "iuf" or not np.all(np.mod(counts, 1) == 0):
        raise CommandError(f"{value!r} {what} is not a whole number.", "Give an integer.")
    low, high = span
    if not np.all((counts >= low) & (counts <= high)):
        worst = counts.flat[np.argmax((counts < low) | (counts > high))]
        raise CommandError(f"{int(worst)} {what} are not possible {where}.", f"The range is {low} to {high}.")
    return counts.astype(np.int64)


def _warps(x: _Request) -> IntArray:
    return _up(x.threads, x.limits.warp_size) // x.limits.warp_size


def _up(count: IntArray, unit: int | IntArray) -> IntArray:
    return -(-count // unit) * unit


def _divide(pool: IntArray, amount: IntArray) -> IntArray:
    """How often `amount` fits in `pool`; UNLIMITED where `amount` is 0."""
    return np.where(amount == 0, UNLIMITED, pool // np.maximum(amount, 1))
