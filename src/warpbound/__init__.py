"""warpbound: what bounds a GPU kernel and what to do about it, from its source alone.

The names below are the public ones; each is loaded when it is first used, so that the import costs little.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpbound import cute_dsl as cute_dsl
    from warpbound import cutile as cutile
    from warpbound import kernel_tuner as kernel_tuner
    from warpbound import models as models
    from warpbound import numba_cuda as numba_cuda
    from warpbound import triton as triton
    from warpbound import warp_lang as warp_lang
    from warpbound.analysis import Settings as Settings
    from warpbound.analysis import analyze as analyze
    from warpbound.analysis.sweeps.candidates import candidates as candidates
    from warpbound.analysis.sweeps.ranking import rank as rank
    from warpbound.cli.notebook import load_ipython_extension as load_ipython_extension
    from warpbound.emulate import run as run
    from warpbound.errors import CommandError as CommandError
    from warpbound.errors import InputError as InputError
    from warpbound.errors import MissingTool as MissingTool
    from warpbound.errors import WarpboundError as WarpboundError
    from warpbound.kernel_launch import Launch as Launch
    from warpbound.kernel_launch import launch as launch
    from warpbound.machine import Gpu as Gpu
    from warpbound.machine import gpu as gpu
    from warpbound.nsight import compare as compare
    from warpbound.nsight import report as report
    from warpbound.program import Program as Program
    from warpbound.program import compile_program
    from warpbound.residency import occupancy as occupancy
    from warpbound.sweeping.runner import sweep as sweep

    compile = compile_program  # noqa: A001  (its public name; an assignment is what type checkers take as exported)

_HOMES = {  # public name -> (module, name there)
    "CommandError": ("errors", "CommandError"),
    "Gpu": ("machine", "Gpu"),
    "InputError": ("errors", "InputError"),
    "Launch": ("kernel_launch", "Launch"),
    "MissingTool": ("errors", "MissingTool"),
    "Program": ("program", "Program"),
    "Settings": ("analysis", "Settings"),
    "WarpboundError": ("errors", "WarpboundError"),
    "analyze": ("analysis", "analyze"),
    "candidates": ("analysis.sweeps.candidates", "candidates"),
    "compare": ("nsight", "compare"),
    "compile": ("program", "compile_program"),
    "gpu": ("machine", "gpu"),
    "launch": ("kernel_launch", "launch"),
    "load_ipython_extension": ("cli.notebook", "load_ipython_extension"),
    "occupancy": ("residency", "occupancy"),
    "rank": ("analysis.sweeps.ranking", "rank"),
    "report": ("nsight", "report"),
    "run": ("emulate", "run"),
    "sweep": ("sweeping.runner", "sweep"),
}

_PACKAGES = ("cute_dsl", "cutile", "kernel_tuner", "models", "numba_cuda", "triton", "warp_lang")

__all__ = [*_HOMES, *_PACKAGES]  # noqa: PLE0604  (the names are literal above)


def __getattr__(name: str) -> Any:
    """A public name, from the module that holds it."""
    if name in _PACKAGES:
        return import_module(f"warpbound.{name}")
    if name in _HOMES:
        home, module = _HOMES[name]
        return getattr(import_module(f"warpbound.{home}"), module)
    raise AttributeError(f"module 'warpbound' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
