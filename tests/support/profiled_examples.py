"""Reports of Nsight Compute as they would be if the board did what is predicted: made of our own answers."""

from functools import cache
from pathlib import Path

from support.paths import ROOT
from support.profile_writer import Value, WrittenLaunch, write_report
from warpbound import launch
from warpbound.analysis.answer import result_of, work_of
from warpbound.analysis.case import checked_case
from warpbound.analysis.settings import Settings
from warpbound.machine import gpu
from warpbound.nsight.counters import COUNTERS, Prediction
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.source_files import programs
from warpbound.result.kernel import KernelResult

BOARD, ARCH, CLOCK_MHZ = "rtx-4090", 89, 2235.0
SAXPY = ROOT / "examples" / "saxpy.cu"
GRID, BLOCK, ELEMENTS = 4096, 256, 1048576
ARGUMENTS = ("0=1048576", "1=2.0", "2=f32[1048576]", "3=f32[1048576]")
FIRST_PC = 0x7F0000000000
DEVICE: dict[str, Value] = {"device__attribute_multiprocessor_count": 128, "device__attribute_ecc_enabled": 0}


@cache
def image() -> bytes:
    """saxpy for the board."""
    return compile_cuda(SAXPY.read_text(), str(SAXPY), ARCH, Options()).cubin


@cache
def predicted() -> tuple[KernelResult, dict[int, float], str]:
    """The answer from cold caches, warp instructions by program counter, and the kernel's mangled name."""
    board = gpu(BOARD)
    program = programs(image(), board, None, Options())[0]
    own = launch(grid=GRID, block=BLOCK, args={0: ELEMENTS, 1: 2.0, 2: "f32[1048576]", 3: "f32[1048576]"})
    case = checked_case(program, board, own, Settings(clock=CLOCK_MHZ, cache="flushed"))
    work = work_of(case)
    assert work.observed is not None
    assert work.whole.warps is not None
    issued = work.observed.executions * work.whole.warps
    each = zip(program.instructions, issued.tolist(), strict=True)
    return result_of(case, work), {FIRST_PC + one.address: count for one, count in each}, program.name


def written(path: Path, factor: float = 1.0, board: str = "NVIDIA GeForce RTX 4090") -> Path:
    """A report of two launches whose counters are what is predicted, those of DRAM times `factor`."""
    result, issued, name = predicted()
    metrics: dict[str, Value] = {
        "gpc__cycles_elapsed.avg.per_second": CLOCK_MHZ * 1e6,
        "dram__cycles_elapsed.avg.per_second": 10251e6,
        "launch__shared_mem_config_size": 8192,
        "launch__registers_per_thread": 16,
    }
    for counter in COUNTERS:
        value = counter.prediction(Prediction(result, ecc=False))
        if value is not None:
            metrics[counter.names[0]] = value * (factor if counter.names[0].startswith("dram") else 1.0)
    instances: dict[str, dict[Value, Value]] = {
        "inst_executed": {at: count for at, count in issued.items() if count},
        "thread_inst_executed_true": {at: 32 * count for at, count in issued.items() if count},
        "smsp__pcsamp_warps_issue_stalled_long_scoreboard": {FIRST_PC + 0x60: 300},
        "smsp__pcsamp_warps_issue_stalled_wait": {FIRST_PC + 0x60: 100, FIRST_PC + 0x10: 100},
        "launch__function_pcs": {0: FIRST_PC},
    }
    signature = "saxpy(int, float, const float *, float *)"
    one = WrittenLaunch(name, (GRID, 1, 1), (BLOCK, 1, 1), metrics, instances, signature)
    return write_report(path, [one, one], image(), board, DEVICE)
