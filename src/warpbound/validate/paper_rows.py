"""Judged rows with the times of every model of the papers: scored a few at a time, and kept.

A pass over all corpora takes long, so each row is appended to the file as soon as it is scored, and the next pass goes
on with the rows that the file does not have.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from warpbound.errors import InputError
from warpbound.models import MODELS
from warpbound.validate.corpus import Corpus, Row
from warpbound.validate.judged_row import Result
from warpbound.validate.row_prediction import HEADLINE, answer

FILE = "papers.jsonl"
DIGITS = 4
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, spread any number of first rows over all


class PaperRow(msgspec.Struct, frozen=True):
    """A judged row as its results name it, and seconds by model: only models that give a time."""

    corpus: str
    gpu: str
    kernel: str
    label: str
    seconds: dict[str, float]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells rows apart."""
        return self.corpus, self.gpu, self.kernel, self.label


def data_file() -> Path:
    """Where the rows are kept."""
    return Path(str(files("warpbound.validate"))) / FILE


def kept(place: Path | None = None) -> tuple[PaperRow, ...]:
    """All rows that were scored, the last one of each name. Raises InputError where a line cannot be read."""
    place = place or data_file()
    try:
        lines = place.read_bytes().splitlines() if place.is_file() else []
        rows = [msgspec.json.decode(line, type=PaperRow) for line in lines if line.strip()]
    except msgspec.DecodeError as error:
        raise InputError(f"{place} cannot be read ({error}).", "Remove the line that is not JSON.") from None
    return tuple({row.key: row for row in rows}.values())


def key_of(result: Result) -> tuple[str, str, str, str]:
    """The name of a validation result, as rows are named here."""
    return result.corpus, result.gpu, result.kernel, result.label


def missing(
    corpora: Sequence[Corpus], gpus: Sequence[str], each: int, scored: Sequence[PaperRow]
) -> list[tuple[Corpus, Row]]:
    """Judged rows to score next: `each` of every corpus and board, less those done, spread over their order.

    gpus : only these boards, all where none is named. The first row of every corpus and board comes first.
    """
    names = {row.key for row in scored}
    by_rank: list[tuple[int, Corpus, Row]] = []
    for corpus in corpora:
        boards = dict.fromkeys(row.gpu for row in corpus.rows if not gpus or row.gpu in gpus)
        for board in boards:
            rows = [row for row in corpus.rows if (row.gpu, row.kind) == (board, "judged")]
            order = sorted(range(len(rows)), key=lambda number: number * GOLDEN % 1.0)
            by_rank += [(rank, corpus, rows[number]) for rank, number in enumerate(order[:each])]
    by_rank.sort(key=lambda entry: entry[0])
    return [(corpus, row) for _, corpus, row in by_rank if _key(corpus, row) not in names]


def score(corpus: Corpus, row: Row) -> PaperRow:
    """The row with the time of every model that gives one. Raises InputError where the row is refused."""
    result = answer(corpus, row, tuple(MODELS))
    if result.refused:
        where = f"{corpus.name} on {row.gpu} ({row.label(corpus.shared)})"
        raise InputError(f"{where} was not predicted. {result.refused}", "Correct it first.")
    seconds = {
        name: float(f"{time_s:.{DIGITS}g}")
        for name, time_s in result.seconds.items()
        if time_s is not None and name != HEADLINE
    }
    return PaperRow(*_key(corpus, row), seconds)


def append(row: PaperRow, place: Path | None = None) -> None:
    """Keeps a row."""
    with (place or data_file()).open("ab") as out:
        out.write(msgspec.json.encode(row) + b"\n")


def _key(corpus: Corpus, row: Row) -> tuple[str, str, str, str]:
    return corpus.name, row.gpu, row.kernel, row.label(corpus.shared)
