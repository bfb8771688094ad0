"""`occupancy`, `gpus`, `models` and `doctor`: what is known of machines, models and this installation."""

import math
from typing import TYPE_CHECKING, Any

import click

from warpbound.cli.output import answer, form_option
from warpbound.errors import CommandError, WarpboundError

if TYPE_CHECKING:
    from warpbound.machine import Gpu
    from warpbound.report.occupancy import Axes


OCCUPANCY_EXAMPLES = """
\b
Examples:
  warpbound occupancy --gpu h200 --block 256 --registers 40 --smem 8192
  warpbound occupancy --gpu sm_87 --block 64,128,256 --registers 32:64:8
  warpbound occupancy --gpu all --block 256 --registers 40
"""
GPUS_EXAMPLES = """
\b
Examples:
  warpbound gpus                    all boards, oldest first
  warpbound gpus h200               every value of one, with its source
  warpbound gpus my-board.toml --check
"""
MODELS_EXAMPLES = """
\b
Examples:
  warpbound models
  warpbound models hong_kim_2009
"""
DOCTOR_EXAMPLES = """\b
Examples:
  warpbound doctor
  warpbound doctor --format json
  warpbound doctor --older-nvdisasm     # code of nvrtc-12.6 for sm_70 becomes readable
"""
MOST_ROWS = 100_000


@click.command(epilog=OCCUPANCY_EXAMPLES)
@click.option("--gpu", "gpus", metavar="NAME[,NAME...|all]", help="Board, TOML file or sm_NN.")
@click.option("--block", required=True, metavar="T[,T...|FIRST:LAST[:STEP]]", help="Threads per block.")
@click.option("--registers", required=True, metavar="R[,R...]", help="Registers per thread; ranges as for --block.")
@click.option("--smem", default="0", metavar="BYTES[,BYTES...]", help="Shared memory per block; ranges likewise.")
@click.option("--carveout", type=click.IntRange(0), metavar="KIB", help="Shared memory per SM.")
@form_option("text", "json")
def occupancy(gpus: str | None, block: str, registers: str, smem: str, carveout: int | None, form: str) -> None:
    """Compute how many blocks and warps fit on an SM, and why.

    Also shows the gain of one register or one byte less. Several values or GPUs give a table of all combinations.
    """
    from warpbound.machine import listed
    from warpbound.report.occupancy import Axes

    if gpus is None:
        raise CommandError("No GPU given.", "Add --gpu NAME; `warpbound gpus` lists them.")
    boards = listed(gpus)
    axes = Axes(numbers("--block", block), numbers("--registers", registers), numbers("--smem", smem))
    rows = len(boards) * math.prod(map(len, axes))
    if rows > MOST_ROWS:
        raise CommandError(
            f"{rows} combinations are too many for one table.", f"Give fewer values: {MOST_ROWS} at most."
        )
    if rows == 1:
        _one_launch(boards[0], (axes.block[0], axes.registers[0], axes.smem[0]), carveout, form)
    else:
        _sweep(boards, axes, carveout, form)


def _one_launch(board: "Gpu", launch: tuple[int, int, int], carveout: int | None, form: str) -> None:
    from warpbound.occupancy_thresholds import PROPERTIES, BlockRequest, ladder
    from warpbound.report.occupancy import launch_occupancy, launch_text
    from warpbound.residency import occupancy as resident

    residency = resident(board, *launch, carveout)
    request = BlockRequest(board, *launch, carveout)
    result = launch_occupancy(board, residency, {change: ladder(request, change) for change in PROPERTIES})
    answer(form, result, launch_text(board, result))


def _possible(board: "Gpu", axes: "Axes") -> "Axes":
    """With the block sizes and registers that the GPU allows."""
    rules = board.limits
    return axes._replace(
        block=tuple(n for n in axes.block if 1 <= n <= rules.max_threads_per_block),
        registers=tuple(n for n in axes.registers if 0 <= n <= rules.max_registers_per_thread),
    )


