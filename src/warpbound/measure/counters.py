"""Hardware counters of a dozen kernels by Nsight Compute, compared with the emulator's counts."""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import msgspec

from warpbound.analysis.answer import work_of
from warpbound.errors import InputError, MissingTool, WarpboundError
from warpbound.machine import Gpu
from warpbound.measure.corpus.prediction import case_for
from warpbound.measure.corpus.subjects import subjects
from warpbound.measure.runner import write_atomically
from warpbound.memory.counters import COUNTERS, SECTOR_B
from warpbound.quick_dataclasses import dataclass

FILE, COMPARED = "counters.json", "compared.json"
DOZEN = (
    "saxpy", "reduction", "histogram", "scan", "softmax", "matmul_tiled", "transpose_naive", "transpose_tiled",
    "stencil5", "spmv_csr", "gemm", "convolution2d", "attention_row",
)  # fmt: skip  (kernels of different names, so that the profiler can tell them from the set-up)
COUNTED = {  # metric of Nsight Compute -> name here
    "smsp__inst_executed.sum": "instructions",
    **{counter.nsight: name for name, counter in COUNTERS.items() if counter.nsight},
    "dram__sectors_read.sum": "dram_sectors_read",
    "dram__sectors_write.sum": "dram_sectors_written",
    "l1tex__data_pipe_lsu_wavefronts.sum": "wavefronts",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved_occupancy_percent",
}
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
STALLS = (
    "long_scoreboard", "short_scoreboard", "wait", "barrier", "math_pipe_throttle", "mio_throttle", "lg_throttle",
    "not_selected", "no_instruction", "dispatch_stall", "branch_resolving", "membar",
)  # fmt: skip
WITHIN = {"instructions": 0.03, "l1_sectors_load": 0.10, "l1_sectors_store": 0.10, "l2_sectors_read": 0.10,
          "l2_sectors_written": 0.10, "dram_sectors_read": 0.10, "shared_wavefronts_load": 0.10,
          "shared_wavefronts_store": 0.10}  # fmt: skip  (relative difference within which counts agree)
FEW = 1000.0  # smaller counts are not compared
LIMIT_S = 540
Counts = Mapping[str, float]
Content = TypeVar("Content")
Run = Callable[[list[str]], "tuple[int, str]"]


@dataclass(frozen=True)
class Compared:
    """One count of one kernel, by the hardware and by the emulator."""

    kernel: str
    count: str
    by_hardware: float
    emulated: float

    @property
    def error(self) -> float:
        """Relative difference of the emulator's count."""
        return self.emulated / self.by_hardware - 1.0

    @property
    def agrees(self) -> bool:
        """Whether the difference is within WITHIN."""
        return abs(self.error) <= WITHIN[self.count]


def profile(cubins: Path | None, device: int, run: Run | None = None) -> dict[str, dict[str, float]]:
    """Kernel -> counts, each launched once with cold caches. Clocks are not changed.

    Raises MissingTool without Nsight Compute, InputError where it is not permitted to count or prints nothing.
    """
    if run is None:
        if shutil.which("ncu") is None:
            hint = "Install Nsight Compute and put ncu on the PATH."
            raise MissingTool("NVIDIA's profiler ncu is not here, so that nothing can be counted.", hint)
        run = _run
    for stalls in (STALLS, ()):  # a GPU that lacks one of the metrics counts nothing at all
        status, text = run(command(cubins, device, stalls))
        if "ERR_NVGPUCTRPERM" in text:
            raise InputError(
                "The driver does not let this user read hardware counters (ERR_NVGPUCTRPERM).",
                "An administrator can allow it (NVreg_RestrictProfilingToAdminUsers=0); everything else works without.",
            )
        if values := read(text):
            break
    else:
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "it printed nothing")
        raise InputError(f"ncu counted nothing (exit {status}): {last.strip()[:200]}", "Try `ncu --version`.")
    names = kernels()
    return {names[kernel]: counts for kernel, counts in values.items() if kernel in names}


def kernels() -> dict[str, str]:
    """Kernel name -> subject of the corpus, for the available subjects of DOZEN."""
    return {subjects()[name].kernel: name for name in DOZEN if name in subjects()}


def command(cubins: Path | None, device: int, reasons: Sequence[str] = STALLS) -> list[str]:
    """The command: Nsight Compute with a process that launches each kernel once. reasons : of stalls."""
    stalls = [f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio" for name in reasons]
    names = "|".join(kernels())
    return [
        "ncu", "--csv", "--metrics", ",".join([*COUNTED, *stalls]), "--print-units", "base", "--clock-control", "none",
        "--cache-control", "all", "--kernel-name-base", "function", "--kernel-name", f"regex:^({names})$",
        sys.executable, "-m", "warpbound.measure.profile_once", str(device), *([str(cubins)] if cubins else []),
    ]  # fmt: skip


def _run(words: list[str]) -> tuple[int, str]:
    try:
        process = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"ncu did not finish ({error}).", "Leave the counters out.") from error
    return process.returncode, process.stdout + "\n" + process.stderr


