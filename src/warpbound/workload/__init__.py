"""Workload: the counts, traffic and latencies of a kernel that models read, per warp or per loop iteration."""

from warpbound.workload.records import Memory, Piece, Workload

__all__ = ["Memory", "Piece", "Workload"]
