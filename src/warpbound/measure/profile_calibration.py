"""A board's file from reports of Nsight Compute: what device attributes and counters determine, the rest of a relative.

Source   NVIDIA, Nsight Compute, Kernel Profiling Guide: names of counters; CUDA, device attributes.
Models   A rate is the greatest that a launch reached, if launches keep the unit busy; with the spread of those that do.
Omits    latencies: counters give waiting and latency together.
"""

from collections.abc import Iterator, Sequence

from warpbound.errors import InputError
from warpbound.l2_clock import IN_STEP
from warpbound.machine import PARAMETERS, Claim, Gpu, Quantity
from warpbound.measure.board_profile import as_toml
from warpbound.nsight.clocks import clocks_of, duration_s, sm_clock
from warpbound.nsight.report_file import DEVICE, ProfiledLaunch
from warpbound.quick_dataclasses import dataclass

SECTOR_B, FULL_REQUEST = 32.0, 16.0  # bytes; sectors of a store from which on its lanes are scattered
BUSY = 0.6  # share of its peak at which a unit is taken to bind
LONG_S = 20e-6  # shorter launches are not steady
DIGITS = 4
L2_NOTE = "sectors of L2 over time, as many per cycle of L2 at the boost clock"


@dataclass(frozen=True)
class Finding:
    """One parameter. launches : that gave it; spread : (greatest - least) / value of those, 0 for a single one."""

    value: float
    unit: str
    note: str
    launches: int = 1
    spread: float = 0.0


def calibrated(launches: Sequence[ProfiledLaunch], like: Gpu) -> tuple[str, dict[str, Finding]]:
    """The board's file, and what the reports determine of it. like : gives the rest.

    Raises InputError where the reports are of several boards, or of another architecture than `like`.
    """
    names = sorted({launch.board_name for launch in launches})
    if len(names) != 1:
        raise InputError(f"The reports are of several boards: {', '.join(names)}.", "Give those of one.")
    own = _capability(launches[0])
    if own and own != like.compute_capability:
        reason = f"{names[0]} has compute capability {own}; {like.name} has {like.compute_capability}."
        raise InputError(reason, "Name a board of the same architecture with --like.")
    findings = dict(_of_device(launches[0])) | dict(_clocks(launches, like)) | dict(_rates(launches, like))
    source = ", ".join(sorted({launch.report.name for launch in launches}))
    parameters = dict(like.parameters)
    for name, finding in findings.items():
        parameters[name] = _quantity(finding, f"reports of Nsight Compute: {source}", parameters.get(name))
    if parameters["sm_count"].value * parameters["boost_clock"].value != _lanes(like):
        parameters.pop("fp32_peak", None)  # of other SMs or another clock
    ordered = {name: parameters[name] for name in PARAMETERS if name in parameters}
    return as_toml(names[0], (), like.compute_capability, ordered), findings


def _lanes(board: Gpu) -> float:
    return board.parameters["sm_count"].value * board.parameters["boost_clock"].value


def _capability(launch: ProfiledLaunch) -> str:
    parts = [launch.device.get(f"{DEVICE}compute_capability_{part}") for part in ("major", "minor")]
    return "" if None in parts else ".".join(str(part) for part in parts)


def _of_device(launch: ProfiledLaunch) -> Iterator[tuple[str, Finding]]:
    def attribute(name: str) -> float | None:
        value = launch.device.get(DEVICE + name)
        return float(value) if isinstance(value, int | float) and value > 0 else None

    bus, memory_kHz = attribute("global_memory_bus_width"), attribute("memory_clock_rate")
    for name, value, unit in (
        ("sm_count", attribute("multiprocessor_count"), "1"),
        ("boost_clock", _over(attribute("clock_rate"), 1e3), "MHz"),
        ("dram_size", _over(attribute("total_memory"), 2.0**30), "GiB"),
        ("l2_size", _over(attribute("l2_cache_size"), 2.0**20), "MiB"),
        ("dram_bus", bus, "bit"),
        ("dram_data_rate", None if memory_kHz is None else round(2.0 * memory_kHz / 1e6, 2), "Gbit/s"),
    ):
        if value is not None:
            yield name, Finding(value, unit, "device attribute")
    if bus and memory_kHz:
        yield "dram_bandwidth", Finding(round(2.0 * memory_kHz * bus / 8e6, 1), "GB/s", "2 x memory clock x bus")


