"""A profiled launch as the input of an analysis: program, board, launch and settings.

Source   NVIDIA, Nsight Compute documentation: by default the SM clock is locked to the base clock and all caches are
         flushed before each replay pass; names of the metrics: its Kernel Profiling Guide.
Models   Machine code, grid, block, shared memory, carve-out and clocks of the report; cold caches.
Omits    `--cache-control none` and `--clock-control none`, which a report does not state: the clock is the measured
         one in any case.
"""

from collections.abc import Sequence
from dataclasses import replace

from warpbound import machine
from warpbound.analysis import Settings
from warpbound.board_parameters import PARAMETERS, UNITS
from warpbound.errors import CommandError, InputError
from warpbound.kernel_argument import Argument
from warpbound.kernel_launch import Launch
from warpbound.kernel_launch import launch as launch_of
from warpbound.machine import Gpu, Quantity
from warpbound.nsight.clocks import L2, Clocks, base_clocks, clocks_of
from warpbound.nsight.counters import ECC, has_ecc
from warpbound.nsight.inference import inferred, suggested
from warpbound.nsight.report_file import DEVICE, ProfiledLaunch, Value
from warpbound.program import Program, programs
from warpbound.program.cubin import read_cubin
from warpbound.program.cuda import Options
from warpbound.quick_dataclasses import dataclass

ATTRIBUTES = {name: f"{DEVICE}{x.device_attribute}" for name, x in PARAMETERS.items() if x.device_attribute}
CONTEXT_SMS = "launch__sm_count"
CHECK_BITS = "dram_check_bits"
REPORTED = "reported by the driver"
COLD = "caches were flushed before the launch, as Nsight Compute does unless it is told otherwise"
DYNAMIC = "launch__shared_mem_per_block_dynamic"
NO_SHARED = "the report does not state the dynamic shared memory of a block: none is assumed"
NO_BOARD = "Choose a relative with --gpu, or make its file: `warpbound calibrate REPORT --like RELATIVE -o BOARD.toml`."
ONE_EACH = "; with one element per thread: {words}"
NO_ARGUMENTS = "the report holds no argument values: counts are those of the code alone; give them with --arg"


@dataclass(frozen=True)
class LaunchCase:
    """One profiled launch, ready to be analysed. notes : what was taken from the report, in sentences."""

    profile: ProfiledLaunch
    program: Program
    gpu: Gpu
    launch: Launch
    settings: Settings
    clocks: Clocks
    notes: tuple[str, ...]


def launch_case(
    profile: ProfiledLaunch, arguments: Sequence[Argument] = (), board: str | Gpu | None = None,
    views: tuple[str, ...] = (),
) -> LaunchCase:  # fmt: skip
    """The case of a profiled launch; `board` in place of the report's own.

    Raises InputError where the report lacks the machine code or names a board that is not in the catalogue.
    """
    if 0 in (*profile.grid, *profile.block):
        reason = f"{profile.report}: launch {profile.index} ({profile.kernel}) has no grid or block."
        raise InputError(reason, "It failed, or it is a range or a graph; profile its kernels (--replay-mode kernel).")
    gpu = board_of(profile) if board is None else machine.gpu(board)
    clocks = base_clocks(profile, gpu) if is_another(gpu, profile) else clocks_of(profile, gpu)
    if clocks.l2_hz is not None:
        gpu = with_l2_clock(gpu, clocks.l2_hz, profile)
    notes = list(clocks.notes)
    program = program_of(profile, gpu)
    if profile.code is not None:
        profile = replace(profile, mangled=program.name)
    if not arguments:
        words = suggested(profile, program)
        notes += [NO_ARGUMENTS + (ONE_EACH.format(words=words) if words else ""), *inferred(profile, program)]
    notes.append(COLD)
    if profile.number(DYNAMIC) is None:
        notes.append(NO_SHARED)
    return LaunchCase(
        profile=profile,
        program=program,
        gpu=gpu,
        launch=_launch(profile, arguments),
        settings=Settings(clock=clocks.sm_hz / 1e6, cache="flushed", views=views),
        clocks=clocks,
        notes=tuple(notes),
    )


