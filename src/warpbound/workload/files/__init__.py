"""Workload files: hand-written TOML (a paper's table, an estimate) to the Workload that models read."""

from warpbound.workload.files.reading import WorkloadCase, read, read_text, shipped
from warpbound.workload.files.work import levels, work_on

__all__ = ["WorkloadCase", "levels", "read", "read_text", "shipped", "work_on"]
