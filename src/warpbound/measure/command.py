"""What `warpbound measure` does, but for printing."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from warpbound.errors import CommandError, InputError, MissingTool, WarpboundError
from warpbound.isa.limits import limits
from warpbound.machine import Gpu, gpu, load
from warpbound.measure import (
    board_page,
    board_profile,
    corpus_judgement,
    counters,
    cubin_build,
    page_counters,
    quality_gates,
)
from warpbound.measure.device import Device, Facts
from warpbound.measure.runner import Order, Raw, read_folder, replaced, run
from warpbound.measure.suite import calls, plan

PROFILE, VERDICT, JUDGED = "profile.toml", "verdict.txt", "judged.txt"
CALL_S = 600.0  # that a call on a borrowed machine may take, where nothing else is said
LATEST = 0.95   # of it, after which nothing new is begun
NOMINAL = Facts(  # for a plan where no GPU is
    "no GPU here: as for 132 SMs and 50 MiB of L2", "9.0", "none", 132, 233472, 232448, 1024, 2048, 32, 50 << 20,
    80 << 30, 5120, 2.6e9, 1.98e9,
)  # fmt: skip


def here(number: int) -> Device:
    """The GPU of this machine."""
    from warpbound.measure.driver import Driver

    return Driver(number)


def plan_text(names: tuple[str, ...], effort: str, device: int, within: float) -> Iterator[str]:
    """Cases and seconds by mechanism, and in which calls of at most `within` seconds they fit."""
    try:
        facts = here(device).facts()
    except WarpboundError:
        facts = NOMINAL
    planned = plan(names, facts, effort)
    yield facts.name
    for part in planned:
        yield f"{part.mechanism:20s} {len(part.cases):5d} cases  about {part.seconds:5.0f} s"
    total = sum(part.seconds for part in planned)
    yield f"{'all':20s} {sum(len(p.cases) for p in planned):5d} cases  about {total:5.0f} s"
    split = calls(planned, within)
    yield f"In calls of at most {within:.0f} s, half of it in reserve: {len(split)}."
    if len(split) > 1:
        for number, (together, seconds) in enumerate(split, 1):
            yield f"call {number}: about {seconds:.0f} s  --only {','.join(together)}"
    yield f"Or the same command as often as it takes, each time with --within {LATEST * within:.0f}: it goes on."


def build(folder: Path, names: tuple[str, ...], archs: tuple[int, ...]) -> str:
    """Machine code for later; what to do with it."""
    count = cubin_build.write(folder, names, archs or cubin_build.ARCHITECTURES)
    return f"{count} cubins in {folder}. On the GPU's machine: warpbound measure --cubins {folder} -o DIR"


def measure(device: Device, cubins: Path | None, order: Order, tell: Callable[[str], None]) -> list[Raw]:
    """Run on a device, compiling here or with cubins from a folder; compiling is a part of the time to stop after."""
    begun, arch = time.monotonic(), device.facts().arch
    code = _compiled(order.names, arch) if cubins is None else cubin_build.read(cubins, order.names, arch)
    left = max(0.0, order.within - (time.monotonic() - begun))
    return run(device, code, replace(order, within=left), tell)


def _compiled(names: tuple[str, ...], arch: int) -> cubin_build.Cubins:
    try:
        return cubin_build.compile_all(names, arch)
    except (AttributeError, RuntimeError) as failed:  # bindings of another version than the compiler
        hint = "Give --cubins, a folder that --build made elsewhere."
        raise MissingTool(f"the compiler and its bindings do not agree ({failed}).", hint) from failed


def conclude_what_is_there(names: tuple[str, ...], out: Path, named: str | None) -> list[str]:
    """The verdict on the files of a run that ended early; nothing where there are none."""
    try:
        return conclude(read_folder(out, names), out, named)
    except WarpboundError:
        return []


def document(raws: list[Raw], named: str | None, path: Path, out: Path) -> str:
    """Write the page of a measured GPU, with what `judge` said if it did; where it is."""
    judged = (out / JUDGED).read_text("utf-8").splitlines() if (out / JUDGED).is_file() else []
    summary = board_profile.summarise(raws, board_profile.catalogue_board(raws[0].device, named))
    counted = page_counters.section(counters.load(out) or {}, counters.load_compared(out))
    replaced(path, board_page.page(summary, raws, judged, counted))
    return f"Page: {path}"


def count(cubins: Path | None, device: int, out: Path, named: str | None) -> list[str]:
    """Hardware counters of the dozen kernels into the folder; the emulator's counts beside them."""
    board = board_profile.catalogue_board(here(device).facts(), named)
    counted = counters.profile(cubins, device)
    counters.save(counted, out)
    if board is None:
        return [f"{len(counted)} kernels counted; the catalogue has no such board to compare with."]
    return [f"{len(counted)} kernels counted.", *_compared(counted, board, out)]


