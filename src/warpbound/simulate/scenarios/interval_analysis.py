"""Cycle tables of the interval notes: one warp, each instruction occupies the issue port for 32 lanes of its unit.

Source   "GPU Microarchitecture Note Set 5: Interval Analysis", slides "Compute L", "Actual SASS" and MXV.
Models   exactly `models.interval_analysis.scoreboard`, whose listings can be used here: any instruction takes the port
         for 32 / (lanes of its unit) cycles; a result is available one latency after its issue began.
"""

from collections.abc import Callable
from functools import partial

from warpbound.models.interval_analysis.scoreboard import LANES, Device, Instruction, occupancy
from warpbound.simulate.experiment import Experiment, Launch, Machine, Step, Stream
from warpbound.simulate.scenarios.scenario import Scenario
from warpbound.simulate.warp_state import Reason

SOURCE = 'Lecture notes "Interval Analysis", '
MAXWELL = Device(lanes={"ls": 8.0, "fp": 32.0, "branch": 32.0}, latencies={"F": 6.0, "M": 400.0, "L2": 200.0})
SIMPLE = (
    Instruction("LD.E R2, [R2]", "ls", "M", ("R2",), ("R2", "R3")),
    Instruction("FADD R7, R2, 1", "fp", "F", ("R7",), ("R2",)),
    Instruction("ST.E [R4], R7", "ls", "", (), ("R4", "R5", "R7")),
    Instruction("BRA .Loop", "branch"),
)
ACTUAL = (
    Instruction("MOV R2, R6", "fp", "F", ("R2",), ("R6",)),
    Instruction("MOV R4, R8", "fp", "F", ("R4",), ("R8",)),
    Instruction("LD.E R2, [R2]", "ls", "M", ("R2",), ("R2", "R3")),
    Instruction("IADD32I R8.CC, R8, 0x4", "fp", "F", ("R8", "CC"), ("R8",)),
    Instruction("MOV R5, R9", "fp", "F", ("R5",), ("R9",)),
    Instruction("IADD32I R0, R0, 0x1", "fp", "F", ("R0",), ("R0",)),
    Instruction("ISETP.GE.AND P0, PT, R0, R11, PT", "fp", "F", ("P0",), ("R0", "R11")),
    Instruction("IADD.X R9, RZ, R9", "fp", "F", ("R9",), ("R9", "CC")),
    Instruction("IADD32I R6.CC, R6, 0x4", "fp", "F", ("R6", "CC"), ("R6",)),
    Instruction("IADD.X R3, RZ, R3", "fp", "F", ("R3",), ("R3", "CC")),
    Instruction("FADD R7, R2, 1", "fp", "F", ("R7",), ("R2",)),
    Instruction("ST.E [R4], R7", "ls", "", (), ("R4", "R5", "R7")),
    Instruction("@!P0 BRA .L_2", "branch", "", (), ("P0",)),
)


def experiment(program: tuple[Instruction, ...], device: Device) -> Experiment:
    """One warp that executes the listing once; the interval's length is its last issue and that port time."""
    writer: dict[str, str] = {}
    steps = []
    for number, instruction in enumerate(program):
        waits = tuple(dict.fromkeys(writer[register] for register in instruction.reads if register in writer))
        steps.append(_step(instruction, device, f"result of {number}", waits))
        writer |= dict.fromkeys(instruction.writes, f"result of {number}")
    return Experiment(Machine(), tuple(steps), (Stream(tuple(range(len(steps)))),), Launch(((0,),)))


def _step(instruction: Instruction, device: Device, result: str, waits: tuple[str, ...]) -> Step:
    port, latency = float(occupancy(device, instruction.unit)), device.latencies.get(instruction.latency, 0.0)
    return Step(
        instruction.text, issue=port, stall=port, latency=float(latency), writes=result, waits=waits,
        blames=Reason.LONG_SCOREBOARD if instruction.unit == "ls" else Reason.WAIT,
    )  # fmt: skip


def load_compute_store(rows: int, columns: int) -> tuple[Instruction, ...]:
    """K_0 of MXV-LCS: all loads of the vector, all multiply-adds column by column, all stores."""
    loads = tuple(Instruction(f"LD X{c}", "ls", "M", (f"X{c}",)) for c in range(columns))
    return (*loads, *(_product(r, c) for c in range(columns) for r in range(rows)), *map(_store, range(rows)))


def load_compute_repeated_store(rows: int, columns: int) -> tuple[Instruction, ...]:
    """K_1 of MXV-(LC)*S: each element is loaded and used before the next; every eighth comes from memory."""
    turns = [
        (Instruction(f"LD X{c}", "ls", "L2" if c % 8 else "M", (f"X{c}",)), *(_product(r, c) for r in range(rows)))
        for c in range(columns)
    ]
    return (*(instruction for turn in turns for instruction in turn), *map(_store, range(rows)))


def per_thread(columns: int) -> tuple[Instruction, ...]:
    """mxv_o_per_thd: one row to a thread, its multiply-adds in a chain."""
    return load_compute_store(1, columns)


def _product(row: int, column: int) -> Instruction:
    sources = (f"X{column}", f"Y{row}") if column else (f"X{column}",)
    return Instruction(f"FFMA Y{row}, X{column}", "fp", "F", (f"Y{row}",), sources)


def _store(row: int) -> Instruction:
    return Instruction(f"ST Y{row}", "st", "", (), (f"Y{row}",))


def device(store: float, multiply: float = 1.0) -> Device:
    """Stores and multiply-adds that occupy the port for so many cycles: the notes let stores issue in 4, 2 or 1."""
    return Device(MAXWELL.lanes | {"st": LANES / store, "fp": LANES / multiply}, MAXWELL.latencies)


def column_by_column(title: str, machine: Device) -> Scenario:
    return Scenario(title, f"{SOURCE}MXV-LCS", experiment(load_compute_store(16, 16), machine))


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "simple-loop": lambda: Scenario("simple loop", f"{SOURCE}Compute L", experiment(SIMPLE, MAXWELL)),
    "actual-sass": lambda: Scenario("actual SASS", f"{SOURCE}Actual SASS", experiment(ACTUAL, MAXWELL)),
    "mxv-lcs": partial(column_by_column, "MXV-LCS, 16 x 16, CC 5.2", device(4)),
    "mxv-lcs-gtx1080": partial(column_by_column, "MXV-LCS, 16 x 16, GTX 1080", device(1)),
    "mxv-lcs-cc75": partial(column_by_column, "MXV-LCS, 16 x 16, CC 7.5", device(4, 2)),
    "mxv-lc-s": lambda: Scenario(
        "MXV-(LC)*S, 16 x 16", f"{SOURCE}(LC)*S", experiment(load_compute_repeated_store(16, 16), device(1))
    ),
    "mxv-per-thread": lambda: Scenario(
        "mxv_o_per_thd, 16 columns", f"{SOURCE}per-thd", experiment(per_thread(16), device(1))
    ),
}
