"""Answers as plain values, for what is not yet a record."""

from warpbound.result.plain import Entry as Entry
