"""`coalescing`: what an index expression costs under every coalescing rule."""

import click

from warpbound.cli.output import answer, form_option
from warpbound.errors import CommandError

EXAMPLES = """
\b
Examples:
  warpbound coalescing 'a[blockIdx.x * blockDim.x + threadIdx.x * 2]'
  warpbound coalescing 'a[threadIdx.x * n + threadIdx.y]' --block 16,16
  warpbound coalescing 'p[threadIdx.x * 3 + 1]' --element 8 --format json
  warpbound coalescing 'tile[threadIdx.x][threadIdx.y]' --shape 32,33 --block 32,32 --shared
"""


@click.command(epilog=EXAMPLES)
@click.argument("expression", metavar="EXPRESSION")
@click.option("--element", default=4, show_default=True, metavar="BYTES", help="Size of one element.")
@click.option("--block", default="256", show_default=True, metavar="X[,Y[,Z]]", help="Threads per block.")
@click.option("--where", "values", multiple=True, metavar="NAME=INTEGER", help="Value of a name in EXPRESSION.")
@click.option("--shape", default="", metavar="N,M,...", help="Sizes of a multi-dimensional array.")
@click.option("--shared", "space", flag_value="shared", default="global", help="Shared memory: count bank conflicts.")
@click.option("--gpu", metavar="NAME", help="Use the rules of this GPU only; default: show every generation.")
@form_option("text", "json")
def coalescing(  # noqa: PLR0913  (one per option)
    expression: str, element: int, block: str, values: tuple[str, ...], shape: str, space: str, gpu: str | None,
    form: str,
) -> None:  # fmt: skip
    """Count the transactions of one memory access, and tell why."""
    from warpbound import machine
    from warpbound.analysis.index_expression import Access
    from warpbound.analysis.index_expression import answer as ask
    from warpbound.kernel_launch import parse_dim
    from warpbound.memory.address_registers import Threads
    from warpbound.memory.expressions import parse
    from warpbound.report.index_expression import coalescing as text

    size = parse_dim(block, "--block")
    if not 0 < size[0] * size[1] * size[2] <= 1024:
        raise CommandError(f"--block {block}: no block has so many threads.", "Give 1 to 1024 in all.")
    arch = machine.gpu(gpu).arch if gpu else None
    settings = dict(_value(word) for word in values)
    entry = ask(Access(parse(expression), element, Threads(size), settings, _extents(shape), space, arch))
    answer(form, entry, text(entry))


def _value(word: str) -> tuple[str, int]:
    name, _, number = word.partition("=")
    try:
        return name.strip(), int(number, 0)
    except ValueError:
        raise CommandError(f"--where {word!r} is not of the form NAME=INTEGER.", "Write --where n=1024.") from None


def _extents(words: str) -> tuple[int, ...]:
    parts = [word.strip() for word in words.split(",") if word.strip()]
    if not all(part.isdigit() and 0 < int(part) < 1 << 31 for part in parts):
        raise CommandError(f"--shape {words!r} is not a list of extents.", "Write --shape 32,33.")
    return tuple(int(part) for part in parts)
