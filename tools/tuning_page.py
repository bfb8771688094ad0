"""The text of docs/accuracy/tuning.md."""

from collections.abc import Mapping, Sequence

from tuning_replay import (
    FAR,
    GIVE_UP_S,
    KEEP_WITHIN,
    LEAST,
    NEAR,
    SEEDS,
    Space,
    at_random,
    in_order,
    mean_of,
    origins,
    pruned_at_random,
    spaces,
    tuner_means,
    until_near,
)

Means = Mapping[str, tuple[float, float]]

INTRODUCTION = f"""# Tuning spaces replayed

How many configurations does a search measure until one is within {NEAR - 1:.0%} of the best one of its space? Each
space is a table of times that others measured, of at least {LEAST} configurations; a search that asks for a
configuration gets its time from the table. Random searches and Kernel Tuner's strategies are means of {SEEDS} seeds.
The predictions are those of kernels of our own in the same layout, without a GPU.

This page is written by `python tools/tuning_replay.py page` from the tables and predictions in `tools/tuning_spaces`;
a test computes it again. `python tools/tuning_replay.py predict` predicts anew, `... tuner` repeats Kernel Tuner's
searches.
"""
COLUMNS = f"""
* **near**: configurations within {NEAR - 1:.0%} of the best.
* **random**: measured in random order. **Kernel Tuner**: its best strategy on that space (all are below).
* **pruned**: in random order among those predicted within {KEEP_WITHIN:.0%} of the fastest prediction, then the others.
  **pruned, Kernel Tuner**: its best strategy there.
* **predicted order**: the fastest predicted first (`warpbound.candidates`, `warpbound.kernel_tuner.Strategy`).
* **in order**: of the pairs of configurations whose times differ by more than {FAR - 1:.0%}, the share that the
  predictions order rightly.
"""
LIMITS = f"""
## What this does not show

* The tables are samples of spaces of thousands of configurations, drawn without regard to predictions. A whole space
  has more configurations near the best, and many more others.
* The convolutions on the V100 and all products are judged in [convolutions](convolutions.md) and
  [tuned-products](tuned-products.md) too. The rule that blocks stay in step was found in rows of the V100's
  convolutions and products; no number was fitted to them.
* The polygons were measured in a program that keeps its points in the host's memory, so its times include transfers;
  the predictions are for the kernel with the points in the board's memory.
* Configurations that failed where they were measured are left out of the tables.
* Kernel Tuner's strategies have their default options. Where one asks for the same configurations again and again, or
  cannot search a dozen of them, the rest follows in random order; a search is ended after {GIVE_UP_S} s of processor
  time, which only `diff_evo` reaches.
"""


def text() -> str:
    """The page, from the tables."""
    every, means = spaces(), tuner_means()
    parts = [INTRODUCTION, COLUMNS, _replays(every, means), _verdict(every, means), _strategies(means), LIMITS]
    return "\n".join([*parts, _origins()])


def _replays(every: Sequence[Space], means: Mapping[str, Means]) -> str:
    head = ("space", "configurations", "near", "random", "Kernel Tuner", "pruned", "pruned, Kernel Tuner",
            "predicted order", "in order")  # fmt: skip
    rows = [
        (
            space.name, len(space.measured), int(space.good.sum()), f"{mean_of(at_random, space):.1f}",
            f"{_best(means[space.name], 0):.1f}", f"{mean_of(pruned_at_random, space):.1f}",
            f"{_best(means[space.name], 1):.1f}", f"**{until_near(space, space.ranked)}**", f"{in_order(space):.0%}",
        )
        for space in every
    ]  # fmt: skip
    return _table(head, rows)


def _verdict(every: Sequence[Space], means: Mapping[str, Means]) -> str:
    ranked = {space.name: until_near(space, space.ranked) for space in every}
    half = [space for space in every if 2 * ranked[space.name] <= mean_of(at_random, space)]
    pruned = [space for space in every if 2 * mean_of(pruned_at_random, space) <= mean_of(at_random, space)]
    tuned = [space for space in every if 2 * ranked[space.name] <= _best(means[space.name], 0)]
    return f"""
The predicted order needs at most half of the measurements of a random search in {len(half)} of {len(every)} spaces, and
at most half of those of Kernel Tuner's best strategy in {len(tuned)}. Random order among what the pruner leaves needs
at most half of those of a random search in {len(pruned)}.
"""


def _strategies(means: Mapping[str, Means]) -> str:
    names = list(dict.fromkeys(name for each in means.values() for name in each))
    rows = [
        (space, *(f"{each[name][0]:.1f}, {each[name][1]:.1f}" for name in names)) for space, each in means.items()
    ]
    words = "\n## Kernel Tuner's strategies\n\nMeasurements over the whole space, and over what the pruner leaves.\n\n"
    return words + _table(("space", *(f"`{name}`" for name in names)), rows)


def _origins() -> str:
    rows = [(folder, about, compiler, origin) for folder, about, compiler, origin in origins()]
    return "## Origins\n\n" + _table(("space", "what", "compiler", "times"), rows) + "\n"


def _best(means: Means, which: int) -> float:
    return min(pair[which] for pair in means.values())


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
