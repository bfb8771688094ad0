"""Hardware counters of a dozen kernels by NVIDIA's profiler, and the emulator's counts beside them."""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from warpbound.analysis.answer import work_of
from warpbound.errors import InputError, MissingTool, WarpboundError
from warpbound.machine import Gpu
from warpbound.measure.corpus.predicting import case_for
from warpbound.measure.corpus.subjects import subjects
from warpbound.memory.counters import COUNTERS, SECTOR_B

FILE, COMPARED = "counters.json", "compared.json"
DOZEN = (
    "saxpy", "reduction", "histogram", "scan", "softmax", "matmul_tiled", "transpose_naive", "transpose_tiled",
    "stencil5", "spmv_csr", "gemm", "convolution2d", "attention_row",
)  # fmt: skip  (kernels of different names, so that the profiler can tell them from the set-up)
COUNTED = {  # the profiler's name -> ours
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
          "shared_wavefronts_store": 0.10}  # fmt: skip  (relative: what counts as the same)
FEW = 1000.0  # counts this small are not compared
LIMIT_S = 540
Counts = Mapping[str, float]
Run = Callable[[list[str]], "tuple[int, str]"]


@dataclass(frozen=True)
class Compared:
    """One count of one kernel; agrees : within the relative difference of WITHIN."""

    kernel: str
    count: str
    counted: float
    emulated: float

    @property
    def off(self) -> float:
        """Relative difference of the emulator's count."""
        return self.emulated / self.counted - 1.0

    @property
    def agrees(self) -> bool:
        """Whether it is small enough."""
        return abs(self.off) <= WITHIN[self.count]


def profile(cubins: Path | None, device: int, run: Run | None = None) -> dict[str, dict[str, float]]:
    """Kernel -> counts, each launched once with cold caches. Clocks are left as they are.

    Raises MissingTool without the profiler, InputError where it may not count or says nothing.
    """
    if run is None:
        if shutil.which("ncu") is None:
            hint = "Install Nsight Compute and put ncu on the PATH."
            raise MissingTool("NVIDIA's profiler ncu is not here, so that nothing can be counted.", hint)
        run = _run
    found: dict[str, dict[str, float]] = {}
    for stalls in (STALLS, ()):  # a GPU that does not know one name of them counts nothing at all
        status, text = run(command(cubins, device, stalls))
        if "ERR_NVGPUCTRPERM" in text:
            raise InputError(
                "The driver does not let this user read hardware counters (ERR_NVGPUCTRPERM).",
                "An administrator can allow it (NVreg_RestrictProfilingToAdminUsers=0); everything else works without.",
            )
        if found := read(text):
            break
    else:
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "it printed nothing")
        raise InputError(f"ncu counted nothing (exit {status}): {last.strip()[:200]}", "Try `ncu --version`.")
    names = kernels()
    return {names[kernel]: counts for kernel, counts in found.items() if kernel in names}


def kernels() -> dict[str, str]:
    """Kernel's plain name -> subject of the corpus, of those that are here."""
    return {subjects()[name].kernel: name for name in DOZEN if name in subjects()}


