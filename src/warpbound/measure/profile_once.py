"""Launches each of the dozen kernels once, under a profiler: `python -m warpbound.measure.profile_once`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from warpbound.measure import corpus
from warpbound.measure.case import Case
from warpbound.measure.case_timing import Bench
from warpbound.measure.corpus.subjects import subjects
from warpbound.measure.corpus.tuned import Tuning
from warpbound.measure.counters import DOZEN
from warpbound.measure.cubin_build import compile_all, read
from warpbound.measure.device import Device, Facts
from warpbound.measure.sampling import EFFORTS


def cases(facts: Facts) -> Iterator[Case]:
    """One launch of each available kernel of DOZEN."""
    for name in DOZEN:
        if name in subjects():
            own = subjects()[name].launch
            step = corpus.step_of(name, Tuning("1/1", own.grid, own.block), facts)
            yield Case({"example": name}, step, "time", corpus.buffers_of(name), symbols=corpus.symbols_of(name))


def launch_all(device: Device, cubins: Path | None) -> int:
    """Launch the kernels; their number."""
    arch = device.facts().arch
    code = compile_all(("corpus",), arch) if cubins is None else read(cubins, ("corpus",), arch)
    bench = Bench(device, code, EFFORTS["quick"])
    try:
        return sum(bench.once("corpus", case) >= 0.0 for case in cases(bench.facts))
    finally:
        bench.close()


if __name__ == "__main__":
    from warpbound.measure.driver import Driver

    launch_all(Driver(int(sys.argv[1])), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
