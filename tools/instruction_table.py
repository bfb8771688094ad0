"""Compile the corpus of kernels for six architectures, execute it, and write docs/instructions.md.

python tools/instruction_table.py [COMPILER ...] [-o PAGE]

Needs the extras triton, numba-cuda, warp-lang, cutile and cute-dsl.
"""

import argparse
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from instruction_corpus.cases import Case, is_equal
from warpbound import machine
from warpbound.emulate.handlers import CONTROL, PLAIN
from warpbound.errors import WarpboundError
from warpbound.isa.traits import traits

PAGE = Path(__file__).parents[1] / "docs" / "instructions.md"
COMPILERS = {  # name -> (module of its kernels, distribution)
    "Triton": ("triton_kernels", "triton"),
    "numba-cuda": ("numba_kernels", "numba-cuda"),
    "warp-lang": ("warp_kernels", "warp-lang"),
    "cuTile": ("cutile_kernels", "cuda-tile"),
    "CuTe DSL": ("cute_kernels", "nvidia-cutlass-dsl"),
    "NVRTC": ("nvrtc_kernels", "nvidia-cuda-nvrtc"),
}
BOARDS = {80: "a100-sxm-80gb", 86: "rtx-3090", 89: "rtx-4090", 90: "h200", 100: "b200", 120: "rtx-5090"}
OUTCOMES = ("equal", "without reference", "different", "refused", "not compiled")
_REFUSED = re.compile(r"does not execute ([A-Z0-9]+)")
_BEGIN, _END = "<!-- table -->", "<!-- end of table -->"


@dataclass
class Tally:
    """What became of one compiler's kernels on one architecture."""

    outcomes: dict[str, list[str]] = field(default_factory=lambda: {word: [] for word in OUTCOMES})
    opcodes: set[str] = field(default_factory=set)
    refused: dict[str, list[str]] = field(default_factory=dict)  # opcode -> kernels
    reasons: dict[str, str] = field(default_factory=dict)  # kernel -> why it is not compiled or executed

    @property
    def executed(self) -> set[str]:
        """Opcodes with a semantics function that no kernel was refused for."""
        return {each for each in self.opcodes if each in CONTROL or each in PLAIN} - self.refused.keys()

    @property
    def timed(self) -> set[str]:
        """Opcodes with a pipe, a demand and a latency, or with none because they take none."""
        return {each for each in self.opcodes if traits(each).kind != "unknown"}


def corpus(compiler: str) -> Iterator[Case]:
    """The kernels of a compiler. Raises ImportError where it is not installed."""
    yield from import_module(f"instruction_corpus.{COMPILERS[compiler][0]}").cases()


def tally(cases: Iterable[Case], architecture: int) -> Tally:
    """Compile and execute the kernels for one architecture."""
    result = Tally()
    for case in cases:
        if architecture in case.architectures:
            result.outcomes[_outcome(case, architecture, result)].append(case.name)
    return result


def _outcome(case: Case, architecture: int, result: Tally) -> str:
    try:
        ready = case.prepare(machine.gpu(BOARDS[architecture]))
    except WarpboundError as problem:
        result.reasons[case.name] = problem.reason
        return "not compiled"
    own = {each.opcode for each in ready.program.instructions}
    result.opcodes |= own
    for opcode in own:
        if opcode not in CONTROL and opcode not in PLAIN:
            result.refused.setdefault(opcode, []).append(case.name)
    try:
        arrays = ready.run()
    except WarpboundError as problem:
        result.reasons[case.name] = problem.reason
        for opcode in _REFUSED.findall(problem.reason):
            if case.name not in result.refused.setdefault(opcode, []):
                result.refused[opcode].append(case.name)
        return "refused"
    if not case.expected:
        return "without reference"
    return "equal" if is_equal(case, arrays) else "different"


def table(tallies: dict[tuple[str, int], Tally]) -> str:
    """The page's tables."""
    lines = [
        "| compiler | architecture | opcodes | executed | timed | refused | kernels | equal to NumPy | no reference "
        "| different | refused | not compiled |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [row(compiler, architecture, own) for (compiler, architecture), own in tallies.items()]
    return "\n".join([*lines, "", *_refusals(tallies)])


def row(compiler: str, architecture: int, own: Tally) -> str:
    """A compiler's row for an architecture."""
    outcomes = [len(own.outcomes[word]) for word in OUTCOMES]
    figures = [len(own.opcodes), len(own.executed), len(own.timed), len(own.refused), sum(outcomes), *outcomes]
    name = f"{compiler} {version(COMPILERS[compiler][1])}"
    return f"| {name} | sm_{architecture} | {' | '.join(map(str, figures))} |"


def _refusals(tallies: dict[tuple[str, int], Tally]) -> Iterator[str]:
    """Why kernels are not equal: opcodes, then what else was said, each with its architectures."""
    places: dict[tuple[str, str, str], list[int]] = {}
    for (compiler, architecture), own in tallies.items():
        for opcode, names in own.refused.items():
            places.setdefault((compiler, f"`{opcode}`", ", ".join(sorted(names))), []).append(architecture)
        for name in own.outcomes["different"]:
            places.setdefault((compiler, "a different result", name), []).append(architecture)
        for name, reason in own.reasons.items():
            if not _REFUSED.search(reason):
                short = re.sub(r"/\S+/", "", reason.split(" for sm_")[0].splitlines()[0]).replace("|", "/")
                places.setdefault((compiler, short, name), []).append(architecture)
    yield "| compiler | what is refused | architectures | kernels |"
    yield "|---|---|---|---|"
    for (compiler, what, names), architectures in places.items():
        yield f"| {compiler} | {what} | {', '.join(f'sm_{each}' for each in architectures)} | {names} |"


def main() -> None:
    """Write the page's tables, or print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("compilers", nargs="*", default=list(COMPILERS))
    parser.add_argument("-o", type=Path, default=PAGE)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tallies: dict[tuple[str, int], Tally] = {}
    for compiler in options.compilers:
        cases = list(corpus(compiler))
        for architecture in BOARDS:
            sys.stderr.write(f"{compiler} sm_{architecture}\n")
            tallies[compiler, architecture] = tally(cases, architecture)
    text = table(tallies)
    page = options.o.read_text("utf-8") if options.o.exists() else f"{_BEGIN}\n{_END}\n"
    head, _, rest = page.partition(_BEGIN)
    options.o.write_text(f"{head}{_BEGIN}\n\n{text}\n\n{_END}{rest.partition(_END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
