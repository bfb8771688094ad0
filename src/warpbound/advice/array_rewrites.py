"""Rewrites of arrays and accesses: padding, const and restrict, loads out of loops, sums in registers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warpbound.advice.syntax import (
    LOOPS,
    Edit,
    KernelSource,
    changed_names,
    element,
    first,
    innermost_loops,
    inside,
    is_written,
    line,
    names_of,
    words,
)
from warpbound.advice.variant import Question, Variant, with_text

PROMISE = "(a promise: no array overlaps another)"
_SUMS = ("+=", "-=", "*=")


def padded(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """Shared arrays of two or more dimensions with one more element in a row."""
    edits = []
    for declaration in inside(kernel.body, ("declaration",)):
        if "__shared__" not in words(declaration) or "extern" in words(declaration):
            continue
        for declarator in declaration.children_by_field_name("declarator"):
            size = declarator.child_by_field_name("size") if declarator.type == "array_declarator" else None
            if size is None or declarator.child_by_field_name("declarator").type != "array_declarator":
                continue
            edit = Edit(size.start_byte, size.end_byte, _one_more(words(size)))
            name = words(first(declarator, ("identifier",)))
            text = kernel.edited([edit])
            change = f"a row of {name} padded by one element ([{edit.text}])"
            yield with_text(question, "padding", change, text, line(declarator))
            edits.append((edit, name, line(declarator)))
    if len(edits) > 1:
        names = " and ".join(name for _, name, _ in edits)
        text = kernel.edited(edit for edit, _, _ in edits)
        yield with_text(question, "padding", f"rows of {names} padded by one element", text, edits[0][2])


def _one_more(size: str) -> str:
    if size.isdigit():
        return str(int(size) + 1)
    return f"{size} + 1" if re.fullmatch(r"[\w* +]+", size) else f"({size}) + 1"


def restricted(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """Every pointer `__restrict__`, and `const` where the kernel only reads through it.

    None where two arguments share memory: the promise would be false.
    """
    if any(argument.kind == "alias" for argument in question.launch.args) or question.launch.placed is not None:
        return
    edits, read_only = [], []
    for parameter in kernel.parameters:
        pointer = parameter.child_by_field_name("declarator")
        if pointer is None or pointer.type != "pointer_declarator" or pointer.children[-1].type != "identifier":
            continue
        name = pointer.children[-1]
        if "restrict" not in words(parameter):
            edits.append(Edit(name.start_byte, name.start_byte, "__restrict__ "))
        if "const" not in words(parameter) and _only_read(kernel, words(name)):
            edits.append(Edit(parameter.start_byte, parameter.start_byte, "const "))
            read_only.append(words(name))
    if not edits:
        return
    constant = f", {' and '.join(read_only)} const" if read_only else ""
    change = f"pointers __restrict__{constant} {PROMISE}"
    yield with_text(question, "restrict", change, kernel.edited(edits), line(kernel.declarator))


def _only_read(kernel: KernelSource, name: str) -> bool:
    """Whether a pointer is used for nothing but elements that are read."""
    uses = [leaf for leaf in inside(kernel.body, ("identifier",)) if words(leaf) == name]
    for use in uses:
        access = use.parent
        if access.type != "subscript_expression" or access.child_by_field_name("argument") != use or is_written(access):
            return False
    return bool(uses)


def hoisted(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """Loads with a constant address in a loop, from arrays that the loop does not write: read once before it."""
    for loop in innermost_loops(kernel):
        changed = changed_names(loop)
        arrays_written = {element(access) for access in _accesses(loop) if is_written(access)}
        by_text: dict[str, list[Any]] = {}
        for access in _accesses(loop.child_by_field_name("body")):
            invariant = not names_of(access) & changed and element(access) not in arrays_written
            if invariant and not is_written(access) and not first(access, ("call_expression",)):
                by_text.setdefault(words(access), []).append(access)
        if not by_text:
            continue
        edits = [_before(loop, "".join(f"const auto hoisted_{n} = {text};\n{_indent(kernel, loop)}"
                                       for n, text in enumerate(by_text)))]  # fmt: skip
        for number, accesses in enumerate(by_text.values()):
            edits += [Edit(each.start_byte, each.end_byte, f"hoisted_{number}") for each in accesses]
        if loop.parent.type not in ("compound_statement",):
            continue
        change = f"{' and '.join(by_text)} loaded once before the loop {PROMISE}"
        yield with_text(question, "hoisting", change, kernel.edited(edits), line(loop))


def summed_in_register(question: Question, kernel: KernelSource) -> Iterator[Variant]:
    """`p[i] += x` in a loop that never changes i: summed in a register and stored once after the loop."""
    for loop in innermost_loops(kernel):
        changed = changed_names(loop)
        if loop.parent.type != "compound_statement":
            continue
        places: dict[str, list[Any]] = {}
        for change in inside(loop.child_by_field_name("body"), ("assignment_expression",)):
            target = change.child_by_field_name("left")
            if target.type != "subscript_expression" or not _is_sum(change, words(target)):
                continue
            own = [access for access in _accesses(loop) if element(access) == element(target)]
            if not names_of(target) & changed and all(words(access) == words(target) for access in own):
                places[words(target)] = own
        if places:
            change = f"{' and '.join(places)} summed in registers, stored once {PROMISE}"
            text = kernel.edited(_in_registers(kernel, loop, places))
            at = min(line(access) for own in places.values() for access in own)
            yield with_text(question, "hoisting", change, text, at)


def _in_registers(kernel: KernelSource, loop: Any, places: Mapping[str, Sequence[Any]]) -> Iterator[Edit]:
    """Each place loaded before the loop, a register in it, stored after it."""
    indent = _indent(kernel, loop)
    yield _before(loop, "".join(f"auto running_{n} = {place};\n{indent}" for n, place in enumerate(places)))
    for number, own in enumerate(places.values()):
        yield from (Edit(each.start_byte, each.end_byte, f"running_{number}") for each in own)
    stores = "".join(f"\n{indent}{place} = running_{number};" for number, place in enumerate(places))
    yield Edit(loop.end_byte, loop.end_byte, stores)


def _is_sum(change: Any, place: str) -> bool:
    operator = words(change.child_by_field_name("operator"))
    return operator in _SUMS or (operator == "=" and words(change.child_by_field_name("right")).startswith(place))


def _accesses(node: Any) -> list[Any]:
    """Subscripts of plain arrays, the outermost of each."""
    return [each for each in inside(node, ("subscript_expression",)) if element(each)]


def _before(loop: Any, text: str) -> Edit:
    return Edit(loop.start_byte, loop.start_byte, text)


def _indent(kernel: KernelSource, node: Any) -> str:
    """The blanks at the beginning of a node's line."""
    start = kernel.code.rfind(b"\n", 0, node.start_byte) + 1
    text = kernel.code[start : node.start_byte].decode()
    return text if not text.strip() else text[: len(text) - len(text.lstrip())]


