"""Computes the papers' tables and figures again: their value, ours, the difference, what it means.

    from warpbound.reproduce import chosen, reproduced
    for item in chosen("volkov_2016:fig-4.5"):
        print(reproduced(item).rows)
"""

from warpbound.reproduce.item import PAPERS, Item, chosen, items
from warpbound.reproduce.record import Change, changes, recorded, write
from warpbound.reproduce.reproduction import Reproduction, Row, Verdict, reproduced

__all__ = [
    "PAPERS",
    "Change",
    "Item",
    "Reproduction",
    "Row",
    "Verdict",
    "changes",
    "chosen",
    "items",
    "recorded",
    "reproduced",
    "write",
]