def _sweep(boards: "tuple[Gpu, ...]", axes: "Axes", carveout: int | None, form: str) -> None:
    """Values that a GPU cannot have give an error entry; where nothing is possible, that is the answer."""
    import numpy as np

    from warpbound.report.occupancy import sweep_rows, sweep_text
    from warpbound.residency import occupancy as resident
    from warpbound.result.refusal import refusal

    rows: list[Any] = []
    failures: list[WarpboundError] = []
    for board in boards:
        possible_axes = _possible(board, axes)
        if len(boards) == 1 and not all(possible_axes):
            possible_axes = axes  # the one board says best what it cannot have
        if all(possible_axes):
            open_mesh = np.ix_(*(np.asarray(values) for values in possible_axes))
            block, registers, smem = (np.asarray(axis, np.int64) for axis in open_mesh)
            try:
                rows += sweep_rows(board, possible_axes, resident(board, block, registers, smem, carveout))
            except WarpboundError as error:
                failures.append(error)
                rows.append(refusal(None, board.key, error))
                continue
        if possible_axes != axes:
            reason = f"Compute capability {board.compute_capability} has no such large blocks or so many registers."
            failures.append(CommandError(reason, "Choose fewer threads per block or registers per thread."))
            rows.append(refusal(None, board.key, failures[-1]))
    if len(failures) == len(rows):
        raise failures[0]
    answer(form, rows, sweep_text(rows))


def numbers(option: str, word: str) -> tuple[int, ...]:
    """Whole numbers from `64,128` or `32:1024:32`, ranges with their ends. Raises CommandError for anything else."""
    values: list[int] = []
    for part in word.split(","):
        ends = part.strip().split(":")
        if not (1 <= len(ends) <= 3 and all(end.isascii() and end.isdigit() and len(end) < 12 for end in ends)):
            raise CommandError(f"{option} {word!r} is not a list of numbers.", "Write 256, 64,128,256 or 32:1024:32.")
        first, last, step = (int(ends[0]), int(ends[min(1, len(ends) - 1)]), int(ends[2]) if len(ends) == 3 else 1)
        if step < 1 or last < first or (last - first) // step >= MOST_ROWS:
            raise CommandError(f"{option} '{part}' is not a range.", "Write FIRST:LAST:STEP, as in 32:1024:32.")
        values += range(first, last + 1, step)
    return tuple(dict.fromkeys(values))


@click.command(epilog=GPUS_EXAMPLES)
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Compare the values of a board, or of all, with one another.")
@form_option("text", "json")
def gpus(name: str | None, check: bool, form: str) -> None:
    """List the boards, or every value of one with its source.

    NAME is a board of the catalogue or a TOML file.
    """
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

    findings_of_board = {board.key: findings(board) for board in boards}
    answer(form, machines.check_entry(findings_of_board), machines.check_text(findings_of_board))
    if wrong := sum(map(len, findings_of_board.values())):
        hint = 'Correct them, or say "exception: " and why in the note.'
        raise WarpboundError(f"{wrong} value{'s do' if wrong > 1 else ' does'} not agree.", hint)


@click.command(epilog=MODELS_EXAMPLES)
@click.argument("name", required=False)
@form_option("text", "json")
def models(name: str | None, form: str) -> None:
    """List the papers' models, or what one includes and omits."""
    from warpbound import models as papers
    from warpbound.report.model_descriptions import about, overview
    from warpbound.result.catalogue import ModelDescription, Summary

    if name is None:
        answer(form, [Summary(*each) for each in papers.MODELS.items()], overview(papers.MODELS))
        return
    if name not in papers.MODELS:
        raise CommandError(f"No model is called {name!r}.", f"There are {', '.join(papers.MODELS)}.")
    text = (getattr(papers, name).__doc__ or "").strip()
    answer(form, ModelDescription(name, papers.MODELS[name], text), about(text))


@click.command(epilog=DOCTOR_EXAMPLES)
@click.option(
    "--older-nvdisasm", is_flag=True,
    help="First fetch the nvdisasm of CUDA 12.8 from the wheel of triton 3.3.1 (150 MB) into the cache folder.",
)  # fmt: skip
@form_option("text", "json")
def doctor(older_nvdisasm: bool, form: str) -> None:
    """List what is installed and what a missing part would enable."""
    from warpbound.report.installation import health, health_text

    if older_nvdisasm:
        from warpbound.program.older_nvdisasm import fetch

        fetch()
    entries = health()
    answer(form, entries, health_text(entries))
