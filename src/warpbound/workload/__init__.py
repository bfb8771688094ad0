"""Workload: what a model may know of a kernel, per warp or per loop iteration, without text or addresses."""

from warpbound.workload.records import Memory, Piece, Workload

__all__ = ["Memory", "Piece", "Workload"]