def program_of(profile: ProfiledLaunch, board: Gpu) -> Program:
    """The machine code that ran. Raises InputError where the report does not hold it, or the board cannot run it."""
    for image in profile.images:
        if profile.mangled in read_cubin(image, profile.report.name).kernels:
            kernels = programs(image, board, profile.mangled, Options())
            own = next((program for program in kernels if program.name == profile.mangled), None)
            if own is not None:
                return replace(own, source_name=profile.report.name)
    if profile.code is not None:
        return programs(profile.code, board, profile.kernel or None, Options())[0]
    raise InputError(
        f"{profile.report} holds no machine code of {profile.kernel} (launch {profile.index}).",
        "Record it again; for a table give the kernel's source or cubin with --code.",
    )


def board_of(profile: ProfiledLaunch) -> Gpu:
    """The catalogue's board of that name, with the SMs and the L2 of this very device."""
    name = profile.board_name
    if not name:
        raise InputError(f"{profile.report} names no board.", "Name one with --gpu.")
    try:
        board = machine.gpu(name)
    except CommandError as unknown:
        raise InputError(f"{profile.report}: {name} is not in the catalogue.", NO_BOARD) from unknown
    return _as_reported(board, profile)


def _as_reported(board: Gpu, profile: ProfiledLaunch) -> Gpu:
    """The board with the SMs, L2 and check bits that the report states; a context may have a part of the SMs."""
    changed = dict(board.parameters)
    for parameter, attribute in ATTRIBUTES.items():
        value: Value | None = profile.device.get(attribute)
        if parameter == "sm_count" and profile.number(CONTEXT_SMS):
            attribute, value = CONTEXT_SMS, int(profile.number(CONTEXT_SMS) or 0)
        own = board.get(parameter)
        if isinstance(value, int) and value > 0 and own != value:
            source = f"{profile.report.name}, {attribute}"
            unit = PARAMETERS[parameter].units[0]
            changed[parameter] = Quantity(value / UNITS[unit], unit, source, "measured", REPORTED)
    if ECC in profile.device:
        source = f"{profile.report.name}, {ECC}"
        changed[CHECK_BITS] = Quantity(float(has_ecc(profile, board)), "1", source, "measured", REPORTED)
    return replace(board, parameters=changed)


def is_another(board: Gpu, profile: ProfiledLaunch) -> bool:
    """Whether it is another board than the report's; any board may replace one that the catalogue lacks."""
    try:
        own = machine.gpu(profile.board_name)
    except CommandError:
        return False
    return board.key != own.key and board.name not in (own.name, profile.board_name)


def with_l2_clock(board: Gpu, clock_hz: float, profile: ProfiledLaunch) -> Gpu:
    """The board with L2 at the clock that the report states."""
    source = f"{profile.report.name}, {L2[0]}"
    own = Quantity(clock_hz / 1e6, "MHz", source, "measured", "counted while profiling")
    return replace(board, parameters={**board.parameters, "l2_clock": own})


def _launch(profile: ProfiledLaunch, arguments: Sequence[Argument]) -> Launch:
    carveout = profile.number("launch__shared_mem_config_size")
    return launch_of(
        kernel=profile.mangled,
        grid=profile.grid,
        block=profile.block,
        cluster=_cluster(profile),
        smem=int(profile.number(DYNAMIC) or 0),
        carveout=None if carveout is None else int(carveout) // 1024,
        args=list(arguments) or None,
    )


def _cluster(profile: ProfiledLaunch) -> tuple[int, int, int] | None:
    x, y, z = (int(profile.number(f"launch__cluster_dim_{axis}") or 1) for axis in "xyz")
    return (x, y, z) if x * y * z > 1 else None