def command(cubins: Path | None, device: int, reasons: Sequence[str] = STALLS) -> list[str]:
    """What is executed: the profiler round a process that launches each kernel once. reasons : of stalls."""
    stalls = [f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio" for name in reasons]
    names = "|".join(kernels())
    return [
        "ncu", "--csv", "--metrics", ",".join([*COUNTED, *stalls]), "--print-units", "base", "--clock-control", "none",
        "--cache-control", "all", "--kernel-name-base", "function", "--kernel-name", f"regex:^({names})$",
        sys.executable, "-m", "warpbound.measure.profile_once", str(device), *([str(cubins)] if cubins else []),
    ]  # fmt: skip


def _run(words: list[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise InputError(f"ncu did not finish ({failed}).", "Leave the counters out.") from failed
    return done.returncode, done.stdout + "\n" + done.stderr


def read(text: str) -> dict[str, dict[str, float]]:
    """Kernel -> our name of a count -> value, from the profiler's CSV: one metric per line, or one kernel per line
    with its units in the second. Lines round the table and values such as n/a are left out."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    found: dict[str, dict[str, float]] = {}
    head: list[str] = []
    for row in rows:
        if "Kernel Name" in row:
            head = row
        elif len(row) == len(head):
            words = dict(zip(head, row, strict=True))
            pairs = [(words["Metric Name"], words["Metric Value"])] if "Metric Name" in words else list(words.items())
            counts = {name: value for metric, word in pairs if (name := _ours(metric)) and (value := _number(word))}
            if words["Kernel Name"]:
                found.setdefault(_plain(words["Kernel Name"]), {}).update(counts)
    return {kernel: counts for kernel, counts in found.items() if counts}


def _ours(metric: str) -> str | None:
    stall = STALL.fullmatch(metric)
    return f"stall_{stall[1]}" if stall else COUNTED.get(metric)


def _number(word: str) -> float | None:
    try:
        return float(word.replace(",", ""))
    except ValueError:
        return None


def _plain(kernel: str) -> str:
    return re.split(r"[(<]", kernel.removeprefix("void "))[0].strip()


def emulated(name: str, board: Gpu) -> dict[str, float]:
    """The same counts by the emulator and the caches' model, cold."""
    case = case_for((name, "1/1"), board, "cold", "boost")
    work = work_of(case)
    if work.launch_memory is None or work.whole.warps is None:
        raise InputError(f"{name} was not executed.", work.not_executed or "Give every argument.")
    memory = work.launch_memory
    return {
        "instructions": work.whole.warp_instructions * work.whole.warps,
        "dram_sectors_read": memory.dram_bytes_read / SECTOR_B,
        "dram_sectors_written": memory.dram_bytes_written / SECTOR_B,
        **{name: getattr(memory, name) for name, counter in COUNTERS.items() if counter.nsight},
    }


def compare(
    counted: Mapping[str, Counts], board: Gpu, count: Callable[[str, Gpu], Counts] = emulated
) -> list[Compared]:
    """Every count that both have, kernel by kernel; what cannot be emulated is left out."""
    found = []
    for kernel, counts in counted.items():
        try:
            ours = count(kernel, board)
        except WarpboundError:
            continue
        for name in WITHIN:
            if counts.get(name, 0.0) >= FEW and name in ours:
                found.append(Compared(kernel, name, counts[name], ours[name]))
    return found


def table(rows: Iterable[Compared]) -> list[str]:
    """One line per count; the last says how many agree."""
    rows = list(rows)
    lines = [
        f"{row.kernel:16s} {row.count:24s} counted {row.counted:14.0f}  emulated {row.emulated:14.0f}  "
        f"{100 * row.off:+6.1f} %{'' if row.agrees else '  differs'}" for row in rows
    ]  # fmt: skip
    return [*lines, agreement(rows)]


def agreement(rows: Sequence[Compared]) -> str:
    """How many agree, in one sentence."""
    if not rows:
        return "No count was emulated, so none is compared: that needs warpbound[cuda], here or elsewhere with --judge."
    return f"{sum(row.agrees for row in rows)} of {len(rows)} counts agree (3 % instructions, 10 % others)."


def save(counted: Mapping[str, Counts], out: Path) -> None:
    """Into the folder of the run; a comparison with what was counted before is not one with this."""
    _write(out, FILE, counted)
    (out / COMPARED).unlink(missing_ok=True)


def save_compared(rows: Iterable[Compared], out: Path) -> None:
    """Beside what was counted."""
    _write(out, COMPARED, [asdict(row) for row in rows])


def _write(out: Path, name: str, content: object) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as failed:
        raise InputError(f"{out} cannot be written ({failed.strerror}).", "Choose another -o.") from failed


def load_compared(out: Path) -> list[Compared]:
    """What `save_compared` wrote; nothing where it did not."""
    path = out / COMPARED
    if not path.is_file():
        return []
    try:
        return [Compared(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as failed:
        raise InputError(f"{path} is no comparison ({failed}).", "Delete it and judge again.") from failed


def load(out: Path) -> dict[str, dict[str, float]] | None:
    """What `save` wrote; None where nothing was counted."""
    path = out / FILE
    if not path.is_file():
        return None
    try:
        return {str(kernel): dict(counts) for kernel, counts in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError, TypeError) as failed:
        raise InputError(f"{path} is no file of counters ({failed}).", "Delete it and count again.") from failed
