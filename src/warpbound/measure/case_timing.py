"""Measures one case on a device: allocates and fills memory, warms up, samples until the median is stable."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from warpbound.errors import InputError
from warpbound.measure import corpus
from warpbound.measure.case import STAMP_WORDS, Buffer, Case, Record, Step
from warpbound.measure.cubin_build import Cubins
from warpbound.measure.device import Device, Facts, Geometry
from warpbound.measure.sampling import Stopping, distribution, histogram, median_of, noise, stamp_statistics

WATCH_CYCLES = 1_000_000 # of the kernel that reads the clock: about half a millisecond, timer resolution 1 us or better
BURN_ROUNDS = 2_000      # of the warm-up kernel: a few milliseconds
IDLE_S = 0.05            # idle time after which the clock may have fallen
WARM_UP_S = 1.0          # before the first case
CLOCK_TOLERANCE = 0.005  # relative deviation of the clock from which a case is measured again
AGAIN = 2                # repetitions of a case because of its clock
RECENT = 25              # clocks whose median is the usual one
HOLD_S = 5e-5            # time for which a kernel blocks the stream while the host fills it
HOLD_SPARE, HOLD_LONGER = 1.2, 2.0  # of the time that filling took: blocking long enough; the next trial
HOLD_TRIES = 6
NOISE_BLOCK = 1 << 22    # words of noise, repeated through a buffer
SEED = 20


@dataclass
class Bench:
    """A device with the suite's machine code."""

    device: Device
    cubins: Cubins
    stopping: Stopping
    facts: Facts = field(init=False)
    clocks: list[float] = field(default_factory=list)
    _buffers: dict[Buffer, int] = field(default_factory=dict)
    _ready: tuple[Any, ...] = ()
    _kernels: dict[tuple[str, str], Any] = field(default_factory=dict)
    _busy_until: float = 0.0
    _own: int = 0
    _hold_s: float = HOLD_S

    def __post_init__(self) -> None:
        self.facts = self.device.facts()
        self._own = self.device.allocate(4096)
        self._warm_up(WARM_UP_S)

    def measure(self, mechanism: str, case: Case) -> Record:
        """Measure the case, and again if the SM clock was not the usual one."""
        self._prepare(mechanism, case)
        for _ in range(1 + AGAIN):
            if time.monotonic() - self._busy_until > IDLE_S:
                self._warm_up(0.0)
            record = self._repeat(mechanism, case)
            usual = float(np.median(self.clocks[-RECENT:]))
            if abs(record.clock_Hz / usual - 1.0) <= CLOCK_TOLERANCE:
                return record
            self._warm_up(0.05)
        return replace(record, stable=False)

    def once(self, mechanism: str, case: Case) -> float:
        """Launch the case once; seconds."""
        self._prepare(mechanism, case)
        begin = self.device.mark()
        self._launch(mechanism, case.run, case)
        return self.device.elapsed(begin, self.device.mark())

    def alive(self) -> bool:
        """Whether the GPU still runs kernels."""
        try:
            self._read_clock()
        except Exception:  # noqa: BLE001  (any error of the driver)
            return False
        return True

    def close(self) -> None:
        """Free all memory."""
        for address in (*self._buffers.values(), self._own):
            with suppress(Exception):  # of a device that has failed
                self.device.free(address)
        self._buffers.clear()

    # ------------------------------------------------------------ samples

    def _repeat(self, mechanism: str, case: Case) -> Record:
        """Take samples until their median is stable."""
        self._hold_s = HOLD_S
        self._once(mechanism, case)  # the first launch loads code and fills caches
        samples: list[Any] = []
        durations: list[float] = []
        begin = time.monotonic()
        while not self.stopping.enough(durations, time.monotonic() - begin):
            sample = self._sample(mechanism, case)
            samples.append(sample)
            durations.append(_duration(case.reading, sample))
        value = _value(case.reading, samples)
        self._busy_until = time.monotonic()
        clock, error = self._read_clock(), noise(durations)
        return Record(case.axes, value, len(samples), error, clock, error <= 2.0 * self.stopping.noise)

    def _sample(self, mechanism: str, case: Case) -> Any:
        """One sample. Timed launches are repeated, with the stream blocked for longer, if the GPU started before all of
        them were enqueued: the events would then time the host."""
        for _ in range(HOLD_TRIES):
            sample, filling = self._once(mechanism, case)
            if case.reading != "time" or HOLD_SPARE * filling < self._hold_s:
                return sample
            self._hold_s = HOLD_LONGER * filling
        raise InputError(
            f"enqueueing the launches sometimes takes the host {filling:.2g} s.", "Stop other processes on the host."
        )

    def _once(self, mechanism: str, case: Case) -> tuple[Any, float]:
        """A sample, and the seconds that the host took between the two events."""
        for step in case.before:
            self._launch(mechanism, step, case)
        if case.reading == "time":
            self._run("hold", 1, 1, [np.uint64(1e9 * self._hold_s)])
        started = time.monotonic()
        begin = self.device.mark()
        for _ in range(case.launches):
            self._launch(mechanism, case.run, case)
        end = self.device.mark()
        filling = time.monotonic() - started
        seconds = self.device.elapsed(begin, end)
        if case.reading == "time":
            return seconds / case.launches, filling
        address = self._address(case, case.output)
        if case.reading == "stamps":
            words = self.device.download(address, STAMP_WORDS * case.run.warps, np.uint64)
            return stamp_statistics(words.reshape(-1, STAMP_WORDS)), filling
        return self.device.download(address, case.words, np.uint32), filling

    def _launch(self, mechanism: str, step: Step, case: Case) -> None:
        args = [np.uint64(self._address(case, arg)) if isinstance(arg, str) else arg for arg in step.args]
        geometry = Geometry(step.grid, step.block, step.smem, step.carveout, step.shape)
        self.device.launch(self._kernel(step.kernel, mechanism), geometry, args)

    def _kernel(self, kernel: str, mechanism: str) -> Any:
        if (kernel, mechanism) not in self._kernels:
            self._kernels[kernel, mechanism] = self.device.load(*self.cubins.of(kernel, mechanism))
        return self._kernels[kernel, mechanism]

    # ------------------------------------------------------------ memory

    def _address(self, case: Case, name: str) -> int:
        return next(self._buffers[buffer] for buffer in case.buffers if buffer.name == name)

    def _prepare(self, mechanism: str, case: Case) -> None:
        """Allocate and fill the buffers; equal buffers of the previous case are used again."""
        data = (case.buffers, case.setup, case.symbols, case.run.kernel if case.symbols else "")
        if data == self._ready:
            return
        self._ready = ()  # until everything has worked
        for buffer in [b for b in self._buffers if b not in case.buffers]:
            self.device.free(self._buffers.pop(buffer))
        for buffer in case.buffers:
            if buffer not in self._buffers:
                self._buffers[buffer] = self.device.allocate(buffer.size)
                self._fill(buffer, self._buffers[buffer])
        for step in case.setup:
            self._launch(mechanism, step, case)
        for name, fill in case.symbols:
            cubin, _ = self.cubins.of(case.run.kernel, mechanism)
            address, size = self.device.symbol(cubin, name)
            self.device.upload(address, corpus.array(fill)[:size])
        self._ready = data

    def _fill(self, buffer: Buffer, address: int) -> None:
        random = np.random.default_rng(SEED)
        if buffer.fill == "order":
            self.device.upload(address, random.permutation(buffer.size // 4).astype(np.uint32))
        elif buffer.fill == "noise":
            block = random.random(min(NOISE_BLOCK, buffer.size // 4), dtype=np.float32)
            for begin in range(0, buffer.size, 4 * len(block)):
                self.device.upload(address + begin, block[: (buffer.size - begin) // 4])
        elif buffer.fill.startswith(corpus.FROM_ARGUMENT):
            self.device.upload(address, corpus.array(buffer.fill))
        elif buffer.fill != "nothing":
            self.device.fill(address, buffer.size, {"zeros": 0, "ones": 0xFF}[buffer.fill])

    # ------------------------------------------------------------ clocks

    def _run(self, kernel: str, grid: int, block: int, args: Sequence[np.generic]) -> None:
        self.device.launch(self._kernel(kernel, ""), Geometry((grid,), block), [np.uint64(self._own), *args])

    def _warm_up(self, seconds: float) -> None:
        """Run arithmetic on all SMs for that long, at least one launch."""
        elapsed_s = -1.0
        while elapsed_s < seconds:
            begin = self.device.mark()
            self._run("burn", 4 * self.facts.sm_count, 256, [np.int32(BURN_ROUNDS), np.float32(0.5)])
            elapsed_s = max(elapsed_s, 0.0) + self.device.elapsed(begin, self.device.mark())
        self._busy_until = time.monotonic()

    def _read_clock(self) -> float:
        """The SM clock now, Hz: cycles counted against the chip's global timer."""
        self._run("watch_clock", 1, 1, [np.int32(WATCH_CYCLES)])
        cycles, nanoseconds = self.device.download(self._own, 2, np.uint64)
        clock = 1e9 * float(cycles) / max(float(nanoseconds), 1.0)
        self.clocks.append(clock)
        return clock


def _duration(reading: str, sample: Any) -> float:
    """The number whose noise decides when to stop."""
    if reading == "time":
        return float(sample)
    return float(sample["duration"]) if reading == "stamps" else float(np.mean(sample))


def _value(reading: str, samples: list[Any]) -> dict[str, Any]:
    if reading == "time":
        return {"seconds": float(np.median(samples))}
    if reading == "words":
        return {"words": np.median(np.stack(samples), axis=0).tolist()}
    if reading == "stamps":
        return median_of(samples)
    return histogram(samples) if reading == "histogram" else distribution(samples)
