"""Rewrites of whole loops and of how loads pass the caches: two loops interchanged, loads past L1.

Omits    Proof that iterations may change places: equal results show it for this launch only.
"""

from collections.abc import Iterator
from typing import Any

from warpbound.advice.syntax import (
    Edit,
    KernelSource,
    changed_names,
    element,
    inside,
    is_written,
    line,
    names_of,
    words,
)
from warpbound.advice.variant import Question, Variant, with_text

_PARTS = ("initializer", "condition", "update")


def interchanged(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """Perfectly nested `for` loops, neither of which counts by the other, with their headers exchanged."""
    for outer in inside(kernel.body, ("for_statement",)):
        inner = _only_loop(outer)
        if inner is None or _counts(outer) & _header_names(inner) or _counts(inner) & _header_names(outer):
            continue
        first, second = _header(outer), _header(inner)
        edits = [Edit(*first, _text(kernel, second)), Edit(*second, _text(kernel, first))]
        names = [", ".join(sorted(_counts(loop))) for loop in (inner, outer)]
        change = f"the loops over {names[1]} and {names[0]} exchanged"
        yield with_text(question, "loop order", change, kernel.edited(edits), line(outer))


def _only_loop(outer: Any) -> Any:
    """The loop that is all of another one's body; None where there is more."""
    body = outer.child_by_field_name("body")
    if body.type == "compound_statement":
        statements = [each for each in body.named_children if each.type != "comment"]
        body = statements[0] if len(statements) == 1 else body
    return body if body.type == "for_statement" else None


def _counts(loop: Any) -> set[str]:
    """Names that the header of a loop changes."""
    parts = [loop.child_by_field_name(part) for part in _PARTS]
    return {name for part in parts if part is not None for name in changed_names(part)}


def _header_names(loop: Any) -> set[str]:
    parts = [loop.child_by_field_name(part) for part in _PARTS]
    return {name for part in parts if part is not None for name in names_of(part)}


def _header(loop: Any) -> tuple[int, int]:
    """Bytes between the parentheses of a loop's header."""
    opening, closing = (next(each for each in loop.children if each.type == sign) for sign in "()")
    return int(opening.end_byte), int(closing.start_byte)


def _text(kernel: KernelSource, span: tuple[int, int]) -> str:
    return kernel.code[slice(*span)].decode()


def past_l1(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """Each array that the kernel only reads, its loads by `__ldcg`: L2 keeps them, and L1 is left to the others."""
    accesses = [each for each in inside(kernel.body, ("subscript_expression",)) if element(each)]
    parameters = {words(leaf) for parameter in kernel.parameters for leaf in inside(parameter, ("identifier",))}
    stored = {element(each) for each in accesses if is_written(each)}
    for name in dict.fromkeys(element(each) for each in accesses):
        if name not in parameters or name in stored:
            continue
        loads = [each for each in accesses if element(each) == name]
        edits = [Edit(each.start_byte, each.end_byte, f"__ldcg(&{words(each)})") for each in loads]
        change = f"loads of {name} past L1 (__ldcg)"
        yield with_text(question, "cache hints", change, kernel.edited(edits), line(loads[0]))
