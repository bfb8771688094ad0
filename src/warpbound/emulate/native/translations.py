"""Registry of translations: which function makes the step of each opcode."""

from collections.abc import Callable
from typing import TypeVar

from warpbound.emulate.native.step import Step
from warpbound.emulate.operand_access import Site

Translate = Callable[[Site], Step]
Function = TypeVar("Function", bound=Translate)

TRANSLATIONS: dict[str, Translate] = {}


def translates(opcodes: str) -> Callable[[Function], Function]:
    """Enter a function that makes the steps of these opcodes, separated by spaces. It raises NotTranslated."""

    def enter(function: Function) -> Function:
        TRANSLATIONS.update(dict.fromkeys(opcodes.split(), function))
        return function

    return enter
