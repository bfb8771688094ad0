"""One case on one device: memory ready, warm, repeated until the answer stands still, with the clock watched."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warpbound.errors import InputError
from warpbound.measure import corpus
from warpbound.measure.case import STAMP_WORDS, Buffer, Case, Record, Step
from warpbound.measure.cubin_build import Cubins
from warpbound.measure.device import Device, Facts, Geometry
from warpbound.measure.sampling import Stopping, distribution, histogram, median_of, noise, of_stamps

WATCH_CYCLES = 1_000_000 # of the clock watch: about half a millisecond, against a timer of 1 us or better
BURN_ROUNDS = 2_000      # of the warm-up: a few milliseconds
IDLE_S = 0.05            # after which the clock may have fallen
WARM_UP_S = 1.0          # at the start
CLOCK_TOLERANCE = 0.005  # a case at another clock is measured again
AGAIN = 2                # times
RECENT = 25              # clocks that say what is usual
HOLD_S = 5e-5            # that the queue is held while the host fills it
HOLD_SPARE, HOLD_LONGER = 1.2, 2.0  # times what filling it takes: enough; what is tried next
HOLD_TRIES = 6
NOISE_BLOCK = 1 << 22    # words of noise, repeated through a buffer
SEED = 20


@dataclass
class Bench:
    """A device with the suite's machine code on it."""

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
        self._warm(WARM_UP_S)

    def measure(self, mechanism: str, case: Case) -> Record:
        """The case, again where the clock was not the usual one."""
        self._prepare(mechanism, case)
        for _ in range(1 + AGAIN):
            if time.monotonic() - self._busy_until > IDLE_S:
                self._warm(0.0)
            record = self._repeat(mechanism, case)
            usual = float(np.median(self.clocks[-RECENT:]))
            if abs(record.clock_Hz / usual - 1.0) <= CLOCK_TOLERANCE:
                return record
            self._warm(0.05)
        return Record(record.axes, record.value, record.samples, record.noise, record.clock_Hz, stable=False)

    def once(self, mechanism: str, case: Case) -> float:
        """Launch it once; seconds."""
        self._prepare(mechanism, case)
        begin = self.device.mark()
        self._launch(mechanism, case.run, case)
        return self.device.elapsed(begin, self.device.mark())

    def alive(self) -> bool:
        """Whether anything runs on the GPU."""
        try:
            self._watch()
        except Exception:  # noqa: BLE001  (whatever the driver says)
            return False
        return True

    def close(self) -> None:
        """Give all memory back."""
        for address in (*self._buffers.values(), self._own):
            with suppress(Exception):  # of a device that has failed
                self.device.free(address)
        self._buffers.clear()

    # ------------------------------------------------------------ samples

    def _repeat(self, mechanism: str, case: Case) -> Record:
        """Samples until the median stands still."""
        self._hold_s = HOLD_S
        self._once(mechanism, case)  # the first one loads code and fills caches
        samples: list[Any] = []
        measures: list[float] = []
        begun = time.monotonic()
        while not self.stopping.enough(measures, time.monotonic() - begun):
            sample = self._sample(mechanism, case)
            samples.append(sample)
            measures.append(_measure(case.reading, sample))
        value = _value(case.reading, samples)
        self._busy_until = time.monotonic()
        clock = self._watch()
        error = noise(measures)
        return Record(case.axes, value, len(samples), error, clock, error <= 2.0 * self.stopping.noise)

    def _sample(self, mechanism: str, case: Case) -> Any:
        """One, again where the GPU had nothing to do before the host had queued all of it: that would time the host."""
        for _ in range(HOLD_TRIES):
            sample, filling = self._once(mechanism, case)
            if case.reading != "time" or HOLD_SPARE * filling < self._hold_s:
                return sample
            self._hold_s = HOLD_LONGER * filling
        raise InputError(f"the host takes {filling:.2g} s to queue it, now and then.", "Let nothing else run there.")

    def _once(self, mechanism: str, case: Case) -> tuple[Any, float]:
        """A sample, and the seconds that the host took between the marks."""
        for step in case.before:
            self._launch(mechanism, step, case)
        if case.reading == "time":
            self._run("hold", 1, 1, [np.uint64(1e9 * self._hold_s)])
        held = time.monotonic()
        begin = self.device.mark()
        for _ in range(case.launches):
            self._launch(mechanism, case.run, case)
        end = self.device.mark()
        filling = time.monotonic() - held
        seconds = self.device.elapsed(begin, end)
        if case.reading == "time":
            return seconds / case.launches, filling
        address = self._address(case, case.output)
        if case.reading == "stamps":
            words = self.device.download(address, STAMP_WORDS * case.run.warps, np.uint64)
            return of_stamps(words.reshape(-1, STAMP_WORDS)), filling
        return self.device.download(address, case.words, np.uint32), filling

    def _launch(self, mechanism: str, step: Step, case: Case) -> None:
        args = [np.uint64(self._address(case, arg)) if isinstance(arg, str) else arg for arg in step.args]
        geometry = Geometry(step.grid, step.block, step.smem, step.carveout, step.shape)
        self.device.launch(self._kernel(step.kernel, mechanism), geometry, args)

    def _kernel(self, kernel: str, mechanism: str) -> Any:
        place = (kernel, mechanism)
        if place not in self._kernels:
            self._kernels[place] = self.device.load(*self.cubins.of(kernel, mechanism))
        return self._kernels[place]

    # ------------------------------------------------------------ memory

    def _address(self, case: Case, name: str) -> int:
        return next(self._buffers[buffer] for buffer in case.buffers if buffer.name == name)

    def _prepare(self, mechanism: str, case: Case) -> None:
        """Buffers and their contents; those of the case before serve again where they are the same."""
        asked = (case.buffers, case.setup, case.symbols, case.run.kernel if case.symbols else "")
        if asked == self._ready:
            return
        self._ready = ()  # until all of it has worked
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
        self._ready = asked

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
        loaded = self._kernel(kernel, "")
        self.device.launch(loaded, Geometry((grid,), block), [np.uint64(self._own), *args])

    def _warm(self, seconds: float) -> None:
        """Arithmetic on all SMs for so long, once at least."""
        spent = -1.0
        while spent < seconds:
            begin = self.device.mark()
            self._run("burn", 4 * self.facts.sm_count, 256, [np.int32(BURN_ROUNDS), np.float32(0.5)])
            spent = max(spent, 0.0) + self.device.elapsed(begin, self.device.mark())
        self._busy_until = time.monotonic()

    def _watch(self) -> float:
        """The SM clock now, Hz: cycles counted against the timer of the chip."""
        self._run("watch_clock", 1, 1, [np.int32(WATCH_CYCLES)])
        cycles, nanoseconds = self.device.download(self._own, 2, np.uint64)
        clock = 1e9 * float(cycles) / max(float(nanoseconds), 1.0)
        self.clocks.append(clock)
        return clock


def _measure(reading: str, sample: Any) -> float:
    """The number whose noise decides when to stop."""
    if reading == "time":
        return float(sample)
    return float(sample["duration"]) if reading == "stamps" else float(np.mean(sample))


def _value(reading: str, samples: list[Any]) -> dict[str, Any]:
    if reading == "time":
        return {"seconds": float(np.median(samples))}
    if reading == "stamps":
        return median_of(samples)
    if reading == "histogram":
        return histogram(samples)
    if reading == "distribution":
        return distribution(samples)
    return {"words": np.median(np.stack(samples), axis=0).tolist()}
