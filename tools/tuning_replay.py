"""Measured tuning spaces replayed: how many configurations have to be measured until one is within 5 % of the best?

    python tools/tuning_replay.py predict    predict the configurations of tuning_spaces/ that have no prediction yet
    python tools/tuning_replay.py tuner      search with Kernel Tuner's strategies, and write tuning_spaces/tuner.csv
    python tools/tuning_replay.py page       write docs/accuracy/tuning.md from both

A space is one board's rows in a folder of tuning_spaces/, a corpus as those of `warpbound validate`: kernels of
our own in a published layout, and times that others measured. rows.csv keeps the predictions, so that a replay compiles
nothing. `predict` needs the compilers that the corpora name (`pip install 'warpbound[validate]'`).
"""

import csv
import random
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).with_name("tuning_spaces")
PAGE = HERE.parent.parent / "docs" / "accuracy" / "tuning.md"
TUNER = HERE / "tuner.csv"
BOARD, MEASURED, PREDICTED, BINDS = "gpu", "ms", "predicted_ms", "binds"
NO_PARAMETERS = (BOARD, "grid", "block", MEASURED, PREDICTED, BINDS)
NEAR = 1.05        # of the best time: when a search is done
SEEDS = 100
KEEP_WITHIN = 0.25  # the pruner's; chosen before anything was replayed
FAR = 1.10         # pairs of configurations that are farther apart than this should be in the right order
LEAST = 50         # configurations of a space
PATIENCE = 10      # requests for each configuration, after which a strategy that finds nothing new is ended
GIVE_UP_S = 0.3    # processor time of one search; some look for new configurations for ever
STRATEGIES = ("genetic_algorithm", "diff_evo", "pso", "simulated_annealing", "mls")


@dataclass(frozen=True)
class Space:
    """One board's configurations: parameters by name, values (rows, names); times in ms, NaN where not predicted."""

    kernel: str
    board: str
    about: str
    names: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    measured: NDArray[np.float64]
    predicted: NDArray[np.float64]

    @property
    def name(self) -> str:
        return f"{self.kernel} on {self.board}"

    @property
    def good(self) -> NDArray[np.bool_]:
        return np.asarray(self.measured <= NEAR * self.measured.min())

    @property
    def ranked(self) -> list[int]:
        """Rows, the fastest predicted first; those without a prediction last."""
        return np.argsort(np.where(np.isnan(self.predicted), np.inf, self.predicted), kind="stable").tolist()

    @property
    def kept(self) -> list[int]:
        """Rows that a pruner with KEEP_WITHIN leaves."""
        least = np.nanmin(self.predicted)
        return np.flatnonzero(self.predicted <= (1 + KEEP_WITHIN) * least).tolist()


def spaces() -> list[Space]:
    """Every board of every folder."""
    return [space for folder in sorted(HERE.iterdir()) if (folder / "rows.csv").is_file() for space in _of(folder)]


def origins() -> list[tuple[str, str, str, str]]:
    """(folder, what it is, compiler, where the times are from) of each folder."""
    found = [(path.parent.name, tomllib.loads(path.read_text())) for path in sorted(HERE.glob("*/corpus.toml"))]
    return [(name, words["about"], words["compiler"], words["origin"]) for name, words in found]


def _of(folder: Path) -> Iterator[Space]:
    about = tomllib.loads((folder / "corpus.toml").read_text())["about"]
    with (folder / "rows.csv").open(newline="") as lines:
        every = list(csv.DictReader(lines))
    names = tuple(name for name in every[0] if name not in NO_PARAMETERS)
    for board in dict.fromkeys(row[BOARD] for row in every):
        rows = [row for row in every if row[BOARD] == board]
        yield Space(
            folder.name, board, about, names, tuple(tuple(int(row[name]) for name in names) for row in rows),
            np.array([float(row[MEASURED]) for row in rows]),
            np.array([float(row.get(PREDICTED) or "nan") for row in rows]),
        )  # fmt: skip


# ---------------------------------------------------------------- searches


def until_near(space: Space, order: Sequence[int]) -> int:
    """How many different configurations are measured in this order until one is near the best."""
    good = space.good
    return next(number for number, row in enumerate(dict.fromkeys(order), 1) if good[row])


def shuffled(rows: Sequence[int], seed: int) -> list[int]:
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    return mixed


def at_random(space: Space, seed: int) -> list[int]:
    return shuffled(range(len(space.measured)), seed)


def pruned_at_random(space: Space, seed: int) -> list[int]:
    """What the pruner leaves, in any order; then the others."""
    return shuffled(space.kept, seed) + at_random(space, seed)


def mean_of(search: Callable[[Space, int], Sequence[int]], space: Space) -> float:
    return float(np.mean([until_near(space, search(space, seed)) for seed in range(SEEDS)]))


