"""Host code as far as it can be followed without running it: the launches of a program with their values.

The interpreter executes `main` as if the program were called without arguments, on values that are known (macros,
constants, arithmetic, sizes of allocations) and on the expressions that remain of all others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from warpbound.program.host_interpreter.interpretation import Observation, Site
from warpbound.program.host_interpreter.interpreter import Interpreter
from warpbound.program.host_interpreter.runtime_calls import EVERY_DEVICE
from warpbound.program.host_interpreter.source_model import FunctionSource, SourceModel, source_model
from warpbound.program.host_interpreter.state import OutOfBudget, ProgramEnds
from warpbound.program.host_interpreter.values import Cell, HostArray, Pointer, Struct
from warpbound.quick_dataclasses import dataclass

__all__ = ["HostCode", "Observation", "Site", "declarations", "interpreted"]


@dataclass(frozen=True)
class HostCode:
    """The launches of a program. symbols : device variables that the host writes, with the bytes as text."""

    launches: dict[Site, list[Observation]]
    symbols: dict[str, str]
    model: SourceModel
    host: Interpreter


def declarations(text: str, headers: Mapping[str, str], defines: Mapping[str, str]) -> Interpreter:
    """What a file declares, with nothing of it executed: types with their layouts, constants, functions."""
    return Interpreter(source_model(text, headers, defines), (), EVERY_DEVICE)


def interpreted(
    text: str,
    headers: Mapping[str, str],
    defines: Mapping[str, str],
    words: Sequence[str] = (),
    device: Mapping[str, int] = EVERY_DEVICE,
) -> HostCode:
    """The launches of a `.cu` file and of the user's headers that it includes.

    headers : text by the name in the `#include`. defines : macros given to the compiler. words : arguments of the
    program. device : what cudaGetDeviceProperties gives, as far as it is known.
    Raises MissingTool without tree-sitter.
    """
    model = source_model(text, headers, defines)
    host = Interpreter(model, words, device)
    for main in model.functions.get("main", ())[:1]:
        _run(host, main, ([1 + len(words), _command_line(words)] if main.parameters.named_children else []))
    entered: set[int] = set()
    while (source := next((root for root in host.unmet_roots() if root.node.id not in entered), None)) is not None:
        if host.is_out_of_time():
            break
        entered.add(source.node.id)
        host.is_exploring = True
        with host.tried():
            _run(host, source, [])
    return HostCode(host.launches, host.symbols, model, host)


def _run(host: Interpreter, source: FunctionSource, arguments: list[Any]) -> None:
    """Execute a function as a starting point; a program that ends, or is too long, keeps the launches found so far."""
    host.refill()
    this = host.blank(source.owner) if source.owner else None
    try:
        host.run_function(source, (), arguments, this if isinstance(this, Struct) else None)
    except (ProgramEnds, OutOfBudget, RecursionError):
        del host.frames[1:]


def _command_line(words: Sequence[str]) -> Pointer:
    """`argv` of a program with these arguments; those that it lacks are unknown."""
    cells = {i: Cell(word, "char*") for i, word in enumerate(("program", *words))}
    return Pointer(HostArray("char*", len(cells), cells), 0, "char*")
