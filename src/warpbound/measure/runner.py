"""A run of the suite: what is planned and not yet in the output folder, one compact file per mechanism."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpbound.errors import InputError, WarpboundError
from warpbound.measure.bench import Bench
from warpbound.measure.building import Cubins
from warpbound.measure.case import Case, Record, key
from warpbound.measure.device import Device, Facts
from warpbound.measure.sampling import EFFORTS
from warpbound.measure.suite import Planned, expected, plan

FORMAT = 1
SAVE_EVERY_S = 10.0
TELL_EVERY_S = 2.0
HOPELESS = 8  # cases refused in a row: the device has failed for good
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Raw:
    """The file of one mechanism. sensors : what the management library read at the beginning and at the end."""

    mechanism: str
    device: Facts
    effort: str
    date: str
    sensors: tuple[dict[str, float], ...]
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Order:
    """What to measure, how thoroughly ("quick" or "full"), and into which folder."""

    names: tuple[str, ...]
    effort: str
    out: Path


def run(device: Device, cubins: Cubins, order: Order, tell: Tell) -> list[Raw]:
    """Measure what the folder does not hold yet; all of it is returned."""
    planned = plan(order.names, device.facts(), order.effort)
    progress = _Progress(planned, tell)
    bench = Bench(device, cubins, EFFORTS[order.effort])
    try:
        return [_mechanism(bench, part, order, progress) for part in planned]
    finally:
        bench.close()


def _mechanism(bench: Bench, part: Planned, order: Order, progress: "_Progress") -> Raw:
    effort, path = order.effort, order.out / f"{part.mechanism}.json"
    before = load(path) if path.is_file() else None
    if before is not None and before.device.name != bench.facts.name:
        raise InputError(f"{path} was measured on {before.device.name}.", "Choose another -o.")
    done = {key(record.axes): record for record in (before.records if before else ())}
    begin = bench.device.sensors()
    raw = Raw(part.mechanism, bench.facts, effort, _today(), (begin,), tuple(done.values()))
    saved, failures = time.monotonic(), 0
    for case in part.cases:
        if case.key not in done:
            failed = _try(bench, part.mechanism, case, done)
            failures = failures + 1 if failed else 0
            if failed:
                progress.tell(f"{part.mechanism}, {case.key}: {failed.reason}")
            if failed and failures == HOPELESS:
                save(raw, path)
                raise failed
        progress.step(part.mechanism, expected(case, effort))
        raw = Raw(part.mechanism, bench.facts, effort, raw.date, (begin, bench.device.sensors()), tuple(done.values()))
        if time.monotonic() - saved > SAVE_EVERY_S:
            save(raw, path)
            saved = time.monotonic()
    save(raw, path)
    return raw


def _try(bench: Bench, mechanism: str, case: Case, done: dict[str, Record]) -> WarpboundError | None:
    """Measure one case; what went wrong, where the GPU refuses it: the others may still run."""
    try:
        done[case.key] = bench.measure(mechanism, case)
    except WarpboundError as failed:
        return failed
    return None


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


@dataclass
class _Progress:
    """Says now and then how far it is and how long it will still take."""

    planned: list[Planned]
    tell: Tell

    def __post_init__(self) -> None:
        self._total = sum(part.seconds for part in self.planned)
        self._done = 0.0
        self._begun = self._told = time.monotonic()

    def step(self, mechanism: str, seconds: float) -> None:
        self._done += seconds
        now = time.monotonic()
        if now - self._told < TELL_EVERY_S:
            return
        self._told = now
        left = (self._total - self._done) * (now - self._begun) / self._done
        self.tell(f"{mechanism}: {100 * self._done / self._total:.0f} % done, about {left:.0f} s left")


def save(raw: Raw, path: Path) -> None:
    """Write in one step, one record per line."""
    head = {"format": FORMAT, "mechanism": raw.mechanism, "device": asdict(raw.device), "effort": raw.effort,
            "date": raw.date, "sensors": list(raw.sensors)}  # fmt: skip
    lines = ",\n".join(json.dumps(_row(record), separators=(",", ":")) for record in raw.records)
    text = json.dumps(head, indent=1)[:-2] + f',\n "records": [\n{lines}\n]}}\n'
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as failed:
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
        return Raw(found["mechanism"], device, found["effort"], found["date"], tuple(found["sensors"]), records)
    except (OSError, ValueError, KeyError, TypeError) as failed:
        raise InputError(f"{path} is no file of measurements ({failed}).", "Delete it and measure again.") from failed


def read_folder(out: Path, names: tuple[str, ...]) -> list[Raw]:
    """The files of these mechanisms that a folder holds; InputError where it has none."""
    found = [load(path) for name in names if (path := out / f"{name}.json").is_file()]
    if not found:
        raise InputError(f"{out} holds no measurements.", "Measure first: `warpbound measure -o DIR`.")
    return found
