"""Answers on disk: a question that was answered before is not computed again.

What a user does next (`--views loops`, `--format html`, another board, the base of a review) asks the same question
again. The name of an answer is a hash of all that decides it: the machine code and source, the board with its
parameters, the launch with its arguments, the settings, and every file of warpbound itself.
"""

import os
import pickle
import time
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.disk_cache import digest, folder, load_checked, make_room, state_of, store_checked
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu, gpu
from warpbound.program.kernel import Program
from warpbound.result.kernel import KernelResult

MOST_B = 64 << 20  # limit of all kept answers; those unused for longest are deleted
PLACE = "answers"
DECIDING_VIEWS = ("figures", "sass", "simulation")  # views that need more than the rest


def answer(
    program: Program, board: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT
) -> KernelResult:
    """What `analyze_kernel` answers, from the disk where it is known.

    Raises what `analyze_kernel` raises. An answer that time has cut short is not kept.
    """
    return _answer("answer.analyze_kernel", program, gpu(board), launch, settings)


def time_alone(
    program: Program, board: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT
) -> KernelResult:
    """The same for `launch_time.time_result`: the time and the bottleneck, at half the cost."""
    return _answer("launch_time.time_result", program, gpu(board), launch, settings)


def time_to_rank(
    program: Program, board: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT
) -> KernelResult:
    """The same for `launch_time.time_to_rank`: without the interval of the time."""
    return _answer("launch_time.time_to_rank", program, gpu(board), launch, settings)


def _answer(analysis: str, program: Program, board: Gpu, launch: Launch | None, settings: Settings) -> KernelResult:
    name = _name(program, board, launch, settings, analysis)
    if name is not None and (kept_answer := _kept(name)) is not None:
        return kept_answer
    module, _, function = analysis.partition(".")  # loading it takes as long as reading an answer
    compute = getattr(import_module(f"warpbound.analysis.{module}"), function)
    result: KernelResult = compute(program, board, launch, settings)
    if name is not None and result.not_executed is None and not _was_cut(result, settings):
        _keep(name, pickle.dumps(result))
    return result


def _was_cut(result: KernelResult, settings: Settings) -> bool:
    """Whether the time for the analysis of the code alone may have run out."""
    return result.mode == "static" and settings.ends_s is not None and time.thread_time() > settings.ends_s


def _name(
    program: Program, board: Gpu, launch: Launch | None, settings: Settings, analysis: str = "answer.analyze_kernel"
) -> str | None:
    """The name of an answer; None where the launch holds memory that has no name."""
    if launch is not None and launch.placed is not None:
        return None
    views = tuple(view for view in DECIDING_VIEWS if view in settings.views)
    question = (analysis, program, board, launch, replace(settings, views=views, ends_s=None))
    try:
        return digest(_own_files(), _QUESTION.encode(question))
    except (NotImplementedError, OverflowError, OSError):
        return None


def _named(value: Any) -> Any:
    """A value that msgpack does not know: a path is named by its file's size and time of change, too."""
    if isinstance(value, Path):
        return (str(value), *state_of(value.stat())) if value.is_file() else str(value)
    raise NotImplementedError(type(value).__name__)


_QUESTION = msgspec.msgpack.Encoder(enc_hook=_named)


@cache
def _own_files() -> str:
    """Names, sizes and times of change of all files of warpbound: after an update nothing is known."""
    root = Path(__file__).parent.parent
    return digest(*(f"{place} {identity}" for place, identity in sorted(_files(str(root), len(str(root))))))


def _files(place: str, root_length: int) -> list[tuple[str, tuple[int, int]]]:
    with os.scandir(place) as entries:
        own = [each for each in entries if each.name != "__pycache__"]
    inner = [file for each in own if each.is_dir() for file in _files(each.path, root_length)]
    return [*inner, *((each.path[root_length:], state_of(each.stat())) for each in own if each.is_file())]


def _kept(name: str) -> KernelResult | None:
    content = load_checked(folder() / PLACE / name)
    if content is None:
        return None
    answer_there: KernelResult = pickle.loads(content)  # which tells whole numbers from others, as JSON does not
    return answer_there


def _keep(name: str, content: bytes) -> None:
    """Write an answer; the oldest make room for it."""
    place = folder() / PLACE
    store_checked(place / name, content)
    make_room([place], MOST_B)