def judge(out: Path, named: str | None, tell: Callable[[str], None]) -> list[str]:
    """The corpus of a folder predicted with the catalogue's board and with the measured one."""
    (raw,) = read_folder(out, ("corpus",))
    boards = {}
    if (before := board_profile.catalogue_board(raw.device, named)) is not None:
        boards["catalogue"] = before
    if (out / PROFILE).is_file():
        boards["measured"] = gpu(out / PROFILE)
    if not boards:
        hint = "Make profile.toml with --extract, or give --gpu."
        raise InputError(f"the catalogue has no board called {raw.device.name}.", hint)
    lines = corpus_judgement.table(corpus_judgement.judged(raw.records, boards, tell), tuple(boards))
    lines += _compared_again(out, boards)
    replaced(out / JUDGED, "\n".join(lines) + "\n")
    return lines


def _compared_again(out: Path, boards: Mapping[str, Gpu]) -> list[str]:
    """Counters that the folder holds, against the last board."""
    counted = counters.load(out)
    return _compared(counted, list(boards.values())[-1], out) if counted else []


def _compared(counted: Mapping[str, counters.Counts], board: Gpu, out: Path) -> list[str]:
    rows = counters.compare(counted, board)
    counters.save_compared(rows, out)
    return counters.table(rows)


def conclude(raws: list[Raw], out: Path, named: str | None) -> list[str]:
    """Write the profile proposal and the verdict beside the raw files; the lines of the verdict."""
    board = board_profile.catalogue_board(raws[0].device, named)
    summary = board_profile.summarise(raws, board)
    lines = board_profile.verdict(summary, board)
    unstable = sum(not record.stable for raw in raws for record in raw.records)
    if unstable:
        lines.append(f"{unstable} cases did not stand still or ran at another clock; their records say so.")
    lines += [f"Nothing could be made of {name}.json ({why})." for name, why in summary.unread.items()]
    lines += [f"{one} and is left out." for one in summary.odd]
    deadly = [f"{raw.mechanism}, {case}" for raw in raws for case in raw.deadly]
    lines += [f"Nothing ran any more after {case}." for case in deadly]
    if summary.left_out:
        lines.append(f"{summary.left_out} cases did not reach their occupancy on every SM and were left out.")
    lines += quality_gates.gates(summary)
    lines += quality_gates.clocks(raws)
    lines += quality_gates.alone((reading for raw in raws for reading in raw.sensors), raws[0].device)
    text = board_profile.profile(summary, board)
    replaced(out / PROFILE, text)
    replaced(out / VERDICT, "\n".join(lines) + "\n")
    try:
        load(text, "measured", PROFILE)
        lines.append(f"Profile: {out / PROFILE}, for --gpu and for the catalogue.")
    except WarpboundError as missing:
        lines.append(f"Profile: {out / PROFILE}, not complete yet: {missing}")
    return lines


def architectures(text: str | None) -> tuple[int, ...]:
    """Numbers with commas between, such as 90 or 80,90; none for None."""
    try:
        found = tuple(int(part) for part in text.split(",")) if text else ()
        for arch in found:
            limits(f"{arch // 10}.{arch % 10}")
    except ValueError:
        raise CommandError(f"--arch {text} is no list of architectures.", "Write it like 80,90.") from None
    return found
