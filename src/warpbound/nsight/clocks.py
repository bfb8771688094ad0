"""Clocks of SMs, L2 and device memory while a launch was profile.

Source   the counters `*__cycles_elapsed.avg.per_second` and `gpc__cycles_elapsed.max`.
Models   Nsight Compute replays a launch once per group of counters. Where the pass that gives the time was slower than
         the pass that counts cycles, all clocks seem lower by one factor; the clock of device memory, which does not
         change under load, shows that factor.
"""

from warpbound.machine import Gpu
from warpbound.nsight.report_file import ProfiledLaunch
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import ClockSource

# Under CUDA graphics boards run GDDR6 and GDDR6X at 0.971 to 0.976 of its rate (public reports of an RTX 3070, 3080 and
# 4090: 6801 of 7001, 9251 of 9501, 10251 of 10501 MHz), T4, A10G and GTX 1660 SUPER at all of it.
LEAST_SHARE = 0.97
STEADY = 0.05  # a launch whose memory clock seems lower than that by more was timed in another pass
SM = ("gpc__cycles_elapsed.avg.per_second", "smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second")
L2 = ("lts__cycles_elapsed.avg.per_second",)
DRAM = ("dram__cycles_elapsed.avg.per_second",)
DURATION = ("gpu__time_duration.sum", "gpu__time_duration.avg")
MEASURED = "clock of the SMs: {mhz:.0f} MHz, of the report"
STRETCHED = (
    "clock of the SMs: {mhz:.0f} MHz; the report's {told:.0f} MHz comes from passes of unequal length, as its memory "
    "clock of {dram:.0f} MHz shows"
)
OTHER = "; of {unit}: {mhz:.0f} MHz"
ELSEWHERE = (
    "clock of the SMs: {mhz:.0f} MHz, the base clock of {board}, to which Nsight Compute locks; the report is of {own}"
)
UNKNOWN = "clock of the SMs: {mhz:.0f} MHz, the base clock, to which Nsight Compute locks; the report does not state it"


@dataclass(frozen=True)
class Clocks:
    """Clocks while profiling, Hz. sm_hz : of the SMs; l2_hz, dram_hz : None where the report does not tell.

    source : where sm_hz comes from. stretch : length of the timed pass over that of the counted one, as far as the
    memory clock shows it.
    """

    sm_hz: float
    l2_hz: float | None
    dram_hz: float | None
    stretch: float
    notes: tuple[str, ...]
    source: ClockSource = "report"


def duration_s(profile: ProfiledLaunch) -> float | None:
    """The measured time of the launch."""
    nanoseconds = profile.number(*DURATION)
    return nanoseconds / 1e9 if nanoseconds else None


def clocks_of(profile: ProfiledLaunch, board: Gpu) -> Clocks:
    """Clocks of a launch; the board's base clock where the report gives none."""
    sm_hz, dram = sm_clock(profile), profile.number(*DRAM)
    l2 = profile.number(*L2) or _per_second(profile, "lts__cycles_elapsed.max")
    if sm_hz is None:
        hz = board.get("base_clock") or board.value("boost_clock")
        return Clocks(hz, l2, dram, 1.0, (UNKNOWN.format(mhz=hz / 1e6),), "base")
    stretch = _stretch(sm_hz, dram, board)
    mhz = sm_hz * stretch / 1e6
    if stretch > 1.0 and dram is not None:
        note = STRETCHED.format(mhz=mhz, told=sm_hz / 1e6, dram=dram / 1e6)
    else:
        note = MEASURED.format(mhz=mhz)
    l2 = None if l2 is None else l2 * stretch
    others = (OTHER.format(unit=unit, mhz=hz / 1e6) for unit, hz in (("L2", l2), ("device memory", dram)) if hz)
    return Clocks(sm_hz * stretch, l2, dram, stretch, (note + "".join(others),))


def base_clocks(profile: ProfiledLaunch, board: Gpu) -> Clocks:
    """What Nsight Compute would lock another board to."""
    hz = board.get("base_clock") or board.value("boost_clock")
    note = ELSEWHERE.format(mhz=hz / 1e6, board=board.name, own=profile.board_name)
    return Clocks(hz, None, None, 1.0, (note,), "base")


def sm_clock(profile: ProfiledLaunch) -> float | None:
    """The largest clock that the counters of the SMs give, Hz: the others count less of the launch."""
    clocks = [profile.number(name) for name in SM] + [_per_second(profile, "gpc__cycles_elapsed.max")]
    return max((clock for clock in clocks if clock), default=None)


def _per_second(profile: ProfiledLaunch, cycles: str) -> float | None:
    count, time_s = profile.number(cycles), duration_s(profile)
    return count / time_s if count and time_s else None


def _stretch(sm_hz: float, dram_hz: float | None, board: Gpu) -> float:
    """By how much clocks seem too low; at most what brings the SMs to the base clock, to which they are locked."""
    rate, base_hz = board.get("dram_data_rate"), board.get("base_clock")
    if not dram_hz or not rate or not base_hz or sm_hz >= base_hz:
        return 1.0
    nominal = rate / 2.0  # two bits per cycle of the clock that Nsight Compute counts, on every kind of memory here
    share = dram_hz / (LEAST_SHARE * nominal)
    return min(1.0 / share, base_hz / sm_hz) if share < 1.0 - STEADY else 1.0
