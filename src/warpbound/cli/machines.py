"""`occupancy`, `gpus`, `models` and `doctor`: what is known of machines, models and this installation."""

from typing import Any

import click

from warpbound.cli.output import answer, form_option
from warpbound.errors import CommandError, WarpboundError


@click.command()
@click.option("--gpu", "gpus", metavar="NAME", help="Board, TOML file or sm_NN.")
@click.option("--block", type=click.IntRange(1), required=True, metavar="T", help="Threads per block.")
@click.option("--registers", type=click.IntRange(0), required=True, metavar="R", help="Registers per thread.")
@click.option("--smem", type=click.IntRange(0), default=0, metavar="BYTES", help="Shared memory per block.")
@click.option("--carveout", type=click.IntRange(0), metavar="KIB", help="Shared memory per SM.")
@form_option("text", "json")
def occupancy(gpus: str | None, block: int, registers: int, smem: int, carveout: int | None, form: str) -> None:
    """How many blocks and warps fit on an SM, what limits them, and the next step up."""
    from warpbound.machine import gpu
    from warpbound.report.machines import residency_entry, residency_text
    from warpbound.residency import occupancy as resident

    if gpus is None:
        raise CommandError("No GPU given.", "Add --gpu NAME; `warpbound gpus` lists them.")
    board = gpu(gpus)
    entry = residency_entry(board, resident(board, block, registers, smem, carveout))
    answer(form, entry, residency_text(board, entry))


@click.command()
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Compare the values of a board, or of all, with one another.")
@form_option("text", "json")
def gpus(name: str | None, check: bool, form: str) -> None:
    """The catalogue, or every value of one board (a name or a TOML file) with its source."""
    from warpbound.machine import catalogue, gpu
    from warpbound.report import machines

    if check:
        _check([gpu(name)] if name else [gpu(key) for key in catalogue()], form)
    elif name is None:
        boards = machines.oldest_first(gpu(key) for key in catalogue())
        answer(form, [machines.gpu_entry(board) for board in boards], machines.catalogue(boards))
    else:
        board = gpu(name)
        answer(form, machines.gpu_entry(board), machines.board(board))


def _check(boards: list[Any], form: str) -> None:
    from warpbound.report import machines
    from warpbound.report.board_check import findings

    found = {board.key: findings(board) for board in boards}
    answer(form, machines.check_entry(found), machines.check_text(found))
    if wrong := sum(map(len, found.values())):
        hint = 'Correct them, or say "exception: " and why in the note.'
        raise WarpboundError(f"{wrong} value{'s do' if wrong > 1 else ' does'} not agree.", hint)


@click.command()
@click.argument("name", required=False)
@form_option("text", "json")
def models(name: str | None, form: str) -> None:
    """The papers' models, or what one of them keeps and omits."""
    from warpbound import models as papers

    if name is None:
        rows = [{"name": key, "about": papers.ABOUT[key]} for key in papers.MODELS]
        answer(form, rows, "\n".join(f"{row['name']:22} {row['about']}" for row in rows))
        return
    if name not in papers.MODELS:
        raise CommandError(f"No model is called {name!r}.", f"There are {', '.join(papers.MODELS)}.")
    text = (getattr(papers, name).__doc__ or "").strip()
    answer(form, {"name": name, "about": papers.ABOUT[name], "text": text}, text)


@click.command()
@form_option("text", "json")
def doctor(form: str) -> None:
    """What is installed here, and what each missing piece would enable."""
    from warpbound.report.health import health, health_text

    entries = health()
    answer(form, entries, health_text(entries))