def _line_of_its_own(kernel: KernelSource, node: Any) -> str:
    """A line's end where something stands before a node in its line."""
    start = kernel.code.rfind(b"\n", 0, node.start_byte) + 1
    return "\n" if kernel.code[start : node.start_byte].strip() else ""


def unrolled(question: Question, kernel: KernelSource, factors: tuple[int, ...]) -> Iterator[Variant]:
    """Innermost loops under `#pragma unroll`, each factor in turn; an existing pragma is replaced."""
    for loop in innermost_loops(kernel):
        before = loop.prev_named_sibling
        has_own = before is not None and before.type == "preproc_call" and "unroll" in words(before)
        if loop.parent.type not in ("compound_statement", *LOOPS):
            continue
        for factor in factors:
            pragma = f"#pragma unroll {factor}\n"
            if has_own and re.search(rf"unroll\s*\(?{factor}\b", words(before)):
                continue
            where = (before.start_byte, before.end_byte) if has_own else (loop.start_byte, loop.start_byte)
            alone = f"{_line_of_its_own(kernel, loop)}{pragma}{_indent(kernel, loop)}"
            edit = Edit(*where, pragma if has_own else alone)
            text = kernel.edited([edit])
            yield with_text(question, "unrolling", f"#pragma unroll {factor} on the loop", text, line(loop))
