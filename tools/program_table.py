"""Builds and runs the programs of public projects on emulated GPUs; writes the table of docs/programs.md.

    WARPBOUND_PROGRAMS=FOLDER python tools/program_table.py run [--gpu h200] [--timeout 300] [NAME ...]
    WARPBOUND_PROGRAMS=FOLDER python tools/program_table.py table

FOLDER holds `cuda-samples` (NVIDIA/cuda-samples: Samples, Common), `rodinia/cuda` (Rodinia 3.1) and `polybench/CUDA`
(polybenchGpu). Programs and results are kept in FOLDER/built and FOLDER/results; what is there is not made again.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from program_checks import Check
from program_inputs import SAMPLE_ARGUMENTS, SAMPLE_CHECKS, SMALLER, suite
from sample_inputs import SAMPLE_MAKERS
from warpbound.program.cuda_toolkit import toolkit
from warpbound.program_run.source_build import SOURCES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "programs.md"
ARCHITECTURES = (75, 80, 90)
BUILD_S = 600
PASSED = re.compile(
    r"\bpass(?:ed)?\b|\bOK\b|SUCCESS|completed, returned OK|0 errors|0 Failures|\bcorrect\b|results match", re.I
)
FAILED = re.compile(r"\bfail(?:ed|ure)?\b|\bmismatch|CUDA error|not supported|waived", re.I)
DECIDES = re.compile(r"\?\s*EXIT_SUCCESS\s*:\s*EXIT_FAILURE")  # the exit code is the verdict of the program's own check
WAIVED = 2  # EXIT_WAIVED of NVIDIA's samples
WITH_PROBLEMS = {"simpleAssert", "srad_v2"}  # whose kernels fail on purpose, or read outside and throw that away
EXCLUDED = {  # what a sample needs -> how its CMakeLists.txt or source says so
    "graphics": r"find_package\((?:OpenGL|EGL|Vulkan|GLUT|X11)|SUPPORTED_PLATFORM WIN|D3D1|NVSCI|nvSci",
    "library": r"CUDA::(?:cublas|cufft|curand|cusolver|cusparse|npp|nvjpeg)|find_package\((?:FreeImage|MPI|LLVM)|cudla",
    "driver API": r"CUDA::nvrtc|CUDA::cuda_driver",
    "second GPU": r"^(?:.*MultiGPU|.*MGPU|.*IPC|.*P2P|p2p.*|.*MultiDeviceCG|.*CrossGPU|topologyQuery)$",
    "CDP": r"^cdp|CUDA::cudadevrt|cudadevrt",
}


@dataclass(frozen=True)
class Project:
    """A program: where it is built, from which files, how it is run."""

    suite: str
    name: str
    folder: Path
    sources: tuple[str, ...]
    include: tuple[Path, ...]
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    needs: str = ""
    make: Callable[[Path], None] | None = None
    check: str = ""
    decides: bool = False  # its exit code says whether its own check agreed
    verify: Check | None = None  # a check of ours
    run: tuple[str, ...] = ()  # options of `warpbound run`


def samples(root: Path) -> Iterator[Project]:
    """NVIDIA's samples, as their CMakeLists.txt describe them."""
    top = root / "cuda-samples"
    for cmake in sorted((top / "Samples").glob("*/*/CMakeLists.txt")):
        text, folder = cmake.read_text(), cmake.parent
        match = re.search(r"add_executable\((\w+)\s+([^)]*)\)", text)
        if not match:
            continue
        name = match[1]
        files = tuple(w for w in match[2].split() if Path(w).suffix in SOURCES and "$" not in w)
        lines = re.findall(r"include_directories\(([^)]*)\)", text)
        spaces = [folder / word for line in lines for word in line.split()]
        include = (folder, folder / "inc", top / "Common", *(p for p in spaces if p.is_dir()))
        code = "\n".join((folder / file).read_text(errors="replace") for file in files if (folder / file).is_file())
        needs = next((what for what, mark in EXCLUDED.items() if re.search(mark, text) or re.search(mark, name)), "")
        needs = needs or ("library" if re.search(r"#include <cu(?:rand|blas|fft|sparse|solver)", code) else "")
        options = ("-std=c++17", "--extended-lambda")
        if not any(w.endswith(".cu") for w in files):
            continue
        yield Project(
            "samples", name, folder, files, include, options, SAMPLE_ARGUMENTS.get(name, ()), needs,
            SAMPLE_MAKERS.get(name), SAMPLE_CHECKS.get(name, ""), decides=bool(DECIDES.search(code)),
        )  # fmt: skip