def _over(value: float | None, unit: float) -> float | None:
    return None if value is None else float(f"{value / unit:.{DIGITS}g}")


def _clocks(launches: Sequence[ProfiledLaunch], like: Gpu) -> Iterator[tuple[str, Finding]]:
    """The clock to which the SMs were locked: the median over launches that state one."""
    clocks = sorted(clocks_of(launch, like).sm_hz / 1e6 for launch in launches if sm_clock(launch) and _is_long(launch))
    if clocks:
        middle = clocks[len(clocks) // 2]
        spread = (clocks[-1] - clocks[0]) / middle
        yield "base_clock", Finding(round(middle), "MHz", "clock of the SMs while profiling", len(clocks), spread)


def _rates(launches: Sequence[ProfiledLaunch], like: Gpu) -> Iterator[tuple[str, Finding]]:
    steady = [launch for launch in launches if _is_long(launch)]
    pins = like.value("dram_bandwidth")
    dram = [rate for rate in map(_dram_rate, steady) if rate is not None and rate >= BUSY * pins]
    if dram:
        yield "dram_achievable_bandwidth", _greatest(dram, 1e9, "GB/s", "bytes of device memory over time")
    l2 = [rate for launch in steady for rate in _l2_rate(launch, like)]
    if l2:
        yield "l2_bandwidth", _greatest(l2, 1e9, "GB/s", L2_NOTE)
    stores = [-cost for launch in steady for cost in _store_cost(launch, like)]
    if stores:
        least = _greatest(stores, -1.0, "cycle", "scattered stores: cycles of an SM over their sectors, at most")
        yield "store_piece_cost", least


def _is_long(launch: ProfiledLaunch) -> bool:
    return (duration_s(launch) or 0.0) >= LONG_S


def _dram_rate(launch: ProfiledLaunch) -> float | None:
    read_bytes, write_bytes = launch.number("dram__bytes_read.sum"), launch.number("dram__bytes_write.sum")
    time_s = duration_s(launch)
    return None if read_bytes is None or write_bytes is None or not time_s else (read_bytes + write_bytes) / time_s


def _l2_rate(launch: ProfiledLaunch, like: Gpu) -> Iterator[float]:
    """At the clock that L2 has where the SMs run at boost."""
    sectors = launch.number("lts__t_sectors.sum")
    busy = launch.number("lts__t_sectors.avg.pct_of_peak_sustained_elapsed")
    time_s = duration_s(launch)
    if sectors and time_s and busy is not None and busy >= 100.0 * BUSY:
        clock_hz = clocks_of(launch, like).l2_hz
        faster = IN_STEP * like.value("boost_clock") / clock_hz if clock_hz else 1.0
        yield faster * SECTOR_B * sectors / time_s


def _store_cost(launch: ProfiledLaunch, like: Gpu) -> Iterator[float]:
    sectors = launch.number("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")
    requests = launch.number("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")
    time_s = duration_s(launch)
    if sectors and requests and time_s and sectors / requests >= FULL_REQUEST:
        sms = launch.device.get(f"{DEVICE}multiprocessor_count") or like.value("sm_count")
        yield time_s * clocks_of(launch, like).sm_hz * float(sms) / sectors


def _greatest(rates: Sequence[float], unit: float, name: str, note: str) -> Finding:
    best = max(rates)
    near = [rate for rate in rates if abs(rate - best) <= 0.2 * abs(best)]
    spread = (max(near) - min(near)) / abs(best)
    return Finding(float(f"{best / unit:.{DIGITS}g}"), name, note, len(near), spread)


def _quantity(finding: Finding, source: str, before: Quantity | None) -> Quantity:
    same = before if before is not None and before.unit == finding.unit else None
    claims = () if same is None else (Claim(same.value, same.source, same.note), *same.others)
    of = f"; of {finding.launches} launches, which spread by {100 * finding.spread:.1f} %" * (finding.launches > 1)
    return Quantity(finding.value, finding.unit, source, "measured", finding.note + of, claims)