def in_order(space: Space) -> float:
    """Of the pairs whose measured times are farther apart than FAR, the share that the predictions order rightly."""
    known = ~np.isnan(space.predicted)
    measured, predicted = np.log(space.measured[known]), np.log(space.predicted[known])
    apart = measured[:, None] - measured[None, :]
    pairs = apart > np.log(FAR)
    return float((predicted[:, None] > predicted[None, :])[pairs].mean())


# ---------------------------------------------------------------- Kernel Tuner


class Replay:
    """What Kernel Tuner's strategies ask for times; remembers what was asked for."""

    def __init__(self, space: Space, rows: Sequence[int]) -> None:
        self.row = {space.values[row]: row for row in rows}
        self.space, self.asked = space, list[int]()
        self.good, self.found = space.good, False

    def run(self, configs: Sequence[Sequence[int]], options: dict[str, object]) -> list[dict[str, object]]:
        from kernel_tuner.util import StopCriterionReached

        results: list[dict[str, object]] = []
        for config in configs:
            if self.found or len(self.asked) > PATIENCE * len(self.row):
                raise StopCriterionReached("a good one is found, or the same ones are asked for again and again")
            row = self.row[tuple(int(value) for value in config)]
            if row not in self.asked:
                options["budget"].add_evaluations(1)  # type: ignore[attr-defined]
            self.asked.append(row)
            self.found |= bool(self.good[row])
            results.append({**dict(zip(self.space.names, config, strict=True)), "time": self.space.measured[row]})
        return results

    def add_strategy_time(self, _: float) -> None:
        """Nothing: only evaluations count."""


def searched(strategy: str, space: Space, rows: Sequence[int], seed: int) -> list[int]:
    """The rows in the order in which a strategy of Kernel Tuner asks for them; then those that it never asks for."""
    from importlib import import_module

    from kernel_tuner.interface import Options
    from kernel_tuner.searchspace import Searchspace
    from kernel_tuner.util import StopCriterionReached, TuningBudget

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  (what Kernel Tuner draws from)
    configs = {str(row): dict(zip(space.names, space.values[row], strict=True)) for row in rows}
    values = {name: sorted({config[name] for config in configs.values()}) for name in space.names}
    options = Options(
        strategy_options=Options(), objective=["time"], objective_higher_is_better=[False], verbose=False, cache={},
        tune_params=values, restrictions=None, metrics=None, budget=TuningBudget(max_fevals=len(rows)),
        max_fevals=len(rows),
    )  # fmt: skip
    runner = Replay(space, rows)
    where = Searchspace(None, None, None, from_cache={"tune_params": values, "cache": configs})
    signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, GIVE_UP_S)
    with suppress(IndexError, ValueError, TypeError, StopCriterionReached):  # some cannot search a dozen configurations
        import_module(f"kernel_tuner.strategies.{strategy}").tune(where, runner, options)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    return [*runner.asked, *shuffled(rows, seed), *at_random(space, seed)]


def _give_up(*_: object) -> None:
    raise ValueError("the strategy found nothing more to ask for")


def tuner() -> None:
    """Mean evaluations of each strategy over whole and pruned spaces, as a table."""
    with TUNER.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("space", "strategy", "all", "pruned"))
        for space in spaces():
            every = range(len(space.measured))
            for strategy in STRATEGIES:
                means = [
                    np.mean([until_near(space, searched(strategy, space, rows, seed)) for seed in range(SEEDS)])
                    for rows in (every, space.kept)
                ]
                table.writerow((space.name, strategy, *(f"{mean:.2f}" for mean in means)))
                file.flush()


def tuner_means() -> dict[str, dict[str, tuple[float, float]]]:
    """Space -> strategy -> mean evaluations, over all configurations and over those that the pruner leaves."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    with TUNER.open(newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(row["space"], {})[row["strategy"]] = (float(row["all"]), float(row["pruned"]))
    return found


# ---------------------------------------------------------------- predictions


def predict() -> None:
    """Write a prediction beside every measured time that has none; a row at a time, so that it can be stopped."""
    from warpbound.validate.corpus import corpus
    from warpbound.validate.row_prediction import HEADLINE, answer

    for folder in sorted(path.parent for path in HERE.glob("*/corpus.toml")):
        found = corpus(folder)
        with (folder / "rows.csv").open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        for row, case in zip(rows, found.rows, strict=True):
            if row.get(PREDICTED) in (None, ""):
                answered = answer(found, case)
                time_s = answered.seconds.get(HEADLINE)
                row[PREDICTED] = f"{1e3 * time_s:.5g}" if time_s else ""
                row[BINDS] = answered.bottleneck or ""
                write_rows(folder, rows)


def write_rows(folder: Path, rows: Sequence[dict[str, str]]) -> None:
    names = [*(name for name in rows[0] if name not in (PREDICTED, BINDS)), PREDICTED, BINDS]
    with (folder / "rows.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, names, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["predict"]:
            predict()
        case ["tuner"]:
            tuner()
        case ["page"]:
            from tuning_page import text

            PAGE.write_text(text())
        case _:
            sys.exit(__doc__)
