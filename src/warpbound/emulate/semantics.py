"""Registry of semantics functions: which function executes each opcode."""

from collections.abc import Callable
from typing import Any, TypeVar

from warpbound.emulate.operand_access import Site
from warpbound.emulate.state import State
from warpbound.isa.traits import table

Handler = Callable[[State], None]
Build = Callable[[Site], Handler]
Function = TypeVar("Function", bound=Callable[..., Any])

PLAIN: dict[str, Build] = {}  # builds the handler of an instruction after which the next one follows
WITHOUT_EFFECT = " ".join(opcode for opcode, traits in table().items() if traits.no_effect)  # for `executes`
CONTROL: dict[str, Callable[..., Any]] = {}  # (site, flow, place) -> what moves the lanes: branches, barriers, ends


def executes(opcodes: str) -> Callable[[Function], Function]:
    """Enter a function that builds handlers for these opcodes, separated by spaces."""
    return _entered(PLAIN, opcodes)


def directs(opcodes: str) -> Callable[[Function], Function]:
    """The same for control: a function of the site, the flow of the chunk and the place of the instruction."""
    return _entered(CONTROL, opcodes)


def _entered(table: dict[str, Any], opcodes: str) -> Callable[[Function], Function]:
    def enter(function: Function) -> Function:
        table.update(dict.fromkeys(opcodes.split(), function))
        return function

    return enter
