"""Runs random kernels of known totals and writes the table: python -m support.known_totals COUNT [PAGE].

From the folder tests/; without a page, to standard output. The page is written anew after every so many kernels.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from support.known_totals import BOARD, Outcome, outcomes
from support.known_totals.templates import TEMPLATES

CLOSE = 0.01
WRITTEN_EVERY = 50
HEAD = """# Counts from sampled blocks against totals known by construction

Written by `python -m support.known_totals {count} ../docs/accuracy/sampling.md` in `tests/`.

{count} random kernels of {kinds} kinds for {board}, in grids of {least} to {most} blocks, with warm or cold caches and
arrays one, three or eight times as large as the touched data; blocks of 32 to 256 threads along one to three axes.
In a unit of work, a warp loads a line of its own, multiplies it, adds to it and stores it. How many units each warp
does is written in CUDA and, independently, in NumPy. The totals follow from the latter: floating-point operations, load
and store requests and sectors, and bytes from DRAM where caches are cold, where data are more than {exceeds:.0f} times
L2, or where they fit L2 (then none). Warp instructions are linear in a warp's units; blocks with the fewest and the
most units, executed alone, give the line.

Errors are those of the worst quantity of a kernel. *Executed* is the median share of blocks that were executed,
*stated* the median of the standard errors that the answers state. If work depends on values that no evaluation
of the grid sees, such as those that the kernel itself writes, the sample has an error; *within one* and *within two*
count the kernels whose worst error is below 1 %, or below one or two stated errors.

| kernels | n | executed, % | median error, % | largest error, % | stated, % | below 1 % | within one | within two |
|---|---|---|---|---|---|---|---|---|
"""


def row(name: str, found: Sequence[Outcome]) -> str:
    """One kind of kernels as a line of the table."""
    worst = np.array([max(map(abs, each.errors.values()), default=0.0) for each in found])
    stated = np.array([max(each.stated, each.stated_dram) for each in found])
    executed = 100 * float(np.median([each.executed for each in found]))
    close, one, two = worst <= CLOSE, worst <= np.maximum(CLOSE, stated), worst <= np.maximum(CLOSE, 2 * stated)
    return (
        f"| {name} | {len(found)} | {executed:.3g} | {100 * np.median(worst):.2f} | {100 * worst.max():.2f} "
        f"| {100 * np.median(stated):.2f} | {close.sum()} | {one.sum()} | {two.sum()} |\n"
    )


def page(found: Sequence[Outcome]) -> str:
    """The page of all outcomes."""
    from support.known_totals import EXCEEDS

    blocks = [each.blocks for each in found]
    text = HEAD.format(
        count=len(found), kinds=len(TEMPLATES), board=BOARD, least=min(blocks), most=max(blocks), exceeds=EXCEEDS
    )
    for name in TEMPLATES:
        if own := [each for each in found if each.template == name]:
            text += row(name, own)
    given = [each for each in found if not TEMPLATES[each.template].data]
    return text + row("all that data do not decide", given) + _misses(given)


def _misses(given: Sequence[Outcome]) -> str:
    """What is more than 1 % off, by name."""
    rows = [(max(each.errors, key=lambda name: abs(each.errors[name])), each) for each in given if each.errors]
    far = [f"{each.template} ({name} {100 * each.errors[name]:+.1f} %)" for name, each in rows
           if abs(each.errors[name]) > CLOSE]  # fmt: skip
    return f"\nMore than 1 % off: {', '.join(far)}.\n" if far else "\nNone of those is more than 1 % off.\n"


def main(words: Sequence[str]) -> None:
    """The command."""
    begin, count = time.process_time(), int(words[0])
    kernels: list[Outcome] = []
    for each in outcomes(count):
        kernels.append(each)
        if len(kernels) % WRITTEN_EVERY and len(kernels) < count:
            continue
        seconds = (time.process_time() - begin) / len(kernels)
        sys.stderr.write(f"{len(kernels)} of {count} kernels, {seconds:.2f} s each\n")
        if len(words) > 1:
            Path(words[1]).write_text(page(kernels))
    if len(words) == 1:
        sys.stdout.write(page(kernels))


if __name__ == "__main__":
    main(sys.argv[1:])
