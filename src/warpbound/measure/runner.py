"""A run of the suite: what is planned and not yet in the output folder, one compact file per mechanism."""

import json
import math
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpbound.errors import InputError, WarpboundError
from warpbound.measure.case import Case, Record, key
from warpbound.measure.case_timing import Bench
from warpbound.measure.cubin_build import Cubins
from warpbound.measure.device import Device, Facts
from warpbound.measure.sampling import EFFORTS
from warpbound.measure.suite import Planned, plan

FORMAT = 2
SAVE_EVERY_S = 10.0
TELL_EVERY_S = 2.0
HOPELESS = 8  # cases of a kernel refused in a row: it is left
KERNELS = 4   # times as many of a mechanism, none between them that ran: it is left
Tell = Callable[[str], None]


class DeviceLost(InputError):
    """Nothing runs on the GPU any more in this process."""


@dataclass(frozen=True)
class Raw:
    """The file of one mechanism. sensors : what the management library read at the beginning and at the end. deadly :
    cases after which nothing ran any more; they are not tried again."""

    mechanism: str
    device: Facts
    effort: str
    date: str
    sensors: tuple[dict[str, float], ...]
    records: tuple[Record, ...]
    deadly: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """What to measure, how thoroughly ("quick" or "full"), into which folder; within : seconds to stop after."""

    names: tuple[str, ...]
    effort: str
    out: Path
    within: float = math.inf


def run(device: Device, cubins: Cubins, order: Order, tell: Tell) -> list[Raw]:
    """Measure what the folder does not hold yet; all that it holds then, of mechanisms that have a record.

    What a case cannot do is told, and the others are measured all the same. Whatever ends a run, what was measured is
    in its file. Raises DeviceLost where nothing runs any more, InputError where nothing could be measured at all.
    """
    _writable(order.out)
    planned = plan(order.names, device.facts(), order.effort)
    progress = _Progress(planned, tell, order.within)
    bench = Bench(device, cubins, EFFORTS[order.effort])
    try:
        found = [_mechanism(bench, part, order, progress) for part in planned]
    finally:
        bench.close()
    if progress.over:
        tell(f"Stopped after {order.within:.0f} s with {progress.left} cases left; the same command goes on.")
    if not any(raw.records for raw in found):
        raise InputError("nothing could be measured.", "Look at what was said of each case above.")
    return [raw for raw in found if raw.records or raw.deadly]


def _writable(out: Path) -> None:
    """InputError now, and not after the first minutes, where nothing can be written there."""
    probe = out / "writable.partial"
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe.write_text("yes\n", encoding="utf-8")
        probe.unlink()
    except OSError as failed:
        raise InputError(f"{out} cannot be written ({failed.strerror}).", "Choose another -o.") from failed


def _mechanism(bench: Bench, part: Planned, order: Order, progress: "_Progress") -> Raw:
    path = order.out / f"{part.mechanism}.json"
    before = load(path) if path.is_file() else None
    if before is not None and _board(before.device) != _board(bench.facts):
        name, sms = _board(before.device)
        raise InputError(f"{path} was measured on another GPU ({name}, {sms} SMs).", "Choose another -o.")
    sheet = _Sheet(part.mechanism, bench, order.effort, path, before)
    patience = _Patience(part.mechanism, progress.tell)
    try:
        for case, seconds in zip(part.cases, part.each, strict=True):
            if not sheet.has(case) and patience.allows(case) and not progress.over:
                patience.note(case, _try(bench, part.mechanism, case, sheet))
                sheet.save_now_and_then()
            progress.step(part.mechanism, seconds, measured=sheet.has(case))
    finally:
        raw = sheet.save()
    return raw


class _Patience:
    """What did not run, and when to stop trying: a kernel after HOPELESS cases in a row, a mechanism after several such
    kernels with nothing in between that ran."""

    def __init__(self, mechanism: str, tell: Tell) -> None:
        self._mechanism, self._tell, self._in_a_row = mechanism, tell, 0
        self._of_kernel: Counter[str] = Counter()

    def allows(self, case: Case) -> bool:
        return self._of_kernel[case.run.kernel] < HOPELESS and self._in_a_row < KERNELS * HOPELESS

    def note(self, case: Case, failed: str | None) -> None:
        kernel = case.run.kernel
        self._in_a_row = self._in_a_row + 1 if failed else 0
        self._of_kernel[kernel] = self._of_kernel[kernel] + 1 if failed else 0
        if not failed:
            return
        self._tell(f"{self._mechanism}, {case.key}: {failed}")
        if self._in_a_row == KERNELS * HOPELESS:
            self._tell(f"{self._mechanism}: {self._in_a_row} cases in a row did not run; its others are left out.")
        elif self._of_kernel[kernel] == HOPELESS:
            self._tell(f"{self._mechanism}: {HOPELESS} cases in a row of {kernel} did not run; it is left out.")


def _board(facts: Facts) -> tuple[str, int]:
    return facts.name, facts.sm_count