def rodinia(root: Path) -> Iterator[Project]:
    for name, how in suite("rodinia").items():
        folder = root / "rodinia" / "cuda" / how.folder
        yield Project(
            "rodinia", name, folder, how.sources, (folder, root / "cuda-samples" / "Common"), how.options,
            how.arguments, make=how.make, check=how.check, verify=how.verify, run=how.run,
        )  # fmt: skip


def polybench(root: Path) -> Iterator[Project]:
    for name, how in suite("polybench").items():
        folder = root / "polybench" / "CUDA" / how.folder
        include = (folder, root / "polybench" / "common")
        yield Project("polybench", name, folder, how.sources, include, how.options, check=how.check)


def projects(root: Path) -> list[Project]:
    return [*samples(root), *rodinia(root), *polybench(root)]


def build(project: Project, root: Path) -> tuple[Path | None, str]:
    """The program, and what the compiler complained of."""
    out = root / "built" / f"{project.suite}-{project.name}"
    complaint = out.with_suffix(".log")
    if out.exists() or complaint.exists():
        return (out, "") if out.exists() else (None, complaint.read_text())
    out.parent.mkdir(exist_ok=True)
    folder = project.folder
    changes = [*SMALLER.get(project.name, ()), *SMALLER.get(f"every {project.suite}", ())]
    if changes:
        folder = root / "smaller" / project.name
        shutil.copytree(project.folder, folder, dirs_exist_ok=True)
        for file, before, after in changes:
            for place in folder.glob(file):
                place.write_text(re.sub(before, after, place.read_text(errors="replace")))
    tools = toolkit()
    code = [word for a in ARCHITECTURES for word in ("-gencode", f"arch=compute_{a},code=sm_{a}")]
    include = [f"-I{folder}", *(f"-I{p}" for p in project.include)]
    command = [
        *tools.command, *code, "-O2", "-w", "-lineinfo", "-cudart", "shared", "-Xcompiler", "-fopenmp,-fpermissive",
        *include, *project.options, *project.sources, "-o", str(out),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=tools.environment, capture_output=True, text=True, errors="replace", timeout=BUILD_S,
        check=False,
    )  # fmt: skip
    if done.returncode:
        complaint.write_text(done.stderr + done.stdout)
        return None, done.stderr + done.stdout
    return out, ""


def run(project: Project, program: Path, gpu: str, root: Path, timeout_s: float) -> dict[str, object]:
    """What `warpbound run` says of it."""
    folder = root / "runs" / f"{project.suite}-{project.name}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(project.folder, folder, dirs_exist_ok=True)
    if project.make:
        project.make(folder)
    report = folder / "warpbound-report.json"
    command = [
        sys.executable, "-m", "warpbound", "run", "--gpu", gpu, "--timeout", str(timeout_s), *project.run,
        "--format", "json", "-o", str(report), "--", str(program), *project.arguments,
    ]  # fmt: skip
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    seconds = time.perf_counter() - began
    told = json.loads(report.read_text()) if report.exists() else {}
    text = done.stdout + done.stderr
    agrees = project.verify(folder, text) if project.verify and done.returncode == 0 else None
    shutil.rmtree(folder, ignore_errors=True)
    launches = told.get("launches", [])
    return {
        "suite": project.suite, "name": project.name, "gpu": gpu, "exit_code": told.get("exit_code", done.returncode),
        "seconds": seconds, "launches": len(launches), "kernels": len(told.get("kernels", [])),
        "untimed": sorted({launch["kernel"] for launch in launches if launch["time_s"] is None}),
        "executed": sum(launch["executed"] == "all" for launch in launches),
        "warp_instructions": sum(x["warp_instructions"] or 0 for x in launches if x["executed"] == "all"),
        "execution_s": told.get("execution_s"), "end_s": told.get("end_s"),
        "unsupported": told.get("unsupported", []), "problems": told.get("problems", []),
        "check": project.check, "decides": project.decides, "agrees": agrees, "output": text[-4000:],
    }  # fmt: skip


