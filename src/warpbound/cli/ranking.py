"""`rank`: every tuning of a kernel by its predicted time."""

from typing import Any

import click

from warpbound.cli.output import form_option, remaining, show_results
from warpbound.errors import CommandError

EXAMPLES = """
\b
Examples:
  warpbound rank gemm.cu --gpu h200 --define TILE=16,32,64 --define WORK=1,2,4 \\
      --grid 1024/TILE,1024/TILE --block TILE/WORK,TILE/WORK \\
      --where 'TILE/WORK*TILE/WORK >= 64' --arg a=f32[1024,1024] --arg n=1024 ...
  warpbound rank kernel.cu --launch kernel.toml --define UNROLL=1,2,4,8 --format json
"""
PATIENCE_HELP = "Processor time for the sampled blocks of one tuning; 20 s by default."


@click.command(epilog=EXAMPLES)
@click.argument("file", metavar="FILE.cu")
@click.option("--gpu", metavar="NAME", help="Board; default: the launch file's.")
@click.option("--define", "defines", metavar="K=V[,V...]", multiple=True, help="Macro and the values to try.")
@click.option("--grid", metavar="EXPR[,EXPR[,EXPR]]", help="Blocks of the launch, from the macros: 1024/TILE.")
@click.option("--block", metavar="EXPR[,EXPR[,EXPR]]", help="Threads of a block, from the macros.")
@click.option("--smem", metavar="EXPR", help="Dynamic shared memory per block in bytes, from the macros.")
@click.option("--where", metavar="EXPR", help="Skip combinations for which this is false.")
@click.option("--kernel", metavar="NAME", help="Kernel: plain or mangled name, or 'scale<float>'.")
@click.option("--arg", "args", metavar="NAME=VALUE", multiple=True, help="n=4096, x=f32[1000]:iota, w=@w.npy.")
@click.option("--const", "consts", metavar="NAME=VALUE", multiple=True, help="Value of a device symbol.")
@click.option("--launch", "launch_file", metavar="FILE.toml", help="Launch file; options override its values.")
@click.option("-I", "include", metavar="DIR", multiple=True, help="Folder to search for headers.")
@click.option("--nvrtc", metavar="OPTION", multiple=True, help="Option for the compiler, NVRTC.")
@click.option("--set", "settings", metavar="[GPU:]PARAMETER=NUMBER", multiple=True, help="Change a GPU parameter.")
@click.option("--cache", type=click.Choice(["warm", "cold", "dirty"]), default="warm", help="Caches at launch.")
@click.option("--clock", default="sustained", metavar="sustained|base|boost|MHZ", show_default=True, help="SM clock.")
@click.option("--patience", metavar="SECONDS", type=click.FloatRange(0, min_open=True), help=PATIENCE_HELP)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes; default: one per processor.")
@click.option("--top", type=click.IntRange(1), default=10, metavar="N", show_default=True, help="Rows to print.")
@form_option("text", "json")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def rank(file: str, form: str, out: str | None, top: int, jobs: int | None, **options: Any) -> None:
    """Rank all combinations of macro values by predicted time.

    FILE is CUDA C++. Expressions take integers, macros, + - * / % ( ), comparisons, and, or, not, min, max and
    cdiv(a, b), the quotient rounded up; / rounds down. JSON has the whole analysis of every tuning, the fastest first.
    """
    from functools import partial

    from warpbound.analysis.sweeps.ranking import ranked, ranked_by_time
    from warpbound.cli.request import ranking_request
    from warpbound.report.ranking import pages

    if file == "-":
        raise CommandError("Standard input cannot be ranked: each process reads the source.", "Write it to a file.")
    request, progress = ranking_request(file, **options), remaining("tunings")
    progress(0, len(request.tunings))
    results = (ranked if form == "json" else ranked_by_time)(request, jobs, progress)
    show_results(form, out, results, partial(pages, top=top))
