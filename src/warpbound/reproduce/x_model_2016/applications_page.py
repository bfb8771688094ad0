"""docs/x-applications.md: the twelve applications and gesummv's case study as tables."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from warpbound.reproduce.item import ItemInputs, chosen, prose
from warpbound.reproduce.x_model_2016.applications import (
    DEFAULT,
    LARGER,
    application,
    case_study,
    counts,
    remedies,
    studied,
)

BOARDS = {"k40": "Tesla K40 (code of sm_75 as proxy)", "a100-sxm-40gb": "A100-SXM4-40GB", "gtx570": "GTX570"}

WIDTH = 120
MILLISECOND = 1e-3
HOW_MUCH = "how much is gained, above all with 48 KB"


def page(inputs: ItemInputs) -> str:
    """The whole page in Markdown."""
    tables = counts()["applications"].items()
    parts = {
        "applications": "\n".join(f"### {BOARDS[board]}\n\n{_applications(table)}" for board, table in tables),
        "study": _study(inputs),
        "order": _order(inputs),
    }
    head, conclusions = prose("x-applications.md").split("<!-- conclusions -->\n")
    paragraphs = conclusions.format(**_conclusions(inputs)).split("\n\n")
    return head.format(**parts) + "\n\n".join(fill(x, WIDTH, break_long_words=False) for x in paragraphs) + "\n"


def _applications(table: Mapping[str, ItemInputs]) -> str:
    rows = []
    for name, of in table.items():
        ours = application(of)
        times = (_time(of["model_s"]), f"{_time(of['headline_s'])}, {of['headline_binds']}")
        symbols = ("ilp", "ilp_as_published", "intensity", "intensity_all", "threads")
        cells = (_plain(of[symbol]) for symbol in symbols)
        rows.append((name, *cells, str(ours["binds"]), _plain(ours["MS"]), _plain(ours["CS"]), *times, "not printed"))
    head = ("application", "E", "E, paired", "Z", "Z, all", "n", "binds", "MS", "CS", "X-model", "headline", "paper")
    return _table(head, rows)


def _study(inputs: ItemInputs) -> str:
    rows = []
    for board in counts()["gesummv"]:
        ours = case_study(board, inputs)
        for size in (DEFAULT, LARGER):
            cells = (ours[f"{size}: first maximum of f"], ours[f"{size}: best n"])
            falls = "yes" if ours[f"{size}: falls where it crosses"] else "no"
            rows.append((BOARDS[board].partition(" (")[0], size, _plain(ours["alpha"]), f"{ours['beta']:.3g} B",
                         _plain(ours["residual of the fit"]), falls,
                         *map(_plain, cells)))  # fmt: skip
    return _table(("board", "L1", "alpha", "beta", "residual", "thrashes", "first maximum of f at k", "best n"), rows)


def _order(inputs: ItemInputs) -> str:
    boards = list(counts()["gesummv"])
    studies = {board: case_study(board, inputs) for board in boards}
    gains = _measured()
    rows = [
        (way, *(f"{studies[board]['gain'][way]:.3f}" for board in boards), gains[way]) for way in _remedies(boards[0])
    ]
    for what, paper in (("more Z: MS", "very limited"), ("more Z: CS", "rises"), ("less E: MS", "rises")):
        rows.append((what, *(f"{studies[board][what]:.5f}" for board in boards), paper))
    return _table(("way out", *(BOARDS[board].partition(" (")[0] for board in boards), "paper, GTX570, measured"), rows)


def _conclusions(inputs: ItemInputs) -> dict[str, object]:
    """Agreements with the paper and differences, by rows of the item; the best numbers of warps."""
    (item,) = chosen("x_model_2016:applications")
    board = "gtx570"
    ours = case_study(board, inputs)
    agree: list[str] = []
    differ: list[str] = []
    for what, paper in item.printed.items():
        if paper.from_measurement or not what.startswith(f"gesummv: {board}: "):
            continue
        name = what.removeprefix(f"gesummv: {board}: ")
        value = ours[name]
        same = ("yes" if value else "no") == paper.value if isinstance(value, bool) else _same(value, paper.value)
        (agree if same else differ).append(name if isinstance(value, bool) else f"{name} ({paper.value})")
    few = [ours[f"{size}: best n"] for size in (DEFAULT, LARGER)]
    return {"agree": "; ".join(agree), "differ": "; ".join([*differ, HOW_MUCH]), "small": few[0], "large": few[1]}


def _same(value: object, paper: str | None) -> bool:
    return value == paper if isinstance(value, str) else float(str(value)) == float(paper or "nan")


def _measured() -> dict[str, str]:
    (item,) = chosen("x_model_2016:applications")
    start = "gesummv: gtx570: gain: "
    return {what.removeprefix(start): str(x.value) for what, x in item.printed.items() if what.startswith(start)}


def _remedies(board: str) -> Iterable[str]:
    sizes = studied(board)
    return remedies(sizes[DEFAULT], sizes[LARGER])


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds >= MILLISECOND else f"{1e6 * seconds:.3g} us"


def _plain(value: object) -> str:
    number = float(str(value))
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
