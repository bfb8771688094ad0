"""Thread block clusters: which blocks form one, their order, and the words of constant bank 0 that describe them.

Source   Places in bank 0 read off compiled probes for sm_90 and sm_100 (%cluster_nctaid, %nclusterid, ...), where
         sm_100 and later subtract 0xA0 times SR_CgaSize, which is 0 here.
"""

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.errors import CommandError
from warpbound.kernel_launch import Dim, Launch
from warpbound.program.kernel import Program

_PLACES_90 = {"given": 0x140, "size": 0x144, "reciprocal": 0x154, "clusters": 0x15C, "blocks": 0x188}
_PLACES_100 = {"given": 0x36C, "size": 0x2A0, "reciprocal": 0x2B4, "clusters": 0x2C0, "blocks": 0x2CC}


def cluster_of(program: Program, launch: Launch) -> Dim:
    """Blocks per cluster, from the launch or from the kernel's compile-time attribute; (1, 1, 1) without either.

    Raises CommandError where the two differ or do not divide the grid.
    """
    extent = launch.cluster or program.cluster or (1, 1, 1)
    if program.cluster not in (None, extent):
        sizes = " x ".join(str(size) for size in program.cluster or ())
        raise CommandError(
            f"the kernel is compiled for clusters of {sizes} blocks.", "Launch it with clusters of that size."
        )
    if any(blocks % size for blocks, size in zip(launch.grid, extent, strict=True)):
        raise CommandError(
            f"the grid is not a multiple of the kernel's cluster, {' x '.join(str(size) for size in extent)} blocks.",
            "Make every grid dimension a multiple of the cluster's.",
        )
    return extent


def together(blocks: NDArray[np.int64], grid: Dim, cluster: Dim) -> NDArray[np.int64]:
    """The blocks (linear numbers) of all clusters that `blocks` touch, cluster after cluster in the order of ranks."""
    clusters = [extent // size for extent, size in zip(grid, cluster, strict=True)]
    cluster_numbers = _linear([at // size for at, size in zip(_axes(blocks, grid), cluster, strict=True)], clusters)
    corners, inside = _axes(distinct(cluster_numbers), clusters), _axes(np.arange(np.prod(cluster)), cluster)
    at = [(corner * size)[:, None] + offset for corner, size, offset in zip(corners, cluster, inside, strict=True)]
    return _linear(at, grid).ravel()


def ranks(blocks: NDArray[np.int64], grid: Dim, cluster: Dim) -> NDArray[np.int64]:
    """The rank of each block in its cluster."""
    return _linear([at % size for at, size in zip(_axes(blocks, grid), cluster, strict=True)], cluster)


def _axes(numbers: NDArray[np.int64], sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """x, y, z of linear numbers."""
    x, y, _ = sizes
    return [numbers % x, numbers // x % y, numbers // (x * y)]


def _linear(at: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.asarray(at[0] + sizes[0] * (at[1] + sizes[1] * at[2]))


def bank_words(arch: int, launch: Launch, cluster: Dim) -> dict[int, bytes]:
    """Cluster words of constant bank 0, by offset; none before sm_90."""
    if arch < 90:
        return {}
    places = _PLACES_90 if arch < 100 else _PLACES_100
    counts = [extent // size for extent, size in zip(launch.grid, cluster, strict=True)]
    upwards = [np.nextafter(np.float32(1 / size), np.float32(1)) if size > 1 else 1.0 for size in cluster[1:]]
    return {
        places["given"]: struct.pack("<I", int(launch.cluster is not None or np.prod(cluster) > 1)),
        places["size"]: struct.pack("<3I", *cluster),
        places["reciprocal"]: struct.pack("<2f", *upwards),
        places["clusters"]: struct.pack("<2I", *counts[:2]),
        places["blocks"]: struct.pack("<I", int(np.prod(cluster))),
    }