def verdict(result: dict[str, object]) -> str:
    """`passed`: the program says so, or its own check decides its exit code; `ended with 0`: it has no check that is
    known; `waives itself`: it does not support the board; else what went wrong."""
    output = str(result.get("output", ""))
    if result.get("built") is False:
        return "not built"
    if result["exit_code"] == 124:
        return "too slow"
    if result["exit_code"] == WAIVED and re.search("waiv", output, re.I):
        return "waives itself"
    if result["exit_code"] or result["problems"] and result["name"] not in WITH_PROBLEMS:
        return "failed"
    if result.get("agrees") is not None:
        return "passed" if result["agrees"] else "failed"
    if not result.get("check") and FAILED.search(_own(output)):
        return "failed"
    if result.get("check"):
        return "passed" if re.search(str(result["check"]), output) else "failed"
    return "passed" if result.get("decides") or PASSED.search(output) else "ended with 0"


def _own(text: str) -> str:
    """What a program says, without sentences that name failing only to exclude it."""
    innocent = (
        r"(?i)\b0 fail\w*|no fail\w*|failed as expected|CUDA error message is: device-side assert"
        r"|Assertion `.*?failed|fail(?:ed|ures)?: *0\b"
    )
    return re.sub(innocent, "", text)


def run_all(root: Path, names: list[str], gpu: str, timeout_s: float, again: bool) -> None:  # noqa: FBT001
    (root / "results").mkdir(exist_ok=True)
    for project in projects(root):
        place = root / "results" / f"{project.suite}-{project.name}-{gpu}.json"
        if names and project.name not in names and project.suite not in names:
            continue
        if project.needs or (place.exists() and not again):
            continue
        program, complaint = build(project, root)
        if program is None:
            first = next((x for x in complaint.splitlines() if "error" in x or "undefined" in x), complaint[:200])
            result: dict[str, object] = {
                "suite": project.suite, "name": project.name, "gpu": gpu, "exit_code": 1, "problems": [first],
                "built": False,
            }  # fmt: skip
        else:
            result = run(project, program, gpu, root, timeout_s)
        place.write_text(json.dumps(result, indent=1))
        reason = (result.get("problems") or result.get("unsupported") or [""])[0]  # type: ignore[index]
        sys.stdout.write(
            f"{verdict(result)}: {project.suite} {project.name} {gpu} {result.get('seconds', 0):.0f} s "
            f"{result.get('launches', 0)} launches {reason}"[:230] + "\n"
        )
        sys.stdout.flush()


BEGIN, END = "<!-- table: tools/program_table.py table -->", "<!-- end of the table -->"
TITLES = (
    "program", "GPU", "verdict", "launches", "executed", "warp instructions", "s", "untimed kernels", "reason",
    "s to execute",
)  # fmt: skip
MEDIANS = "Medians of the programs that passed, for each column separately"
MEDIAN_TITLES = (
    "launches", "warp instructions executed", "s", "warp instructions per s", "per s of execution",
    "the same where a million or more are executed",
)  # fmt: skip
MANY = 1e6  # warp instructions of a program, below which the start of each launch takes most of its execution
UNTIMED = "launches", "kernels without a time"
SUITES = {"samples": "NVIDIA samples", "rodinia": "Rodinia 3.1", "polybench": "PolyBench/GPU"}


