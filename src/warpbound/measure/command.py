"""The tasks of `warpbound measure`; the command line prints their results."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from warpbound.errors import CommandError, InputError, MissingTool, WarpboundError
from warpbound.isa.limits import limits
from warpbound.machine import Gpu, gpu, load
from warpbound.measure import board_page, board_profile, corpus_judgement, counters, cubin_build, quality_gates
from warpbound.measure.device import Device, Facts
from warpbound.measure.runner import RawFile, RunRequest, read_folder, run, write_atomically
from warpbound.measure.suite import calls, plan

PROFILE, VERDICT, JUDGED = "profile.toml", "verdict.txt", "judged.txt"
CALL_S = 600.0  # default time limit of a call
LATEST = 0.95   # share of it after which no new case starts
NOMINAL = Facts(  # for a plan without a GPU
    "no GPU here: plan for 132 SMs and 50 MiB of L2", "9.0", "none", 132, 233472, 232448, 1024, 2048, 32, 50 << 20,
    80 << 30, 5120, 2.6e9, 1.98e9,
)  # fmt: skip


def open_device(number: int) -> Device:
    """A GPU of this machine."""
    from warpbound.measure.driver import Driver

    return Driver(number)


def plan_text(names: tuple[str, ...], effort: str, device: int, within: float) -> Iterator[str]:
    """Cases and seconds by mechanism, and the calls of at most `within` seconds in which they fit."""
    try:
        facts = open_device(device).facts()
    except WarpboundError:
        facts = NOMINAL
    planned = plan(names, facts, effort)
    yield facts.name
    for part in planned:
        yield f"{part.mechanism:20s} {len(part.cases):5d} cases  about {part.seconds:5.0f} s"
    total = sum(part.seconds for part in planned)
    yield f"{'all':20s} {sum(len(p.cases) for p in planned):5d} cases  about {total:5.0f} s"
    split = calls(planned, within)
    yield f"Number of calls, each of at most {within:.0f} s and planned for half of it: {len(split)}."
    if len(split) > 1:
        for number, (together, seconds) in enumerate(split, 1):
            yield f"call {number}: about {seconds:.0f} s  --only {','.join(together)}"
    yield f"Or repeat one command with --within {LATEST * within:.0f} until it ends; each run resumes."


def build(folder: Path, names: tuple[str, ...], archs: tuple[int, ...]) -> str:
    """Write machine code into a folder; a sentence on how to use it."""
    count = cubin_build.write(folder, names, archs or cubin_build.ARCHITECTURES)
    return f"{count} cubins in {folder}. On the GPU's machine: warpbound measure --cubins {folder} -o DIR"


def measure(
    device: Device, cubins: Path | None, request: RunRequest, report: Callable[[str], None]
) -> list[RawFile]:  # fmt: skip
    """Run on a device with code compiled here or cubins from a folder; compiling counts as part of `within`."""
    begin, arch = time.monotonic(), device.facts().arch
    code = _compiled(request.names, arch) if cubins is None else cubin_build.read(cubins, request.names, arch)
    left_s = max(0.0, request.within - (time.monotonic() - begin))
    return run(device, code, replace(request, within=left_s), report)


def _compiled(names: tuple[str, ...], arch: int) -> cubin_build.Cubins:
    try:
        return cubin_build.compile_all(names, arch)
    except (AttributeError, RuntimeError) as error:  # bindings of another version than the compiler
        hint = "Give --cubins, a folder that --build made elsewhere."
        raise MissingTool(f"the compiler and its bindings do not agree ({error}).", hint) from error


def conclude_early(names: tuple[str, ...], out: Path, board_name: str | None) -> list[str]:
    """The verdict on the files of a run that ended early; empty where there are none."""
    try:
        return conclude(read_folder(out, names), out, board_name)
    except WarpboundError:
        return []


def document(files: list[RawFile], board_name: str | None, path: Path, out: Path) -> str:
    """Write the page of a measured GPU, with the lines that `judge` wrote; a sentence that names the file."""
    judgements = (out / JUDGED).read_text("utf-8").splitlines() if (out / JUDGED).is_file() else []
    summary = board_profile.summarise(files, board_profile.catalogue_board(files[0].device, board_name))
    counter_text = board_page.counter_section(counters.load(out) or {}, counters.load_compared(out))
    write_atomically(path, board_page.page(summary, files, judgements, counter_text))
    return f"Page: {path}"


def count(cubins: Path | None, device: int, out: Path, board_name: str | None) -> list[str]:
    """Write hardware counters of the dozen kernels into the folder, and compare them with the emulator's counts."""
    board = board_profile.catalogue_board(open_device(device).facts(), board_name)
    counts = counters.profile(cubins, device)
    counters.save(counts, out)
    if board is None:
        return [f"{len(counts)} kernels counted; the catalogue has no such board to compare with."]
    return [f"{len(counts)} kernels counted.", *_compare(counts, board, out)]


