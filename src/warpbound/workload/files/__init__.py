"""Workload files: a paper's table or a person's guess, written as TOML, into the Workload that models read."""

from warpbound.workload.files.reading import Written, read, read_text, shipped
from warpbound.workload.files.work import levels, work_on

__all__ = ["Written", "levels", "read", "read_text", "shipped", "work_on"]
