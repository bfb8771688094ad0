"""Experiments drawn by Hypothesis: machines with every feature, streams whose barriers match."""

from hypothesis import strategies as st

from warpbound.simulate.experiment import (
    Access,
    Experiment,
    Launch,
    Machine,
    Pipe,
    Station,
    Step,
    Stream,
    deterministic,
    exponential,
)
from warpbound.simulate.warp_state import POLICIES

NAMES = ("a", "b", "c")
SHORT = st.integers(0, 6).map(float)


@st.composite
def steps(draw: st.DrawFn, number: int) -> Step:
    """An instruction: arithmetic, or an access to memory with a result of its own name."""
    issue = draw(st.sampled_from([0.0, 1.0, 1.0, 2.0]))
    waits = tuple(draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True)))
    stall = draw(st.integers(1, 4))
    if draw(st.booleans()):
        return Step(
            f"arithmetic {number}", issue, max(issue, stall), draw(st.sampled_from(["", "own", "shared"])),
            busy=draw(st.sampled_from([1.0, 2.0, 2.5])), latency=draw(SHORT), writes=draw(st.sampled_from(NAMES)),
            waits=waits, pairs=draw(st.booleans()), frees=draw(st.sampled_from(["", "read"])), source_wait=draw(SHORT),
        )  # fmt: skip
    own = f"value {number}"
    access = Access(
        lines=draw(st.integers(1, 3)),
        offset=draw(st.sampled_from([0.0, 0.0, 2.0])),
        spread=draw(st.sampled_from([0.0, 5.0])),
        demand={"first": draw(st.sampled_from([0.0, 1.5])), "second": draw(st.sampled_from([0.5, 3.0]))},
    )
    return Step(f"load {number}", issue, max(issue, stall), latency=20, access=access, writes=own, waits=(*waits, own))


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    """One to three warps in a block, one to six blocks, up to three at a time."""
    kinds = tuple(draw(steps(number)) for number in range(draw(st.integers(1, 4))))
    meet = Step("barrier", barrier=True, latency=draw(SHORT))
    parts = draw(st.integers(1, 2))  # pieces of a stream between barriers: the same number for every warp
    streams = []
    for _ in range(draw(st.integers(1, 2))):
        piece = st.lists(st.integers(0, len(kinds) - 1), min_size=1, max_size=4)
        path = [index for _ in range(parts) for index in (*draw(piece), len(kinds))]
        streams.append(Stream(tuple(path[: -1 if parts == 1 else None])))
    repeats = draw(st.integers(1, 4))
    size = draw(st.integers(1, 3))
    block = st.lists(st.integers(0, len(streams) - 1), min_size=size, max_size=size).map(tuple)
    return Experiment(
        machine=Machine(
            schedulers=draw(st.sampled_from([1, 2, 4])),
            policy=draw(st.sampled_from(sorted(POLICIES))),
            pipes=(Pipe("own", ahead=draw(SHORT)), Pipe("shared", shared=True, ahead=draw(SHORT))),
            stations=(Station("first"), Station("second", draw(st.sampled_from([deterministic(), exponential()])))),
            room=draw(st.sampled_from([0, 1, 3])),
        ),
        steps=(*kinds, meet),
        streams=tuple(Stream(stream.steps, repeats) for stream in streams),
        launch=Launch(
            warps=tuple(draw(st.lists(block, min_size=1, max_size=2))),
            resident=draw(st.integers(1, 3)),
            blocks=draw(st.integers(3, 6)),
            block_start=draw(SHORT),
            block_interval=draw(st.sampled_from([0.0, 0.0, 4.0])),
        ),
        seed=draw(st.integers(0, 100)),
        log_rows=10_000,
    )
