"""docs/x-applications.md: the twelve applications and gesummv's case study as tables."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from warpbound.reproduce.item import Given, chosen
from warpbound.reproduce.x_model_2016.applications import (
    DEFAULT,
    LARGER,
    application,
    case_study,
    counts,
    studied,
    ways_out,
)

BOARDS = {"k40": "Tesla K40 (code of sm_75 as proxy)", "a100-sxm-40gb": "A100-SXM4-40GB", "gtx570": "GTX570"}

HEAD = """\
# The X-model's twelve applications, from source

A. Li and others judge their X-model (2016, section V) by twelve applications on a Tesla K40 and study gesummv in detail
(section VI). They print neither code nor sizes, and Figure 11, with E, Z, n and the measured throughputs, is a picture.
[examples/applications](../examples/applications) therefore has kernels of our own, the main kernel of each application,
at sizes of our own; in the emulator they give NumPy's results. `warpbound analyze examples/applications/NAME.cu
--launch examples/applications/NAME.toml --models x_model_2016 --cache cold` runs one on the A100. No available compiler
makes code for Kepler or Fermi; for these boards the same analysis was run on sm_75 code, in Python.

`warpbound reproduce x_model_2016:applications` computes all numbers here from the counts that the package keeps. A test
counts again from the sources and compares; `pytest tests/reproduce/test_applications.py -n 0 --rewrite-docs` rewrites
counts and page, `warpbound reproduce x_model_2016:applications --record` records the results.

**The paper prints** one accuracy, 84.1 % over all twelve applications on K40, and no value of any application. Without
its measurements nobody can recompute that number, and we claim none.

## Applications

* **E** is instructions per cycle that does not wait for memory, from the schedule of the code. The paper counts
  instructions that a warp issues together, 1 to 2 on Kepler; Turing's code, the proxy for Kepler's, has no pairs.
* **Z** is instructions per global access that leaves the chip; *all* counts every global access, as the paper does.
* **n** is the resident warps of one SM; *binds* is the model's class.
* **MS** is accesses per cycle and SM, **CS** instructions per cycle and SM, where the model's curves meet.
* **X-model** and **headline** are times of one launch with cold caches: the model's, and warpbound's own with its
  bottleneck. They differ where the model omits something: it has DRAM and lanes, but no L1, L2, shared memory, barriers
  or end of a launch.
"""
STUDY = """\
## gesummv

Locality (alpha, beta) is fitted to the reuse distances of one warp's lines. The residual, the rms error of the fitted
hit rate, is large: real hits come all at once, as soon as a warp's lines fit, and the paper's curve cannot follow that.
The case is the paper's: every warp slot taken (64 on K40, 48 on GTX570), L1 of 16 and of 48 KB. A request moves all
sectors that its 32 rows touch. Throttling uses the whole number of warps with the highest throughput; a bypass raises R
to that throughput. The paper bounds both by the cache peak. The gains are factors of MS throughput over the default of
16 KB. With 16 KB the first maximum of f lies below one warp, so no launch can use it; the second is where DRAM
saturates.
"""
MEANING = (
    "**Where we agree with the paper** (GTX570): {agree}.",
    "**Where we differ**: {differ}. The paper's bars are measurements; ours are the model's bounds, with a few warps "
    "and no cost of switching the others off. On GTX570 the model wants {small:.0f} warps with 16 KB and {large:.0f} "
    "with 48 KB; throttling by blocks leaves 16. Part of the order follows from the model: Equation 5 gives a larger "
    "cache more, and a bypass is bounded above throttling at the same size. Two results do not follow from it: a "
    "larger L1 alone gains less than throttling at 16 KB, and throttling at 48 KB gains more than a bypass at 16 KB. "
    "Less E gains next to nothing: it keeps far fewer threads in computation than there are in memory.",
)
WIDTH = 120
MILLISECOND = 1e-3
HOW_MUCH = "how much is gained, above all with 48 KB"


def page(given: Given) -> str:
    """The whole page in Markdown."""
    found = counts()
    parts = [HEAD]
    for board, table in found["applications"].items():
        parts += [f"### {BOARDS[board]}\n", _applications(table)]
    return "\n".join([*parts, STUDY, _study(given), _order(given), _meaning(given)])


def _applications(table: Mapping[str, Given]) -> str:
    rows = []
    for name, of in table.items():
        ours = application(of)
        times = (_time(of["model_s"]), f"{_time(of['headline_s'])}, {of['headline_binds']}")
        cells = (_plain(of["ilp"]), _plain(of["intensity"]), _plain(of["intensity_all"]), _plain(of["threads"]))
        rows.append((name, *cells, str(ours["binds"]), _plain(ours["MS"]), _plain(ours["CS"]), *times, "not printed"))
    head = ("application", "E", "Z", "Z, all", "n", "binds", "MS", "CS", "X-model", "headline", "paper")
    return _table(head, rows)


def _study(given: Given) -> str:
    rows = []
    for board in counts()["gesummv"]:
        ours = case_study(board, given)
        for size in (DEFAULT, LARGER):
            cells = (ours[f"{size}: first maximum of f"], ours[f"{size}: best n"])
            falls = "yes" if ours[f"{size}: falls where it crosses"] else "no"
            rows.append((BOARDS[board].partition(" (")[0], size, _plain(ours["alpha"]), f"{ours['beta']:.3g} B",
                         _plain(ours["residual of the fit"]), falls,
                         *map(_plain, cells)))  # fmt: skip
    return _table(("board", "L1", "alpha", "beta", "residual", "thrashes", "first maximum of f at k", "best n"), rows)


def _order(given: Given) -> str:
    boards = list(counts()["gesummv"])
    studies = {board: case_study(board, given) for board in boards}
    measured = _measured()
    rows = [
        (way, *(f"{studies[board]['gain'][way]:.3f}" for board in boards), measured[way]) for way in _ways(boards[0])
    ]
    for what, printed in (("more Z: MS", "very limited"), ("more Z: CS", "rises"), ("less E: MS", "rises")):
        rows.append((what, *(f"{studies[board][what]:.5f}" for board in boards), printed))
    return _table(("way out", *(BOARDS[board].partition(" (")[0] for board in boards), "paper, GTX570, measured"), rows)


def _meaning(given: Given) -> str:
    """What agrees, row by row of the item."""
    (item,) = chosen("x_model_2016:applications")
    board = "gtx570"
    ours = case_study(board, given)
    agree: list[str] = []
    differ: list[str] = []
    for what, printed in item.printed.items():
        if printed.measured or not what.startswith(f"gesummv: {board}: "):
            continue
        name = what.removeprefix(f"gesummv: {board}: ")
        value = ours[name]
        same = ("yes" if value else "no") == printed.value if isinstance(value, bool) else _same(value, printed.value)
        (agree if same else differ).append(name if isinstance(value, bool) else f"{name} ({printed.value})")
    few = [ours[f"{size}: best n"] for size in (DEFAULT, LARGER)]
    said = {"agree": "; ".join(agree), "differ": "; ".join([*differ, HOW_MUCH]), "small": few[0], "large": few[1]}
    return "\n\n".join(fill(paragraph.format(**said), WIDTH, break_long_words=False) for paragraph in MEANING) + "\n"


def _same(value: object, printed: str | None) -> bool:
    return value == printed if isinstance(value, str) else float(str(value)) == float(printed or "nan")


def _measured() -> dict[str, str]:
    (item,) = chosen("x_model_2016:applications")
    start = "gesummv: gtx570: gain: "
    return {what.removeprefix(start): str(one.value) for what, one in item.printed.items() if what.startswith(start)}


def _ways(board: str) -> Iterable[str]:
    sizes = studied(board)
    return ways_out(sizes[DEFAULT], sizes[LARGER])


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds >= MILLISECOND else f"{1e6 * seconds:.3g} us"


def _plain(value: object) -> str:
    number = float(str(value))
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