def judge(out: Path, board_name: str | None, report: Callable[[str], None]) -> list[str]:
    """Predict the corpus of a folder with the catalogue's board and with the measured one."""
    (corpus,) = read_folder(out, ("corpus",))
    boards = {}
    if (before := board_profile.catalogue_board(corpus.device, board_name)) is not None:
        boards["catalogue"] = before
    if (out / PROFILE).is_file():
        boards["measured"] = gpu(out / PROFILE)
    if not boards:
        hint = "Make profile.toml with --extract, or give --gpu."
        raise InputError(f"the catalogue has no board called {corpus.device.name}.", hint)
    lines = corpus_judgement.table(corpus_judgement.judge(corpus.records, boards, report), tuple(boards))
    if counts := counters.load(out):
        lines += _compare(counts, list(boards.values())[-1], out)
    write_atomically(out / JUDGED, "\n".join(lines) + "\n")
    return lines


def _compare(counts: Mapping[str, counters.Counts], board: Gpu, out: Path) -> list[str]:
    rows = counters.compare(counts, board)
    counters.save_compared(rows, out)
    return counters.table(rows)


def conclude(files: list[RawFile], out: Path, board_name: str | None) -> list[str]:
    """Write the proposed profile and the verdict next to the raw files; the lines of the verdict."""
    board = board_profile.catalogue_board(files[0].device, board_name)
    summary = board_profile.summarise(files, board)
    lines = board_profile.verdict(summary, board)
    unstable = sum(not record.stable for file in files for record in file.records)
    if unstable:
        lines.append(f"{unstable} cases were not stable or ran at another clock; their records are marked.")
    lines += [f"{name}.json could not be evaluated ({why})." for name, why in summary.failed.items()]
    lines += [f"{what} and is left out." for what in summary.implausible]
    lines += [f"The GPU ran nothing any more after {file.mechanism}, {case}." for file in files for case in file.deadly]
    if summary.left_out:
        lines.append(f"{summary.left_out} cases did not reach their occupancy on every SM and were left out.")
    lines += quality_gates.gates(summary)
    lines += quality_gates.clocks(files)
    lines += quality_gates.alone((readings for file in files for readings in file.sensors), files[0].device)
    text = board_profile.profile(summary, board)
    write_atomically(out / PROFILE, text)
    write_atomically(out / VERDICT, "\n".join(lines) + "\n")
    try:
        load(text, "measured", PROFILE)
        lines.append(f"Profile: {out / PROFILE}, for --gpu and for the catalogue.")
    except WarpboundError as error:
        lines.append(f"Profile: {out / PROFILE}, not complete yet: {error}")
    return lines


def architectures(text: str | None) -> tuple[int, ...]:
    """Architecture numbers separated by commas, such as 90 or 80,90; empty for None. CommandError for others."""
    try:
        archs = tuple(int(part) for part in text.split(",")) if text else ()
        for arch in archs:
            limits(f"{arch // 10}.{arch % 10}")
    except ValueError:
        raise CommandError(f"--arch {text} is not a list of architectures.", "Write it like 80,90.") from None
    return archs