def read(text: str) -> dict[str, dict[str, float]]:
    """Kernel -> name of a count -> value, from the CSV of Nsight Compute: one metric per line, or one kernel per line
    with units in the second line. Lines around the table and values such as n/a are skipped."""
    by_kernel: dict[str, dict[str, float]] = {}
    head: list[str] = []
    for row in csv.reader(line for line in text.splitlines() if line.startswith('"')):
        if "Kernel Name" in row:
            head = row
        elif len(row) == len(head):
            words = dict(zip(head, row, strict=True))
            pairs = [(words["Metric Name"], words["Metric Value"])] if "Metric Name" in words else list(words.items())
            counts = {name: value for metric, word in pairs if (name := _name_of(metric)) and (value := _number(word))}
            if words["Kernel Name"]:
                kernel = re.split(r"[(<]", words["Kernel Name"].removeprefix("void "))[0].strip()
                by_kernel.setdefault(kernel, {}).update(counts)
    return {kernel: counts for kernel, counts in by_kernel.items() if counts}


def _name_of(metric: str) -> str | None:
    stall = STALL.fullmatch(metric)
    return f"stall_{stall[1]}" if stall else COUNTED.get(metric)


def _number(word: str) -> float | None:
    try:
        return float(word.replace(",", ""))
    except ValueError:
        return None


def emulated(name: str, board: Gpu) -> dict[str, float]:
    """The same counts by the emulator and the cache model, with cold caches."""
    case = case_for((name, "1/1"), board, "cold", "boost")
    work = work_of(case)
    if work.launch_memory is None or work.whole.warps is None:
        raise InputError(f"{name} was not executed.", work.not_executed or "Give every argument.")
    traffic = work.launch_memory
    return {
        "instructions": work.whole.warp_instructions * work.whole.warps,
        "dram_sectors_read": traffic.dram_bytes_read / SECTOR_B,
        "dram_sectors_written": traffic.dram_bytes_written / SECTOR_B,
        **{name: getattr(traffic, name) for name, counter in COUNTERS.items() if counter.nsight},
    }


def compare(
    counts_by_kernel: Mapping[str, Counts], board: Gpu, count: Callable[[str, Gpu], Counts] = emulated
) -> list[Compared]:
    """Every count that both have, kernel by kernel, without kernels that cannot be emulated."""
    rows = []
    for kernel, counts in counts_by_kernel.items():
        try:
            emulated_counts = count(kernel, board)
        except WarpboundError:
            continue
        for name in WITHIN:
            if counts.get(name, 0.0) >= FEW and name in emulated_counts:
                rows.append(Compared(kernel, name, counts[name], emulated_counts[name]))
    return rows


def table(rows: Iterable[Compared]) -> list[str]:
    """One line per count; the last line states how many agree."""
    rows = list(rows)
    lines = [
        f"{row.kernel:16s} {row.count:24s} counted {row.by_hardware:14.0f}  emulated {row.emulated:14.0f}  "
        f"{100 * row.error:+6.1f} %{'' if row.agrees else '  differs'}" for row in rows
    ]  # fmt: skip
    return [*lines, agreement(rows)]


def agreement(rows: Sequence[Compared]) -> str:
    """How many agree, in one sentence."""
    if not rows:
        return "No count was emulated, so none is compared: that needs warpbound[cuda], here or elsewhere with --judge."
    return f"{sum(row.agrees for row in rows)} of {len(rows)} counts agree (3 % instructions, 10 % others)."


def save(counts: Mapping[str, Counts], out: Path) -> None:
    """Write counters into the folder of the run, and remove a comparison with earlier counters."""
    write_atomically(out / FILE, json.dumps(counts, indent=1) + "\n")
    (out / COMPARED).unlink(missing_ok=True)


def save_compared(rows: Iterable[Compared], out: Path) -> None:
    """Write a comparison next to the counters."""
    write_atomically(out / COMPARED, json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def load_compared(out: Path) -> list[Compared]:
    """The comparison that `save_compared` wrote; empty where there is none. InputError for any other file."""
    return _load(out / COMPARED, list[Compared]) or []


def load(out: Path) -> dict[str, dict[str, float]] | None:
    """The counters that `save` wrote; None where there are none. InputError for any other file."""
    return _load(out / FILE, dict[str, dict[str, float]])


def _load(path: Path, kind: type[Content]) -> Content | None:
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a file of counters ({error}).", "Delete it and count again.") from error