def table(root: Path, page: str) -> str:
    """What was run: a summary by suite and GPU, and a line for each program.

    Programs that have no result in `root` keep their line of the page.
    """
    known = {(each.suite, each.name): each for each in projects(root) if not each.needs}
    suites = {name: suite_name for suite_name, name in known}
    lines = {
        (suites[cells[0]], *cells[:2]): (cells[2], line)
        for line in page.splitlines() if len(cells := line.strip("| ").split(" | ")) >= len(TITLES) - 2
        and cells[0] in suites and re.fullmatch(r"[\w-]+", cells[1])
    }  # fmt: skip
    for path in sorted((root / "results").glob("*.json")):
        one = json.loads(path.read_text())
        key = one["suite"], one["name"]
        if key in known:
            one |= {"check": known[key].check, "decides": known[key].decides}
            lines[*key, one["gpu"]] = verdict(one), _line(one)
    counts = "run", "says that it passed", "ended with 0", "waives itself", "failed, too slow, not built", *UNTIMED
    parts = [*_head("suite", "GPU", *counts)]
    medians = [*_head("suite", "GPU", "programs", *MEDIAN_TITLES)]
    for suite_name, gpu in sorted({(each, gpu) for each, _, gpu in lines}):
        own = [how for (each, _, on), (how, _) in lines.items() if (each, on) == (suite_name, gpu)]
        all_rows = [line for (each, _, on), (_, line) in lines.items() if (each, on) == (suite_name, gpu)]
        good = own.count("passed"), own.count("ended with 0"), own.count("waives itself")
        parts.append(_row(SUITES[suite_name], gpu, len(own), *good, len(own) - sum(good), *untimed(all_rows)))
        rows = [line for (each, _, on), (how, line) in lines.items() if (each, on, how) == (suite_name, gpu, "passed")]
        medians.append(_row(SUITES[suite_name], gpu, len(rows), *overheads(rows)))
    everything = (line for _, (_, line) in sorted(lines.items()))
    return "\n".join([*parts, "", f"{MEDIANS}:", "", *medians, "", *_head(*TITLES), *everything])


def untimed(rows: Sequence[str]) -> tuple[int, int]:
    """Launches of the programs of these lines, and kernels of them that have no time."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in rows]
    return sum(int(each[3] or 0) for each in cells), sum(int(each[7] or 0) for each in cells)


def overheads(rows: Sequence[str]) -> list[str]:
    """Medians of launches, warp instructions that were executed, seconds by the clock, and these per those."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in rows]
    counts = [tuple(float(each[at]) for at in (3, 5, 6)) for each in cells]
    rates = [instructions / seconds for _, instructions, seconds in counts if seconds]
    timed = [each for each in cells if len(each) == len(TITLES) and each[9] and float(each[9])]
    executing = [float(each[5]) / float(each[9]) for each in timed]
    large = [rate for rate, each in zip(executing, timed, strict=True) if float(each[5]) >= MANY]
    columns = *zip(*counts, strict=True), rates, executing, large
    return [f"{statistics.median(column):.3g}" if column else "" for column in columns]


def _line(one: dict[str, Any]) -> str:
    how = verdict(one)
    known = *one.get("unsupported", []), *one.get("problems", []), _complaint(str(one.get("output", "")))
    reasons = [] if how in ("passed", "ended with 0") and not one.get("untimed") else known
    return _row(
        one["name"], one["gpu"], how, one.get("launches", ""), one.get("executed", ""),
        f"{one.get('warp_instructions', 0):.3g}", f"{one.get('seconds', 0):.0f}", len(one.get("untimed", [])),
        re.sub(r"\s+", " ", reasons[0])[:120] if reasons else "", f"{one.get('execution_s') or 0:.2g}",
    )  # fmt: skip


def _complaint(output: str) -> str:
    """What a program says of why it ends: the file that it does not find, or its last line about an error."""
    missing = re.search(r"file <([^>]+)> not found", output)
    if missing:
        return f"it does not find its file {missing[1]}"
    lines = [line.strip() for line in output.splitlines() if re.search(r"waiv|error|fail|unable|cannot", line, re.I)]
    return lines[-1] if lines else ""


def _head(*titles: str) -> list[str]:
    return [_row(*titles), "|" + "---|" * len(titles)]


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "table", "list"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_intermixed_args()
    root = Path(os.environ["WARPBOUND_PROGRAMS"])
    if options.what == "run":
        run_all(root, options.names, options.gpu, options.timeout, options.again)
    elif options.what == "table":
        before, _, rest = PAGE.read_text().partition(BEGIN)
        old, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{table(root, old)}\n{END}{after}")
    elif options.what == "list":
        for project in projects(root):
            sys.stdout.write(" ".join((project.suite, project.name, project.needs or "-", *project.sources)) + "\n")


if __name__ == "__main__":
    main()
