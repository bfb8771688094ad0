"""Where kernels come from: the examples, pasted text, the papers' workloads."""

from functools import cache, lru_cache
from pathlib import Path

import msgspec

from warpbound import machine, shipped_examples
from warpbound.errors import CommandError, InputError
from warpbound.kernel_argument import Argument, parse_argument
from warpbound.kernel_launch import Launch, launch, parse_dim
from warpbound.page.bundled_headers import bundled, includes_by_macro, known
from warpbound.page.pasted_source import check
from warpbound.page.worker_messages import Question
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.program.source_files import display_names
from warpbound.workload.files import WorkloadCase, read


@cache
def examples() -> tuple[str, ...]:
    """Names of the examples that have a launch."""
    folder = shipped_examples.folder()
    return tuple(sorted(path.stem for path in folder.glob("*.toml") if path.with_suffix(".cu").is_file()))


@cache
def papers() -> tuple[str, ...]:
    """FILE/CASE of every case of the shipped workloads."""
    from importlib.resources import files

    names = sorted(entry.name for entry in (files("warpbound") / "workloads").iterdir())
    cases = []
    for name in (name.removesuffix(".toml") for name in names if name.endswith(".toml")):
        cases += [f"{name}/{number}" for number in range(len(read(name)))]
    return tuple(cases)


@cache
def paper(name: str) -> WorkloadCase:
    """The case of FILE/NUMBER. Raises InputError for an unknown one."""
    if name not in papers():
        raise InputError(f"No paper's workload is called {name}.", "Choose one of the list.")
    file, _, number = name.rpartition("/")
    return read(file)[int(number)]


def computes_residency(source: str) -> bool:
    """Whether residency follows from a block's resources; a paper's file may give it directly."""
    kind, _, name = source.partition(":")
    if kind != "paper":
        return True
    shape = paper(name).shape
    return shape.warps_per_sm is None and shape.blocks_per_sm is None and shape.threads_per_block is not None


def example_file(name: str) -> Path:
    """Its source. Raises InputError for an unknown one: the name comes from an address."""
    if name not in examples():
        raise InputError(f"No example is called {name}.", f"There are {', '.join(examples())}.")
    return shipped_examples.folder() / f"{name}.cu"


def program_of(question: Question) -> Program:
    """The requested kernel, compiled. Raises InputError where the page refuses the source."""
    board = machine.gpu(question.gpu)
    kernel = question.kernel or None
    if kernel and (len(kernel) > 200 or not all(letter.isalnum() or letter in "_:<>, *&()" for letter in kernel)):
        raise InputError("That is not the name of a kernel.", "Write it like scale<float>.")
    if question.example:
        own = launch_of(question)
        options = Options(defines=tuple(own.defines.items()) if own else ())
        kernels = programs(example_file(question.example), board, kernel or (own.kernel if own else None), options)
    else:
        check(question.text, bundled, includes_by_macro, known)
        kernels = programs(question.text.encode(), board, kernel, Options())
    if len(kernels) > 1:
        names = ", ".join(display_names(kernels))
        raise InputError(f"The source holds {len(kernels)} kernels: {names}.", "Write one of them into Kernel.")
    return kernels[0]


def launch_of(question: Question) -> Launch | None:
    """The launch of the fields, which override the example's launch file. Raises CommandError or InputError."""
    return _launch_of(msgspec.structs.replace(question, gpu="", settings=(), numbers=()))


@lru_cache(maxsize=64)
def _launch_of(question: Question) -> Launch | None:
    words = [line.strip() for line in question.args.replace(";", "\n").splitlines() if line.strip()]
    if any("@" in word for word in words):
        raise CommandError("The page reads no file for an argument.", "Write x=f32[1000]:randn, say.")
    if question.smem and not question.smem.isdigit():
        raise CommandError(f"Shared memory {question.smem!r} is not a number of bytes.", "Write 0 or more.")
    smem = int(question.smem) if question.smem else None
    grid = parse_dim(_commas(question.grid)) if question.grid else None
    block = parse_dim(_commas(question.block)) if question.block else None
    if question.example:
        file = example_file(question.example).with_suffix(".toml")
        return launch(file, grid=grid, block=block, smem=smem, args=_arguments(words))
    if grid is None and block is None:
        if words or smem:
            raise CommandError("Arguments need a launch.", "Fill in Grid and Block too.")
        return None
    return launch(grid=grid, block=block, smem=smem, args=_arguments(words))


def _arguments(words: list[str]) -> list[Argument] | None:
    return [parse_argument(word) for word in words] or None


def _commas(word: str) -> str:
    """Sizes as people write them: 64 x 64, 64,64."""
    return ",".join(word.lower().replace("x", ",").replace(",", " ").split())
