"""Runs the suite: measures the planned cases that the output folder lacks, into one raw file per mechanism."""

import json
import math
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpbound.errors import InputError, WarpboundError
from warpbound.measure.case import Case, Record, key
from warpbound.measure.case_timing import Bench
from warpbound.measure.cubin_build import Cubins
from warpbound.measure.device import Device, Facts
from warpbound.measure.sampling import EFFORTS
from warpbound.measure.suite import PlannedMechanism, plan
from warpbound.quick_dataclasses import dataclass

FORMAT = 2
SAVE_EVERY_S = 10.0
REPORT_EVERY_S = 2.0
HOPELESS = 8  # consecutive failed cases after which a kernel is skipped
KERNELS = 4   # multiple of HOPELESS: consecutive failed cases after which a mechanism is skipped
Report = Callable[[str], None]


class DeviceLost(InputError):
    """The GPU runs no kernel any more in this process."""


@dataclass(frozen=True)
class RawFile:
    """The file of one mechanism. sensors : NVML readings at the beginning and at the end. deadly : cases after which
    the GPU ran nothing any more; they are not tried again."""

    mechanism: str
    device: Facts
    effort: str
    date: str
    sensors: tuple[dict[str, float], ...]
    records: tuple[Record, ...]
    deadly: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunRequest:
    """Mechanisms to measure, effort ("quick" or "full"), output folder. within : seconds after which to stop."""

    names: tuple[str, ...]
    effort: str
    out: Path
    within: float = math.inf


def run(device: Device, cubins: Cubins, request: RunRequest, report: Report) -> list[RawFile]:
    """Measure what the folder lacks; all raw files with at least one record.

    Cases that fail are reported and skipped. However the run ends, the records so far are in the files. Raises
    DeviceLost where the GPU runs nothing any more, InputError where nothing could be measured.
    """
    _check_writable(request.out)
    planned = plan(request.names, device.facts(), request.effort)
    progress = _Progress(planned, report, request.within)
    bench = Bench(device, cubins, EFFORTS[request.effort])
    try:
        files = [_measure(bench, part, request, progress) for part in planned]
    finally:
        bench.close()
    if progress.over:
        report(f"Stopped after {request.within:.0f} s with {progress.left} cases left; repeat the command to continue.")
    if not any(file.records for file in files):
        raise InputError("nothing could be measured.", "The messages above name the reason for each case.")
    return [file for file in files if file.records or file.deadly]


def _check_writable(out: Path) -> None:
    """Raise InputError before the first measurement where the folder cannot be written."""
    probe = out / "writable"
    write_atomically(probe, "yes\n")
    probe.unlink()


def _measure(bench: Bench, part: PlannedMechanism, request: RunRequest, progress: "_Progress") -> RawFile:
    path = request.out / f"{part.mechanism}.json"
    before = load(path) if path.is_file() else None
    if before and (before.device.name, before.device.sm_count) != (bench.facts.name, bench.facts.sm_count):
        board = f"{before.device.name}, {before.device.sm_count} SMs"
        raise InputError(f"{path} was measured on another GPU ({board}).", "Choose another -o.")
    sheet = _Sheet(part.mechanism, bench, request.effort, path, before)
    failures = _Failures(part.mechanism, progress.report)
    try:
        for case, seconds in zip(part.cases, part.case_seconds, strict=True):
            if not sheet.has(case) and failures.allow(case) and not progress.over:
                failures.note(case, _try(bench, part.mechanism, case, sheet))
                sheet.save_periodically()
            progress.step(part.mechanism, seconds, newly=sheet.has(case))
    finally:
        file = sheet.save()
    return file


class _Failures:
    """Counts failed cases, and stops a kernel after HOPELESS in a row, a mechanism after KERNELS times as many."""

    def __init__(self, mechanism: str, report: Report) -> None:
        self._mechanism, self._report, self._in_a_row = mechanism, report, 0
        self._of_kernel: Counter[str] = Counter()

    def allow(self, case: Case) -> bool:
        return self._of_kernel[case.run.kernel] < HOPELESS and self._in_a_row < KERNELS * HOPELESS

    def note(self, case: Case, reason: str | None) -> None:
        """reason : why the case failed; None where it did not."""
        kernel = case.run.kernel
        self._in_a_row = self._in_a_row + 1 if reason else 0
        self._of_kernel[kernel] = self._of_kernel[kernel] + 1 if reason else 0
        if not reason:
            return
        self._report(f"{self._mechanism}, {case.key}: {reason}")
        if self._in_a_row == KERNELS * HOPELESS:
            self._report(f"{self._mechanism}: {self._in_a_row} cases in a row did not run; the others are skipped.")
        elif self._of_kernel[kernel] == HOPELESS:
            self._report(f"{self._mechanism}: {HOPELESS} cases in a row of {kernel} did not run; it is skipped.")


