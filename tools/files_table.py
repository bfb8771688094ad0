"""What `warpbound analyze` says of the .cu files of public projects, taken as they are, without a flag.

    python tools/files_table.py FOLDER [--gpu h200] [--compiler auto] [--kept FILE] [--processes 1] [--reasons]
        [-o docs/programs.md]

FOLDER holds one folder per collection. A file counts if `__global__` is in it. It answers if at least one kernel has
instructions and an occupancy. With -o the section of the page between the two marks is written anew; --reasons prints
the sentence for every file that does not answer. --kept keeps the answers, a line of JSON for each file; a file that is
there already is not asked again, so that a run that was stopped goes on; --processes 0 asks for none.
"""

import argparse
import contextlib
import importlib
import io
import json
import multiprocessing
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

LIMIT_S = 60  # of processor time, so that the table is the same on a busy machine
LOADED = ("warpbound.cli.request", "warpbound.analysis.answer", "warpbound.report.text")
BEGIN, END = "<!-- files: begin -->", "<!-- files: end -->"
PACKAGE = re.compile(r"a header of ([^,]+), which is not here")
KINDS = (  # the first that a sentence matches is its reason
    ("answers", re.compile(r"^$")),
    ("a missing package is named", PACKAGE),
    ("a missing header is named", re.compile(r"which is nowhere")),
    ("no kernel is made: only templates that nothing instantiates", re.compile(r"nothing instantiates")),
    ("no kernel in the file itself", re.compile(r"no __global__ function|holds no kernel")),
    ("it has texture references, and NVRTC 11.8 refuses it", re.compile(r"texture<|removed in CUDA")),
    ("no answer within the time limit", re.compile(r"^no answer in")),
    ("a traceback", re.compile(r"Traceback")),
    ("it does not compile", re.compile(r"does not compile")),
)
OTHER = "another reason"


@dataclass(frozen=True)
class Row:
    """A file: its collection, the kernels that answered, the sentence where none did (empty otherwise), seconds."""

    collection: str
    name: str
    kernels: int
    sentence: str
    seconds: float

    @property
    def kind(self) -> str:
        """The reason that the table counts it under."""
        return next((kind for kind, pattern in KINDS if pattern.search(self.sentence)), OTHER)


def with_kernels(folder: Path) -> list[Path]:
    """The .cu files below it that hold `__global__`, by name."""
    return [path for path in sorted(folder.rglob("*.cu")) if b"__global__" in path.read_bytes()]


def rows(folder: Path, gpu: str, compiler: str, kept: Path | None, processes: int) -> list[Row]:
    """One row for each file with a kernel below `folder`, by name."""
    for module in LOADED:  # once, for all the processes that are forked
        importlib.import_module(module)

    files = with_kernels(folder)
    waiting: SimpleQueue[Path | None] = SimpleQueue()
    result = {folder / row.name: row for row in _kept(kept)}
    for path in [*(path for path in files if path not in result and processes), *[None] * processes]:
        waiting.put(path)

    def work() -> None:
        while (path := waiting.get()) is not None:
            result[path] = _row(folder, path, gpu, compiler)
            if kept:
                with kept.open("a") as lines:
                    lines.write(json.dumps(asdict(result[path])) + "\n")
            sys.stderr.write(f"\r{len(result)} of {len(files)}")

    threads = [Thread(target=work) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stderr.write("\n")
    return [result[path] for path in files if path in result]


def _kept(place: Path | None) -> list[Row]:
    if place is None or not place.exists():
        return []
    return [Row(**json.loads(line)) for line in place.read_text().splitlines()]


def _row(folder: Path, path: Path, gpu: str, compiler: str) -> Row:
    begun = time.monotonic()
    words = ["analyze", str(path), "--gpu", gpu, "--format", "json", *(["--compiler", compiler] if compiler else [])]
    output, error = _apart(words)
    name = path.relative_to(folder)
    kernels = 0
    if output:
        entries = json.loads(output)["results"]
        kernels = sum(1 for entry in entries if "occupancy" in entry)
        if not kernels:
            error = entries[0]["error"]["reason"]
    sentence = "" if kernels else error.strip() or "no output"
    return Row(name.parts[0], str(name), kernels, sentence, time.monotonic() - begun)


def _apart(words: Sequence[str]) -> tuple[str, str]:
    """What the command prints to stdout and to stderr, in a process of its own."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_command, args=(words, there))
    process.start()
    there.close()
    try:
        answer: tuple[str, str] = here.recv()
        return answer
    except EOFError:
        process.join()
        return "", f"no answer in {LIMIT_S} s" if process.exitcode == -signal.SIGXCPU else "the process broke down"
    finally:
        process.kill()
        process.join()


def _command(words: Sequence[str], there: Connection) -> None:
    from warpbound.cli import main

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))
    output, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        try:
            sys.argv = ["warpbound", *words]
            main()
        except SystemExit as ended:
            if ended.code:
                output.truncate(0)
        except BaseException:
            import traceback

            error.write(traceback.format_exc())
    there.send((output.getvalue(), error.getvalue()))


def section(table: Sequence[Row], total: int) -> str:
    """The section of the page: counts by collection, and the reasons of the rest. total : files, asked or not."""
    def counted(of: Sequence[Row]) -> tuple[int, int, int]:
        return len(of), sum(row.kernels > 0 for row in of), sum(bool(PACKAGE.search(row.sentence)) for row in of)

    collections = list(dict.fromkeys(row.collection for row in table))
    parts: list[tuple[str, list[Row]]] = [(name, [r for r in table if r.collection == name]) for name in collections]
    asked = f"Of the {total} files {len(table)} were asked; the others are not counted."
    lines = [] if len(table) == total else [asked, ""]
    lines += ["| collection | files | answer | name the missing package | kernels |", "|---|--:|--:|--:|--:|"]
    for name, own in [*parts, ("all", list(table))]:
        files, answers, named = counted(own)
        lines.append(
            f"| {name} | {files} | {answers} ({_percent(answers, files)}) | {named} ({_percent(named, files)}) "
            f"| {sum(row.kernels for row in own)} |"
        )
    rest = Counter(row.kind for row in table if not row.kernels)
    lines += ["", "| why a file does not answer | files |", "|---|--:|"]
    lines += [f"| {kind} | {count} |" for kind, count in rest.most_common()]
    packages = Counter(match[1] for row in table if (match := PACKAGE.search(row.sentence)))
    if packages:
        listed = ", ".join(f"{name} ({count})" for name, count in packages.most_common())
        lines += ["", f"Packages named: {listed}."]
    return "\n".join(lines) + "\n"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def rewritten(page: str, text: str) -> str:
    """The page with `text` between the marks. Raises ValueError where the page has no marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks {BEGIN} or {END}")
    return f"{before}{begin}\n{text}{end}{after}"


def _reasons(table: Sequence[Row]) -> Iterator[str]:
    for row in table:
        if not row.kernels:
            yield f"{row.name} [{row.kind}] ({row.seconds:.1f} s): {' '.join(row.sentence.split())[:600]}"


def main(write: Callable[[str], object] = sys.stdout.write) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--compiler", default="")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("-o", dest="page", type=Path)
    words = parser.parse_args()
    table = rows(words.folder, words.gpu, words.compiler, words.kept, words.processes)
    text = section(table, len(with_kernels(words.folder)))
    write(text)
    if words.reasons:
        write("\n".join(_reasons(table)) + "\n")
    if words.page:
        words.page.write_text(rewritten(words.page.read_text("utf-8"), text), "utf-8")


if __name__ == "__main__":
    main()
