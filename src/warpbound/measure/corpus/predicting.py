"""A launch of the corpus as the analysis sees it: compiled, executed in part, its traffic and its time."""

from functools import cache

from warpbound.analysis.case import Case, Settings, case_of
from warpbound.kernel_launch import override
from warpbound.machine import Gpu
from warpbound.measure.corpus.subjects import Tuning, launches, subjects
from warpbound.program import Program, programs

Key = tuple[str, str]  # subject, launch


def way_of(key: Key) -> Tuning:
    """How a launch is run."""
    return launches(subjects()[key[0]])[key[1]]


def case_for(key: Key, board: Gpu, cache_state: str, clock_MHz: float | str) -> Case:
    """Everything the models need. cache_state : warm or cold."""
    name, way = key[0], way_of(key)
    asked = override(subjects()[name].launch, grid=way.grid, block=way.block, defines=dict(way.defines))
    settings = Settings(clock=clock_MHz, cache=cache_state)
    return case_of(_program(name, tuple(way.defines.items()), board), board, asked, settings)


@cache
def _program(name: str, defines: tuple[tuple[str, str], ...], board: Gpu) -> Program:
    subject = subjects()[name]
    return programs(subject.source, board, subject.launch.kernel, subject.options(dict(defines)))[0]