def _try(bench: Bench, mechanism: str, case: Case, sheet: "_Sheet") -> str | None:
    """Measure one case; the reason where it fails."""
    try:
        sheet.records[case.key] = bench.measure(mechanism, case)
    except Exception as error:  # noqa: BLE001  (no error may cost the other cases)
        reason = error.reason if isinstance(error, WarpboundError) else f"{type(error).__name__}: {error}"
        if not bench.alive():
            sheet.deadly.append(case.key)
            raise DeviceLost(
                f"{mechanism}, {case.key}: {reason} Nothing runs on the GPU any more in this process.",
                "Repeat the command: it continues after this case.",
            ) from error
        return reason
    return None


class _Sheet:
    """The raw file of a mechanism while it is measured."""

    def __init__(self, mechanism: str, bench: Bench, effort: str, path: Path, before: RawFile | None) -> None:
        self.mechanism, self.bench, self.effort, self.path = mechanism, bench, effort, path
        self.records = {key(record.axes): record for record in (before.records if before else ())}
        self.deadly = list(before.deadly) if before else []
        self._begin, self._saved = bench.device.sensors(), time.monotonic()
        self._date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")

    def has(self, case: Case) -> bool:
        """Whether the case is measured or must not be tried again."""
        return case.key in self.records or case.key in self.deadly

    def save_periodically(self) -> None:
        if time.monotonic() - self._saved > SAVE_EVERY_S:
            self.save()
            self._saved = time.monotonic()

    def save(self) -> RawFile:
        """Write the records so far; no file for a mechanism without records."""
        sensors = (self._begin, self.bench.device.sensors())
        file = RawFile(self.mechanism, self.bench.facts, self.effort, self._date, sensors, tuple(self.records.values()),
                       tuple(self.deadly))  # fmt: skip
        if file.records or file.deadly:
            _save_with_fallback(file, self.path)
        return file


def _save_with_fallback(file: RawFile, path: Path) -> None:
    """Save; where that fails, save to the temporary folder and raise InputError that names it."""
    try:
        save(file, path)
    except InputError as error:
        spare = Path(tempfile.gettempdir()) / f"warpbound-{os.getpid()}" / path.name
        try:
            save(file, spare)
        except InputError:
            raise error from None
        hint = f"Free some space and move it to {path.parent}; then repeat the command to continue."
        raise InputError(f"{error.reason} The measurements are in {spare}.", hint) from error


@dataclass
class _Progress:
    """Reports the progress and the remaining time now and then."""

    planned: list[PlannedMechanism]
    report: Report
    within: float

    def __post_init__(self) -> None:
        self._total = sum(part.seconds for part in self.planned)
        self._done, self.left = 0.0, 0
        self._begin = self._last_report = time.monotonic()

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() - self._begin > self.within

    def step(self, mechanism: str, seconds: float, *, newly: bool) -> None:
        self._done += seconds
        self.left += self.over and not newly
        now = time.monotonic()
        if now - self._last_report < REPORT_EVERY_S:
            return
        self._last_report = now
        left_s = (self._total - self._done) * (now - self._begin) / self._done
        self.report(f"{mechanism}: {100 * self._done / self._total:.0f} % done, about {left_s:.0f} s left")


def save(file: RawFile, path: Path) -> None:
    """Write a raw file atomically, one record per line."""
    head = {"format": FORMAT, "mechanism": file.mechanism, "device": asdict(file.device), "effort": file.effort,
            "date": file.date, "sensors": list(file.sensors), "deadly": list(file.deadly)}  # fmt: skip
    lines = ",\n".join(json.dumps(_row(record), separators=(",", ":")) for record in file.records)
    write_atomically(path, json.dumps(head, indent=1)[:-2] + f',\n "records": [\n{lines}\n]}}\n')


def write_atomically(path: Path, text: str) -> None:
    """Write a file in one step: where that fails, as on a full disk, the previous file stays as it is. InputError."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written ({error.strerror}).", "Choose another -o.") from error


def _row(record: Record) -> dict[str, Any]:
    return {
        "axes": dict(record.axes), "value": {name: _seven_digits(value) for name, value in record.value.items()},
        "samples": record.samples, "noise": float(f"{record.noise:.2g}"), "clock_Hz": round(record.clock_Hz),
        "stable": bool(record.stable),
    }  # fmt: skip


def _seven_digits(value: Any) -> Any:
    """Rounded to more digits than any clock has."""
    if isinstance(value, list):
        return [_seven_digits(item) for item in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def load(path: Path) -> RawFile:
    """A file that `save` wrote. InputError for any other."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if (version := content.pop("format")) != FORMAT:
            raise InputError(f"{path} has format {version}, not {FORMAT}.", "Measure again.")
        content |= {name: tuple(content[name]) for name in ("sensors", "deadly")}
        content |= {"device": Facts(**content["device"]), "records": tuple(Record(**row) for row in content["records"])}
        return RawFile(**content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a file of measurements ({error}).", "Delete it and measure again.") from error


def read_folder(out: Path, names: tuple[str, ...]) -> list[RawFile]:
    """The raw files of these mechanisms in a folder; InputError where it has none."""
    files = [load(path) for name in names if (path := out / f"{name}.json").is_file()]
    if not files:
        raise InputError(f"{out} holds no measurements.", "Measure first: `warpbound measure -o DIR`.")
    return files
