"""Answers of `gpus`, `models` and `validate --list`: what the installation has of boards, models and corpora."""

import msgspec


class OtherSource(msgspec.Struct, frozen=True):
    """What another source says of a parameter."""

    value: float
    source: str
    note: str


class BoardParameter(msgspec.Struct, frozen=True):
    """A value in the catalogue's unit, where it is from and how it became known."""

    value: float
    unit: str
    source: str
    how: str
    note: str
    others: list[OtherSource]


class TakenParameter(msgspec.Struct, frozen=True):
    """What answers take for a parameter that nobody has given or measured."""

    value: float
    unit: str
    origin: str = msgspec.field(name="from")


class SmLimit(msgspec.Struct, frozen=True):
    """A limit of one SM by compute capability."""

    value: int
    unit: str
    meaning: str


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """One board of the catalogue or of a file."""

    name: str
    title: str
    compute_capability: str
    aliases: list[str]
    hypothetical: bool
    parameters: dict[str, BoardParameter]
    stand_ins: dict[str, TakenParameter]
    limits: dict[str, SmLimit]
    limits_sources: list[str]


class CheckedBoards(msgspec.Struct, frozen=True):
    """How many boards were checked, and sentences by board where values do not agree."""

    boards: int
    findings: dict[str, list[str]]


class Summary(msgspec.Struct, frozen=True):
    """A model or a corpus in one sentence."""

    name: str
    about: str


class ModelDescription(Summary, frozen=True):
    """A model with all that its docstring says."""

    text: str