def _try(bench: Bench, mechanism: str, case: Case, sheet: "_Sheet") -> str | None:
    """Measure one case; what went wrong, where it does not run or answers nonsense: the others may still run."""
    try:
        sheet.done[case.key] = bench.measure(mechanism, case)
    except Exception as failed:  # noqa: BLE001  (whatever it is, it must not cost the other cases)
        said = failed.reason if isinstance(failed, WarpboundError) else f"{type(failed).__name__}: {failed}"
        if not bench.alive():
            sheet.deadly.append(case.key)
            raise DeviceLost(
                f"{mechanism}, {case.key}: {said} Nothing runs on the GPU any more in this process.",
                "Give the same command again: it goes on behind this case.",
            ) from failed
        return said
    return None


class _Sheet:
    """The file of a mechanism while it is measured."""

    def __init__(self, mechanism: str, bench: Bench, effort: str, path: Path, before: Raw | None) -> None:
        self.mechanism, self.bench, self.effort, self.path = mechanism, bench, effort, path
        self.done = {key(record.axes): record for record in (before.records if before else ())}
        self.deadly = list(before.deadly) if before else []
        self._begin, self._date, self._saved = bench.device.sensors(), _today(), time.monotonic()

    def has(self, case: Case) -> bool:
        """Whether there is nothing to be done for it."""
        return case.key in self.done or case.key in self.deadly

    def save_now_and_then(self) -> None:
        if time.monotonic() - self._saved > SAVE_EVERY_S:
            self.save()
            self._saved = time.monotonic()

    def save(self) -> Raw:
        """What there is now; nothing is written for a mechanism without records."""
        sensors = (self._begin, self.bench.device.sensors())
        raw = Raw(self.mechanism, self.bench.facts, self.effort, self._date, sensors, tuple(self.done.values()),
                  tuple(self.deadly))  # fmt: skip
        if raw.records or raw.deadly:
            _save_somewhere(raw, self.path)
        return raw


def _save_somewhere(raw: Raw, path: Path) -> None:
    """Where it belongs; where there is no room any more, the run ends, but what was measured is kept elsewhere."""
    try:
        save(raw, path)
    except InputError as failed:
        spare = Path(tempfile.gettempdir()) / f"warpbound-{os.getpid()}" / path.name
        try:
            save(raw, spare)
        except InputError:
            raise failed from None
        hint = f"Make room and move it to {path.parent}: the same command goes on."
        raise InputError(f"{failed.reason} What was measured is in {spare}.", hint) from failed


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


@dataclass
class _Progress:
    """Says now and then how far it is and how long it will still take."""

    planned: list[Planned]
    tell: Tell
    within: float

    def __post_init__(self) -> None:
        self._total = sum(part.seconds for part in self.planned)
        self._done, self.left = 0.0, 0
        self._begun = self._told = time.monotonic()

    @property
    def over(self) -> bool:
        """Whether the time is."""
        return time.monotonic() - self._begun > self.within

    def step(self, mechanism: str, seconds: float, *, measured: bool) -> None:
        self._done += seconds
        self.left += self.over and not measured
        now = time.monotonic()
        if now - self._told < TELL_EVERY_S:
            return
        self._told = now
        left = (self._total - self._done) * (now - self._begun) / self._done
        self.tell(f"{mechanism}: {100 * self._done / self._total:.0f} % done, about {left:.0f} s left")


def save(raw: Raw, path: Path) -> None:
    """Write in one step, one record per line."""
    head = {"format": FORMAT, "mechanism": raw.mechanism, "device": asdict(raw.device), "effort": raw.effort,
            "date": raw.date, "sensors": list(raw.sensors), "deadly": list(raw.deadly)}  # fmt: skip
    lines = ",\n".join(json.dumps(_row(record), separators=(",", ":")) for record in raw.records)
    replaced(path, json.dumps(head, indent=1)[:-2] + f',\n "records": [\n{lines}\n]}}\n')


def replaced(path: Path, text: str) -> None:
    """Write a file in one step: where that fails, as on a full disk, the one that was there stays as it was."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as failed:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written ({failed.strerror}).", "Choose another -o.") from failed


def _row(record: Record) -> dict[str, Any]:
    return {
        "axes": dict(record.axes), "value": {name: _short(value) for name, value in record.value.items()},
        "samples": record.samples, "noise": float(f"{record.noise:.2g}"), "clock_Hz": round(record.clock_Hz),
        "stable": bool(record.stable),
    }  # fmt: skip


def _short(value: Any) -> Any:
    """Seven digits are more than any clock gives."""
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def load(path: Path) -> Raw:
    """A file that `save` wrote."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise InputError(f"{path} has format {found['format']}, not {FORMAT}.", "Measure again.")
        records = tuple(Record(**row) for row in found["records"])
        device = Facts(**found["device"])
        rest = (found["effort"], found["date"], tuple(found["sensors"]), records, tuple(found["deadly"]))
        return Raw(found["mechanism"], device, *rest)
    except (OSError, ValueError, KeyError, TypeError) as failed:
        raise InputError(f"{path} is no file of measurements ({failed}).", "Delete it and measure again.") from failed


def read_folder(out: Path, names: tuple[str, ...]) -> list[Raw]:
    """The files of these mechanisms that a folder holds; InputError where it has none."""
    found = [load(path) for name in names if (path := out / f"{name}.json").is_file()]
    if not found:
        raise InputError(f"{out} holds no measurements.", "Measure first: `warpbound measure -o DIR`.")
    return found
